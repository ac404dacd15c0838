"""Degenerate output: empty, copied, loops, repeated, wrong script or language, odd length.

Flags are hints for people, so every check prefers silence to a false alarm: it compares with the
reference (or else the source) and is quiet where that has the same peculiarity. docs/degenerate.md
has the rates on human translations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wholetext import slices
from wholetext.errors import count
from wholetext.flags import checks
from wholetext.flags.checks import SideBySide
from wholetext.types import Corpus, Output

Kind = Literal["empty", "copied", "loop", "repeat", "script", "language", "length", "unrelated"]
FormatKind = Literal["prompt", "fence", "json", "placeholder", "tag", "url", "email", "number"]
DEGENERATE: dict[str, str] = {
    "empty": "no text",
    "copied": "copied source",
    "loop": "loops",
    "repeat": "same text for different sources",
    "script": "wrong script",
    "language": "wrong language",
    "length": "length out of proportion",
    "unrelated": "not a translation of the source",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """A finding about a segment, a document (``segment`` is None) or a system (``doc`` is None)."""

    kind: Kind | FormatKind  # a ``Kind`` of this module, or one of ``formats``
    doc: str | None
    segment: int | None  # counted from 0
    note: str


def flags(corpus: Corpus, output: Output) -> tuple[Flag, ...]:
    """Flag one system's output: segments, then documents, then the system.

    A segment gets one flag, of the first kind (in the order of ``Kind``) that explains it. A
    document gets one if half of its segments have, or if taken together they are out of
    proportion; the system, if one segment in twenty has. Where an output has
    other segments than the source, the document is judged as one text.
    """
    texts = side_by_side(corpus, output)
    unrelated = slices.hook("unrelated")
    reasons: dict[int, tuple[Kind, str]] = {}
    every: dict[Kind, dict[int, str]] = {
        "empty": checks.empty(texts),
        "copied": checks.copied(texts),
        "loop": checks.loops(texts),
        "repeat": checks.repeats(texts),
        "script": checks.wrong_script(texts),
        "language": checks.wrong_language(texts),
        "length": checks.lengths(texts),
        "unrelated": unrelated(texts) if unrelated else {},
    }
    for kind, notes in every.items():
        for at, note in notes.items():
            reasons.setdefault(at, (kind, note))
    single = [
        Flag(reasons[at][0], texts.docs[at], texts.segments[at], reasons[at][1])
        for at in sorted(reasons)
    ]
    counts = Counter(flag.kind for flag in single)
    total = len(texts.docs)
    system = [
        Flag(kind, None, None, f"{number} of {total} segments")
        for kind, number in counts.items()
        if number >= max(3, total / 20)
    ]
    return (*single, *_documents(texts, single), *system)


def summary(system: str, flags: Iterable[Flag], words: Mapping[str, str] = DEGENERATE) -> str:
    """Summarise a system in one line, or ``""``: counts by kind, and where to look first."""
    flagged = [flag for flag in flags if flag.doc is not None]
    if not flagged:
        return ""
    counts = Counter((flag.kind, flag.segment is None) for flag in flagged)
    parts = [
        f"{words[kind]} in {count(number, 'document' if whole else 'segment')}"
        for (kind, whole), number in counts.most_common()
    ]
    first = next(
        flag for flag in flagged if (flag.kind, flag.segment is None) == counts.most_common(1)[0][0]
    )
    return f"{system}: {', '.join(parts)}; see {place(first)}: {first.note}"


def place(flag: Flag) -> str:
    """Name the place of a flag, as notes do."""
    return f"document {flag.doc}" + (
        "" if flag.segment is None else f", segment {flag.segment + 1}"
    )


def side_by_side(corpus: Corpus, output: Output) -> SideBySide:
    """Put texts in parallel: segments, or whole documents where their numbers differ."""
    names = corpus.references
    texts = SideBySide(
        corpus.langs, [], [], [], [] if corpus.has_source else None, [[] for _ in names]
    )
    for doc in corpus.docs:
        hyp = output.docs[doc.id]
        columns: list[Sequence[str]] = [
            hyp,
            *([doc.src] if texts.src is not None and doc.src is not None else []),
        ]
        columns += [doc.refs[name] for name in names]
        aligned = len({len(column) for column in columns}) == 1
        if not aligned:
            columns = [[" ".join(column)] for column in columns]
        texts.docs.extend([doc.id] * len(columns[0]))
        texts.segments.extend(range(len(hyp)) if aligned else [None])
        for side, column in zip(texts.sides(), columns):
            side.extend(column)
    return texts


def _documents(texts: SideBySide, single: list[Flag]) -> list[Flag]:
    """Flag documents of which half the segments are flagged alike, or which are odd as a whole."""
    sizes = Counter(doc for doc, segment in zip(texts.docs, texts.segments) if segment is not None)
    counts = Counter((flag.kind, flag.doc) for flag in single if flag.segment is not None)
    flags = [
        Flag(kind, doc, None, f"{number} of {sizes[doc]} segments")
        for (kind, doc), number in counts.items()
        if doc is not None and number >= max(2, sizes[doc] / 2)
    ]
    known = {flag.doc for flag in single if flag.segment is None} | {flag.doc for flag in flags}
    names = list(sizes)
    number = {name: i for i, name in enumerate(names)}
    owner = np.array([number.get(doc, -1) for doc in texts.docs], dtype=np.int64)
    for at, note in checks.lengths(texts, owner).items():
        if names[at] not in known:
            flags.append(Flag("length", names[at], None, note))
    return flags
