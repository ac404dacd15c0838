"""Agreement by paragraph length: every metric on paragraphs of k segments, scored whole or as the mean of its
sentences.

Deutsch et al. 2023, "Training and Meta-Evaluating Machine Translation Evaluation Metrics at the Paragraph Level",
sections 3-5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wholetext.errors import InputError
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.meta.agreement.correlation import BoolArray, pearson_rows
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.judgments.ratings import Ratings
from wholetext.meta.paragraphs import ParagraphSet, RatedParagraph, Windows, lined_up, paragraphs, texts
from wholetext.meta.participants import Participants
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.types import FloatArray

MODES = ("direct", "average")
MEASURES = {"accuracy": Measure("accuracy"), "acc_eq": Measure("acc_eq", "item"), "pearson": Measure("pearson", "none")}


@dataclass(frozen=True)
class Point:
    """One metric at one length, scored in one way."""

    k: int
    metric: str
    mode: str  # direct, average
    paragraphs: int  # judged paragraphs over all systems
    items: int
    systems: int
    accuracy: float  # of systems
    acc_eq: float
    pearson: float
    chance: dict[str, float]
    pairs: dict[str, int]
    direct_average: float  # Pearson's r between the two ways of scoring


def curves(
    where: Participants, ratings: Ratings, metrics: Sequence[str], windows: Sequence[Windows],
    options: Options | None = None,
    notes: list[str] | None = None,
) -> list[Point]:
    """Every metric at every length. Human systems and outliers take part as the field says. Sentences that nobody
    rated are not scored; what is to be said of the scores is added to ``notes``.
    """
    options = replace(options or Options(), refs=where.refs or None, flags=False)
    specs = {metric: scorer(metric).spec for metric in metrics}
    rated = _rated(where, ratings)

    def score(loaded: Loaded) -> dict[str, FloatArray]:
        whole = all(doc.id in rated for doc in loaded.corpus.docs)  # not a corpus of paragraphs
        asked = replace(options, only=rated) if whole else options
        found, said = _matrices(loaded, list(specs.values()), where.systems, asked, "segment")
        if notes is not None:
            notes.extend(f"paragraphs: {note}" for note in said if f"paragraphs: {note}" not in notes)
        return {metric: found[spec] for metric, spec in specs.items()}

    return curves_of(where, ratings, windows, score)


def _rated(where: Participants, ratings: Ratings) -> dict[str, BoolArray]:
    """Document → (segments,) which of them anybody rated."""
    found = {run.doc: np.zeros(run.stop - run.start, dtype=bool) for run in where.runs}
    for item in np.unique(ratings.item).tolist():
        doc, place = ratings.segments[item]
        if doc in found and place < len(found[doc]):
            found[doc][place] = True
    return found


def curves_of(
    where: Participants, ratings: Ratings, windows: Sequence[Windows], score: Callable[[Loaded], dict[str, FloatArray]]
) -> list[Point]:
    """The same with any way of scoring: texts → (systems, segments) by metric, higher is better."""
    loaded = evalset.read(where.folder, where.langs)
    loaded = Loaded(loaded.corpus, tuple(o for o in loaded.outputs if o.system in where.systems), loaded.warnings)
    sentences = score(loaded)
    points = []
    for one in windows:
        found = paragraphs(ratings, one)
        chosen = lined_up(found, where.systems, [doc.id for doc in loaded.corpus.docs])
        if len(chosen.items) == 0:
            raise InputError(f"no paragraph of {one.k} segments was judged for two systems", where=where.name,
                             next="use a smaller k")
        direct = score(texts(loaded, chosen))
        for metric in direct:
            scored = {"direct": direct[metric], "average": _averaged(sentences[metric], chosen, loaded)}
            points += _points(metric, chosen, found, scored)
    return points


def _matrices(
    loaded: Loaded, specs: Sequence[str], systems: Sequence[str], options: Options, level: Any
) -> tuple[dict[str, FloatArray], Sequence[str]]:
    """spec → (systems, items), higher is better; and the notes of the run."""
    results = evaluate(loaded.corpus, loaded.outputs, specs, options)
    return {
        spec: np.stack([results.scores[spec][s].at(level) * (1 if results.scores[spec][s].higher_is_better else -1)
                        for s in systems])
        for spec in specs
    }, results.warnings


def _averaged(sentences: FloatArray, chosen: ParagraphSet, loaded: Loaded) -> FloatArray:
    """(systems, segments) → (systems, items) means of the sentences of each paragraph."""
    offset, offsets = 0, {}
    for doc in loaded.corpus.docs:
        offsets[doc.id] = offset
        offset += len(doc)
    starts = np.array([offsets[doc] + start for doc, start in chosen.items])
    return np.asarray(np.stack([sentences[:, starts + i] for i in range(chosen.k)]).mean(axis=0))


def _points(
    metric: str, chosen: ParagraphSet, found: Sequence[RatedParagraph], scored: dict[str, FloatArray]
) -> list[Point]:
    gold = chosen.gold.values
    judged = ~np.isnan(gold)
    both = float(pearson_rows(scored["direct"][judged], scored["average"][judged]))
    points = []
    for mode in MODES:
        values = np.where(judged, scored[mode], np.nan)
        estimates = {
            name: estimate(system_means(gold)[:, None], system_means(values)[:, None], measure) if name == "accuracy"
            else estimate(gold, values, measure)
            for name, measure in MEASURES.items()
        }
        points.append(Point(
            chosen.k, metric, mode, len(found), len(chosen.items), len(chosen.gold.systems),
            accuracy=estimates["accuracy"].value, acc_eq=estimates["acc_eq"].value, pearson=estimates["pearson"].value,
            chance={name: e.chance for name, e in estimates.items()},
            pairs={name: e.pairs for name, e in estimates.items()}, direct_average=both))
    return points
