"""Formats and instructions that an output did not follow: kept, included or left out.

Like the flags of ``degenerate`` these are hints for people and prefer silence to a false alarm:
what no reference keeps either is not required. docs/degenerate.md has the precision of each check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wholetext.flags import markup
from wholetext.flags.degenerate import DEGENERATE, Flag, FormatKind, side_by_side, summary
from wholetext.flags.numbers import missing_numbers
from wholetext.flags.prompts import leaked
from wholetext.types import Corpus, Output

WORDS: dict[str, str] = {
    "prompt": "prompt leakage",
    "fence": "Markdown fences",
    "json": "broken JSON or changed keys",
    "placeholder": "changed placeholders",
    "tag": "changed tags",
    "url": "changed URLs",
    "email": "changed e-mail addresses",
    "number": "changed numbers",
}
KEPT: dict[FormatKind, Callable[[str], markup.Tokens]] = {
    "placeholder": markup.placeholders,
    "tag": markup.tags,
    "url": markup.urls,
    "email": markup.emails,
}
_SIGN = re.compile(r"[{%<@:]")  # what each of these kinds has at least one of, or "www."


@dataclass(frozen=True)
class _Text:
    """A segment, or a document (whole, or not aligned), in every language."""

    hyp: str
    src: str | None
    refs: tuple[str, ...]


def format_flags(corpus: Corpus, output: Output) -> tuple[Flag, ...]:
    """Flag faults of format of one system's output.

    A text may have several kinds, each once. Without a source, only leaked prompts and JSON that
    is not valid are noticed.
    """
    return tuple(
        Flag(kind, doc, segment, note)
        for doc, units in _segments(corpus, output)
        for segment, kind, note in _document(units)
    )


def notes_on_flags(flags: Mapping[str, Sequence[Flag]]) -> list[str]:
    """Summarise flags: up to two lines per system, on degenerate output and on formats."""
    notes = [
        summary(system, [flag for flag in of_system if flag.kind in words], words)
        for system, of_system in flags.items()
        for words in (DEGENERATE, WORDS)
    ]
    return [note for note in notes if note]


def _segments(
    corpus: Corpus, output: Output
) -> Iterator[tuple[str, list[tuple[int | None, _Text]]]]:
    """Yield each document with its segments; one that does not align is one text."""
    texts = side_by_side(corpus, output)
    units: dict[str, list[tuple[int | None, _Text]]] = {doc.id: [] for doc in corpus.docs}
    for at, doc in enumerate(texts.docs):
        src = None if texts.src is None else texts.src[at]
        units[doc].append(
            (texts.segments[at], _Text(texts.hyp[at], src, tuple(ref[at] for ref in texts.refs)))
        )
    yield from units.items()


def _document(
    units: list[tuple[int | None, _Text]],
) -> Iterator[tuple[int | None, FormatKind, str]]:
    whole = _joined([text for _, text in units])
    alone = units[0][0] if len(units) == 1 else None  # where a fault of the whole document is
    if markup.looks_like_json(whole.hyp if whole.src is None else whole.src) and (
        note := markup.json_fault(whole.hyp, whole.src)
    ):
        yield alone, "json", note
    if whole.src is not None:
        marks, *expected = map(markup.fences, (whole.hyp, whole.src, *whole.refs))
        if marks not in expected:
            yield alone, "fence", f"{marks} fences, the source has {expected[0]}"
    for at, (segment, text) in enumerate(units):
        if words := leaked(text.hyp, text.src):
            yield segment, "prompt", f"“{words[:60]}”"
        if text.src is None:
            continue
        if any(_SIGN.search(side) or "www." in side.lower() for side in (text.hyp, text.src)):
            for kind, tokens in KEPT.items():
                if note := _changed(kind, tokens, text, whole):
                    yield segment, kind, note
        neighbours = [neighbour for _, neighbour in units[max(0, at - 1) : at + 2]]
        if note := _lost_numbers(text, neighbours):
            yield segment, "number", note


def _joined(texts: list[_Text]) -> _Text:
    if len(texts) == 1:
        return texts[0]
    src = (
        None
        if any(text.src is None for text in texts)
        else "\n".join(text.src or "" for text in texts)
    )
    refs = tuple(map("\n".join, zip(*(text.refs for text in texts))))
    return _Text("\n".join(text.hyp for text in texts), src, refs)


def _lost_numbers(text: _Text, near: list[_Text]) -> str:
    """Name numbers that segment and neighbours lack, though a reference has them."""
    lost = missing_numbers(markup.without_tokens(text.src or ""), text.hyp)
    if not lost:
        return ""
    around = _joined(near)
    lost = [
        number
        for number in lost
        if missing_numbers(number, around.hyp)
        and not (text.refs and all(missing_numbers(number, ref) for ref in around.refs))
    ]
    return f"missing: {', '.join(lost[:3])}" if lost else ""


def _changed(
    kind: FormatKind, tokens: Callable[[str], markup.Tokens], text: _Text, whole: _Text
) -> str:
    """Name tokens of the source that segment and document lack, or that were added."""
    if (expected := tokens(text.src or "")) == (actual := tokens(text.hyp)):
        return ""
    here, there = tokens(whole.hyp), tokens(whole.src or "")
    lost, added = (
        [*((expected - actual) & (there - here))],
        [*((actual - expected) & (here - there))],
    )
    if whole.refs:  # as often as in some reference is enough
        theirs = [tokens(ref) for ref in whole.refs]
        lost = [token for token in lost if here[token] < min(ref[token] for ref in theirs)]
        added = [token for token in added if here[token] > max(ref[token] for ref in theirs)]
    if kind in ("url", "email"):  # other words for the same place are common: only a loss counts
        lost, added = [token for token in lost if token not in whole.hyp.lower()], []
    parts = [
        f"{word}: {', '.join(changed[:3])}"
        for word, changed in (("lost", lost), ("added", added))
        if changed
    ]
    return "; ".join(parts)
