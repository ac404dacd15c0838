"""Outputs with their own sentence breaks → the document's segments; omissions and additions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np

from wholetext.alignment import alignment
from wholetext.alignment.beads import Bead
from wholetext.alignment.lexicon import support, translated
from wholetext.alignment.segments import Sentences, beads_of_segments, moved, place
from wholetext.alignment.similarity import Features, Span, shared_words
from wholetext.alignment.vectors import covered, identity, sentence_vectors
from wholetext.alignment.word_cuts import segments_by_words
from wholetext.errors import InputError, count, known
from wholetext.executor import Executor
from wholetext.notebook.display import brief
from wholetext.notes import Note
from wholetext.text import code_of, density, joiner
from wholetext.text.sentences import splitter
from wholetext.types import Corpus, Document, Nulls, Output

COMPLETE = 0.7  # share of the expected length from which on sentence breaks may be doubted
KINDS = ("1–1", "1–n", "n–m", "1–0", "0–1")  # of beads: segments–sentences
FEW = 2.5  # sentences of the document per sentence of the output that can still be aligned
CONTRADICTION = 0.2  # share of text called left out although the output is long enough to have it
LEXICON = "lexicon"  # similarity by shared words, and by translations learned on the way
SUPPORT = 0.85  # share of the text: with less, link F1 is often below .96 (docs/align.md)
LESSONS = 2  # alignments with a lexicon, each learned from the one before


@dataclass(frozen=True)
class AlignOptions:
    """Options of alignment: ``to`` the source, a reference, or ``auto`` (a reference if any).

    ``split`` names the sentence splitter; ``every`` also takes documents whose number of segments
    is right already. ``similarity`` is ``vectors``, ``words`` or ``auto`` (vectors where the model
    is installed and knows the languages). ``nulls`` is how scores treat omissions and additions:
    ``count``, ``worst``, ``drop``.
    """

    to: str = "auto"
    split: str = "rules"
    every: bool = False
    similarity: Literal["auto", "vectors", "words"] = "auto"
    nulls: Literal["count", "worst", "drop"] = "count"

    def __post_init__(self) -> None:
        known("nulls", self.nulls, Nulls.POLICIES)
        known("similarity", self.similarity, ("auto", "vectors", "words"))


@dataclass(frozen=True)
class Realigned:
    """One document of an output, aligned."""

    doc: str
    segments: tuple[str, ...]  # as many as the document has
    beads: tuple[Bead, ...]  # of segments and sentences
    omitted: float  # share of the document's characters that nothing translates: under-translation
    added: float  # share of the output's characters that translate nothing: over-translation
    note: str = ""  # why it was aligned by words, where its sentences were of no use
    moved: tuple[Bead, ...] = ()  # out of order
    sentences: tuple[str, ...] = ()  # of the output
    # of each segment: its stretches of the joined sentences
    spans: tuple[tuple[Span, ...], ...] = ()
    nulls: Nulls = field(default_factory=Nulls)
    # characters of sentences whose words are nearest to their own segment; None if not examined
    supported: int | None = None

    def kinds(self) -> Counter[str]:
        """Count beads of each kind: 1–1, 1–0 (left out), 0–1 (added), 1–n, n–m."""
        counts: Counter[str] = Counter()
        for bead in self.beads:
            a, b = bead.fixed[1] - bead.fixed[0], bead.free[1] - bead.free[0]
            plain = min(a, b) == 0 or (a, b) == (1, 1)
            counts[f"{a}–{b}" if plain else "1–n" if a == 1 else "n–m"] += 1
        return counts

    def out_of_order(self) -> list[int]:
        """List the segments whose text was moved."""
        return sorted({at for bead in self.moved for at in range(*bead.fixed)})

    def notes(self) -> list[str]:
        """Return notes for readers of this document's scores."""
        notes = [self.note] if self.note else []
        if segments := self.out_of_order():
            shown = ", ".join(str(at + 1) for at in segments[:5]) + (
                " …" if len(segments) > 5 else ""
            )
            notes.append(
                f"{count(len(segments), 'segment')} out of order (segment {shown}): "
                "put in the document's order"
            )
        return notes


