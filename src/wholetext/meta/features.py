"""Discourse features of texts against each other.

Discriminativeness is how often a feature is higher in human references than in outputs, or lower:
Zhao, Strube and Eger 2023, equation 4 and Table 11. The two define opposite signs, so all three
shares are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from wholetext.errors import MetricError, known
from wholetext.io import Loaded
from wholetext.meta.agreement.correlation import (
    CORRELATIONS,
    BoolArray,
    both_known,
)
from wholetext.metrics.cohesion.grids import grid, read
from wholetext.metrics.cohesion.metric import Freq
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, open_run, score
from wholetext.scoring.results import Results
from wholetext.scoring.significance.paired import between_metrics
from wholetext.types import Corpus, FloatArray, Level, Output

FEATURES = ("freq", "freq(focus=entity)", "conn", "conn(focus=entity)", "rc", "lc")


@dataclass(frozen=True)
class Discriminativeness:
    """One feature of one system against the references, pair by pair of documents that differ."""

    feature: str
    system: str
    pairs: int  # (document, reference) pairs compared
    identical: int  # pairs left out because the two texts are equal
    below: float  # share of pairs with R(ref) < R(hyp): the D of equation 4
    equal: float
    above: float  # share of pairs with R(ref) > R(hyp)
    hyp: float  # mean of the feature over the outputs' documents of these pairs
    ref: float


@dataclass(frozen=True, eq=False)
class FeaturePairs:
    """A feature of every output and of every reference of the same document, pair by pair."""

    feature: str
    places: tuple[tuple[str, str, str], ...]  # (system, document, reference) by pair
    hyp: FloatArray  # (pairs,)
    ref: FloatArray
    same: BoolArray  # whether the two texts are equal


def feature_pairs(
    corpus: Corpus,
    outputs: Sequence[Output],
    features: Sequence[str] = FEATURES,
    options: Options | None = None,
) -> list[FeaturePairs]:
    """Compute features of outputs and references: the points of Figures 2 and 6 of DiscoScore.

    Features are reference-free metrics, one number per document.
    """
    for feature in features:
        if scorer(feature).metric.needs != {"hyp"}:
            raise MetricError(
                f"{feature} is not a feature of a single text",
                next=f"for example {', '.join(FEATURES)}",
            )
    if not corpus.references:
        raise MetricError(
            "features are compared with references, and there is none",
            where=corpus.id,
            next="give one (-r, in Python refs=)",
        )
    humans = [
        Output(name, {doc.id: doc.refs[name] for doc in corpus.docs}) for name in corpus.references
    ]
    machine = score(Loaded(corpus, outputs), features, options=options).scores
    human = score(Loaded(corpus, humans), features, options=options).scores
    pairs = list(product(outputs, corpus.docs, corpus.references))
    places = tuple((output.system, doc.id, ref) for output, doc, ref in pairs)
    same = np.array([output.docs[doc.id] == doc.refs[ref] for output, doc, ref in pairs])
    results = []
    for feature in machine:
        refs = np.stack([human[feature][name].at("doc") for name in corpus.references], axis=1)
        hyps = np.concatenate([machine[feature][output.system].at("doc") for output in outputs])
        columns = np.repeat(hyps, refs.shape[1]), np.tile(refs.ravel(), len(outputs))
        results.append(FeaturePairs(feature, places, *columns, same))
    return results


def discriminativeness(
    corpus: Corpus,
    outputs: Sequence[Output],
    features: Sequence[str] = FEATURES,
    options: Options | None = None,
) -> list[Discriminativeness]:
    """Compute the discriminativeness of every feature for every system."""
    return [
        shares(pairs, output.system)
        for pairs in feature_pairs(corpus, outputs, features, options)
        for output in outputs
    ]


def shares(pairs: FeaturePairs, system: str | None = None) -> Discriminativeness:
    """Shares of pairs where the reference's feature is lower, equal or higher (Eq. 4, Table 11).

    Of one system, or of all.
    """
    own = np.array([system in (None, place[0]) for place in pairs.places])
    known = own & ~pairs.same & both_known(pairs.hyp, pairs.ref)
    hyp, ref = pairs.hyp[known], pairs.ref[known]
    columns = (ref < hyp, ref == hyp, ref > hyp, hyp, ref)
    means = (float(column.mean()) if len(hyp) else float("nan") for column in columns)
    identical = int((own & pairs.same).sum())
    return Discriminativeness(pairs.feature, system or "all", len(hyp), identical, *means)


@dataclass(frozen=True)
class FocusStatistics:
    """What outputs offer to discourse metrics (Table 9 of DiscoScore); means over texts."""

    references: int
    systems: int
    documents: int
    sentences: float
    foci: float  # noun lemmas
    repeated: float  # those mentioned more than once
    with_repeated: float  # share of texts that have such foci


def focus_statistics(
    corpus: Corpus, outputs: Sequence[Output], tagger: str = "auto"
) -> FocusStatistics:
    """Count sentences and foci of all outputs."""
    analyser = Freq(tagger=tagger).resolve(corpus.langs).analyser()
    texts = [output.docs[doc] for output in outputs for doc in corpus.ids]
    segments = list(dict.fromkeys(segment for text in texts for segment in text))
    analyses = dict(zip(segments, analyser.run(segments), strict=True))
    counts = []
    for text in texts:
        analysed = read(text, [analyses[segment] for segment in text])
        mentions = [len(places) for places in grid(analysed).values()]
        repeated = sum(number > 1 for number in mentions)
        counts.append((len(analysed.sentences), len(mentions), repeated, repeated > 0))
    means = map(float, np.mean(counts, axis=0))
    return FocusStatistics(len(corpus.references), len(outputs), len(corpus.docs), *means)


def metric_correlation(
    run: Results | Path | str, level: Level = "doc", statistic: str = "pearson"
) -> tuple[list[str], FloatArray]:
    """Correlate the metrics of a run with one another (Figure 7 of DiscoScore, 5 of BlonDe).

    Scores of all systems at ``level`` (``corpus``, ``doc`` or ``segment``) are one vector per
    metric; those of lower-is-better metrics are negated.

    Returns:
        Names of the metrics, and the (metrics, metrics) table.
    """
    correlate = CORRELATIONS[known("correlation", statistic, CORRELATIONS, error=MetricError)]
    results = run if isinstance(run, Results) else open_run(run)
    return list(results.scores), between_metrics(results.scores, level, correlate)
