"""LLM judges: a chat model reads what a view shows and gives a score, a list of errors or a rubric."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from wholetext.errors import MetricError, SpecError
from wholetext.judges.chat.calls import Answer, Ask, Sampling
from wholetext.judges.chat.endpoint import Chat, Planned
from wholetext.judges.error_lists import SEVERITIES, Fault
from wholetext.judges.parsers import (
    ASPECTS,
    CUT,
    PARSER,
    REFUSED,
    Parsed,
    parse_errors,
    parse_rubric,
    parse_score,
)
from wholetext.judges.places import placed
from wholetext.judges.prompts import Prompt, Texts, load_prompt
from wholetext.types import Fit, FloatArray, Metric, Request, Runtime, Side, mean_stats

NAN = float("nan")
WEIGHTS = dict(
    zip(SEVERITIES, (25.0, 5.0, 1.0))
)  # Freitag et al. 2021, as published judges use them
_COUNTS = ("refused", "unparsable", "repaired", "failed", "unlocated")
UNREADABLE = "the judge's answer could not be read, nor the one to a second request"
TOO_SHORT = (
    "the judge's answer was cut at max_tokens, and so was the one to a second request: raise max_tokens, to "
    "thousands for a model that reasons first"
)


@dataclass(frozen=True)
class Reply:
    """A parsed answer: of the first request, of a second one (``repaired``), or a failure."""

    parsed: Parsed
    answer: Answer
    repaired: bool = False

    @property
    def outcome(self) -> str:
        """The kind of failure, for counting; empty if the first answer could be parsed."""
        if self.answer.problem:
            return "failed"
        if self.parsed.refused:
            return "refused"
        return "unparsable" if self.parsed.problem else "repaired" if self.repaired else ""

    @property
    def reason(self) -> str:
        """Why there is no score."""
        if self.answer.problem:
            kind, colon, said = self.answer.problem.partition(":")
            said = re.sub("[0-9]+", "…", said)[:120]  # lengths differ from row to row
            return f"the endpoint gave no answer ({kind}{colon}{said})"
        unread = TOO_SHORT if self.parsed.problem == CUT else UNREADABLE
        return unread if self.outcome == "unparsable" else self.parsed.problem


@dataclass
class Verdict:
    """All that was heard about one request: a value per sample, replies, and the errors of the first sample read."""

    values: list[Sequence[float]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    faults: tuple[Fault, ...] | None = None


@dataclass(frozen=True)
class Judge(Metric):
    """What judges share. Answers are stored as they came, rows are not: they are read again on every run."""

    view = "sentence"
    range = (0.0, 100.0)
    decimals = 2
    cacheable = False
    remote = True
    own_context = True
    sources: ClassVar[frozenset[Side]] = frozenset({"src", "hyp"})
    file: ClassVar[str]  # name of the built-in prompt
    schema: ClassVar[str] = "score"
    limit: ClassVar[int] = 64  # default maximum of tokens in an answer
    incomplete: ClassVar[str] = "some samples have no score"  # where others have one

    model: str = ""
    mode: Literal["qe", "ref"] = "qe"  # whether the judge is shown references
    answer: Literal["json", "text"] = "json"  # the form that is asked for; both are read
    prompt: str = ""  # a file; the built-in prompt by default
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    samples: int = 1

    def __post_init__(self) -> None:
        if self.samples < 1 or (self.max_tokens or 1) < 1:
            raise SpecError(
                "samples and max_tokens are numbers from 1 up",
                next="e.g. samples=10,temperature=0.7",
            )
        if self.samples > 1 and self.temperature == 0:
            raise SpecError(
                f"samples={self.samples} at temperature 0 would all be the same",
                next=f"write samples={self.samples},temperature=0.7, or leave samples out",
            )

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]
        return self.sources | ({"ref"} if self.mode == "ref" else set())

    @property
    def outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.columns, *(("spread",) if self.samples > 1 else ()))

    columns: ClassVar[tuple[str, ...]] = ("score",)

    def resolve(self, langs: tuple[str, str]) -> Judge:
        if not self.model:
            raise MetricError(
                f"{self.name} names no model",
                next=f"write {self.name}@MODEL, as the endpoint calls it",
            )
        load_prompt.cache_clear()  # an edited file is read again, but never during an evaluation
        self.prompts()
        return replace(self, max_tokens=self.max_tokens or self.limit)

    def prompts(self) -> dict[str, tuple[str, Prompt]]:
        """Key in the signature → where the prompt is from, and the prompt."""
        return {
            "prompt": (
                Path(self.prompt).name or f"wholetext/{self.file}",
                load_prompt(self.file, self.prompt),
            )
        }

    def facts(self) -> Mapping[str, str]:
        named = {key: f"{name}#{prompt.hash}" for key, (name, prompt) in self.prompts().items()}
        return {**named, "parser": PARSER}

    def chat(self, run: Runtime) -> Chat:
        how = Sampling(self.temperature, self.top_p, self.seed, self.max_tokens or self.limit)
        return Chat(self.model, how, run.calls)

    # -------------------------------------------------------- what is asked

    def texts(self, request: Request, langs: tuple[str, str]) -> Texts:
        refs = [
            (f"reference {i + 1}" if len(request.refs) > 1 else "reference", one)
            for i, one in enumerate(request.refs)
        ]
        source = [("source", request.src)] if request.src is not None else []
        return Texts(langs, (*source, *refs, ("translation", request.hyp[0])))

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        """The calls about a request, one per sample."""
        texts, prompt = self.texts(request, langs), self.prompts()["prompt"][1]
        return [
            prompt.ask(texts, self.answer, self.schema, sample=sample)
            for sample in range(self.samples)
        ]

    def planned(self, requests: Sequence[Request], run: Runtime) -> Planned:
        asks = [ask for request in requests for ask in self.asks(request, run.langs)]
        return Planned(self.chat(run), asks, [], self.again(asks, "prompt"))

    def again(self, asks: Sequence[Ask], key: str) -> dict[Ask, Ask]:
        """Call → the second request, but for the words of the answer that could not be read."""
        prompt = self.prompts()[key][1]
        return {
            ask: prompt.repair(ask, "", "the answer has no score from 0 to 100", self.answer)
            for ask in asks
        }

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        """Estimated tokens, four bytes each: an endpoint reports text that is too long only when called."""
        return [Fit(-(-len(_shown(one).encode("utf-8", "replace")) // 4)) for one in requests]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        return list(self.asks(request, run.langs)[0].messages[-1:])  # all of it is in a dry run

    def hear(
        self,
        asks: Sequence[Ask],
        run: Runtime,
        parse: Callable[[str, bool], Parsed],
        prompt: Prompt,
    ) -> list[Reply]:
        """The parsed answer to each call; calls whose answer cannot be parsed are repeated once."""
        chat = self.chat(run)

        def read(answer: Answer) -> Parsed:
            if answer.refusal or answer.finish == "content_filter":
                return Parsed(REFUSED, refused=True)
            return (
                Parsed(answer.problem)
                if answer.problem
                else parse(answer.text, answer.finish == "length")
            )

        replies = [Reply(read(answer), answer) for answer in run.map(chat, asks)]
        again = [i for i, reply in enumerate(replies) if reply.outcome == "unparsable"]
        second = [
            prompt.repair(asks[i], replies[i].answer.text, replies[i].parsed.problem, self.answer)
            for i in again
        ]
        for i, answer in zip(again, run.map(chat, second)):
            replies[i] = Reply(read(answer), answer, repaired=True)
        return replies

    # -------------------------------------------------------- what is measured

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        """What the judge says of each request."""
        asks = [self.asks(request, run.langs) for request in requests]
        replies = iter(
            self.hear(
                [ask for some in asks for ask in some], run, self.parse, self.prompts()["prompt"][1]
            )
        )
        found = []
        for request, some in zip(requests, asks):
            one = Verdict(replies=[next(replies) for _ in some])
            one.values = [self.value(reply.parsed, request) for reply in one.replies]
            one.faults = next(
                (reply.parsed.faults for reply in one.replies if reply.parsed.ok), None
            )
            found.append(one)
        return found

    @staticmethod
    def parse(text: str, cut: bool) -> Parsed:
        return parse_score(text, cut)

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        """One number per column; NaN where there is none."""
        return (NAN if parsed.score is None or not parsed.ok else parsed.score,)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        rows = []
        for i, (request, one) in enumerate(zip(requests, self.verdicts(requests, run))):
            values = np.array(one.values, dtype=np.float64)  # (samples, columns)
            mean, spread = trimmed(values)
            rows.append([*mean, *((spread,) if self.samples > 1 else ())])
            self.note(i, request, one, run)
            for _, prompt in self.prompts().values():
                for caveat in prompt.caveats(self.texts(request, run.langs)):
                    run.warn(caveat)
            if self.samples > 1:
                run.detail(
                    i,
                    samples=[None if value != value else value for value in values[:, 0].tolist()],
                )
        return mean_stats(np.array(rows).reshape(len(requests), len(self.outputs)))

    def note(self, i: int, request: Request, one: Verdict, run: Runtime) -> None:
        """Store the verdict on a request, and count failures."""
        counts = Counter(reply.outcome for reply in one.replies if reply.outcome)
        spans, errors = placed(one.faults or (), request)
        lost = sum(not error["located"] for error in errors)
        heard = [reply.answer for reply in one.replies if not reply.answer.problem]
        judge: dict[str, Any] = {name: counts[name] for name in _COUNTS if counts[name]} | (
            {"unlocated": lost} if lost else {}
        )
        judge |= {
            "model": sorted({answer.model for answer in heard}),
            "fingerprint": sorted({answer.fingerprint for answer in heard if answer.fingerprint}),
            "structured": sorted({answer.structured for answer in heard}),
        }
        run.detail(
            i,
            judge=judge,
            **({"spans": spans} if spans else {}),
            **({"errors": errors} if errors else {}),
        )
        whys = list(dict.fromkeys(reply.reason for reply in one.replies if reply.reason))
        if whys and not any(value[0] == value[0] for value in one.values):
            run.detail(i, reason=whys[0])
        elif whys:
            run.warn(f"{self.incomplete}: {whys[0]}", i)
        if counts["repaired"]:
            run.warn("the judge's first answer could not be read; its second counts", i)
        if any("\ud800" <= sign <= "\udfff" for sign in _shown(request)):
            run.warn(
                "half of a surrogate pair, which is no character, is shown to the judge as a question mark",
                i,
            )
        if lost:
            run.warn(
                "the judge quotes words that are not in the text: such errors count, and are not marked",
                i,
            )

    def outcomes(self, details: Sequence[Mapping[str, Any] | None]) -> Mapping[str, object]:
        """What answered, and how often it refused or could not be read."""
        judges = [one["judge"] for one in details if one]
        names = {
            key: sorted({str(name) for one in judges for name in one[key]})
            for key in ("model", "fingerprint", "structured")
        }
        named = {
            "answered_by": names["model"],
            "fingerprint": names["fingerprint"],
            "structured": names["structured"],
        }
        facts = {
            key: ",".join(values).lower() if key == "structured" else ",".join(values) or "none"
            for key, values in named.items()
        }
        return {**facts, **{name: sum(one.get(name, 0) for one in judges) for name in _COUNTS}}


def _shown(request: Request) -> str:
    return "".join((*request.hyp[0].parts, *(request.src.parts if request.src else ())))


def trimmed(values: FloatArray) -> tuple[list[float], float]:
    """(samples, columns) → the mean without samples whose score is beyond 2σ, and the standard deviation of all."""
    known = values[~np.isnan(values[:, 0])]
    if not len(known):
        return [NAN] * values.shape[1], NAN
    far = np.abs(known[:, 0] - known[:, 0].mean()) > 2 * known[:, 0].std() + 1e-9
    with np.errstate(invalid="ignore"):
        kept, there = known[~far], ~np.isnan(known[~far])
        mean = np.where(there, kept, 0.0).sum(axis=0) / np.where(
            there.any(axis=0), there.sum(axis=0), np.nan
        )
    return mean.tolist(), float(known[:, 0].std(ddof=1)) if len(known) > 1 else NAN


@dataclass(frozen=True)
class JudgeDa(Judge):
    """Direct assessment from 0 to 100, asked of a chat model (as GEMBA-DA: Kocmi and Federmann 2023a)."""

    name = "judge-da"
    summary = "an LLM's direct assessment, 0 to 100: judge-da@MODEL"
    file = "da"


@dataclass(frozen=True)
class JudgeSqm(Judge):
    """A scale from 0 to 100 with described points (as GEMBA-SQM: Kocmi and Federmann 2023a)."""

    name = "judge-sqm"
    summary = "an LLM's score on a described scale, 0 to 100: judge-sqm@MODEL"
    file = "sqm"


@dataclass(frozen=True)
class JudgeMqm(Judge):
    """Errors listed by a chat model, weighted 25, 5 and 1 (as GEMBA-MQM: Kocmi and Federmann 2023b), as minus points.

    ``profile=published`` counts at most five errors, the worst first, and no more than 25 points: documents saturate.
    Beside the points of a row there are those per 1,000 characters.
    """

    name = "judge-mqm"
    summary = "MQM score of the errors listed by an LLM, 0 (best) or below: judge-mqm@MODEL"
    file = "errors"
    schema = "errors"
    limit = 1024
    columns = ("score", "per_1000")

    profile: Literal["default", "published"] = "default"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (-25.0 if self.profile == "published" else -np.inf, 0.0)

    @staticmethod
    def parse(text: str, cut: bool) -> Parsed:
        return parse_errors(text, cut)

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        points = sorted((WEIGHTS[one.severity] for one in parsed.faults), reverse=True)
        total = min(25.0, sum(points[:5])) if self.profile == "published" else sum(points)
        return (NAN, NAN) if not parsed.ok else (0.0 - total, 0.0 - total)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        """The second mean is per character: its count is what was read of the text."""
        stats, n = super().measure(requests, run), len(self.outputs)
        length = np.array([len(request.hyp[0].text) for request in requests], dtype=np.float64)
        stats[:, 1] *= 1000 * (length > 0)
        stats[:, n + 1] *= length
        return stats


@dataclass(frozen=True)
class JudgeEsa(Judge):
    """Error span annotation (Kocmi et al. 2024, as GEMBA-ESA): one call lists errors, a second gives a score, 0 to 100,
    in view of them."""

    name = "judge-esa"
    summary = "errors listed by an LLM, then its score in view of them, 0 to 100: judge-esa@MODEL"
    file = "esa"
    limit = 1024

    errors_prompt: str = ""  # a file for the first call; ``prompt`` is for the second

    def prompts(self) -> dict[str, tuple[str, Prompt]]:
        first = (
            Path(self.errors_prompt).name or "wholetext/errors",
            load_prompt("errors", self.errors_prompt),
        )
        return {**super().prompts(), "errors_prompt": first}

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        texts, prompt = self.texts(request, langs), self.prompts()["errors_prompt"][1]
        return [
            prompt.ask(texts, self.answer, "errors", sample=sample)
            for sample in range(self.samples)
        ]

    def planned(self, requests: Sequence[Request], run: Runtime) -> Planned:
        """The second call is known once the first is answered; before, it is the one about a text without errors."""
        chat, asks, *_ = super().planned(requests, run)
        heard, prompt = run.stored(chat, asks), self.prompts()["prompt"][1]
        later, about = [], [request for request in requests for _ in range(self.samples)]
        for request, ask in zip(about, asks):
            faults = parse_errors(heard[ask].text).faults if ask in heard else ()
            texts = self.texts(request, run.langs)
            later.append(prompt.ask(texts, self.answer, "score", faults=faults, sample=ask.sample))
        return Planned(
            chat, asks, later, {**self.again(asks, "errors_prompt"), **self.again(later, "prompt")}
        )

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        prompts = {key: prompt for key, (_, prompt) in self.prompts().items()}
        asks = [
            (i, ask) for i, request in enumerate(requests) for ask in self.asks(request, run.langs)
        ]
        first = self.hear([ask for _, ask in asks], run, parse_errors, prompts["errors_prompt"])
        found = [Verdict() for _ in requests]
        second = [
            (
                i,
                prompts["prompt"].ask(
                    self.texts(requests[i], run.langs),
                    self.answer,
                    "score",
                    faults=reply.parsed.faults,
                    sample=ask.sample,
                ),
            )
            for (i, ask), reply in zip(asks, first)
            if reply.parsed.ok
        ]
        for (i, _), reply in zip(asks, first):
            found[i].replies.append(reply)
            if found[i].faults is None and reply.parsed.ok:
                found[i].faults = reply.parsed.faults
        for (i, _), reply in zip(
            second, self.hear([ask for _, ask in second], run, parse_score, prompts["prompt"])
        ):
            found[i].replies.append(reply)
            found[i].values.append(self.value(reply.parsed, requests[i]))
        for one in found:
            one.values = one.values or [(NAN,)]
        return found


@dataclass(frozen=True)
class JudgeCoherence(Judge):
    """How well a text holds together: five aspects from 0 to 100 with quotes as evidence; the score is their mean."""

    name = "judge-coherence"
    summary = "an LLM's rubric of document coherence with evidence, 0 to 100: judge-coherence@MODEL"
    view = "whole"
    sources = frozenset({"hyp"})
    wants = frozenset({"src"})
    file = "coherence"
    schema = "rubric"
    limit = 2048
    columns = ("score", *ASPECTS)

    @staticmethod
    def parse(text: str, cut: bool) -> Parsed:
        return parse_rubric(text, cut)

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        return (
            *super().value(parsed, request),
            *(parsed.aspects.get(aspect, NAN) for aspect in ASPECTS),
        )
