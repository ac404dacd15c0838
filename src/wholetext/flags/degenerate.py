"""Degenerate output: empty, copied, loops, repeated, wrong script or language, odd length.

Flags are hints for people, so every check prefers silence to a false alarm: it compares with the
reference (or else the source) and is quiet where that has the same peculiarity. docs/degenerate.md
has the rates on human translations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext import slices
from wholetext.text import code_of, scripts_of
from wholetext.text.identify import other_language
from wholetext.text.scripts import CONTENT, SCRIPTS, letters
from wholetext.types import Corpus, IntArray, Output

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


Notes = dict[int, str]  # index of the text → what is wrong with it

# letters; shorter copies are usually names. BLIND: the limit where there is no reference
COPIED, COPIED_BLIND = (12, 25)
SCRIPT, SCRIPT_BLIND = 4, 25
JUDGE = 8  # words that a text must have to be judged by its language
REPEATED = 25  # letters
FACTOR, DOCUMENT_FACTOR = 2.5, 1.6  # times too long or too short
SPREADS = 6.0  # and this many robust standard deviations from the usual proportion
# of an alphabet: neither ideographs nor kana are words
_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u00d6\u00d8-\u1fff]+")
_PERIOD = 60  # longest repeated piece looked for, in words or characters
_WORD_LENGTH = 15  # characters per blank beyond which text is read by character, not by word
PADDING = 8.0  # characters added to both lengths, so that a word more or less does not count
_BLOCK = 8192  # texts whose scripts are counted at a time


@dataclass(frozen=True, slots=True)
class Flag:
    """A finding about a segment, or about a document (``segment`` is None)."""

    kind: Kind | FormatKind  # a ``Kind`` of this module, or one of ``formats``
    doc: str
    segment: int | None  # counted from 0
    note: str


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Parallel texts: segments, or whole documents (``segments`` None) that are not aligned."""

    langs: tuple[str, str]
    docs: list[str]
    segments: list[int | None]
    hyp: list[str]
    src: list[str] | None
    refs: list[list[str]]
    sides: list[list[str]]  # the source, if there is one, and the references
    guide: list[str] | None  # the measure of the output: the first reference, or the source


def degenerate(texts: SideBySide) -> tuple[Flag, ...]:
    """Flag the output of one system: segments, then documents.

    A segment gets one flag, of the first kind (in the order of ``Kind``) that explains it. A
    document gets one if half of its segments have, or if taken together they are out of
    proportion. Where an output is segmented differently from the source, the document is judged as one
    text.
    """
    blank = [  # where the reference (or source) has some text
        at
        for at, text in enumerate(texts.hyp)
        if not text.strip() and (texts.guide is None or texts.guide[at].strip())
    ]
    every: dict[Kind, dict[int, str]] = {
        "empty": dict.fromkeys(blank, "no text"),
        "copied": copied(texts),
        "loop": loops(texts),
        "repeat": repeats(texts),
        "script": wrong_script(texts),
        "language": wrong_language(texts),
        "length": lengths(texts),
    }
    # references show more than sentence vectors do
    if texts.src is not None and not texts.refs and (unrelated := slices.hook("unrelated")):
        every["unrelated"] = unrelated(texts)
    first: dict[int, Flag] = {}
    for kind, notes in every.items():
        for at, note in notes.items():
            first.setdefault(at, Flag(kind, texts.docs[at], texts.segments[at], note))
    single = [first[at] for at in sorted(first)]
    return (*single, *_documents(texts, single))


def side_by_side(corpus: Corpus, output: Output) -> SideBySide:
    """Put texts in parallel: segments, or whole documents where their numbers differ."""
    docs, segments = list[str](), list[int | None]()
    hyp, *sides = [list[str]() for _ in range(1 + corpus.has_source + len(corpus.references))]
    for doc in corpus.docs:
        columns: list[Sequence[str]] = [
            output.docs[doc.id],
            *([doc.src or ()] if corpus.has_source else []),
            *(doc.refs[name] for name in corpus.references),
        ]
        aligned = len({len(column) for column in columns}) == 1
        if not aligned:
            columns = [[" ".join(column)] for column in columns]
        docs += [doc.id] * len(columns[0])
        segments += range(len(columns[0])) if aligned else [None]
        for side, column in zip((hyp, *sides), columns):
            side.extend(column)
    src, refs = (sides[0], sides[1:]) if corpus.has_source else (None, sides)
    guide = refs[0] if refs else src
    return SideBySide(corpus.langs, docs, segments, hyp, src, refs, sides, guide)