@dataclass(frozen=True)
class Aligned:
    """Outputs in the segments of a corpus; by system, records of the documents aligned."""

    outputs: tuple[Output, ...]
    documents: Mapping[str, tuple[Realigned, ...]]
    measure: str = ""  # what alignment went by, in words
    __repr__ = brief

    @property
    def notes(self) -> list[str]:
        """The measure, and a sentence per kind of unusual document (``details`` lists them)."""
        notes = [self.measure] if self.measure and any(self.documents.values()) else []
        notes += self._doubts()
        if where := self._where(lambda record: bool(record.note)):
            notes.append(f"no usable sentence breaks in {where}: aligned by words")
        if where := self._where(lambda record: bool(record.moved)):
            records = [record for done in self.documents.values() for record in done]
            segments = count(sum(len(record.out_of_order()) for record in records), "segment")
            notes.append(f"{segments} out of order in {where}: put in the document's order")
        return notes

    def _where(self, unusual: Callable[[Realigned], bool]) -> str:
        """Count documents by system: "3 documents (a 2, b 1)"; "" if there are none."""
        numbers = {system: sum(map(unusual, done)) for system, done in self.documents.items()}
        shown = ", ".join(f"{system} {number}" for system, number in numbers.items() if number)
        return f"{count(sum(numbers.values()), 'document')} ({shown})" if shown else ""

    def _doubts(self) -> list[Note]:
        """Say how uncertain alignments are where the words contradict them too often."""
        shares = {}
        for system, done in self.documents.items():
            examined = [record for record in done if record.supported is not None]
            size = sum(len(text) for record in examined for text in record.sentences)
            support = sum(record.supported or 0 for record in examined)
            if size and support < SUPPORT * size:
                shares[system] = f"{system} {1 - support / size:.0%}"
        text = (
            "the alignment is uncertain: words do not confirm the segment of much of the text "
            f"({', '.join(shares.values())}); align to a reference, or read scores by segment "
            "with care"
        )
        return [Note("uncertain-alignment", text)] if shares else []

    @property
    def details(self) -> dict[str, dict[str, list[str]]]:
        """Notes on unusual alignments, by system and document."""
        return {
            system: {record.doc: notes for record in done if (notes := record.notes())}
            for system, done in self.documents.items()
        }

    def summary(self) -> list[dict[str, Any]]:
        """Return statistics by output: documents, beads by kind, mean shares omitted and added."""
        return [
            {
                "system": system,
                "documents": len(done),
                **{kind: sum(record.kinds()[kind] for record in done) for kind in KINDS},
                "moved": sum(len(record.moved) for record in done),
                "omitted": sum(record.omitted for record in done) / max(1, len(done)),
                "added": sum(record.added for record in done) / max(1, len(done)),
            }
            for system, done in self.documents.items()
        ]


def align(
    corpus: Corpus,
    outputs: Sequence[Output],
    options: AlignOptions | None = None,
    *,
    executor: Executor | None = None,
) -> Aligned:
    """Align outputs with other sentence boundaries to the segments of the corpus."""
    options, executor = options or AlignOptions(), executor or Executor()
    futures = [executor.submit(realign, corpus, output, options) for output in outputs]
    done = [future.result() for future in futures]
    return Aligned(
        tuple(output for output, _ in done),
        {output.system: records for output, records in done},
        _measure(corpus, options)[1],
    )


def realign(
    corpus: Corpus, output: Output, options: AlignOptions | None = None
) -> tuple[Output, tuple[Realigned, ...]]:
    """Align one output; return it with a record of each document that had to be aligned."""
    options = options or AlignOptions()
    to, langs = _target(corpus, options)
    measure = _measure(corpus, options)[0]
    todo = [doc for doc in corpus.docs if options.every or len(output.docs[doc.id]) != len(doc)]
    cuts = splitter(options.split, langs[0]), splitter(options.split, langs[1])
    texts = [
        (
            Sentences.of(_side(doc, to), cuts[0]),
            Sentences.of(output.docs[doc.id], cuts[1]).rejoined(),
        )
        for doc in todo
    ]
    usual = density(langs[0]) / density(langs[1])  # characters of output per character of text
    sizes = [sum(len(text) + 1 for pair in texts for text in pair[side].texts) for side in (0, 1)]
    # counts like 2000 characters: an output that leaves half out must not look normal to itself
    ratio = (usual * 2000 + sizes[1]) / (2000 + sizes[0])
    paths = [
        alignment.align(
            fixed.texts,
            free.texts,
            ratio=ratio,
            vectors=_vectors(measure, fixed.texts, free.texts),
            lines=free.lines(),
        )
        for fixed, free in texts
    ]
    supported: list[int | None] = [None] * len(todo)
    if measure == LEXICON:
        for _ in range(LESSONS):
            bags = translated([(*pair, beads) for pair, beads in zip(texts, paths)])
            paths = [
                alignment.align(fixed.texts, free.texts, ratio=ratio, translations=words)
                for (fixed, free), words in zip(texts, bags)
            ]
        supported = [support(*pair, beads, words) for pair, beads, words in zip(texts, paths, bags)]
    glue, across = joiner(corpus.langs[1]), to == "source"
    done = []
    for doc, (fixed, free), beads, characters in zip(todo, texts, paths, supported):
        record = _realigned(doc.id, fixed, free, beads, glue, across, characters)
        if reason := _unusable(record, fixed.texts, free.texts, max(ratio, usual)):
            side = _side(doc, to)
            by_words = _by_words(doc.id, side, glue.join(free.texts), reason, across=across)
            # a single sentence has no breaks to be right about
            if len(free.texts) < 2 or _agreement(measure, side, by_words.segments) >= _agreement(
                measure, side, record.segments
            ):
                record = by_words
        done.append(record)
    about = f"split={options.split},similarity={measure},nulls={options.nulls}"
    how = {
        record.doc: f"to={to},by=words" if record.note else f"to={to},{about}" for record in done
    }
    nulls = {record.doc: replace(record.nulls, policy=options.nulls) for record in done}
    aligned = Output(
        output.system,
        {**output.docs, **{record.doc: record.segments for record in done}},
        {**output.realigned, **how},
        {**output.nulls, **nulls},
    )
    return aligned, tuple(done)


