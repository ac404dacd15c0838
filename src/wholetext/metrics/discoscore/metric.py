"""DiscoScore: how two texts differ in what they speak of (ds-focus) and in how their sentences hang together (ds-sent).

Zhao, Strube and Eger 2023, "DiscoScore: Evaluating Text Generation with BERT and Discourse Coherence" (EACL).
The published code is followed where it made the published tables; docs/discourse.md lists where code and paper part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from wholetext.backends.encoder import open_encoder
from wholetext.backends.hub.locate import locate
from wholetext.backends.tokenizer import FILES
from wholetext.backends.vectors.word_encoder import Passage, TooLong, WordEncoder
from wholetext.errors import SpecError
from wholetext.metrics.cohesion.foci import EMBEDDED, Focus, FocusMetric, foci_of, static_vectors, vector_facts
from wholetext.metrics.cohesion.grids import Grid, Matching, Weighting, grid, mentions
from wholetext.metrics.cohesion.readings import AnalysedText, WordsFrom
from wholetext.metrics.cohesion.vectors import StaticVectors
from wholetext.metrics.discoscore.sentence_graph import Match, refine, similarity
from wholetext.metrics.token_metric import english_only
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime, mean_stats

_TINY = 1e-30
_MODEL = "bert-base-uncased"  # what the published package uses


@dataclass(frozen=True)
class EncodedMetric(FocusMetric):
    """A metric over foci and contextual vectors of words."""

    focus: Focus = "nn"
    threshold: float = 0.8
    vectors: str = EMBEDDED
    words: WordsFrom = "tokens"
    model: str = _MODEL
    revision: str = ""
    layers: int = 8
    too_long: TooLong = "window"

    def facts(self) -> Mapping[str, str]:
        found = locate(self.model, self.revision, patterns=FILES)
        return {**super().facts(), "model": found.id, **vector_facts(self.focus, self.vectors)}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return (*super().notes(langs), *english_only(self.model, langs[1]))

    def encoder(self, run: Runtime) -> WordEncoder:
        key = ("word-encoder", self.model, self.revision, self.layers, self.too_long, run.device, run.dtype)
        return run.resource(key, lambda: WordEncoder(open_encoder(run, self.model, self.revision, self.layers),
                                                     layers=self.layers, too_long=self.too_long))

    def static(self, run: Runtime) -> StaticVectors | None:
        return static_vectors(self.vectors, run) if self.focus == "entity" else None

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit] | None:
        """Tokens of hypothesis and references together; only ``truncate`` loses any."""
        encoder, read = self.encoder(run), self.readings(requests, run, self.words)
        sizes = {view: encoder.fit(Passage(reading.words)) for view, reading in read.items()}
        return [Fit(tokens=sum(sizes[view].tokens for view in (*request.hyp, *request.refs)),
                    lost_focus=sum(sizes[view].lost_focus for view in (*request.hyp, *request.refs)))
                for request in requests]


def passage(reading: AnalysedText, match: Matching) -> Passage:
    """What the encoder is asked of a text: all mentions and all sentences, so that both metrics ask for the same."""
    places = {place for found in mentions(reading, match).values() for place in found}
    return Passage(reading.words, tuple(sorted(places)), reading.sentences)


# ---------------------------------------------------------------- DS-Focus


class FocusVectors(NamedTuple):
    """The foci of one text and, row by row, the sum of the unit vectors of their mentions."""

    names: tuple[str, ...]
    sums: FloatArray  # (foci, hidden)


def focus_vectors(found: Grid, vectors: Mapping[int, FloatArray]) -> FocusVectors:
    """F_v = Σ of the unit vectors of v's mentions (equation 1); ``vectors`` holds the vector of each mention."""
    names = tuple(focus for focus, places in found.items() if any(place in vectors for place in places))
    rows = []
    for name in names:
        stack = np.stack([vectors[place] for place in found[name] if place in vectors])  # (mentions, hidden)
        rows.append((stack / (np.linalg.norm(stack, axis=1, keepdims=True) + _TINY)).sum(axis=0))
    return FocusVectors(names, np.array(rows) if rows else np.zeros((0, 0)))


def focus_distance(
    hyp: FocusVectors, ref: FocusVectors, *, squared: bool = True, no_overlap: str = "zero"
) -> FloatArray:
    """(precision, recall): summed distance of shared foci over the number of foci in hyp and in ref (section 3.1)."""
    at = {name: row for row, name in enumerate(ref.names)}
    shared = [(row, at[name]) for row, name in enumerate(hyp.names) if name in at]
    if not shared:
        return np.array([_unshared(hyp, squared, no_overlap), _unshared(ref, squared, no_overlap)])
    rows = np.array(shared)  # (shared, 2)
    total = _lengths(hyp.sums[rows[:, 0]] - ref.sums[rows[:, 1]], squared).sum()
    return np.array([total / len(hyp.names), total / len(ref.names)])