def _documents(texts: SideBySide, single: Sequence[Flag]) -> list[Flag]:
    """Flag documents of which half the segments are flagged alike, or which are odd as a whole."""
    sizes = Counter(doc for doc, segment in zip(texts.docs, texts.segments) if segment is not None)
    counts = Counter((flag.kind, flag.doc) for flag in single if flag.segment is not None)
    alike = [
        Flag(kind, doc, None, f"{number} of {sizes[doc]} segments")
        for (kind, doc), number in counts.items()
        if number >= max(2, sizes[doc] / 2)
    ]
    judged = {flag.doc for flag in (*single, *alike) if flag.segment is None}
    docs = list(sizes)
    number_of = {doc: number for number, doc in enumerate(docs)}
    owner = np.array([number_of.get(doc, -1) for doc in texts.docs], dtype=np.int64)
    odd = [
        Flag("length", docs[at], None, note)
        for at, note in lengths(texts, owner).items()
        if docs[at] not in judged
    ]
    return [*alike, *odd]


# ---------------------------------------------------------------- checks


def copied(texts: SideBySide) -> Notes:
    """Find outputs that are the source itself, where no reference keeps it."""
    source, target = map(code_of, texts.langs)
    if texts.src is None or (source and source == target):  # a copy is no fault in one language
        return {}
    least = COPIED if texts.refs else COPIED_BLIND
    copies = [
        at
        for at, (hyp, src) in enumerate(zip(texts.hyp, texts.src))
        if len(hyp) >= least and abs(len(hyp) - len(src)) <= 8 and _plain(hyp) == _plain(src)
    ]
    return {
        at: "the source, untranslated"
        for at in copies
        if _letters(texts.hyp[at]) >= least
        and not any(_plain(ref[at]) == _plain(texts.src[at]) for ref in texts.refs)
    }


def wrong_script(texts: SideBySide) -> Notes:
    """Find outputs mostly in a script of neither the target language nor the reference.

    Names that were kept do not count.
    """
    names = scripts_of(texts.langs[1])
    expected = np.isin(SCRIPTS, names)  # (scripts,)
    if not names:  # the language code does not decide it
        return {}
    notes = {}
    for begin in range(0, len(texts.hyp), _BLOCK):
        wrong, counts = _mostly_foreign(texts.hyp[begin : begin + _BLOCK], expected)
        wrong &= counts.sum(axis=1) >= (SCRIPT if texts.refs else SCRIPT_BLIND)
        for at in map(int, np.flatnonzero(wrong)):
            output = _without_kept_names(texts, begin + at)
            beside = [output, *(ref[begin + at] for ref in texts.refs[:1])]
            foreign = _mostly_foreign(beside, expected)[0].tolist()
            if foreign in ([True], [True, False]):  # the output, not its reference
                most = SCRIPTS[(counts[at] * CONTENT * ~expected).argmax()]
                notes[begin + at] = f"mostly in {most}, not {'/'.join(names)}"
    return notes


def _mostly_foreign(
    side: Sequence[str], expected: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], IntArray]:
    """(texts,) whether most content is in other scripts; (texts, scripts) letters."""
    counts = letters(side)
    content = counts * CONTENT
    return 2 * content[:, expected].sum(axis=1) < content.sum(axis=1), counts


def _without_kept_names(texts: SideBySide, at: int) -> str:
    """An output less the names, codes and addresses that source or reference have too."""
    known = {word.lower() for side in texts.sides for word in _WORD.findall(side[at])}
    return _WORD.sub(
        lambda word: "" if word[0].lower() in known - {word[0]} else word[0], texts.hyp[at]
    )


def wrong_language(texts: SideBySide) -> Notes:
    """Find outputs in another language by function words, where no reference has them too."""
    lang = code_of(texts.langs[1])
    others = {at: other_language([text], lang, JUDGE) for at, text in enumerate(texts.hyp)}
    return {
        at: f"looks like {other}, not {lang}"
        for at, other in others.items()
        if other and all(other_language([ref[at]], lang, JUDGE) != other for ref in texts.refs)
    }


