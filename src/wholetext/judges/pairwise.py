"""Pairwise judging: a chat model compares a translation with each of the other systems', in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholetext.errors import SpecError
from wholetext.judges.chat.calls import Ask
from wholetext.judges.judge import NAN, Judge, Reply, Verdict
from wholetext.judges.parsers import Parsed, parse_choice
from wholetext.judges.prompts import Texts
from wholetext.types import Excerpt, Request, Runtime

_WORTH = {"A": 1.0, "tie": 0.5, "B": 0.0}


@dataclass(frozen=True)
class JudgePairwise(Judge):
    """The share of comparisons won, in per cent, a tie being half a win; every pair is asked about in both orders.

    ``flips`` is the share of pairs, in per cent, whose verdict depends on the order: they count half to each side.
    Equal texts are a tie, and no call is made.
    """

    name = "judge-pairwise"
    summary = "percentage of comparisons with the other systems that an LLM decides in its favour: judge-pairwise@MODEL"
    rivals = True
    file = "pairwise"
    schema = "choice"
    limit = 32
    columns = ("score", "flips")
    incomplete = "some comparisons have no verdict"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode == "ref":
            raise SpecError(
                "judge-pairwise is shown no references: the other systems' outputs stand in their place",
                next="leave mode out, or use a judge that reads references, such as judge-esa(mode=ref)",
            )

    @staticmethod
    def parse(text: str, cut: bool) -> Parsed:
        return parse_choice(text, cut)

    def pair(
        self, request: Request, rival: Excerpt, langs: tuple[str, str], sample: int
    ) -> list[Ask]:
        """The two calls about a pair: with the hypothesis first, and with the rival first."""
        prompt, source = (
            self.prompts()["prompt"][1],
            [("source", request.src)] if request.src is not None else [],
        )
        orders = ((request.hyp[0], rival), (rival, request.hyp[0]))
        shown = [
            Texts(langs, (*source, ("translation A", a), ("translation B", b))) for a, b in orders
        ]
        return [prompt.ask(texts, self.answer, self.schema, sample=sample) for texts in shown]

    def asks(self, request: Request, langs: tuple[str, str]) -> list[Ask]:
        return [
            ask
            for sample in range(self.samples)
            for rival in _others(request)
            for ask in self.pair(request, rival, langs, sample)
        ]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]] | None:  # type: ignore[override]
        asks = self.asks(request, run.langs)
        return list(asks[0].messages[-1:]) if asks else None

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        asks = [self.asks(request, run.langs) for request in requests]
        replies = iter(
            self.hear(
                [ask for some in asks for ask in some], run, self.parse, self.prompts()["prompt"][1]
            )
        )
        found = []
        for i, (request, some) in enumerate(zip(requests, asks)):
            heard = [next(replies) for _ in some]
            pairs = [_pair(*heard[at : at + 2]) for at in range(0, len(heard), 2)]
            size = len(pairs) // self.samples
            equal = [(50.0, NAN)] * (len(request.refs) - size)
            values = [
                _won([*pairs[at * size : (at + 1) * size], *equal]) for at in range(self.samples)
            ]
            found.append(Verdict(values, heard))
            said = [reply.parsed.choice for reply in heard]
            run.detail(
                i, orders=[list(two) for two in zip(said[::2], said[1::2])]
            )  # this one first, then second
            if any(flip == 100.0 for _, flip in pairs):
                run.warn(
                    "a verdict depends on the order of the two translations, and counts half to each",
                    i,
                )
        return found


def _others(request: Request) -> list[Excerpt]:
    return [rival for rival in request.refs if rival.scored != request.hyp[0].scored]


def _pair(first: Reply, second: Reply) -> tuple[float, float]:
    """What the hypothesis wins of a pair, and whether the verdict changed with the order; NaN without two verdicts."""
    if not (first.parsed.ok and second.parsed.ok):
        return NAN, NAN
    one, other = _WORTH[first.parsed.choice], 1 - _WORTH[second.parsed.choice]
    return 50 * (one + other), 100.0 * (one != other)


def _won(pairs: Sequence[tuple[float, float]]) -> Sequence[float]:
    """The means of what was won and of verdicts that changed, over the pairs that have them."""
    known = [[value for value in column if value == value] for column in zip(*pairs)]
    return [sum(column) / len(column) if column else NAN for column in known]
