"""Formats and instructions that an output did not follow: kept, included or left out.

Like the flags of ``degenerate`` these are hints for people and prefer silence to a false alarm:
what no reference keeps either is not required. docs/degenerate.md has the precision of each check.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wholetext.errors import count
from wholetext.flags import markup
from wholetext.flags.degenerate import DEGENERATE, Flag, FormatKind, place, side_by_side, summary
from wholetext.flags.numbers import missing_numbers
from wholetext.flags.prompts import leaked
from wholetext.io.formats.wmt import REPAIRED
from wholetext.text import code_of
from wholetext.text.identify import listed, other_language, plainly_in
from wholetext.types import Corpus, Output

WORDS: dict[FormatKind, str] = {
    "prompt": "prompt leakage",
    "fence": "Markdown fences",
    "json": "broken JSON or changed keys",
    "placeholder": "changed placeholders",
    "tag": "changed tags",
    "url": "changed URLs",
    "email": "changed e-mail addresses",
    "number": "changed numbers",
    "untranslated": "untranslated paragraphs",
}
KEPT: dict[FormatKind, Callable[[str], markup.Tokens]] = {
    "placeholder": markup.placeholders,
    "tag": markup.tags,
    "url": markup.urls,
    "email": markup.emails,
}
# what each of these kinds has at least one of, or "www.", broken ones too
_SIGN = re.compile(r"[{%<@:]")
# sign in what a reader repaired → kind
REPAIRS: dict[str, FormatKind] = {"JSON": "json", "```": "fence", "<p>": "tag", "</p>": "tag"}
PARAGRAPH = 25  # letters of a paragraph that is looked for in the output; shorter ones are names
PARAGRAPH_WORDS = 10  # words of a paragraph whose language is identified
MANY = 5  # systems with flags, from which on notes are by kind
_BREAK = re.compile(r"</?p>|<br\s*/?>|\n", re.I)
_KEY = re.compile(r'^\s*"[^"\n]*":\s*')  # of JSON


@dataclass(frozen=True)
class _Text:
    """A segment, or a document (whole, or not aligned), in every language."""

    hyp: str
    src: str | None
    refs: tuple[str, ...]


def format_flags(corpus: Corpus, output: Output, known: Iterable[Flag] = ()) -> tuple[Flag, ...]:
    """Flag faults of format of one system's output, then the share of each kind.

    ``known`` are flags of ``degenerate.flags``: a text that is empty or in the wrong language is
    not flagged again. A text may have several kinds, each once. Without a source, whether its tags,
    addresses and numbers were kept is not checked.
    """
    judged = {
        (flag.doc, flag.segment)
        for flag in known
        if flag.kind in ("empty", "copied", "script", "language")
    }
    segments = list(_segments(corpus, output))
    flags = [
        Flag(kind, doc, segment, note)
        for doc, units in segments
        for segment, kind, note in _document(corpus.langs, doc, units, judged)
    ]
    flags += _repaired(corpus, output, {(flag.kind, flag.doc) for flag in flags})
    order = {doc.id: at for at, doc in enumerate(corpus.docs)}
    flags.sort(
        key=lambda flag: (order[flag.doc or ""], -1 if flag.segment is None else flag.segment)
    )
    return (*flags, *_shares(flags, sum(len(units) for _, units in segments), len(segments)))


def format_summary(system: str, flags: Iterable[Flag], source: bool) -> str:
    """Summarise a system in one line, or ``""``: shares by kind, and where to look first."""
    flagged = [flag for flag in flags if flag.kind in WORDS]
    shares = [flag for flag in flagged if flag.doc is None]
    if not shares:
        return ""
    first = next(flag for flag in flagged if flag.kind == shares[0].kind)
    parts = ", ".join(f"{WORDS[flag.kind]} in {flag.note}" for flag in shares if flag.kind in WORDS)
    blind = "" if source else " (checked without a source)"
    return f"{system}: {parts}{blind}; see {place(first)}: {first.note}"


def notes_on_flags(flags: Mapping[str, Sequence[Flag]], source: bool) -> list[str]:
    """Summarise flags: up to two lines per system, or one per kind for many systems."""
    if sum(map(bool, flags.values())) > MANY:
        words: dict[str, str] = {**DEGENERATE, **{str(kind): text for kind, text in WORDS.items()}}
        return [
            note
            for kind, text in words.items()
            if (note := _kind_summary(kind, text, flags, source))
        ]
    return [
        note
        for system, of_system in flags.items()
        for note in (
            summary(system, [flag for flag in of_system if flag.kind not in WORDS]),
            format_summary(system, of_system, source),
        )
        if note
    ]


def _kind_summary(kind: str, words: str, flags: Mapping[str, Sequence[Flag]], source: bool) -> str:
    """Summarise a kind in one line, or ``""``: counts by system, and where to look first."""
    places = {
        system: [flag for flag in of_system if flag.kind == kind and flag.doc is not None]
        for system, of_system in flags.items()
    }
    whole = all(flag.segment is None for of_system in places.values() for flag in of_system)
    numbers = Counter(
        {
            system: sum(whole or flag.segment is not None for flag in of_system)
            for system, of_system in places.items()
            if of_system
        }
    )
    if not numbers:
        return ""
    most = numbers.most_common(4)
    others = len(numbers) - len(most)
    of = ", ".join(f"{system} {n}" for system, n in most) + (
        f", {count(others, 'other')}" if others else ""
    )
    first = next(flag for flag in places[most[0][0]] if whole or flag.segment is not None)
    blind = "" if source or kind not in WORDS else " (checked without a source)"
    return (
        f"{words} in {count(numbers.total(), 'document' if whole else 'segment')}: {of}{blind}; "
        f"see {most[0][0]}, {place(first)}: {first.note}"
    )


def unchecked_note(corpus: Corpus, outputs: Iterable[Output]) -> str:
    """Note that tags and the like cannot be checked without a source; or ``""``."""
    if corpus.has_source:
        return ""
    texts = (text for output in outputs for segments in output.docs.values() for text in segments)
    if not any(tokens(text) for text in texts for tokens in KEPT.values()):
        return ""
    return (
        "there is no source: whether placeholders, tags, URLs, e-mail addresses, JSON keys and "
        "numbers were kept is not checked"
    )


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
    langs: tuple[str, str],
    doc: str,
    units: list[tuple[int | None, _Text]],
    judged: set[tuple[str | None, int | None]],
) -> Iterator[tuple[int | None, FormatKind, str]]:
    whole = _joined([text for _, text in units])
    alone = units[0][0] if len(units) == 1 else None  # where a fault of the whole document is
    if markup.looks_like_json(whole.src if whole.src is not None else whole.hyp) and (
        note := markup.json_fault(whole.hyp, whole.src)
    ):
        yield alone, "json", note
    for kind, note in _whole(whole):
        yield alone, kind, note
    for at, (segment, text) in enumerate(units):
        for kind, note in _segment(text, whole):
            yield segment, kind, note
        if text.src and (
            note := _lost_numbers(
                text, [neighbour for _, neighbour in units[max(0, at - 1) : at + 2]]
            )
        ):
            yield segment, "number", note
        if (doc, segment) not in judged and (note := _untranslated(langs, text)):
            yield segment, "untranslated", note


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


def _whole(text: _Text) -> Iterator[tuple[FormatKind, str]]:
    """Yield faults of a document: fences and tags may span segments."""
    marks = markup.fences(text.hyp)
    if text.src is None:
        if marks % 2:
            yield "fence", f"{marks} fences: one is not closed"
        if note := markup.unpaired_tags(text.hyp):
            yield "tag", note
    elif marks != (expected := markup.fences(text.src)) and marks not in [
        markup.fences(ref) for ref in text.refs
    ]:
        yield "fence", f"{marks} fences, the source has {expected}"


def _segment(text: _Text, whole: _Text) -> Iterator[tuple[FormatKind, str]]:
    if words := leaked(text.hyp, text.src):
        yield "prompt", f"“{words[:60]}”"
    if not any(_SIGN.search(side) or "www." in side.lower() for side in (text.hyp, text.src or "")):
        return
    for kind, tokens in KEPT.items():
        if note := _changed(kind, tokens, text, whole):
            yield kind, note


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
    fault = markup.broken(kind, text.hyp)
    if fault and not any(markup.broken(kind, side) for side in (text.src or "", *text.refs)):
        return f"broken: {fault}"
    if text.src is None or (expected := tokens(text.src)) == (actual := tokens(text.hyp)):
        return ""
    lost = (expected - actual) & (tokens(whole.src or "") - tokens(whole.hyp))
    added = (actual - expected) & (tokens(whole.hyp) - tokens(whole.src or ""))
    if whole.refs:
        # as often as in some reference is enough
        here, theirs = (tokens(whole.hyp), [tokens(ref) for ref in whole.refs])
        lost = Counter(
            {
                token: n
                for token, n in lost.items()
                if here[token] < min(ref[token] for ref in theirs)
            }
        )
        added = Counter(
            {
                token: n
                for token, n in added.items()
                if here[token] > max(ref[token] for ref in theirs)
            }
        )
    # other words for the same place are common, so that only a loss counts
    if kind in ("url", "email"):
        lost, added = (
            Counter({token: n for token, n in lost.items() if token not in whole.hyp.lower()}),
            Counter(),
        )
    parts = [
        f"{word}: {', '.join(list(changed)[:3])}"
        for word, changed in (("lost", lost), ("added", added))
        if changed
    ]
    return "; ".join(parts)


def _untranslated(langs: tuple[str, str], text: _Text) -> str:
    """Find a paragraph of a longer text that is the source's, or in its language."""
    # ``degenerate`` judges a single paragraph
    if text.src is not None and not _BREAK.search(text.hyp):
        return ""
    paragraphs = [paragraph.strip() for paragraph in _BREAK.split(text.hyp) if paragraph.strip()]
    same = code_of(langs[0]) == code_of(langs[1])
    if same or not langs[0] or (text.src is not None and len(paragraphs) < 2):
        return ""
    in_references = {_fold(paragraph) for ref in text.refs for paragraph in _BREAK.split(ref)}
    if text.src is not None:
        source = {_fold(paragraph) for paragraph in _BREAK.split(text.src)} - in_references
        for paragraph in paragraphs:
            if (
                sum(map(str.isalpha, paragraph)) >= PARAGRAPH
                and _fold(paragraph) in source
                and " " in paragraph
            ):
                return f"the source's own paragraph: “{paragraph[:40]}…”"
    source_code = listed(code_of(langs[0]))
    for paragraph in paragraphs if source_code else ():
        body = _KEY.sub("", paragraph)
        if (
            _fold(paragraph) not in in_references
            and plainly_in(body, source_code, PARAGRAPH_WORDS)
            and (other_language([body], code_of(langs[1]), PARAGRAPH_WORDS) == source_code)
        ):
            return f"a paragraph in the source language: “{paragraph[:40]}…”"
    return ""


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _repaired(
    corpus: Corpus, output: Output, flagged: set[tuple[str, str | None]]
) -> Iterator[Flag]:
    """Yield flags for repairs by the reader of WMT's files."""
    for doc in corpus.docs:
        for repair in doc.meta.get(f"{REPAIRED}{output.system}", "").split("\n"):
            kind = next((kind for sign, kind in REPAIRS.items() if sign in repair), None)
            if kind == "json" and leaked(repair.partition("“")[2], None):
                kind = "prompt"
            if "last comma" in repair:  # many parsers allow it, and sources have it too
                kind = None
            if kind and (kind, doc.id) not in flagged:
                flagged.add((kind, doc.id))
                yield Flag(kind, doc.id, None, repair)


def _shares(flags: list[Flag], segments: int, documents: int) -> list[Flag]:
    """Make one flag per kind for the system: how many segments (documents) of how many."""
    shares = []
    for kind in WORDS:
        places = {(flag.doc, flag.segment) for flag in flags if flag.kind == kind}
        by_document = any(segment is None for _, segment in places)
        number, total = (
            (len({doc for doc, _ in places}), documents) if by_document else (len(places), segments)
        )
        if number:
            unit = "document" if by_document else "segment"
            shares.append(
                Flag(kind, None, None, f"{number} of {count(total, unit)} ({number / total:.1%})")
            )
    return shares