def _target(corpus: Corpus, options: AlignOptions) -> tuple[str, tuple[str, str]]:
    """Return what to align with, and the languages of that and of the outputs."""
    to = options.to if options.to != "auto" else next(iter(corpus.references), "source")
    return to, (corpus.langs[0 if to == "source" else 1], corpus.langs[1])


def _measure(corpus: Corpus, options: AlignOptions) -> tuple[str, str]:
    """Return the name of the similarity measure and a note that justifies it."""
    (to, langs), model = _target(corpus, options), identity()
    if options.similarity == "vectors" or (
        options.similarity == "auto" and model and covered(*langs)
    ):
        return model, f"aligned by sentence vectors ({model}), shared words and length"
    if options.similarity == "words":
        return "words", "aligned by shared words and length (as requested)"
    unknown = next((lang for lang in langs if not covered(lang)), None)
    why = (
        f"the sentence vectors do not know {code_of(unknown) or 'a language that is not named'}"
        if unknown is not None
        else "for sentence vectors: pip install 'wholetext[align]'"
    )
    if to != "source":
        return "words", f"aligned by shared words and length ({why})"
    return LEXICON, f"aligned by shared and learned words and length ({why})"


def _vectors(measure: str, fixed: Sequence[str], free: Sequence[str]) -> Features | None:
    if measure in ("words", LEXICON):
        return None
    return Features(sentence_vectors(fixed), sentence_vectors(free))


def _agreement(measure: str, fixed: Sequence[str], free: Sequence[str]) -> float:
    """Return the mean similarity of segments, weighted by the length of ``free``."""
    alike = _vectors(measure, fixed, free) or shared_words(fixed, free)
    similarities = [alike.together((at, at + 1), (at, at + 1)) for at in range(len(free))]
    return float(np.dot(similarities, list(map(len, free)))) / max(1, sum(map(len, free)))


def _realigned(
    doc: str,
    fixed: Sentences,
    free: Sentences,
    beads: Sequence[Bead],
    glue: str,
    across: bool,
    supported: int | None,
) -> Realigned:
    segments, spans, added = place(fixed, free.texts, beads, glue, across=across)
    gone = [bead.fixed for bead in beads if bead.free[0] == bead.free[1]]
    more = [bead.free for bead in beads if bead.fixed[0] == bead.fixed[1]]
    empty = tuple(at for at in sorted(set(fixed.owner)) if not spans[at])
    return Realigned(
        doc,
        tuple(segments),
        beads_of_segments(beads, fixed),
        _share(gone, fixed.texts),
        _share(more, free.texts),
        moved=moved(beads),
        sentences=free.texts,
        spans=tuple(map(tuple, spans)),
        nulls=Nulls(empty, tuple(added)),
        supported=supported,
    )


def _share(spans: Sequence[Span], texts: Sequence[str]) -> float:
    """Return the share of characters that these stretches of sentences have."""
    size = sum(len(text) for span in spans for text in texts[slice(*span)])
    return size / max(1, sum(map(len, texts)))


def _unusable(record: Realigned, fixed: Sequence[str], free: Sequence[str], ratio: float) -> str:
    """Say why sentence alignment is unusable: too few sentences, or impossible omissions."""
    length = sum(len(text) + 1 for text in free) / max(
        1.0, ratio * sum(len(text) + 1 for text in fixed)
    )
    share = 1 - record.omitted + record.added
    if len(fixed) < 2 or not free or length < COMPLETE:
        return ""
    if FEW * len(free) <= len(fixed) or min(length - share, record.omitted) > CONTRADICTION:
        return f"{count(len(free), 'sentence')} for {len(fixed)}"
    return ""


def _by_words(doc: str, fixed: Sequence[str], text: str, reason: str, across: bool) -> Realigned:
    segments = segments_by_words(fixed, text, across=across)
    places = [0, *accumulate(bool(segment) for segment in segments)]
    beads = tuple(Bead((i, i + 1), span) for i, span in enumerate(pairwise(places)))
    empty = tuple(i for i, segment in enumerate(segments) if fixed[i].strip() and not segment)
    lost = sum(len(fixed[i]) for i in empty) / max(1, sum(map(len, fixed)))
    return Realigned(
        doc,
        segments,
        beads,
        lost,
        0.0,
        f"no usable sentence breaks ({reason}): aligned by words",
        nulls=Nulls(empty),
    )


def _side(doc: Document, to: str) -> tuple[str, ...]:
    side = doc.src if to == "source" else doc.refs.get(to)
    if side is None:
        raise InputError(
            f"document {doc.id!r} has no {to if to == 'source' else f'reference {to!r}'} to align with",
            next=f"choose --to {' or '.join(['source', *doc.refs])}",
        )
    return side