def loops(texts: SideBySide) -> Notes:
    """Find a piece repeated over and over, more than in the reference or source."""
    pieces = {at: piece for at, text in enumerate(texts.hyp) if (piece := loop(text))}
    notes = {}
    for at, (text, times) in pieces.items():
        others = [loop(side[at]) for side in texts.sides]
        if not any(other and 2 * other[1] >= times for other in others):
            notes[at] = f"{times} times in a row: {_short(text)}"
    return notes


def loop(text: str) -> tuple[str, int] | None:
    """Find a piece repeated 3 times or more in a row, over 9 words or 18 characters.

    Return it with its count. By word, or by character where words are not separated. A piece
    without letters does not count.
    """
    tokens: Sequence[str] = text.split()
    glue, least = " ", 9
    if len(text) > _WORD_LENGTH * len(tokens) + _WORD_LENGTH:
        tokens, glue, least = text, "", 18
    different = len(set(tokens))  # in most text nearly all words are
    varied = 3 * different > 2 * len(tokens) if glue else 2 * different >= len(tokens)
    if varied or len(tokens) < least:
        return None
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(token, len(numbers)) for token in tokens])
    best, longest = 0, None
    for period in range(1, min(_PERIOD, len(tokens) // 3) + 1):
        equal = codes[period:] == codes[:-period]
        # no run of them is long enough
        if np.count_nonzero(equal) + period < max(least, 3 * period):
            continue
        # of runs of equal tokens
        edges = np.flatnonzero(np.diff(equal.astype(np.int8), prepend=0, append=0))
        runs = edges[1::2] - edges[::2]
        covered = int(runs.max(initial=0)) + period
        if covered >= max(least, 3 * period) and covered > best:
            start = int(edges[2 * runs.argmax()])
            piece = glue.join(tokens[start : start + period])
            if any(map(str.isalpha, piece)):
                best, longest = covered, (piece, covered // period)
    return longest


def repeats(texts: SideBySide) -> Notes:
    """Find outputs given for three or more different sources (and references)."""
    places: dict[str, list[int]] = {}
    for at, text in enumerate(texts.hyp):
        places.setdefault(text, []).append(at)
    notes: Notes = {}
    for text, members in places.items():
        if len(members) >= 3 and _letters(text) >= REPEATED:
            sides = [{_plain(side[at]) for at in members} for side in texts.sides]
            kinds = min(map(len, sides), default=0)
            note = f"the same text as for {kinds - 1} other sources: {_short(text)}"
            notes |= dict.fromkeys(members if kinds >= 3 else (), note)
    return notes


def lengths(texts: SideBySide, owner: IntArray | None = None) -> Notes:
    """Find outputs far longer or shorter, relative to the reference (or source), than usual.

    With ``owner`` (texts,), the document of each text (-1: none), documents are judged instead,
    with tighter limits.
    """
    if texts.guide is None:
        return {}
    hyp, guide = (np.array([len(text) for text in side]) for side in (texts.hyp, texts.guide))
    if owner is not None:
        hyp, guide = (np.bincount(owner[owner >= 0], side[owner >= 0]) for side in (hyp, guide))
    factor = FACTOR if owner is None else DOCUMENT_FACTOR
    judged = (hyp > 0) & (guide > 0)
    if not judged.any():
        return {}
    ratio = np.log((hyp + PADDING) / (guide + PADDING))
    usual = float(np.median(ratio[judged]))
    spread = 1.4826 * float(np.median(np.abs(ratio[judged] - usual)))
    limit = max(np.log(factor), SPREADS * spread)
    off = np.abs(ratio - usual) > limit
    if texts.refs and abs(usual) > np.log(factor) / 2:  # a system that is too long throughout
        off |= np.abs(ratio) > limit
    name = "reference" if texts.refs else "source"
    return {
        int(at): f"{hyp[at] / guide[at]:.2g} times as long as the {name}"
        for at in np.flatnonzero(off & judged)
    }


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _short(text: str) -> str:
    return f"“{text}”" if len(text) <= 40 else f"“{text[:38]}…”"