def _unshared(text: FocusVectors, squared: bool, rule: str) -> float:
    if rule == "nan":
        return float("nan")
    if rule == "zero" or not text.names:
        return 0.0
    return float(_lengths(2 * text.sums, squared).mean())  # each focus against its own opposite


def _lengths(rows: FloatArray, squared: bool) -> FloatArray:
    square = (rows**2).sum(axis=1)
    return np.asarray(square if squared else np.sqrt(square))


@dataclass(frozen=True)
class DsFocus(EncodedMetric):
    """DS-Focus: a distance between the foci of hypothesis and reference; the mean over several references."""

    name = "ds-focus"
    summary = "DiscoScore focus difference: distance between what hypothesis and reference speak of (lower is better)"
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
            raise SpecError("focus_match=lemma needs the tagger's tokens", next="leave out words=spaces")
        if self.negate:
            object.__setattr__(self, "higher_is_better", True)
            object.__setattr__(self, "range", (float("-inf"), 0.0))

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        read = self.readings(requests, run, self.words)
        foci = self._encoded(read, run)
        rows = np.full((len(requests), 3), np.nan)
        for at, request in enumerate(requests):
            pairs = [(foci[hyp], foci[ref]) for hyp, ref in request.pairs()]
            alone = sum(not set(hyp.names) & set(ref.names) for hyp, ref in pairs)
            if alone:
                run.detail(at, reason=f"no focus shared with {alone} of {len(pairs)} references")
                run.warn(f"no focus is shared with a reference (no_overlap={self.no_overlap})", at)
            both = np.array([focus_distance(hyp, ref, squared=self.distance == "sqeuclidean",
                                            no_overlap=self.no_overlap) for hyp, ref in pairs])  # (references, 2)
            known = both[~np.isnan(both).any(axis=1)]
            if len(known):
                rows[at, :2] = known.mean(axis=0)
        rows[:, 2] = rows[:, :2].mean(axis=1)  # what the paper calls F-score is this mean
        chosen = ("precision", "recall", "f").index(self.variant)
        scores = np.concatenate([rows[:, chosen : chosen + 1], rows], axis=1)  # (n, outputs)
        return mean_stats(-scores if self.negate else scores)

    def _encoded(self, read: Mapping[Excerpt, AnalysedText], run: Runtime) -> dict[Excerpt, FocusVectors]:
        static = self.static(run)
        passages = [passage(reading, self.focus_match) for reading in read.values()]
        found: dict[Excerpt, FocusVectors] = {}
        vectors = run.map(self.encoder(run), passages)
        for (view, reading), asked, rows in zip(read.items(), passages, vectors, strict=True):
            foci = foci_of(mentions(reading, self.focus_match), self.focus, self.threshold, static)
            kept = {focus: places for focus, places in foci.items() if len(places) >= self.min_mentions}
            found[view] = focus_vectors(kept, _known(asked.wanted, rows))
        return found


def _known(places: Sequence[int], rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> dict[int, FloatArray]:
    """The vector of each place that was not cut away."""
    return {place: row.astype(np.float64) for place, row in zip(places, rows) if not np.isnan(row[:1]).any()}


# ---------------------------------------------------------------- DS-Sent


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
    one_sentence_refs: Literal["once", "twice"] = "once"  # twice: the published code appends their score two times

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        read = self.readings(requests, run, self.words)
        static = self.static(run)
        passages = [passage(reading, "reference") for reading in read.values()]
        rows = {
            view: self._rows(reading, vectors[len(asked.wanted) :].astype(np.float64), static)
            for (view, reading), asked, vectors in zip(read.items(), passages, run.map(self.encoder(run), passages))
        }
        scores = np.full(len(requests), np.nan)
        for at, request in enumerate(requests):
            found: list[float] = []
            for hyp, ref in request.pairs():
                score, reason = similarity(rows[hyp], rows[ref], self.match)
                twice = self.one_sentence_refs == "twice" and len(rows[ref]) == 1
                found += [score, score] if twice else [score]
                if reason:
                    run.detail(at, reason=reason)
                    run.warn(reason, at)
            known = [score for score in found if not np.isnan(score)]
            scores[at] = np.mean(known) if known else np.nan
        return mean_stats(scores)

    def _rows(self, reading: AnalysedText, vectors: FloatArray, static: StaticVectors | None) -> FloatArray:
        kept = int((~np.isnan(vectors).any(axis=1)).sum())  # only the end of a text is ever cut
        foci = foci_of(grid(reading), self.focus, self.threshold, static)
        here = {focus: tuple(i for i in places if i < kept) for focus, places in foci.items()}
        return refine(vectors[:kept], here if self.use_graph else {}, self.weighting)
