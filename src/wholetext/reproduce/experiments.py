"""The kinds of experiments: functions that compute the columns and rows of an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wholetext.meta import MetaTasks, MetricTests, Selection, meta_evaluate, paragraph_sets
from wholetext.reproduce import context, discourse
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Result


def agreement(experiment: Experiment) -> Result:
    """Agreement of metrics with people: a row per metric, a column per data set and pair.

    Settings: ``where``, a list of {column, data, langs, domains, gold}; ``task``; ``human``, human
    translations as systems.
    """
    entry = experiment.entry
    cells: dict[str, list[Cell]] = {row: [] for row in entry.metrics}
    columns = []
    for place in experiment.setting("where", []):
        columns.append(place["column"])
        bundled = experiment.small and experiment.folder is None
        selection = Selection(
            golds=(place["gold"],) if "gold" in place and not bundled else (),
            human=experiment.setting("human", False),
            domains=() if bundled else tuple(place.get("domains", ())),
        )
        meta = meta_evaluate(
            experiment.path(place["data"]),
            () if bundled else (place["langs"],),
            tuple(dict.fromkeys(entry.metrics.values())),
            MetaTasks(tasks=(experiment.setting("task", "sys:pearson"),)),
            selection=selection,
            tests=MetricTests(draws=0),
            options=experiment.options,
        )
        experiment.notes += meta.notes
        (result,) = meta.results
        values = {name: estimate.value for name, estimate in zip(result.metrics, result.estimates)}
        for row, spec in entry.metrics.items():
            cells[row].append(values.get(spec))
    return tuple(columns), {row: tuple(values) for row, values in cells.items()}


def paragraph_counts(experiment: Experiment) -> Result:
    """Numbers of paragraphs by length: a row per data set and pair, a column per length.

    Settings: ``where``, a list of {row, data, langs, gold}; ``lengths``.
    """
    lengths = tuple(experiment.setting("lengths", range(1, 11)))
    rows: dict[str, tuple[Cell, ...]] = {}
    for place in experiment.setting("where", []):
        sets = paragraph_sets(
            experiment.path(place["data"]), place.get("langs"), lengths, gold=place.get("gold")
        )
        rows[place["row"]] = tuple(float(len(rated)) for rated in sets.rated)
    return tuple(map(str, lengths)), rows


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "agreement": agreement,
    "paragraph-counts": paragraph_counts,
    "by-set": context.by_set,
    "wins": context.wins,
    "mean-over-sets": context.mean_over_sets,
    "grid": context.grid,
    "contrastive": context.contrastive,
    "system-pairs": context.system_pairs,
    "dropped": context.dropped,
    "over-long": context.over_long,
    "extraction": context.extraction,
    "aspects": discourse.aspects,
    "foci": discourse.foci,
    "aspect-correlation": discourse.aspect_correlation,
    "feature-histogram": discourse.feature_histogram,
    "feature-shares": discourse.feature_shares,
    "feature-performance": discourse.feature_performance,
    "stored": discourse.stored,
    "between": discourse.between,
}
