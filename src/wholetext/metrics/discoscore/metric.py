"""DiscoScore: differences in foci (ds-focus) and in sentence coherence (ds-sent).

Zhao, Strube and Eger 2023, "DiscoScore: Evaluating Text Generation with BERT and Discourse
Coherence" (EACL). The published code is followed where it made the published tables;
docs/discourse.md lists where code and paper part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wholetext.errors import SpecError, count
from wholetext.metrics.bertscore import earth_movers_distance
from wholetext.metrics.cohesion.grids import (
    AnalysedText,
    Grid,
    Matching,
    Weighting,
    WordsFrom,
    adjacency,
    grid,
    mentions,
)
from wholetext.metrics.cohesion.metric import Focus, FocusMetric
from wholetext.metrics.cohesion.vectors import EMBEDDED
from wholetext.metrics.discoscore.word_encoder import Passage, TooLong, WordEncoder
from wholetext.metrics.model_metric import english_only, locate
from wholetext.models.encoder import open_encoder
from wholetext.models.layout import together
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime, mean_stats

Match = Literal["stats", "greedy", "optimal"]
_TINY = 1e-30
_LARGEST_PLAN = 250_000  # cells of a transport plan that is still solved exactly


@dataclass(frozen=True)
class EncodedMetric(FocusMetric):
    """A metric over foci and contextual vectors of words."""

    focus: Focus = "nn"
    threshold: float = 0.8
    vectors: str = EMBEDDED
    words: WordsFrom = "tokens"
    model: str = "bert-base-uncased"  # what the published package uses
    revision: str = ""
    layers: int = 8
    too_long: TooLong = "window"

    def facts(self) -> Mapping[str, str]:
        tagger, *vectors = super().facts().items()
        return dict([tagger, ("model", locate(self.name, self.model, self.revision).id), *vectors])

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return (*super().notes(langs), *english_only(self.model, langs[1]))

    def encoder(self, run: Runtime) -> WordEncoder:
        def make() -> WordEncoder:
            locate(self.name, self.model, self.revision)  # its error names the embedded model
            encoder = open_encoder(run, self.model, self.revision, self.layers)
            return WordEncoder(encoder, layers=self.layers, too_long=self.too_long)

        settings = (self.model, self.revision, self.layers, self.too_long)
        return run.resource(("word-encoder", *settings, run.device, run.dtype), make)

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit] | None:
        """Count tokens of hypothesis and references together; only ``truncate`` loses any."""
        encoder, read = self.encoder(run), self.readings(requests, run, self.words)
        sizes = {view: encoder.fit(Passage(reading.words)) for view, reading in read.items()}
        return [
            together(sizes[view] for view in (*request.hyp, *request.refs)) for request in requests
        ]

    def encoded(
        self, requests: Sequence[Request], run: Runtime, match: Matching = "reference"
    ) -> Iterator[tuple[Excerpt, AnalysedText, Passage, FloatArray]]:
        """Yield texts with vectors of mentions, then of sentences; both metrics share them."""
        read, passages = self.readings(requests, run, self.words), []
        for text in read.values():
            foci = mentions(text, match)
            places = {place for occurrences in foci.values() for place in occurrences}
            passages.append(Passage(text.words, tuple(sorted(places)), text.sentences))
        rows = run.map(self.encoder(run), passages)
        for (view, text), passage, vectors in zip(read.items(), passages, rows, strict=True):
            yield view, text, passage, vectors.astype(np.float64)


# ---------------------------------------------------------------- DS-Focus


def focus_vectors(foci: Grid, vectors: Mapping[int, FloatArray]) -> dict[str, FloatArray]:
    """Sum the unit vectors of each focus's mentions (equation 1): focus → (hidden,)."""
    sums = {}
    for name, places in foci.items():
        mentioned = [vectors[place] for place in places if place in vectors]
        if mentioned:
            rows = np.stack(mentioned)  # (mentions, hidden)
            sums[name] = (rows / (np.linalg.norm(rows, axis=1, keepdims=True) + _TINY)).sum(axis=0)
    return sums


