"""LLM judges: a chat model reads the text of a view and returns a score, errors or a rubric."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from wholetext.errors import MetricError, SpecError
from wholetext.judges.chat import Answer, Ask, Calls, Chat, Sampling
from wholetext.judges.parsers import (
    ASPECTS,
    CUT,
    PARSER,
    REFUSED,
    SEVERITIES,
    Fault,
    Parsed,
    parse,
    placed,
)
from wholetext.judges.prompts import JudgedTexts, JudgePrompt, load_domains, load_prompt
from wholetext.types import Fit, FloatArray, Metric, Request, Runtime, Side, mean_stats

NAN = float("nan")
WEIGHTS = dict(zip(SEVERITIES, (25.0, 5.0, 1.0)))  # Freitag et al. 2021, as in published judges
_COUNTS = ("refused", "unparsable", "repaired", "failed", "unlocated")
UNREADABLE = "the judge's answer could not be read, nor the one to a second request"
TOO_SHORT = (
    "the judge's answer was cut at max_tokens, and so was the one to a second request: "
    "raise max_tokens, to thousands for a model that reasons first"
)

_WARNINGS = {
    "repaired": "the judge's first answer could not be read; its second counts",
    "unlocated": "the judge quotes words that are not in the text: such errors count, and are not "
    "marked",
}


class Reply(NamedTuple):
    """A parsed answer to the first request, or to a second one (``repaired``)."""

    parsed: Parsed
    answer: Answer
    repaired: bool = False

    def outcome(self) -> tuple[str, str]:
        """Return the kind of failure, for counting, and the reason; both empty without a failure."""
        if self.answer.problem:
            kind, colon, message = self.answer.problem.partition(":")
            message = re.sub("[0-9]+", "…", message)[:120]  # lengths differ from row to row
            return "failed", f"the endpoint gave no answer ({kind}{colon}{message})"
        if self.parsed.problem == REFUSED:
            return "refused", REFUSED
        if self.parsed.problem:
            return "unparsable", TOO_SHORT if self.parsed.problem == CUT else UNREADABLE
        return "repaired" if self.repaired else "", ""


class Verdict(NamedTuple):
    """The values of a request by sample, all replies, and the errors of the first parsed sample."""

    values: Sequence[Sequence[float]]
    replies: Sequence[Reply]
    faults: Sequence[Fault] = ()


@dataclass(frozen=True)
class Judge(Metric):
    """Base of all judges. Raw answers are cached, rows are not: answers are parsed on every run."""

    view = "sentence"
    range = (0.0, 100.0)
    decimals = 2
    cacheable = False
    remote = True
    own_context = True
    sources: ClassVar[frozenset[Side]] = frozenset({"src", "hyp"})
    file: ClassVar[str]  # name of the built-in prompt
    schema: ClassVar[str] = "score"
    refused: ClassVar[str] = ""  # an argument that the other judges have
    limit: ClassVar[int] = 64  # default maximum of tokens in an answer
    incomplete: ClassVar[str] = "some samples have no score"  # where others have one

    model: str = ""
    mode: Literal["qe", "ref"] = "qe"  # whether the judge is shown references
    answer: Literal["json", "text"] = "json"  # the requested form; both are parsed
    prompt: str = ""  # a file; the built-in prompt by default
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    samples: int = 1

    def __post_init__(self) -> None:
        faults = {
            "samples and max_tokens are numbers from 1 up": self.samples < 1
            or (self.max_tokens or 1) < 1,
            "all samples would be the same at temperature 0": self.samples > 1
            and self.temperature == 0,
            f"{self.name} does not offer {self.refused}": self.refused
            in (f"mode={self.mode}", f"answer={self.answer}"),
        }
        for fault, holds in faults.items():
            if holds:
                raise SpecError(
                    fault, next="e.g. samples=10,temperature=0.7; see `wholetext help judges`"
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
        load_domains.cache_clear()
        self.facts()
        return replace(self, max_tokens=self.max_tokens or self.limit)

    def prompts(self) -> dict[str, JudgePrompt]:
        """Return the prompts by their names in the signature."""
        return {"prompt": load_prompt(self.file, self.prompt)}

    def facts(self) -> Mapping[str, str]:
        named = {key: f"{prompt.name}#{prompt.hash}" for key, prompt in self.prompts().items()}
        return {**named, "parser": PARSER}

    def chat(self, run: Runtime) -> Chat:
        tokens = self.max_tokens or self.limit
        sampling = Sampling(self.temperature, self.top_p, self.seed, tokens)
        if run.calls is None:
            run.calls = Calls()
        return Chat(self.model, sampling, run.calls)

    # -------------------------------------------------------- requests

    def texts(self, request: Request, langs: tuple[str, str]) -> JudgedTexts:
        refs = [
            (f"reference {i + 1}" if len(request.refs) > 1 else "reference", reference)
            for i, reference in enumerate(request.refs)
        ]
        source = [("source", request.src)] if request.src is not None else []
        return JudgedTexts(langs, (*source, *refs, ("translation", request.hyp[0])))

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        """Return the calls about a request, one per sample."""
        return self.sampled(self.texts(request, langs), self.schema)

    def sampled(self, texts: JudgedTexts, schema: str, prompt: str = "prompt") -> list[Ask]:
        """Return a call about these texts for every sample."""
        ask = self.prompts()[prompt].ask(texts, self.answer, schema)
        return [ask._replace(sample=sample) for sample in range(self.samples)]

    def planned(
        self, requests: Sequence[Request], run: Runtime
    ) -> tuple[Chat, list[Ask], list[Ask]]:
        """Return the model, the calls about these requests, and calls that depend on their answers."""
        asks = [ask for request in requests for ask in self.asks(request, run.langs)]
        return self.chat(run), asks, []

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        """Estimate tokens as four bytes each; only a call tells whether a text is too long."""
        return [Fit(len(request.hyp[0].text) // 4) for request in requests]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]] | None:
        asks = self.asks(request, run.langs)
        return list(asks[0].messages[-1:]) if asks else None  # a dry run prints all of it

    def hear(
        self, calls: Sequence[Sequence[Ask]], run: Runtime, schema: str, prompt: str = "prompt"
    ) -> list[list[Reply]]:
        """Parse the answers to the calls about each request; unparsable ones are repeated once."""
        chat, repair = self.chat(run), self.prompts()[prompt].repair
        asks = list(chain(*calls))

        def read(answer: Answer) -> Parsed:
            if answer.refusal or answer.finish == "content_filter":
                return Parsed(REFUSED)
            if answer.problem:
                return Parsed(answer.problem)
            return parse(schema, answer.text, answer.finish == "length")

        replies = [Reply(read(answer), answer) for answer in run.map(chat, asks)]
        again = [i for i, reply in enumerate(replies) if reply.outcome()[0] == "unparsable"]
        second = [
            repair(asks[i], replies[i].answer.text, replies[i].parsed.problem, self.answer)
            for i in again
        ]
        for i, answer in zip(again, run.map(chat, second)):
            replies[i] = Reply(read(answer), answer, repaired=True)
        ordered = iter(replies)
        return [list(islice(ordered, len(own))) for own in calls]

    # -------------------------------------------------------- scores

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        """Return the judge's verdict on each request."""
        return [
            Verdict(
                [self.value(reply.parsed, request) for reply in replies],
                replies,
                first_faults(replies),
            )
            for request, replies in zip(requests, self.replies(requests, run))
        ]

    def replies(self, requests: Sequence[Request], run: Runtime) -> list[list[Reply]]:
        """Return the replies to all calls about each request."""
        calls = [self.asks(request, run.langs) for request in requests]
        return self.hear(calls, run, self.schema)

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        """Return a number per column; NaN if undefined."""
        return (NAN if parsed.score is None or not parsed.ok else parsed.score,)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        rows = []
        for i, (request, verdict) in enumerate(zip(requests, self.verdicts(requests, run))):
            values = np.array(verdict.values, dtype=np.float64)  # (samples, columns)
            rows.append(trimmed(values)[: len(self.outputs)])
            self.note(i, request, verdict, run)
            for prompt in self.prompts().values():
                for caveat in prompt.caveats(self.texts(request, run.langs)):
                    run.warn(caveat)
            if self.samples > 1:
                samples = values[:, 0].tolist()
                run.detail(i, samples=[None if value != value else value for value in samples])
        return mean_stats(np.array(rows).reshape(len(requests), len(self.outputs)))

    def note(self, i: int, request: Request, verdict: Verdict, run: Runtime) -> None:
        """Store the verdict on a request, and count failures."""
        failures = [reply.outcome() for reply in verdict.replies]
        counts = Counter(kind for kind, _ in failures)
        spans, errors = placed(verdict.faults, request)
        counts["unlocated"] = sum(not error["located"] for error in errors)
        answers = [reply.answer for reply in verdict.replies if not reply.answer.problem]
        judge: dict[str, Any] = {name: counts[name] for name in _COUNTS if counts[name]}
        judge |= {
            "model": sorted({answer.model for answer in answers}),
            "fingerprint": sorted({answer.fingerprint for answer in answers if answer.fingerprint}),
            "structured": sorted({answer.structured for answer in answers}),
        }
        marks = {"spans": spans, "errors": errors}
        run.detail(i, judge=judge, **{name: value for name, value in marks.items() if value})
        reason = next((reason for _, reason in failures if reason), "")
        if reason and all(value[0] != value[0] for value in verdict.values):
            run.detail(i, reason=reason)
        elif reason:
            run.warn(f"{self.incomplete}: {reason}", i)
        for kind, message in _WARNINGS.items():
            if counts[kind]:
                run.warn(message, i)

    def outcomes(self, details: Sequence[Mapping[str, Any] | None]) -> Mapping[str, object]:
        """Name the models that answered, and count answers that were refused or unparsable."""
        judges = [detail["judge"] for detail in details if detail]

        def joined(key: str) -> str:
            return ",".join(sorted({str(name) for judge in judges for name in judge[key]}))

        return {
            "answered_by": joined("model") or "none",
            "fingerprint": joined("fingerprint") or "none",
            "structured": joined("structured").lower(),
            **{name: sum(judge.get(name, 0) for judge in judges) for name in _COUNTS},
        }


