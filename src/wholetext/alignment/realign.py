"""An output with sentence breaks of its own → the same text in the document's segments; what it leaves out or adds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wholetext.alignment.alignment import Bead, Similarity, segments_by_words
from wholetext.alignment.alignment import align as align_sentences
from wholetext.alignment.sentences import splitter
from wholetext.errors import InputError, count
from wholetext.executors.executor import Executor
from wholetext.executors.pool import Task
from wholetext.languages import density, joiner
from wholetext.types import Corpus, Document, Output

_SENTENCE = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]」』）]*\s*")
_CLAUSE = re.compile(r"[,;:，；：、–—]+\s*")
_BLANK = re.compile(r"\s+")
COMPLETE = 0.7  # an output must have this share of the expected length before its sentence breaks are doubted
KINDS = ("1–1", "1–n", "n–m", "1–0", "0–1")  # of beads: segments–sentences
NOTED = 10  # notes on single documents of a system
FEW = 2.5  # segments per sentence: more, and sentences are too few to line up
CONTRADICTION = 0.2  # share of text that is called left out although the output is long enough to have it


@dataclass(frozen=True)
class AlignOptions:
    """How outputs are lined up: ``to`` the source, a reference by name, or ``auto`` (the first reference if any).

    ``split`` names the sentence splitter; ``every`` also takes documents whose number of segments is right already.
    """

    to: str = "auto"
    split: str = "rules"
    every: bool = False
    similarity: Similarity | None = None


@dataclass(frozen=True)
class Realigned:
    """One document of an output, lined up."""

    doc: str
    segments: tuple[str, ...]  # as many as the document has; joined they are the text of the output
    beads: tuple[Bead, ...]
    omitted: float  # share of the document's characters that nothing translates: under-translation
    added: float  # share of the output's characters that translate nothing: over-translation
    note: str = ""  # why it was lined up by words, where its sentences were of no use

    def kinds(self) -> Counter[str]:
        """How many beads of each kind: 1–1, 1–0 (left out), 0–1 (added), 1–n, n–m."""
        found: Counter[str] = Counter()
        for bead in self.beads:
            a, b = bead.fixed[1] - bead.fixed[0], bead.free[1] - bead.free[0]
            plain = min(a, b) == 0 or (a, b) == (1, 1)
            found[f"{a}–{b}" if plain else "1–n" if a == 1 else "n–m"] += 1
        return found


@dataclass(frozen=True)
class Aligned:
    """Outputs in the segments of a corpus, and by system a record of each document that had to be lined up."""

    outputs: tuple[Output, ...]
    documents: Mapping[str, tuple[Realigned, ...]]

    @property
    def notes(self) -> list[str]:
        """A sentence for each document whose sentence breaks were of no use; the rest counted after ten."""
        found = []
        for system, done in self.documents.items():
            noted = [f"{system}, document {one.doc}: {one.note}" for one in done if one.note]
            more = len(noted) - NOTED
            found += noted[:NOTED] + ([f"{system}: {more} more documents were lined up by words"] if more > 0 else [])
        return found

    def summary(self) -> list[dict[str, Any]]:
        """What was done to each output: documents, beads of each kind, mean shares of characters left out and added."""
        return [{"system": system, "documents": len(done),
                 **{kind: sum(one.kinds()[kind] for one in done) for kind in KINDS},
                 "omitted": sum(one.omitted for one in done) / max(1, len(done)),
                 "added": sum(one.added for one in done) / max(1, len(done))}
                for system, done in self.documents.items()]


def align(
    corpus: Corpus, outputs: Sequence[Output], options: AlignOptions | None = None, *, executor: Executor | None = None
) -> Aligned:
    """Align outputs that have other sentence boundaries than the source to the segments of the corpus."""
    pairs = list((executor or Executor()).run(Task(_realign, (corpus, options), output) for output in outputs))
    return Aligned(tuple(output for output, _ in pairs), {output.system: done for output, done in pairs})


def _realign(given: tuple[Corpus, AlignOptions | None], output: Output) -> tuple[Output, tuple[Realigned, ...]]:
    return realign(given[0], output, given[1])


def realign(corpus: Corpus, output: Output,
            choices: AlignOptions | None = None) -> tuple[Output, tuple[Realigned, ...]]:  # fmt: skip
    """The output in the segments of the corpus, and a record for each document that had to be lined up."""
    choices = choices or AlignOptions()
    to = choices.to if choices.to != "auto" else next(iter(corpus.references), "source")
    cut = splitter(choices.split, corpus.langs[1])
    todo = [doc for doc in corpus.docs if choices.every or len(output.docs[doc.id]) != len(doc)]
    sides = {doc.id: _side(doc, to) for doc in todo}
    sentences = {doc.id: [part for text in output.docs[doc.id] for part in cut(text) if part.strip()] for doc in todo}
    langs = (corpus.langs[0 if to == "source" else 1], corpus.langs[1])
    ratio = expected_ratio(sides.values(), sentences.values(), langs)
    glue = joiner(corpus.langs[1])
    done = []
    for doc in todo:
        fixed, free = sides[doc.id], sentences[doc.id]
        beads = align_sentences(fixed, free, ratio=ratio, similarity=choices.similarity)
        one = Realigned(doc.id, resegment(fixed, free, beads, glue), beads, *_shares(fixed, free, beads))
        if reason := _unusable(one, fixed, free, max(ratio, density(langs[0]) / density(langs[1]))):
            one = _by_words(doc.id, fixed, glue.join(free), reason, across=to == "source")
        done.append(one)
    how = {one.doc: f"to={to},by=words" if one.note else f"to={to},split={choices.split}" for one in done}
    docs = {**output.docs, **{one.doc: one.segments for one in done}}
    return Output(output.system, docs, {**output.realigned, **how}), tuple(done)


def _shares(fixed: Sequence[str], free: Sequence[str], beads: Sequence[Bead]) -> tuple[float, float]:
    """Shares of characters left out, and added."""
    lost = sum(len(text) for bead in beads if bead.free[0] == bead.free[1] for text in fixed[slice(*bead.fixed)])
    more = sum(len(text) for bead in beads if bead.fixed[0] == bead.fixed[1] for text in free[slice(*bead.free)])
    return lost / max(1, sum(map(len, fixed))), more / max(1, sum(map(len, free)))


def _unusable(one: Realigned, fixed: Sequence[str], free: Sequence[str], ratio: float) -> str:
    """Why sentences say nothing about a document: too few, or "left out" contradicts the length; or ""."""
    length = sum(len(text) + 1 for text in free) / max(1.0, ratio * sum(len(text) + 1 for text in fixed))
    kept = 1 - one.omitted + one.added
    if len(fixed) < 2 or not free or length < COMPLETE:
        return ""
    if FEW * len(free) <= len(fixed) or length - kept > CONTRADICTION:
        return f"{count(len(free), 'sentence')} for {len(fixed)} segments"
    return ""


def _by_words(doc: str, fixed: Sequence[str], text: str, reason: str, across: bool) -> Realigned:
    segments = segments_by_words(fixed, text, across=across)
    beads, at = [], 0
    for i, segment in enumerate(segments):
        beads.append(Bead((i, i + 1), (at, at + bool(segment))))
        at += bool(segment)
    lost = sum(len(side) for side, segment in zip(fixed, segments) if not segment) / max(1, sum(map(len, fixed)))
    return Realigned(doc, segments, tuple(beads), lost, 0.0, f"no usable sentence breaks ({reason}): lined up by words")


def expected_ratio(fixed: Iterable[Sequence[str]], free: Iterable[Sequence[str]], langs: tuple[str, str]) -> float:
    """Characters of output per character of text: what is usual, corrected by what is found.

    What is usual counts like 2000 characters, so that an output that leaves half out does not look normal to itself.
    """
    sizes = [sum(len(text) + 1 for side in group for text in side) for group in (fixed, free)]
    usual = density(langs[0]) / density(langs[1])
    return (usual * 2000 + sizes[1]) / (2000 + sizes[0])


def _side(doc: Document, to: str) -> tuple[str, ...]:
    side = doc.src if to == "source" else doc.refs.get(to)
    if side is None:
        raise InputError(f"document {doc.id!r} has no {to if to == 'source' else f'reference {to!r}'} to line up with",
                         next=f"choose --to {' or '.join(['source', *doc.refs])}")
    return side


def resegment(fixed: Sequence[str], free: Sequence[str], beads: Sequence[Bead], glue: str) -> tuple[str, ...]:
    """Sentences put together as the segments they belong to.

    Where one bead has several segments, its text is cut at the best places near where their lengths put the breaks.
    What belongs to no segment goes to the one before it (at the very start, after it), so that no text is lost.
    """
    pieces: list[list[str]] = [[] for _ in fixed]
    waiting: list[str] = []
    for bead in beads:
        start, stop = bead.fixed
        text = glue.join(free[slice(*bead.free)])
        if start == stop and start == 0:
            waiting.append(text)
        elif start == stop:
            pieces[start - 1].append(text)
        else:
            for at, part in zip(range(start, stop), distribute(text, [len(side) + 1 for side in fixed[start:stop]])):
                pieces[at].append(part)
    if pieces:
        pieces[0][:0] = waiting
    return tuple(glue.join(part for part in segment if part) for segment in pieces)


def distribute(text: str, weights: Sequence[float]) -> list[str]:
    """A text in as many parts as there are weights, cut near the places these say: after sentences, clauses, words."""
    share = len(text) / len(weights)
    places: dict[int, float] = {}  # where to cut → how unwelcome a cut is there
    for pattern, cost in ((_BLANK, 0.35), (_CLAUSE, 0.15), (_SENTENCE, 0.0)):
        places.update((found.end(), cost * share) for found in pattern.finditer(text))
    if not any(char.isspace() for char in text):
        places = {at: places.get(at, 0.6 * share) for at in range(1, len(text))}
    parts, start, wanted = [], 0, 0.0
    for weight in weights[:-1]:
        wanted += weight / sum(weights) * len(text)
        rest = {at: cost + abs(at - wanted) for at, cost in places.items() if at > start}
        stop = min(rest, key=rest.__getitem__) if rest else len(text)
        parts.append(text[start:stop].strip())
        start = stop
    return [*parts, text[start:].strip()]