def focus_distance(
    hyp: Mapping[str, FloatArray],
    ref: Mapping[str, FloatArray],
    squared: bool = True,
    no_overlap: str = "zero",
) -> FloatArray:
    """(precision, recall): distance of shared foci per focus of hyp and of ref (section 3.1)."""

    def length(row: FloatArray) -> float:
        square = float((row**2).sum())
        return square if squared else math.sqrt(square)

    shared = [length(hyp[name] - ref[name]) for name in hyp if name in ref]
    if shared:
        return np.array([sum(shared) / len(hyp), sum(shared) / len(ref)])
    if no_overlap == "max":  # each focus against its own opposite
        opposite = ([length(2 * row) for row in text.values()] for text in (hyp, ref))
        return np.array([np.mean(lengths) if lengths else 0.0 for lengths in opposite])
    return np.full(2, np.nan if no_overlap == "nan" else 0.0)


@dataclass(frozen=True)
class DsFocus(EncodedMetric):
    """DS-Focus: distance between the foci of hypothesis and reference; mean over references."""

    name = "ds-focus"
    summary = (
        "DiscoScore focus difference: distance between the foci of hypothesis and reference "
        "(lower is better)"
    )
    higher_is_better = False
    range = (0.0, float("inf"))
    outputs = ("score", "precision", "recall", "f")

    variant: Literal["precision", "recall", "f"] = "precision"
    distance: Literal["sqeuclidean", "l2"] = "sqeuclidean"
    no_overlap: Literal["zero", "nan", "max"] = "zero"
    min_mentions: int = 1
    focus_match: Matching = "reference"
    negate: bool = False

    def __post_init__(self) -> None:
        if self.focus_match == "lemma" and self.words == "spaces":
            raise SpecError(
                "focus_match=lemma needs the tagger's tokens", next="leave out words=spaces"
            )
        if self.negate:
            object.__setattr__(self, "higher_is_better", True)
            object.__setattr__(self, "range", (float("-inf"), 0.0))

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        merged = self.foci(run)
        foci: dict[Excerpt, dict[str, FloatArray]] = {}
        for view, text, passage, vectors in self.encoded(requests, run, self.focus_match):
            grid = merged(mentions(text, self.focus_match))
            kept = {name: at for name, at in grid.items() if len(at) >= self.min_mentions}
            rows_of = zip(passage.places, vectors)
            known = {place: row for place, row in rows_of if not np.isnan(row[0])}
            foci[view] = focus_vectors(kept, known)
        rows = np.full((len(requests), 3), np.nan)
        for at, request in enumerate(requests):
            pairs = [(foci[hyp], foci[ref]) for hyp, ref in request.pairs()]
            alone = sum(hyp.keys().isdisjoint(ref) for hyp, ref in pairs)
            if alone:
                run.detail(
                    at, reason=f"no focus shared with {alone} of {count(len(pairs), 'reference')}"
                )
                run.warn(f"no focus is shared with a reference (no_overlap={self.no_overlap})", at)
            squared = self.distance == "sqeuclidean"
            both = np.array([focus_distance(*pair, squared, self.no_overlap) for pair in pairs])
            defined = both[~np.isnan(both).any(axis=1)]  # (references, 2)
            if len(defined):
                rows[at, :2] = defined.mean(axis=0)
        rows[:, 2] = rows[:, :2].mean(axis=1)  # what the paper calls F-score is this mean
        chosen = ("precision", "recall", "f").index(self.variant)
        scores = np.concatenate([rows[:, chosen : chosen + 1], rows], axis=1)  # (n, outputs)
        return mean_stats(-scores if self.negate else scores)


# ---------------------------------------------------------------- DS-Sent


