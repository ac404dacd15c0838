"""The kinds of experiments: functions that compute the columns and rows of an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from wholetext.meta import MetaTasks, paragraph_sets
from wholetext.reproduce import context, discourse
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Result


def agreement(experiment: Experiment) -> Result:
    """Agreement of metrics with people: a row per metric, a column per data set and pair.

    Settings: ``where``, a list of {column, data, langs, domains, gold}; ``task``; ``human``, human
    translations as systems.
    """
    metrics = experiment.entry.metrics
    cells: dict[str, list[Cell]] = {row: [] for row in metrics}
    tasks = MetaTasks(tasks=(experiment.setting("task", "sys:pearson"),))
    human = experiment.setting("human", False)
    for place in experiment.places:
        (result,) = experiment.meta(place, metrics.values(), tasks, human=human).results
        for row, spec in metrics.items():
            cells[row].append(result.value(spec) if spec in result.metrics else None)
    columns = tuple(place["column"] for place in experiment.places)
    return columns, {row: tuple(values) for row, values in cells.items()}


def paragraph_counts(experiment: Experiment) -> Result:
    """Numbers of paragraphs by length: a row per data set and pair, a column per length.

    Settings: ``where``, a list of {row, data, langs, gold}; ``lengths``.
    """
    lengths = tuple(experiment.setting("lengths", range(1, 11)))
    rows: dict[str, tuple[Cell, ...]] = {}
    for place in experiment.places:
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
