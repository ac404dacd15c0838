"""What BlonDe compared in a document, segment by segment: spans that match, are missing or are extra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class MatchedSpan:
    """One thing that counts, with its characters in the output's or the reference's segment."""

    category: str
    feature: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Compared:
    """One segment of the output beside the reference's."""

    number: int  # from 1
    hyp: str
    ref: str
    matched: tuple[MatchedSpan, ...]  # in the output
    matched_ref: tuple[MatchedSpan, ...]  # in the reference
    missing: tuple[MatchedSpan, ...]  # in the reference, without a partner in the output
    extra: tuple[MatchedSpan, ...]  # in the output, without a partner in any reference

    @property
    def faultless(self) -> bool:
        return not self.missing and not self.extra

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compared(
    details: Sequence[tuple[int, Mapping[str, Any]]], hyp: Sequence[str], ref: Sequence[str], which: int = 0
) -> tuple[Compared, ...]:
    """The segments of a document from the details that ``measure`` left, each with the first segment of its row.

    ``which`` is the place of the reference among those that were used.
    """
    ours = [[start + row[0], *row[1:]] for start, detail in details for row in detail["blonde"]["hyp"]]
    theirs = [[start + row[0], *row[1:]] for start, detail in details for row in detail["blonde"]["refs"][which]]
    return tuple(
        Compared(
            number=i + 1, hyp=hyp[i] if i < len(hyp) else "", ref=ref[i] if i < len(ref) else "",
            matched=_pick(ours, hyp, i, True), matched_ref=_pick(theirs, ref, i, True),
            missing=_pick(theirs, ref, i, False), extra=_pick(ours, hyp, i, False),
        )
        for i in range(max(len(hyp), len(ref)))
    )


def _pick(rows: Sequence[Sequence[Any]], texts: Sequence[str], segment: int, matched: bool) -> tuple[MatchedSpan, ...]:
    return tuple(
        MatchedSpan(category, feature, texts[segment][start:end], start, end)
        for where, start, end, category, feature, hit in rows
        if where == segment and bool(hit) == matched
    )