def trimmed(values: FloatArray) -> list[float]:
    """Average (samples, columns) without samples whose score is beyond 2σ; append σ of all."""
    known = values[~np.isnan(values[:, 0])]
    if not len(known):
        return [NAN] * (values.shape[1] + 1)
    scores = known[:, 0]
    inliers = known[np.abs(scores - scores.mean()) <= 2 * scores.std() + 1e-9]
    mean = np.ma.masked_invalid(inliers).mean(axis=0).filled(NAN)
    return [*mean.tolist(), float(scores.std(ddof=1)) if len(scores) > 1 else NAN]


def first_faults(replies: Sequence[Reply]) -> Sequence[Fault]:
    """Return the errors of the first parsed reply."""
    return next((reply.parsed.faults for reply in replies if reply.parsed.ok), ())


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
    """Errors listed by a chat model, weighted -25, -5 and -1 (GEMBA-MQM: Kocmi and Federmann 2023b).

    ``profile=published`` counts the five worst errors and at most 25 points, so documents saturate.
    The second output is the points per 1,000 characters.
    """

    name = "judge-mqm"
    summary = "MQM score of the errors listed by an LLM, 0 (best) or below: judge-mqm@MODEL"
    file = "errors"
    schema = "errors"
    marks_errors = True
    limit = 1024
    columns = ("score", "per_1000")

    profile: Literal["default", "published"] = "default"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (-25.0 if self.profile == "published" else -np.inf, 0.0)

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        points = sorted((WEIGHTS[fault.severity] for fault in parsed.faults), reverse=True)
        total = min(25.0, sum(points[:5])) if self.profile == "published" else sum(points)
        return (NAN, NAN) if not parsed.ok else (0.0 - total, 0.0 - total)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        """Weight the second mean by characters."""
        stats, n = super().measure(requests, run), len(self.outputs)
        length = np.array([len(request.hyp[0].text) for request in requests], dtype=np.float64)
        stats[:, 1] *= 1000 * (length > 0)
        stats[:, n + 1] *= length
        return stats


