"""Experiments of Deutsch et al. 2023: rated paragraphs, their lengths, and metrics by length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from wholetext.errors import InputError, ModelError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta import (
    MetaTasks,
    contrast,
    paragraph_sets,
    read_contrast_set,
)
from wholetext.meta.contrastive.decisions import overall
from wholetext.meta.judgments import corpus_segments, gather, released_rows
from wholetext.meta.paragraphs import RatedParagraph, Windows, paragraphs
from wholetext.meta.token_lengths import TokenLengths, token_lengths
from wholetext.models.hub.locate import locate as locate_model
from wholetext.models.token_counter import token_counter
from wholetext.registry import scorer
from wholetext.reproduce.bundled import preferences as bundled_preferences
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Place, Result


def rated_paragraphs(experiment: Experiment) -> Result:
    """Numbers of paragraphs by length: a row per place, a column per length.

    Settings: ``where``, a list of {row, data, langs, gold}. ``without`` names systems that do not
    count. ``released``: released scores of segments, as if of one rater, instead of scores by
    rater. ``systems``: so many times the count of a system all of whose segments are scored.
    """
    lengths = tuple(experiment.setting("lengths", range(1, 11)))
    rows: dict[str, tuple[Cell, ...]] = {}
    for place in experiment.places:
        try:
            rated = _rated(experiment, place, lengths)
        except InputError as fault:
            experiment.fail(place["row"], fault)
            continue
        systems = {paragraph.system for paragraph in rated[0]}
        if "systems" in place:
            sizes = [[sum(p.system == name for p in part) for part in rated] for name in systems]
            counts = [place["systems"] * number for number in max(sizes)]
        else:
            counts = [len(part) for part in rated]
        before = rows.get(place["row"]) or (0.0,) * len(counts)  # places of one row are added up
        rows[place["row"]] = tuple((old or 0.0) + new for old, new in zip(before, counts))
    return experiment.finish(tuple(map(str, lengths)), rows)


def paragraph_tokens(experiment: Experiment) -> Result:
    """Token lengths: quartiles of outputs, or paragraphs over the limit, by length.

    Settings: ``where``, a list of {row, data, langs}, pooled by row; ``tokenizer``; ``lengths``;
    ``show``: quartiles (a column per length and percentile), over (numbers) or share (percent).
    """
    lengths = tuple(experiment.setting("lengths", range(1, 11)))
    counter = token_counter(experiment.setting("tokenizer", ""))
    show = experiment.setting("show", "")
    pooled: dict[str, list[list[TokenLengths]]] = {}
    for place in experiment.places:
        rated = _rated(experiment, place, lengths)
        loaded = EvalSet.open(
            experiment.path(place["data"]), next(iter(experiment.langs(place)), None)
        ).load()
        counts = [token_lengths(loaded, part, counter) for part in rated]
        pooled.setdefault(place["row"], []).append(counts)
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, places in pooled.items():
        joined = [
            TokenLengths(
                np.concatenate([part.outputs for part in parts]),
                np.concatenate([part.combined for part in parts]),
            )
            for parts in zip(*places)
        ]
        if show == "quartiles":
            rows[row] = tuple(value for part in joined for value in part.quartiles())
        else:
            of = [100 / max(1, len(part.outputs)) if show == "share" else 1 for part in joined]
            rows[row] = tuple(part.over() * unit for part, unit in zip(joined, of))
    if show == "quartiles":
        return tuple(f"{k}, {p}th" for k in lengths for p in (25, 50, 75)), rows
    return tuple(map(str, lengths)), rows


def paragraph_curves(experiment: Experiment) -> Result:
    """Metrics by paragraph length: a row per metric, place and way of scoring; a column per length.

    Settings: ``where``, a list of {row, data, langs, gold}; ``lengths``; ``measures`` and ``modes``
    as ``meta --k`` has them (accuracy, acc_eq, pearson, sys_pearson, ties, direct_average; direct,
    average). Human ties are rows of their own.
    """
    metrics = available(experiment)
    lengths = tuple(experiment.setting("lengths", range(1, 11)))
    modes = experiment.setting("modes", ["direct"])
    rows: dict[str, tuple[Cell, ...]] = {}
    for place in experiment.places:
        tasks = MetaTasks(tasks=("sys:accuracy",))
        meta = experiment.meta(place, metrics.values(), tasks, lengths=lengths)
        ((_, points),) = meta.curves.items()
        names = {spec: name for name, spec in metrics.items()}
        for measure in experiment.setting("measures", ["acc_eq"]):
            start = f"{place['row']}, {measure}: "
            for point in points:
                if point.mode in modes:
                    way = "" if modes == ["direct"] else f", {point.mode}"
                    row = f"{start}{names[point.metric]}{way}"
                    rows[row] = (*rows.get(row, ()), getattr(point, measure))
            if measure == "ties":
                by_length = {point.k: point.gold_ties for point in points}
                rows[f"{start}people"] = tuple(by_length[k] for k in lengths)
    return tuple(map(str, lengths)), rows


def preferences(experiment: Experiment) -> Result:
    """Agreement with people's preferences: a row per metric; the paired permutation test of each against the first."""
    metrics = available(experiment)
    if experiment.bundled:
        experiment.notes.append("preferences are stand-ins: the demo's first system is preferred")
        path = bundled_preferences()
    else:
        path = experiment.path(experiment.entry.data[0])
    results = contrast(read_contrast_set(path), tuple(metrics.values()), options=experiment.options)
    experiment.notes += [note for part in results.decisions for note in part.warnings]
    first = results.decisions[0].metric
    p = {test.second: test.p for test in results.tests if test.first == first}
    rows: dict[str, tuple[Cell, ...]] = {}
    for row, part in zip(metrics, results.decisions):
        rows[row] = (float(overall(part).correct), float(len(part.set)), p.get(part.metric))
    return ("agreed", "of", "p against the first"), rows


def available(experiment: Experiment) -> dict[str, str]:
    """Return the metrics whose models are here or can be fetched; notes name the others."""
    metrics: dict[str, str] = {}
    for row, spec in experiment.entry.metrics.items():
        model = str(getattr(scorer(spec).metric, "model", ""))
        try:
            if model:
                locate_model(model)
            metrics[row] = spec
        except ModelError as fault:
            experiment.fail(row, fault)
    if not metrics:
        raise experiment.faults[0]
    return metrics


def _rated(
    experiment: Experiment, place: Place, lengths: Sequence[int]
) -> list[list[RatedParagraph]]:
    """Paragraphs of each length of the systems that count."""
    path, gold = experiment.path(place["data"]), experiment.gold(place)
    langs = next(iter(experiment.langs(place)), None)
    if place.get("released") and gold:
        evalset = EvalSet.open(path, langs)
        segments = corpus_segments(evalset)
        ratings = gather(gold, released_rows(evalset.human(gold, "seg"), segments), segments)
        rated: list[Sequence[RatedParagraph]] = [paragraphs(ratings, Windows(k)) for k in lengths]
    else:
        rated = list(paragraph_sets(path, langs, lengths, gold=gold).rated)
    out = place.get("without", ())
    return [[paragraph for paragraph in part if paragraph.system not in out] for part in rated]


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "rated-paragraphs": rated_paragraphs,
    "paragraph-tokens": paragraph_tokens,
    "paragraph-curves": paragraph_curves,
    "preferences": preferences,
}