def refine(sentences: FloatArray, foci: Grid, weighting: Weighting = "u") -> FloatArray:
    """Compute (A + I)·S, rows at unit length (equation 3): (n, hidden); without foci A is 0."""
    rows = np.asarray(sentences, dtype=np.float64)
    if foci:
        rows = rows + adjacency(foci, len(rows), weighting) @ rows
    return np.asarray(rows / (np.linalg.norm(rows, axis=1, keepdims=True) + _TINY))


def similarity(hyp: FloatArray, ref: FloatArray, match: Match = "stats") -> tuple[float, str]:
    """Compare the refined rows of two texts; the reason says why a value is undefined.

    ``stats`` is the paper's comparison; ``greedy`` and ``optimal`` are the two that its Table 4
    names (BERTScore- and MoverScore-like), with our definitions.
    """
    if not len(hyp) and not len(ref):
        return float("nan"), "neither text has a word"
    if not len(hyp) or not len(ref):
        return 0.0, "one of the two texts has no word"
    if match == "greedy":
        return _greedy(hyp, ref), ""
    if match == "optimal":
        if len(hyp) * len(ref) > _LARGEST_PLAN:
            return float("nan"), f"{len(hyp)} × {len(ref)} sentences are too many for match=optimal"
        square = 2.0 - 2.0 * (hyp @ ref.T)  # (n, m) squared distances of unit rows
        return 1.0 - earth_movers_distance(np.sqrt(np.where(square < 1e-12, 0.0, square))), ""
    if (
        len(ref) == 1
    ):  # as in the published code: nothing to summarise, so the mean cosine with each sentence
        return float((hyp @ ref[0]).mean()), ""
    ours, theirs = graph_vector(hyp), graph_vector(ref)
    lengths = float(np.linalg.norm(ours) * np.linalg.norm(theirs))
    return float(ours @ theirs / max(lengths, _TINY)), ""


def graph_vector(rows: FloatArray) -> FloatArray:
    """Concatenate minimum, mean, maximum and sum over the sentences: (4·hidden,)."""
    return np.concatenate([rows.min(axis=0), rows.mean(axis=0), rows.max(axis=0), rows.sum(axis=0)])


def _greedy(hyp: FloatArray, ref: FloatArray) -> float:
    cosine = hyp @ ref.T  # (hyp sentences, ref sentences)
    precision, recall = float(cosine.max(axis=1).mean()), float(cosine.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


@dataclass(frozen=True)
class DsSent(EncodedMetric):
    """DS-Sent: similarity of the two texts' sentence graphs; the mean over several references."""

    name = "ds-sent"
    summary = "DiscoScore sentence graph: similarity of sentence vectors linked by shared foci"
    range = (-1.0, 1.0)

    threshold: float = 0.5
    weighting: Weighting = "u"
    match: Match = "stats"
    use_graph: bool = True
    # twice: the published code appends their score two times
    one_sentence_refs: Literal["once", "twice"] = "once"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        merged = self.foci(run)
        rows: dict[Excerpt, FloatArray] = {}
        for view, text, passage, states in self.encoded(requests, run):
            vectors = states[len(passage.places) :]  # (sentences, hidden)
            kept = int((~np.isnan(vectors).any(axis=1)).sum())  # only the end of a text is ever cut
            foci = {
                focus: tuple(i for i in places if i < kept)
                for focus, places in merged(grid(text)).items()
            }
            rows[view] = refine(vectors[:kept], foci if self.use_graph else {}, self.weighting)
        scores = np.full(len(requests), np.nan)
        for at, request in enumerate(requests):
            each: list[float] = []
            for hyp, ref in request.pairs():
                score, reason = similarity(rows[hyp], rows[ref], self.match)
                twice = self.one_sentence_refs == "twice" and len(rows[ref]) == 1
                each += [score, score] if twice else [score]
                if reason:
                    run.detail(at, reason=reason)
                    run.warn(reason, at)
            known = [score for score in each if not np.isnan(score)]
            scores[at] = np.mean(known) if known else np.nan
        return mean_stats(scores)
