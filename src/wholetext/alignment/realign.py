"""Outputs with their own sentence breaks → the document's segments; omissions and additions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wholetext.alignment.beads import Bead, Similarity
from wholetext.alignment.lexicon import support, translated
from wholetext.alignment.paragraphs import ParagraphMeasure, align_paragraphs
from wholetext.alignment.segments import Placed, Sentences, beads_of_segments, moved, place
from wholetext.alignment.vectors import covered, identity
from wholetext.alignment.word_cuts import segments_by_words
from wholetext.errors import InputError, count, did_you_mean
from wholetext.executor import Executor
from wholetext.notebook.display import brief
from wholetext.notes import Note
from wholetext.text import code_of, density, joiner
from wholetext.text.sentences import splitter
from wholetext.types import Corpus, Document, Nulls, Output

COMPLETE = 0.7  # share of the expected length from which on sentence breaks may be doubted
KINDS = ("1–1", "1–n", "n–m", "1–0", "0–1")  # of beads: segments–sentences
FEW = 2.5  # sentences of the document per sentence of the output that can still be aligned
CONTRADICTION = (
    0.2  # share of text that is called left out although the output is long enough to have it
)
LEXICON = "lexicon"  # similarity by shared words, and by translations learned on the way
SUPPORT = 0.85  # share of the text: with less, link F1 is often below .96 (docs/align.md)
LESSONS = 2  # alignments with a lexicon, each learned from the one before
MEASURES = ("auto", "vectors", "words")


@dataclass(frozen=True)
class AlignOptions:
    """Options of alignment: ``to`` the source, a reference, or ``auto`` (a reference if any).

    ``split`` names the sentence splitter; ``every`` also takes documents whose number of segments
    is right already. ``similarity`` is ``vectors``, ``words``, ``auto`` (vectors where the model is
    installed and knows the languages) or a function of two texts. ``nulls`` is how scores treat
    omissions and additions: ``count``, ``worst``, ``drop``.
    """

    to: str = "auto"
    split: str = "rules"
    every: bool = False
    similarity: Similarity | Literal["auto", "vectors", "words"] = "auto"
    nulls: Literal["count", "worst", "drop"] = "count"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("nulls", self.nulls, Nulls.POLICIES),
            ("similarity", self.similarity, MEASURES),
        ):
            if not callable(value) and value not in known:
                raise InputError(
                    f"there is no {name}={value!r}",
                    next=did_you_mean(str(value), list(known))
                    or f"choose one of {', '.join(known)}",
                )


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
    spans: tuple[
        tuple[tuple[int, int], ...], ...
    ] = ()  # of each segment: its stretches of the joined sentences
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
        records = [(system, record) for system, done in self.documents.items() for record in done]
        words, moved = (
            [(system, record) for system, record in records if record.note],
            [pair for pair in records if pair[1].moved],
        )
        if max(len(words), len(moved)) <= 1:
            return [
                *notes,
                *(
                    f"{system}, document {record.doc}: {note}"
                    for system, record in records
                    for note in record.notes()
                ),
            ]
        if words:
            notes.append(f"no usable sentence breaks in {_where(words)}: aligned by words")
        if moved:
            segments = count(sum(len(record.out_of_order()) for _, record in moved), "segment")
            notes.append(f"{segments} out of order in {_where(moved)}: put in the documents' order")
        return notes

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


def _where(pairs: Sequence[tuple[str, Realigned]]) -> str:
    """Count by system: "3 documents (a 2, b 1)"."""
    systems = Counter(system for system, _ in pairs)
    shown = ", ".join(f"{system} {number}" for system, number in systems.items())
    return f"{count(len(pairs), 'document')} ({shown})"


def align(
    corpus: Corpus,
    outputs: Sequence[Output],
    options: AlignOptions | None = None,
    *,
    executor: Executor | None = None,
) -> Aligned:
    """Align outputs with other sentence boundaries to the segments of the corpus."""
    options, executor = options or AlignOptions(), executor or Executor()
    pairs = [
        future.result()
        for future in [executor.submit(realign, corpus, output, options) for output in outputs]
    ]
    note = _measure(corpus, options)[1]
    return Aligned(
        tuple(output for output, _ in pairs), {output.system: done for output, done in pairs}, note
    )


def realign(
    corpus: Corpus, output: Output, choices: AlignOptions | None = None
) -> tuple[Output, tuple[Realigned, ...]]:
    """Align one output; return it with a record of each document that had to be aligned."""
    choices = choices or AlignOptions()
    to, langs = _target(corpus, choices), _langs(corpus, choices)
    todo = [doc for doc in corpus.docs if choices.every or len(output.docs[doc.id]) != len(doc)]
    cuts = splitter(choices.split, langs[0]), splitter(choices.split, langs[1])
    sides = {doc.id: Sentences.of(_side(doc, to), cuts[0]) for doc in todo}
    sentences = {doc.id: Sentences.of(output.docs[doc.id], cuts[1]).rejoined() for doc in todo}
    measure = _measure(corpus, choices)[0]
    ratio = expected_ratio(
        [side.texts for side in sides.values()],
        [record.texts for record in sentences.values()],
        langs,
    )
    texts = [(sides[doc.id], sentences[doc.id]) for doc in todo]
    paths = [align_paragraphs(*pair, ratio=ratio, measure=measure) for pair in texts]
    for _ in range(LESSONS if measure.name == LEXICON else 0):
        bags = translated([(*pair, beads) for pair, beads in zip(texts, paths)])
        paths = [
            align_paragraphs(*pair, ratio=ratio, measure=measure, translations=words)
            for pair, words in zip(texts, bags)
        ]
    supported: dict[str, int] = {}
    if measure.name == LEXICON:
        supported = {
            doc.id: support(*pair, beads, words)
            for doc, pair, beads, words in zip(todo, texts, paths, bags)
        }
    glue = joiner(corpus.langs[1])
    done = []
    for doc, (fixed, free), beads in zip(todo, texts, paths):
        placed = place(fixed, free.texts, beads, glue, across=to == "source")
        record = replace(
            _realigned(doc.id, fixed, free, beads, placed), supported=supported.get(doc.id)
        )
        if reason := _unusable(
            record, fixed.texts, free.texts, max(ratio, density(langs[0]) / density(langs[1]))
        ):
            by_words = _by_words(
                doc.id, _side(doc, to), glue.join(free.texts), reason, across=to == "source"
            )
            # a single sentence has no breaks to be right about
            likeness = [
                measure.agreement(_side(doc, to), candidate.segments)
                for candidate in (by_words, record)
                if len(free.texts) > 1
            ]
            record = record if likeness and likeness[1] > likeness[0] else by_words
        done.append(record)
    about = f"split={choices.split},similarity={measure.name},nulls={choices.nulls}"
    how = {
        record.doc: f"to={to},by=words" if record.note else f"to={to},{about}" for record in done
    }
    docs = {**output.docs, **{record.doc: record.segments for record in done}}
    nulls = {
        **output.nulls,
        **{record.doc: replace(record.nulls, policy=choices.nulls) for record in done},
    }
    return Output(output.system, docs, {**output.realigned, **how}, nulls), tuple(done)


def _target(corpus: Corpus, choices: AlignOptions) -> str:
    return choices.to if choices.to != "auto" else next(iter(corpus.references), "source")


def _langs(corpus: Corpus, choices: AlignOptions) -> tuple[str, str]:
    """Return the languages of the target of alignment and of the outputs."""
    return corpus.langs[0 if _target(corpus, choices) == "source" else 1], corpus.langs[1]


def _measure(corpus: Corpus, choices: AlignOptions) -> tuple[ParagraphMeasure, str]:
    """Return the similarity measure and a note that justifies it."""
    langs = _langs(corpus, choices)
    if callable(choices.similarity):
        return ParagraphMeasure(
            "given", choices.similarity
        ), "aligned by the similarity that was given"
    model = identity()
    if choices.similarity == "vectors" or (
        choices.similarity == "auto" and model and covered(*langs)
    ):
        return ParagraphMeasure(
            model or "usem3"
        ), f"aligned by sentence vectors ({model}), shared words and length"
    if choices.similarity == "words":
        return ParagraphMeasure("words"), "aligned by shared words and length (as requested)"
    unknown = next((lang for lang in langs if not covered(lang)), None)
    why = (
        f"the sentence vectors do not know {code_of(unknown) or 'a language that is not named'}"
        if unknown is not None
        else "for sentence vectors: pip install 'wholetext[align]'"
    )
    if _target(corpus, choices) != "source":
        return ParagraphMeasure("words"), f"aligned by shared words and length ({why})"
    return ParagraphMeasure(LEXICON), f"aligned by shared and learned words and length ({why})"


def _realigned(
    doc: str, fixed: Sentences, free: Sentences, beads: Sequence[Bead], placed: Placed
) -> Realigned:
    lost = sum(
        len(text)
        for bead in beads
        if bead.free[0] == bead.free[1]
        for text in fixed.texts[slice(*bead.fixed)]
    )
    more = sum(
        len(text)
        for bead in beads
        if bead.fixed[0] == bead.fixed[1]
        for text in free.texts[slice(*bead.free)]
    )
    empty = tuple(at for at in sorted(set(fixed.owner)) if not placed.spans[at])
    shares = lost / max(1, sum(map(len, fixed.texts))), more / max(1, sum(map(len, free.texts)))
    return Realigned(
        doc,
        placed.segments,
        beads_of_segments(beads, fixed),
        *shares,
        moved=moved(beads),
        sentences=free.texts,
        spans=placed.spans,
        nulls=Nulls(empty, placed.added),
    )


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
    beads, at = [], 0
    for i, segment in enumerate(segments):
        beads.append(Bead((i, i + 1), (at, at + bool(segment))))
        at += bool(segment)
    empty = tuple(i for i, segment in enumerate(segments) if fixed[i].strip() and not segment)
    lost = sum(len(fixed[i]) for i in empty) / max(1, sum(map(len, fixed)))
    return Realigned(
        doc,
        segments,
        tuple(beads),
        lost,
        0.0,
        f"no usable sentence breaks ({reason}): aligned by words",
        nulls=Nulls(empty),
    )


def expected_ratio(
    fixed: Iterable[Sequence[str]], free: Iterable[Sequence[str]], langs: tuple[str, str]
) -> float:
    """Return characters of output per character of text: the usual value, adapted.

    The usual value counts like 2000 characters, so that an output that leaves half out does not
    look normal to itself.
    """
    sizes = [sum(len(text) + 1 for side in group for text in side) for group in (fixed, free)]
    usual = density(langs[0]) / density(langs[1])
    return (usual * 2000 + sizes[1]) / (2000 + sizes[0])


def _side(doc: Document, to: str) -> tuple[str, ...]:
    side = doc.src if to == "source" else doc.refs.get(to)
    if side is None:
        raise InputError(
            f"document {doc.id!r} has no {to if to == 'source' else f'reference {to!r}'} to align with",
            next=f"choose --to {' or '.join(['source', *doc.refs])}",
        )
    return side