@dataclass(frozen=True)
class JudgeEsa(Judge):
    """Error span annotation (Kocmi et al. 2024, as GEMBA-ESA).

    The first call lists errors, the second gives a score from 0 to 100 in view of them.
    """

    name = "judge-esa"
    summary = "errors listed by an LLM, then its score in view of them, 0 to 100: judge-esa@MODEL"
    file = "esa"
    marks_errors = True
    limit = 1024

    errors_prompt: str = ""  # a file for the first call; ``prompt`` is for the second
    domains: str = ""  # what counts in each domain: wmt26 (ours), or a TOML file of such texts

    @property
    def by_domain(self) -> bool:
        return bool(self.domains)

    def prompts(self) -> dict[str, JudgePrompt]:
        return {**super().prompts(), "errors_prompt": load_prompt("errors", self.errors_prompt)}

    def facts(self) -> Mapping[str, str]:
        stated = {"domain_texts": load_domains(self.domains).hash} if self.domains else {}
        return {**super().facts(), **stated}

    def texts(self, request: Request, langs: tuple[str, str]) -> JudgedTexts:
        known = load_domains(self.domains).texts if self.domains else None
        domain = None if known is None else known.get(request.domain, "")
        return replace(super().texts(request, langs), domain=domain)

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        return self.sampled(self.texts(request, langs), "errors", "errors_prompt")

    def planned(
        self, requests: Sequence[Request], run: Runtime
    ) -> tuple[Chat, list[Ask], list[Ask]]:
        """Plan both calls; until the first is answered, the second is assumed to show no errors."""
        chat, asks, _ = super().planned(requests, run)
        stored = run.stored(chat, asks)
        faults = {ask: parse("errors", answer.text).faults for ask, answer in stored.items()}
        later = [
            self.score_ask(requests[at // self.samples], run.langs, faults.get(ask, ()), ask.sample)
            for at, ask in enumerate(asks)
        ]
        return chat, asks, later

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        calls = [self.asks(request, run.langs) for request in requests]
        listed = self.hear(calls, run, "errors", "errors_prompt")
        second = [
            [
                self.score_ask(request, run.langs, reply.parsed.faults, sample)
                for sample, reply in enumerate(replies)
                if reply.parsed.ok
            ]
            for request, replies in zip(requests, listed)
        ]
        return [
            Verdict(
                [self.value(reply.parsed, request) for reply in scored] or [(NAN,)],
                [*replies, *scored],
                first_faults(replies),
            )
            for request, replies, scored in zip(requests, listed, self.hear(second, run, "score"))
        ]

    def score_ask(
        self, request: Request, langs: tuple[str, str], faults: Sequence[Fault], sample: int
    ) -> Ask:
        """Return the second call about a request, which shows the errors of the first answer."""
        prompt, texts = self.prompts()["prompt"], self.texts(request, langs)
        return prompt.ask(texts, self.answer, "score", faults)._replace(sample=sample)


@dataclass(frozen=True)
class JudgeCoherence(Judge):
    """Coherence of a text: the mean of five aspects from 0 to 100, with quotes as evidence."""

    name = "judge-coherence"
    summary = "an LLM's rubric of document coherence with evidence, 0 to 100: judge-coherence@MODEL"
    view = "whole"
    sources = frozenset({"hyp"})
    wants = frozenset({"src"})
    file = "coherence"
    schema = "rubric"
    limit = 2048
    columns = ("score", *ASPECTS)
    refused = "answer=text"

    def value(self, parsed: Parsed, request: Request) -> Sequence[float]:
        return (
            *super().value(parsed, request),
            *(parsed.aspects.get(aspect, NAN) for aspect in ASPECTS),
        )


# ---------------------------------------------------------------- pairs of systems

_WORTH = {"A": 1.0, "tie": 0.5, "B": 0.0}


@dataclass(frozen=True)
class JudgePairwise(Judge):
    """Percentage of comparisons won, a tie being half a win; every pair is judged in both orders.

    ``flips`` is the percentage of pairs whose verdict depends on the order; they count half to each
    side. Equal texts are a tie without a call.
    """

    name = "judge-pairwise"
    summary = (
        "percentage of comparisons with the other systems that an LLM decides in its favour: "
        "judge-pairwise@MODEL"
    )
    rivals = True
    file = "pairwise"
    schema = "choice"
    limit = 32
    columns = ("score", "flips")
    incomplete = "some comparisons have no verdict"

    refused = "mode=ref"  # outputs of other systems take the place of references

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        """Return the calls about each pair, with the hypothesis first and with the rival first."""
        hypothesis = request.hyp[0]
        source = [("source", request.src)] if request.src is not None else []
        orders = [
            order
            for rival in request.refs
            if rival.scored != hypothesis.scored
            for order in ((hypothesis, rival), (rival, hypothesis))
        ]
        pairs = [
            JudgedTexts(langs, (*source, ("translation A", a), ("translation B", b)))
            for a, b in orders
        ]
        calls = [self.sampled(texts, self.schema) for texts in pairs]
        return [ask for sample in zip(*calls) for ask in sample]

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        verdicts = []
        for i, (request, replies) in enumerate(zip(requests, self.replies(requests, run))):
            both = list(zip(replies[::2], replies[1::2]))  # this system first, then second
            pairs = np.array([_pair(*orders) for orders in both]).reshape(self.samples, -1, 2)
            equal = len(request.refs) - pairs.shape[1]
            ties = np.tile((50.0, NAN), (self.samples, equal, 1))
            known = np.ma.masked_invalid(np.concatenate([pairs, ties], axis=1))
            verdicts.append(Verdict(known.mean(axis=1).filled(NAN).tolist(), replies))
            run.detail(i, orders=[[reply.parsed.choice for reply in orders] for orders in both])
            if (pairs[..., 1] == 100.0).any():
                run.warn(
                    "a verdict depends on the order of the two translations, and counts half to "
                    "each",
                    i,
                )
        return verdicts


def _pair(first: Reply, second: Reply) -> tuple[float, float]:
    """Return the percentage won, and 100 if the order changed the verdict; NaN if unknown."""
    if not (first.parsed.ok and second.parsed.ok):
        return NAN, NAN
    in_first, in_second = _WORTH[first.parsed.choice], 1 - _WORTH[second.parsed.choice]
    return 50 * (in_first + in_second), 100.0 * (in_first != in_second)
