"""Pairwise judging: a chat model compares a translation with each of the other systems', in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholetext.judges.chat import Ask
from wholetext.judges.judge import NAN, Judge, Reply, Verdict
from wholetext.judges.prompts import Texts
from wholetext.types import Request, Runtime

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
        """The calls about each pair: with the hypothesis first, and with the rival first."""
        hypothesis = request.hyp[0]
        source = [("source", request.src)] if request.src is not None else []
        orders = [
            order
            for rival in request.refs
            if rival.scored != hypothesis.scored
            for order in ((hypothesis, rival), (rival, hypothesis))
        ]
        pairs = [
            Texts(langs, (*source, ("translation A", a), ("translation B", b))) for a, b in orders
        ]
        calls = [self.sampled(texts, self.schema) for texts in pairs]
        return [ask for sample in zip(*calls) for ask in sample]

    def verdicts(self, requests: Sequence[Request], run: Runtime) -> list[Verdict]:
        verdicts = []
        for i, (request, replies) in enumerate(zip(requests, self.replies(requests, run))):
            both = list(zip(replies[::2], replies[1::2]))  # this system first, then second
            pairs = [_pair(*orders) for orders in both]
            size = len(pairs) // self.samples
            equal = [(50.0, NAN)] * (len(request.refs) - size)
            values = [
                _won([*pairs[at * size : (at + 1) * size], *equal]) for at in range(self.samples)
            ]
            verdicts.append(Verdict(values, replies))
            run.detail(i, orders=[[reply.parsed.choice for reply in orders] for orders in both])
            if any(flip == 100.0 for _, flip in pairs):
                run.warn(
                    "a verdict depends on the order of the two translations, and counts half to "
                    "each",
                    i,
                )
        return verdicts


def _pair(first: Reply, second: Reply) -> tuple[float, float]:
    """Percentage won by the hypothesis, and 100 if the order changed the verdict; NaN if unknown."""
    if not (first.parsed.ok and second.parsed.ok):
        return NAN, NAN
    in_first, in_second = _WORTH[first.parsed.choice], 1 - _WORTH[second.parsed.choice]
    return 50 * (in_first + in_second), 100.0 * (in_first != in_second)


def _won(pairs: Sequence[tuple[float, float]]) -> Sequence[float]:
    """Means over the pairs that have a verdict."""
    known = [[value for value in column if value == value] for column in zip(*pairs)]
    return [sum(column) / len(column) if column else NAN for column in known]
