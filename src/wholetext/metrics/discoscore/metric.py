"""DiscoScore: differences in foci (ds-focus) and in sentence coherence (ds-sent).

Zhao, Strube and Eger 2023, "DiscoScore: Evaluating Text Generation with BERT and Discourse
Coherence" (EACL). The published code is followed where it made the published tables;
docs/discourse.md lists where code and paper part.
"""

from __future__ import annotations

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
    ) -> Iterator[tuple[Excerpt, AnalysedText, dict[int, FloatArray], FloatArray]]:
        """Yield texts with vectors by mentioning word, and those of sentences, (n, hidden).

        Both metrics share them. Without the words and sentences that ``truncate`` cut.
        """
        read, passages = self.readings(requests, run, self.words), []
        for text in read.values():
            foci = mentions(text, match)
            places = {place for occurrences in foci.values() for place in occurrences}
            passages.append(Passage(text.words, tuple(sorted(places)), text.sentences))
        rows = run.map(self.encoder(run), passages)
        for (view, text), passage, vectors in zip(read.items(), passages, rows, strict=True):
            known, states = ~np.isnan(vectors[:, 0]), vectors.astype(np.float64)
            words = {place: states[i] for i, place in enumerate(passage.places) if known[i]}
            sentences = slice(len(passage.places), None)
            yield view, text, words, states[sentences][known[sentences]]


def mean_defined(values: Sequence[FloatArray]) -> FloatArray:
    """Average arrays of a shape over those without NaN; NaN if there are none."""
    defined = [value for value in values if not np.isnan(value).any()]
    return np.asarray(np.mean(defined, axis=0) if defined else np.full_like(values[0], np.nan))


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
    power = 2 if squared else 1
    shared = [np.linalg.norm(hyp[name] - ref[name]) ** power for name in hyp if name in ref]
    if shared:
        return np.array([sum(shared) / len(hyp), sum(shared) / len(ref)])
    if no_overlap == "max":  # each focus against its own opposite
        opposite = (
            [np.linalg.norm(2 * row) ** power for row in text.values()] for text in (hyp, ref)
        )
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
        for view, text, words, _ in self.encoded(requests, run, self.focus_match):
            grid = merged(mentions(text, self.focus_match))
            kept = {name: at for name, at in grid.items() if len(at) >= self.min_mentions}
            foci[view] = focus_vectors(kept, words)
        rows = np.empty((len(requests), 2))  # precision, recall
        squared = self.distance == "sqeuclidean"
        for at, request in enumerate(requests):
            pairs = [(foci[hyp], foci[ref]) for hyp, ref in request.pairs()]
            alone = sum(hyp.keys().isdisjoint(ref) for hyp, ref in pairs)
            if alone:
                run.detail(
                    at, reason=f"no focus shared with {alone} of {count(len(pairs), 'reference')}"
                )
                run.warn(f"no focus is shared with a reference (no_overlap={self.no_overlap})", at)
            rows[at] = mean_defined([focus_distance(*p, squared, self.no_overlap) for p in pairs])
        precision, recall = rows.T
        # what the paper calls F-score is this mean
        table = {"precision": precision, "recall": recall, "f": (precision + recall) / 2}
        scores = np.column_stack([table[self.variant], *table.values()])  # (n, outputs)
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
        for view, text, _, sentences in self.encoded(requests, run):
            foci = {
                focus: tuple(i for i in places if i < len(sentences))
                for focus, places in merged(grid(text)).items()
            }
            rows[view] = refine(sentences, foci if self.use_graph else {}, self.weighting)
        scores = []
        for at, request in enumerate(requests):
            each: list[FloatArray] = []
            for hyp, ref in request.pairs():
                score, reason = similarity(rows[hyp], rows[ref], self.match)
                twice = self.one_sentence_refs == "twice" and len(rows[ref]) == 1
                each += [np.array(score)] * (2 if twice else 1)
                if reason:
                    run.detail(at, reason=reason)
                    run.warn(reason, at)
            scores.append(mean_defined(each))
        return mean_stats(np.array(scores))
