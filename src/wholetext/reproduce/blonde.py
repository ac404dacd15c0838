"""Experiments of Jiang et al. 2022: BWB, its errors, and BlonDe beside other metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from wholetext.annotation.relative_ranking import read_rankings
from wholetext.io.detect import read
from wholetext.io.formats.bwb import error_types
from wholetext.meta import MetaTasks
from wholetext.metrics.blonde.categories import Profile
from wholetext.metrics.blonde.metric import Blonde, DBlonde
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.reproduce.bundled import small_bwb, small_rankings
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Result
from wholetext.scoring.evaluate import score
from wholetext.scoring.results import Results
from wholetext.scoring.significance.paired import between_metrics, paired_t


def _bwb(experiment: Experiment) -> Path:
    if experiment.bundled:
        experiment.notes.append("the books are the bundled demo, their errors marked by BlonDe")
        return small_bwb()
    return experiment.path(experiment.entry.data[0])


def corpus_statistics(experiment: Experiment) -> Result:
    """Documents, sentences and words (thousands, of the reference) of the test set."""
    loaded = read(_bwb(experiment))
    refs = [segment for doc in loaded.corpus.docs for part in doc.refs.values() for segment in part]
    words = sum(len(segment.split()) for segment in refs) / 1000
    values = {"documents": len(loaded.corpus), "sentences": len(refs), "words (thousands)": words}
    return ("test",), {row: (float(value),) for row, value in values.items()}


def error_statistics(experiment: Experiment) -> Result:
    """Sentences with errors of each type, and their share in percent."""
    sentences, counts = error_types(_bwb(experiment))
    return ("sentences", "%"), {
        kind: (float(number), 100 * number / sentences) for kind, number in counts.items()
    }


def blonde_counts(experiment: Experiment) -> Result:
    """BlonDe of counts: a row per output, with BlonDe's precision, recall, F1 and d-BlonDe's F1.

    Settings: ``counts``, row → category → matches, of the reference, of the output. Names of rows
    that begin with ``paper:`` are scored with the paper's profile.
    """
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, counts in experiment.setting("counts", {}).items():
        profile: Profile = "paper" if row.startswith("paper:") else "reference"
        values = []
        for metric in (Blonde(profile=profile), DBlonde(profile=profile)):
            features = len(metric.outputs) // 3 - 1 - len(metric.factors)
            stats = np.zeros((len(CATEGORIES) + features, 3))
            for category, three in counts.items():
                stats[CATEGORIES.index(category)] = three
            scores = dict(zip(metric.outputs, metric.reduce(stats.reshape(-1)).tolist()))
            values.append([100 * scores[name] for name in ("precision", "recall", "f1")])
        (p, r, f), (_, _, d) = values
        rows[row] = (p, r, f, d) if "ngram1" in counts else (None, None, None, d)
    return ("BlonDe P", "BlonDe R", "BlonDe F1", "BlonD-D F1"), rows


def _scored(experiment: Experiment) -> tuple[Results, dict[str, tuple[str, str]]]:
    """Score BWB; row → (spec, output). The setting ``outputs`` names outputs other than the score."""
    outputs = experiment.setting("outputs", {})
    named = {row: (spec, outputs.get(row, "")) for row, spec in experiment.entry.metrics.items()}
    results = score(
        read(_bwb(experiment)),
        list(dict.fromkeys(spec for spec, _ in named.values())),
        options=experiment.options,
    )
    experiment.notes += results.notes
    specs = dict(zip(dict.fromkeys(spec for spec, _ in named.values()), results.scores))
    return results, {row: (specs[spec], output) for row, (spec, output) in named.items()}


def system_means(experiment: Experiment) -> Result:
    """Mean document scores: a row per metric, a column per system."""
    results, named = _scored(experiment)
    systems = [name for name in experiment.setting("systems", []) if name in results.systems]
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, (spec, output) in named.items():
        scores = [results.scores[spec][system] for system in systems]
        columns = [own.outputs.index(output) if output else 0 for own in scores]
        rows[row] = tuple(
            float(np.nanmean(own.table("doc")[:, at])) for own, at in zip(scores, columns)
        )
    return tuple(systems), rows


def system_t(experiment: Experiment) -> Result:
    """Paired t-statistics over documents: a row per metric, a column per two systems.

    Settings: ``pairs``, a list of [column, first system, second system].
    """
    results, named = _scored(experiment)
    pairs = experiment.setting("pairs", [])
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, (spec, output) in named.items():
        by_system = results.scores[spec]
        tests = [paired_t(by_system[second], by_system[first]) for _, first, second in pairs]
        rows[row] = tuple(
            next(test.t for test in own if output in ("", test.category)) for own in tests
        )
    return tuple(column for column, _, _ in pairs), rows


def metric_correlations(experiment: Experiment) -> Result:
    """Absolute Pearson's r of document scores: a row and a column per metric."""
    results, named = _scored(experiment)
    table = np.abs(between_metrics({row: results.scores[spec] for row, (spec, _) in named.items()}))
    return tuple(named), dict(zip(named, map(tuple, table.tolist())))


def human_correlations(experiment: Experiment) -> Result:
    """Absolute Pearson's r with people: a row per metric, a column per place.

    Settings: ``where``, a list of {column, data, langs, task, gold}. The note says which metrics
    Williams' test does not find worse than another.
    """
    entry, columns = experiment.entry, list[str]()
    rows: dict[str, list[Cell]] = {row: [] for row in entry.metrics}
    for place in experiment.places:
        tasks = MetaTasks(tasks=(place["task"],), williams=True)
        (test,) = experiment.meta(place, entry.metrics.values(), tasks).williams
        best = [
            name
            for name, worse in zip(test.metrics, np.any(test.p < 0.05, axis=0).tolist())
            if not worse
        ]
        experiment.notes.append(f"{place['column']}: not outperformed: {', '.join(best)}")
        columns.append(place["column"])
        values = dict(zip(test.metrics, test.pearson))
        for row, spec in entry.metrics.items():
            rows[row].append(values.get(spec))
    return tuple(columns), {row: tuple(values) for row, values in rows.items()}


def ranking_kappa(experiment: Experiment) -> Result:
    """Cohen's kappa of raters who ranked the same items: a row per pair, a column per unit.

    The data set is a folder with UNIT.jsonl (answers) and UNIT.key.jsonl.
    """
    units = ("sentences", "documents")
    rows: dict[str, list[Cell]] = {}
    folder = small_rankings() if experiment.bundled else None
    if folder:
        experiment.notes.append("raters are chrF and BLEU, not people")
    for column, unit in enumerate(units):
        place = folder or experiment.path(experiment.entry.data[0])
        rankings = read_rankings(place / f"{unit}.jsonl", place / f"{unit}.key.jsonl")
        for (first, second), (kappa, _) in rankings.kappa.items():
            rows.setdefault(f"{first}-{second}", [None, None])[column] = kappa
    return units, {row: tuple(values) for row, values in rows.items()}


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "bwb-statistics": corpus_statistics,
    "bwb-errors": error_statistics,
    "blonde-counts": blonde_counts,
    "bwb-means": system_means,
    "bwb-t": system_t,
    "bwb-metrics": metric_correlations,
    "bwb-people": human_correlations,
    "ranking-kappa": ranking_kappa,
}
