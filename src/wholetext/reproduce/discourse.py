"""Experiments of DiscoScore (Zhao, Strube and Eger 2023): aspects, foci, discourse features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from wholetext.errors import InputError, MissingExtra, ModelError
from wholetext.io.assembly import Loaded
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.formats.summaries import RatedSummaries, open_judged
from wholetext.meta import (
    MetaTasks,
    Selection,
    feature_pairs,
    focus_statistics,
)
from wholetext.meta.agreement.correlation import correlations, kendall_rows, pearson_rows
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.features import FeaturePairs, shares
from wholetext.meta.participants import Participants, read_participants
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Result
from wholetext.scoring.evaluate import score
from wholetext.types import FloatArray

Values = dict[str, FloatArray]  # row → (systems, documents) scores, higher is better


@dataclass
class JudgedSet:
    """Texts of a data set, and what people said about them by aspect.

    Summaries are lower-cased, as the authors' scripts do; the setting ``documents`` keeps the first
    ones only.
    """

    experiment: Experiment
    data: str
    langs: str | None = None

    @cached_property
    def evalset(self) -> EvalSet:
        langs = None if self.experiment.bundled else self.langs
        judged = open_judged(self.experiment.path(self.data), langs)
        if isinstance(judged, RatedSummaries):
            judged = replace(judged, lower=True, first=self.experiment.setting("documents", None))
        return judged

    @cached_property
    def texts(self) -> Loaded:
        """The outputs of systems that take part."""
        loaded, systems = self.evalset.load(), self.rated("")[1].systems
        outputs = [output for output in loaded.outputs if output.system in systems]
        return Loaded(loaded.corpus, sorted(outputs, key=lambda output: output.system))

    def rated(self, aspect: str) -> tuple[str, Participants]:
        """The human scores on an aspect; of bundled texts there are no aspects."""
        name = None if self.experiment.bundled or not aspect else aspect
        selection = Selection(outliers=not isinstance(self.evalset, RatedSummaries))
        participants = read_participants(self.evalset, selection, name)
        return participants.gold_name, participants

    def aspects(self, names: Iterable[str]) -> dict[str, Participants]:
        return dict(map(self.rated, [""] if self.experiment.bundled else names))

    def scores(self, metrics: Mapping[str, str]) -> Values:
        """Documents' scores by row; a row whose model or vectors are missing is left out, noted.

        Settings: ``outputs``, row → output of its metric; ``each``, rows that are means over
        references taken singly; ``instead``, row → spec where the exact one cannot run;
        ``ensembles``, row → rows of which it is the mean.
        """
        experiment, values = self.experiment, Values()
        for row, spec in metrics.items():
            try:
                values[row] = self._scored(row, spec)
            except (ModelError, MissingExtra, InputError) as fault:
                stand_in = experiment.setting("instead", {}).get(row)
                used = f"{stand_in} is used instead" if stand_in else "the row is empty"
                what = fault.what.split(" (")[0]  # without the cause
                experiment.notes.append(f"{row}: {what}, so {used}")
                if stand_in:
                    values[row] = self._scored(row, stand_in)
        for row, members in experiment.setting("ensembles", {}).items():
            if all(member in values for member in members):
                values[row] = np.mean([values[member] for member in members], axis=0)
        return values

    def _scored(self, row: str, spec: str) -> FloatArray:
        experiment, texts = self.experiment, self.texts
        every = texts.corpus.references
        singly = row in experiment.setting("each", ())
        tables = []
        for refs in [(ref,) for ref in every] if singly else [every]:
            options = replace(experiment.options, refs=refs or None, flags=False)
            results = score(texts, [spec], options=options)
            experiment.notes += results.warnings
            (by_system,) = results.scores.values()
            output = experiment.setting("outputs", {}).get(row)
            sign = 1.0 if next(iter(by_system.values())).higher_is_better else -1.0
            tables.append([sign * by_system[out.system].at("doc", output) for out in texts.outputs])
        return np.asarray(np.mean(tables, axis=0))


def aspects(experiment: Experiment) -> Result:
    """|Kendall| of metrics with ratings by aspect, × 100: Tables 1–5, 7, 8 and 10.

    Settings: ``where``, a list of {data, aspects, column}: with a column only the mean over aspects
    is shown; ``level``, sys or doc; and those of ``JudgedSet``.
    """
    columns: list[str] = []
    cells: dict[str, list[Cell]] = {}
    for place in experiment.places:
        judged = JudgedSet(experiment, place["data"])
        golds, values = judged.aspects(place["aspects"]), judged.scores(experiment.entry.metrics)
        shown = [place["column"]] if "column" in place else [*map(str.title, golds), "Average"]
        columns += shown
        for row in [*experiment.entry.metrics, *experiment.setting("ensembles", {})]:
            tau = [
                _kendall(gold, values[row], experiment.setting("level", "sys"))
                for gold in golds.values()
                if row in values
            ]
            if negative := [name for name, value in zip(golds, tau) if value < 0]:
                experiment.notes.append(
                    f"{row}: the correlation is negative in {', '.join(negative)}; the paper prints "
                    "absolute values"
                )
            sizes = [100 * abs(value) for value in tau]
            means = [*sizes, float(np.mean(sizes))] if sizes else [None] * len(shown)
            cells.setdefault(row, []).extend(means[-1:] if "column" in place else means)
    return tuple(columns), {row: tuple(line) for row, line in cells.items()}


def _kendall(gold: Participants, values: FloatArray, level: str) -> float:
    if level == "sys":
        return float(kendall_rows(gold.gold("sys")[:, 0], system_means(values)))
    return float(estimate(gold.gold("doc"), values, Measure("kendall", "item")).value)


def foci(experiment: Experiment) -> Result:
    """Statistics of outputs and their foci, a column per data set: Table 9.

    The paper's 'good foci' are means over the texts that have some: over all texts they could not
    be 2.56 in NeR18, where most texts have none.
    """
    rows: dict[str, list[Cell]] = {}
    columns = []
    for place in experiment.places:
        try:
            judged = JudgedSet(experiment, place["data"], place.get("langs"))
            texts = judged.texts
        except InputError as fault:
            if experiment.small:
                raise
            experiment.notes.append(f"{place['column']}: {fault.what}; the column is left out")
            continue
        columns.append(place["column"])
        counts = focus_statistics(texts.corpus, texts.outputs)
        cells = {
            "Number of references": counts.references,
            "Number of systems": counts.systems,
            "Number of hypothesis per system": counts.documents,
            "Number of sentences per hypothesis": counts.sentences,
            "Average number of foci in hypothesis": counts.foci,
            "Average number of 'good foci' in hypothesis": counts.repeated / counts.with_repeated,
            "Percent of hypotheses with 'good foci'": 100 * counts.with_repeated,
        }
        for row, value in cells.items():
            rows.setdefault(row, []).append(float(value))
    return tuple(columns), {row: tuple(line) for row, line in rows.items()}


def aspect_correlation(experiment: Experiment) -> Result:
    """Pearson correlation of coherence with the other aspects, on system level: Figure 3."""
    tables: dict[str, dict[str, float]] = {}
    for place in experiment.places:
        golds = JudgedSet(experiment, place["data"]).aspects(place["aspects"])
        first = correlations([part.gold("sys")[:, 0] for part in golds.values()])[0]
        tables[place["row"]] = dict(zip(golds, first.tolist()))
    columns = tuple(dict.fromkeys(name for values in tables.values() for name in values))
    rows = {row: tuple(values.get(column) for column in columns) for row, values in tables.items()}
    return columns, rows


# ---------------------------------------------------------------- discourse features


def feature_histogram(experiment: Experiment) -> Result:
    """Pairs of hypothesis and reference by their values of a feature: Figure 2 as a grid.

    Settings: ``data``; ``bins``, edges along both axes. Rows are values of the reference, highest
    first; the last row and column have what is beyond the last edge.
    """
    judged = JudgedSet(experiment, experiment.setting("data", ""))
    (points,) = _features(experiment, judged, experiment.entry.metrics).values()
    edges = experiment.setting("bins", [0.0, 1.0])
    steps = [*edges, np.inf]
    counts, _, _ = np.histogram2d(points.ref, points.hyp, bins=[steps, steps])
    experiment.notes.append(
        f"largest {points.feature}: {np.max(points.hyp):.2f} in hypotheses, "
        f"{np.max(points.ref):.2f} in references; {len(points.hyp)} pairs"
    )
    names = [f"≥ {edge:g}" for edge in edges]
    rows = {
        f"reference {name}": tuple(line) for name, line in zip(names[::-1], counts[::-1].tolist())
    }
    return tuple(names), rows


def feature_shares(experiment: Experiment) -> Result:
    """Shares of pairs where a feature of the reference is higher, equal or lower: Table 11, Fig. 6.

    Settings: ``where``, a list of {data, langs, column}.
    """
    columns: list[str] = []
    cells: dict[str, list[Cell]] = {row: [] for row in experiment.entry.metrics}
    for place in experiment.places:
        judged = JudgedSet(experiment, place["data"], place.get("langs"))
        columns += [f"{place['column']} D{sign}0" for sign in ">=<"]
        for row, points in _features(experiment, judged, experiment.entry.metrics).items():
            result = shares(points)
            cells[row] += [100 * result.above, 100 * result.equal, 100 * result.below]
    return tuple(columns), {row: tuple(line) for row, line in cells.items()}


def feature_performance(experiment: Experiment) -> Result:
    """Discriminativeness of features (Eq. 4) beside the results of the metrics that use them: Fig. 4.

    Settings: those of ``aspects`` for one data set, and ``features``, row → feature.
    """
    place = experiment.places[0]
    _, results = aspects(experiment)
    judged = JudgedSet(experiment, place["data"])
    points = _features(experiment, judged, experiment.setting("features", {}))
    rows = {
        row: (100 * shares(points[row]).below, cells[-1])
        for row, cells in results.items()
        if row in points
    }
    known = np.array([cells for cells in rows.values() if None not in cells], dtype=np.float64)
    pearson = float(pearson_rows(known[:, 0], known[:, 1])) if len(known) > 1 else None
    return ("Discriminativeness", "Kendall"), {**rows, "Pearson correlation": (None, pearson)}


def _features(
    experiment: Experiment, judged: JudgedSet, features: Mapping[str, str]
) -> dict[str, FeaturePairs]:
    """Feature pairs by row; those of the setting ``features_instead`` where vectors are missing."""
    texts, results = judged.texts, {}
    options = replace(experiment.options, flags=False)
    for row, spec in features.items():
        try:
            (results[row],) = feature_pairs(texts.corpus, texts.outputs, [spec], options)
        except (InputError, MissingExtra) as fault:
            stand_in = experiment.setting("features_instead", {}).get(row)
            if stand_in is None:
                raise
            experiment.notes.append(f"{row}: {fault.what}, so {stand_in} is used instead")
            (results[row],) = feature_pairs(texts.corpus, texts.outputs, [stand_in], options)
    return results


# ---------------------------------------------------------------- stored scores


def stored(experiment: Experiment) -> Result:
    """Agreement × 100 of stored metric scores, a column per language pair and task: Tables 6 and 12.

    Settings: ``stored``, row → name in the data (without it metrics are computed); ``where``, a list
    of {column, data, langs, gold, task}; ``human``, human translations
    as systems; ``average``, a column of means. A pair that the data lacks is
    an empty column, and so is then the mean.
    """
    metrics = experiment.setting("stored", {}) or experiment.entry.metrics
    cells: dict[str, list[Cell]] = {row: [] for row in metrics}
    for place in experiment.places:
        values: dict[str, float] = {}
        try:
            tasks, human = MetaTasks(tasks=(place["task"],)), experiment.setting("human", False)
            meta = experiment.meta(place, metrics.values(), tasks, human=human, outliers=True)
            (result,) = meta.results
            values = {name: result.value(name) for name in result.metrics}
            pairs = result.estimates[0].pairs
            experiment.notes.append(f"{place['column']}: {pairs} pairs of systems compared")
        except InputError as fault:
            if experiment.folder is None:
                raise
            experiment.notes.append(f"{place['column']}: {fault.what}; the column is empty")
        for row, name in metrics.items():
            cells[row].append(100 * values[name] if name in values else None)
    columns = tuple(place["column"] for place in experiment.places)
    if experiment.setting("average", False):
        columns = (*columns, "Average")
        for line in cells.values():
            known = [cell for cell in line if cell is not None]
            line.append(float(np.mean(known)) if len(known) == len(line) else None)
    return columns, {row: tuple(line) for row, line in cells.items()}


def between(experiment: Experiment) -> Result:
    """Pearson correlation between metrics on documents of a language pair: Figure 7.

    Settings: ``stored``, as above; ``data``; ``langs``.
    """
    metrics: Mapping[str, str] = experiment.setting("stored", {}) or experiment.entry.metrics
    place = {name: experiment.setting(name, "") for name in ("data", "langs")}
    tasks = MetaTasks(tasks=("doc:pearson",), between=True)
    meta = experiment.meta(place, metrics.values(), tasks, human=True, outliers=True)
    _, _, names, table = meta.between[0]
    rows = {name: row for row, name in metrics.items()}
    columns = tuple(rows[name] for name in names)
    return columns, dict(zip(columns, map(tuple, table.tolist())))


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "aspects": aspects,
    "foci": foci,
    "aspect-correlation": aspect_correlation,
    "feature-histogram": feature_histogram,
    "feature-shares": feature_shares,
    "feature-performance": feature_performance,
    "stored": stored,
    "between": between,
}
