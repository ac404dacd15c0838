"""The checks behind ``degenerate``: parallel texts → suspicious ones with reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wholetext.text import code_of, scripts_of
from wholetext.text.identify import listed, other_language
from wholetext.text.scripts import BLOCK, CONTENT, SCRIPTS, letters
from wholetext.types import FloatArray, IntArray

Notes = dict[int, str]  # index of the text → what is wrong with it
Mask = NDArray[np.bool_]

# letters; shorter copies are names. Blind = without a reference that shows better
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


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Parallel texts: segments, or whole documents (``segments`` None) that are not aligned."""

    langs: tuple[str, str]
    docs: list[str]
    segments: list[int | None]
    hyp: list[str]
    src: list[str] | None
    refs: list[list[str]]

    def sides(self) -> list[list[str]]:
        return [self.hyp, *([self.src] if self.src is not None else []), *self.refs]

    @property
    def guide(self) -> list[str] | None:
        """The measure of the output: the first reference, or the source."""
        return self.refs[0] if self.refs else self.src

    @property
    def one_language(self) -> bool:
        """Whether source and target are the same language, where a copy is no fault."""
        return bool(self.langs[0]) and code_of(self.langs[0]) == code_of(self.langs[1])


def empty(texts: SideBySide) -> Notes:
    """Find outputs without text where the reference (or source) has some."""
    blank = [at for at, text in enumerate(texts.hyp) if not text or text.isspace()]
    guide = texts.guide
    return {at: "no text" for at in blank if guide is None or guide[at].strip()}


def copied(texts: SideBySide) -> Notes:
    """Find outputs that are the source itself, where no reference keeps it."""
    if texts.src is None or texts.one_language:
        return {}
    least = COPIED if texts.refs else COPIED_BLIND
    notes = {}
    for at, (hyp, src) in enumerate(zip(texts.hyp, texts.src)):
        if len(hyp) < least or abs(len(hyp) - len(src)) > 8 or _plain(hyp) != _plain(src):
            continue
        if _letters(hyp) >= least and not any(_plain(ref[at]) == _plain(src) for ref in texts.refs):
            notes[at] = "the source, untranslated"
    return notes


def wrong_script(texts: SideBySide) -> Notes:
    """Find outputs mostly in a script of neither the target language nor the reference.

    Names that were kept do not count.
    """
    names = scripts_of(texts.langs[1])
    expected: Mask = np.isin(SCRIPTS, names)  # (scripts,)
    if not names:  # the language code does not decide it
        return {}
    notes = {}
    for begin in range(0, len(texts.hyp), BLOCK):
        wrong, counts = _mostly_foreign(texts.hyp[begin : begin + BLOCK], expected)
        wrong &= counts.sum(axis=1) >= (SCRIPT if texts.refs else SCRIPT_BLIND)
        for at in map(int, np.flatnonzero(wrong)):
            beside = [_without_kept_names(texts, begin + at)]
            beside += [ref[begin + at] for ref in texts.refs[:1]]
            foreign = _mostly_foreign(beside, expected)[0].tolist()
            if foreign in ([True], [True, False]):  # the output, not its reference
                most = SCRIPTS[(counts[at] * CONTENT * ~expected).argmax()]
                notes[begin + at] = f"mostly in {most}, not {'/'.join(names)}"
    return notes


def _mostly_foreign(side: Sequence[str], expected: Mask) -> tuple[Mask, IntArray]:
    """(texts,) whether most content is in other scripts; (texts, scripts) letters."""
    counts = letters(side)
    content = counts * CONTENT
    return 2 * content[:, expected].sum(axis=1) < content.sum(axis=1), counts


def _without_kept_names(texts: SideBySide, at: int) -> str:
    """An output less the names, codes and addresses that source or reference have too."""
    known = {word.lower() for side in texts.sides()[1:] for word in _WORD.findall(side[at])}
    return _WORD.sub(
        lambda word: "" if word[0].lower() in known - {word[0]} else word[0], texts.hyp[at]
    )


def wrong_language(texts: SideBySide) -> Notes:
    """Find outputs in another language by function words, where no reference has them too."""
    lang = code_of(texts.langs[1])
    if not listed(lang):
        return {}
    notes = {}
    for at, text in enumerate(texts.hyp):
        other = other_language([text], lang, JUDGE)
        if other and all(other_language([ref[at]], lang, JUDGE) != other for ref in texts.refs):
            notes[at] = f"looks like {other}, not {lang}"
    return notes


def loops(texts: SideBySide) -> Notes:
    """Find a piece repeated over and over, more than in the reference or source."""
    notes = {}
    for at, text in enumerate(texts.hyp):
        piece = loop(text)
        if piece is None:
            continue
        others = [loop(side[at]) for side in texts.sides()[1:]]
        if not any(other is not None and 2 * other[1] >= piece[1] for other in others):
            notes[at] = f"{piece[1]} times in a row: {_short(piece[0])}"
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
    if texts.src is None and not texts.refs:
        return {}
    places: dict[str, list[int]] = {}
    for at, text in enumerate(texts.hyp):
        if len(text) >= REPEATED:
            places.setdefault(text, []).append(at)
    notes = {}
    for text, members in places.items():
        if len(members) < 3 or _letters(text) < REPEATED:
            continue
        kinds = min(len({_plain(side[at]) for at in members}) for side in texts.sides()[1:])
        if kinds >= 3:
            note = f"the same text as for {kinds - 1} other sources: {_short(text)}"
            notes.update(dict.fromkeys(members, note))
    return notes


def lengths(texts: SideBySide, owner: IntArray | None = None) -> Notes:
    """Find outputs far longer or shorter, relative to the reference (or source), than usual.

    With ``owner`` (texts,), the document of each text (-1: none), documents are judged instead,
    with tighter limits.
    """
    if texts.guide is None:
        return {}
    hyp, guide = (
        _by_document(np.array([len(text) for text in side], dtype=np.float64), owner)
        for side in (texts.hyp, texts.guide)
    )
    factor = FACTOR if owner is None else DOCUMENT_FACTOR
    name = "reference" if texts.refs else "source"
    judged = (hyp > 0) & (guide > 0)
    if not judged.any():
        return {}
    ratio = np.log((hyp + PADDING) / (guide + PADDING))
    usual = float(np.median(ratio[judged]))
    spread = 1.4826 * float(np.median(np.abs(ratio[judged] - usual)))
    off = judged & (np.abs(ratio - usual) > max(np.log(factor), SPREADS * spread))
    if name == "reference":  # a system that is too long throughout is too long
        off |= (
            judged
            & (np.abs(ratio) > max(np.log(factor), SPREADS * spread))
            & (np.abs(usual) > np.log(factor) / 2)
        )
    return {
        int(at): f"{hyp[at] / guide[at]:.2g} times as long as the {name}"
        for at in np.flatnonzero(off)
    }


def _by_document(values: FloatArray | IntArray, owner: IntArray | None) -> FloatArray:
    if owner is None:
        return values.astype(np.float64)
    inside = owner >= 0
    return np.bincount(owner[inside], values[inside]).astype(np.float64)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _short(text: str) -> str:
    return f"“{text}”" if len(text) <= 40 else f"“{text[:38]}…”"
