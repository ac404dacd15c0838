"""Experiments on context and windows (Vernikos et al. 2022; Raunak et al. 2024).

A set, a model or a package that is missing leaves its cells empty, with a note that says how to get
it; where nothing can be computed, the first of these faults is the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from wholetext.demo import load
from wholetext.errors import WholetextError
from wholetext.io.formats.evalset import EvalSet, language_pairs
from wholetext.io.formats.scores import split_label
from wholetext.meta import (
    ContrastSet,
    GridAxes,
    Meta,
    MetaTasks,
    Selection,
    read_contrast_set,
)
from wholetext.meta.contrastive.decisions import Decisions, decide, groups, overall
from wholetext.meta.contrastive.formats import Candidate, Item
from wholetext.meta.grid import Contest, win_counts
from wholetext.meta.participants import read_participants
from wholetext.models.token_counter import token_counter
from wholetext.registry import scorer
from wholetext.reproduce.catalogue import Cell
from wholetext.reproduce.experiment import Experiment, Place, Result
from wholetext.text import pair_of
from wholetext.types import Document
from wholetext.views import Slide, draw


def _pairs(experiment: Experiment, place: Place, root: Path) -> list[str]:
    """The language pairs of a set: as listed, or all that have its gold."""
    pairs = language_pairs(root) if experiment.bundled else place.get("langs", ())
    if not pairs:
        names = {pair: EvalSet.open(root, pair).human_names for pair in language_pairs(root)}
        pairs = [pair for pair, own in names.items() if place["gold"] in dict(own)]
    return [pairs] if isinstance(pairs, str) else list(pairs)


def _available(experiment: Experiment, specs: Iterable[str], langs: tuple[str, str]) -> list[str]:
    """Specs whose models are there."""
    known = []
    for spec in dict.fromkeys(specs):
        try:
            scorer(spec).metric.resolve(langs)
            known.append(spec)
        except WholetextError as fault:
            experiment.fail(spec, fault)
    return known


def _meta(
    experiment: Experiment, place: Place, root: Path, specs: Iterable[str], draws: int = 0
) -> Meta | None:
    """Agreement of the available metrics in one set, pooled over its language pairs."""
    pairs = _pairs(experiment, place, root)
    metrics = _available(experiment, specs, pair_of(pairs[0]))
    opened = [] if experiment.bundled else [EvalSet.open(root, pair) for pair in pairs]
    metrics += [
        name
        for name in experiment.setting("stored", {}).values()
        if all(name in {split_label(label)[0] for label, _ in own.metric_names} for own in opened)
    ]
    if not metrics:
        return None
    tasks = MetaTasks(tasks=(experiment.setting("task", "sys:pearson"),))
    sample = experiment.setting("sample", 0)
    return experiment.meta(place, metrics, tasks, langs=pairs, draws=draws, sample=sample)


def _values(
    experiment: Experiment, place: Place, root: Path, specs: Iterable[str]
) -> dict[str, float]:
    """The same as one number for each metric."""
    meta = _meta(experiment, place, root, specs)
    result = meta.results[0] if meta else None
    return {name: result.value(name) for name in result.metrics} if result else {}


def by_set(experiment: Experiment) -> Result:
    """Agreement with people: a row per metric, a column per set (several pairs: pooled).

    Settings: ``where``; ``task``; ``stored``, rows of metrics that the sets have; ``sample``, number
    of documents.
    """
    metrics = experiment.entry.metrics
    columns = [place["column"] for place in experiment.places]
    values = {
        column: _values(experiment, place, root, metrics.values())
        for column, place, root in experiment.sets()
    }
    rows = {
        row: [values.get(column, {}).get(spec) for column in columns]
        for row, spec in (*metrics.items(), *experiment.setting("stored", {}).items())
    }
    return experiment.finish(columns, rows)


def wins(experiment: Experiment) -> Result:
    """Count how often a metric with context beats itself by sentence, and significantly (PERM-BOTH).

    Settings: ``where``; ``rows``, name → columns that are left out; ``draws``.
    """
    contests = dict[str, tuple[Contest, ...]]()
    for column, place, root in experiment.sets():
        draws = experiment.setting("draws", 1000)
        meta = _meta(experiment, place, root, experiment.entry.metrics.values(), draws)
        contests[column] = meta.contests if meta else ()
    rows = {
        row: [
            float(value)
            for value in win_counts(
                [row for column, own in contests.items() if column not in excluded for row in own],
                0.05,
            ).values()
        ]
        for row, excluded in experiment.setting("rows", {}).items()
    }
    empty = not any(contests.values())
    columns = ("wins", "of", "significant wins", "significant")
    return experiment.finish(columns, {row: [None] * 4 if empty else rows[row] for row in rows})


def mean_over_sets(experiment: Experiment) -> Result:
    """Agreement averaged over sets: metrics are named ``row | column``.

    Settings: ``where``; ``task``; ``sample``.
    """
    metrics = experiment.entry.metrics
    values = [
        _values(experiment, place, root, metrics.values()) for _, place, root in experiment.sets()
    ]
    cells = dict[str, dict[str, Cell]]()
    for name, spec in metrics.items():
        row, _, column = name.partition(" | ")
        known = [own[spec] for own in values if spec in own]
        complete = len(known) == len(experiment.places)
        cells.setdefault(row, {})[column] = fmean(known) if complete else None
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    return experiment.finish(
        columns, {row: [by.get(column) for column in columns] for row, by in cells.items()}
    )


def grid(experiment: Experiment) -> Result:
    """Agreement over context sizes (a row per metric and set) or windows (per metric and size).

    Settings: ``where``; ``task``; ``context`` or ``window`` and ``partial``: with several of the
    latter, rows are differences from ``drop``; ``sample``.
    """
    rows = dict[str, list[Cell]]()
    context, window = (tuple(experiment.setting(name, ())) for name in ("context", "window"))
    partial = tuple(experiment.setting("partial", ("drop",)))
    columns = context or tuple(range(1, max(window) + 1))
    for column, place, root in experiment.sets():
        for name, spec in experiment.entry.metrics.items():
            if not _available(experiment, [spec], pair_of(_pairs(experiment, place, root)[0])):
                continue
            if context:
                specs = GridAxes(context=context).specs([spec])
                values = _values(experiment, place, root, specs)
                rows[f"{name}, {column}"] = [values.get(cell) for cell in specs]
                continue
            by_partial = {
                kind: {
                    (w, s): GridAxes(window=(w,), step=(s,), partial=(kind,)).specs([spec])[0]
                    for w in window
                    for s in range(1, w + 1)
                }
                for kind in dict.fromkeys(("drop", *partial))
            }
            values = _values(
                experiment, place, root, [s for own in by_partial.values() for s in own.values()]
            )
            for kind in partial:
                for w in window:
                    title = name if len(partial) == 1 else f"{name}, {kind}"
                    rows[f"{title}, window {w}"] = [
                        None
                        if s > w
                        else values[by_partial[kind][w, s]]
                        - (values[by_partial["drop"][w, s]] if len(partial) > 1 else 0.0)
                        for s in columns
                    ]
    return experiment.finish(tuple(map(str, columns)), rows)


def contrastive(experiment: Experiment) -> Result:
    """Accuracy in percent on contrastive sets: a row per metric, a column per set and group.

    Settings: ``where``, a list of {column, data, group}; ``items``, number of items; ``blind``, the
    row of a score that cannot see the context.
    """
    blind = experiment.setting("blind", "any score without context")
    columns = [place["column"] for place in experiment.places]
    values, decided = dict[tuple[str, str], float](), dict[tuple[str, Path], Decisions]()
    for column, place, path in experiment.sets():
        items = _bundled_contrast() if experiment.bundled else read_contrast_set(path)
        items = replace(items, items=items.items[: experiment.setting("items", len(items.items))])
        for spec in (
            blind,
            *_available(experiment, experiment.entry.metrics.values(), items.langs),
        ):
            if (spec, path) not in decided and spec == blind:
                decided[spec, path] = _blind(items)
            elif (spec, path) not in decided:
                decided[spec, path] = decide(items, spec, experiment.options)
            accuracies = {
                part.group: part for part in groups(decided[spec, path]).get("sentence", [])
            }
            accuracies["all"] = overall(decided[spec, path])
            if place["group"] in accuracies:
                values[spec, column] = 100 * accuracies[place["group"]].accuracy
    rows = {
        row: [values.get((spec, column)) for column in columns]
        for row, spec in ((blind, blind), *experiment.entry.metrics.items())
    }
    return experiment.finish(columns, rows)


def _blind(items: ContrastSet) -> Decisions:
    """Score candidates by a hash of source and text: all that a metric by sentence has to go by."""
    scores = (
        np.array([float(draw(item.src, candidate.text)) for candidate in item.candidates])
        for item in items.items
    )
    return Decisions("blind", items, tuple(scores), ())


def _bundled_contrast() -> ContrastSet:
    """Reference segments of the demo corpus against those of the next document."""
    corpus, _ = load("de-en")
    items = []
    for doc, other in zip(corpus.docs, corpus.docs[1:]):
        reference, wrong = (next(iter(each.refs.values())) for each in (doc, other))
        for i in range(1, min(4, len(doc), len(other))):
            texts = (reference[i], wrong[i])
            candidates = tuple(Candidate(text, tuple(reference[:i])) for text in texts)
            sources = tuple(doc.src or ())
            items.append(Item(f"{doc.id}-{i}", sources[i], sources[:i], candidates, distance=i % 2))
    return ContrastSet("demo", corpus.langs, tuple(items))


def system_pairs(experiment: Experiment) -> Result:
    """Language pairs and pairs of systems that are compared: a row per kind of judgment.

    Settings: ``where``, a list of {row, data, langs, gold}.
    """
    rows: dict[str, list[Cell]] = {p["row"]: [None, None] for p in experiment.places}
    for row, place, root in experiment.sets("row"):
        gold = experiment.gold(place)
        opened = [EvalSet.open(root, pair) for pair in _pairs(experiment, place, root)]
        sizes = [len(read_participants(each, Selection(), gold).systems) for each in opened]
        rows[row] = [float(len(sizes)), float(sum(n * (n - 1) // 2 for n in sizes))]
    return experiment.finish(("language pairs", "system pairs"), rows)


def _documents(experiment: Experiment, place: Place, root: Path) -> list[Document]:
    return [
        doc
        for pair in _pairs(experiment, place, root)
        for doc in EvalSet.open(root, pair).load().corpus.docs
    ]


def dropped(experiment: Experiment) -> Result:
    """Percentage of sentences in no full window: a row per window, a column per stride.

    Counted as in the paper: what is left at the end of a document, from where the next window would
    start, of the sentences of all windows; and below it the share of distinct sentences.
    Settings: ``where``, whose documents are pooled; ``window``, sizes.
    """
    window = tuple(experiment.setting("window", range(1, 11)))
    sizes = [
        len(doc)
        for _, place, root in experiment.sets()
        for doc in _documents(experiment, place, root)
    ]
    strides, rows = range(1, max(window) + 1), dict[str, list[Cell]]()
    for title, share in (("{}", _left_over), ("{}, distinct sentences", _uncovered)):
        for w in window:
            rows[title.format(w)] = [
                share(sizes, Slide(size=w, step=s)) if s <= w and sizes else None for s in strides
            ]
    return experiment.finish(tuple(map(str, strides)), rows)


def _left_over(sizes: Sequence[int], view: Slide) -> float:
    """Percentage of sentences in partial windows, of those in all windows."""
    spans = [view.spans(size) for size in sizes]
    ends = [own[-1][1] if own else 0 for own in spans]
    step = view.step or 1
    partial = sum(
        size - len(own) * step for size, own, end in zip(sizes, spans, ends) if end < size
    )
    return 100 * partial / (partial + (view.size or 1) * sum(map(len, spans)))


def _uncovered(sizes: Sequence[int], view: Slide) -> float:
    """Percentage of distinct sentences in no full window."""
    ends = [max((stop for _, stop, _ in view.spans(size)), default=0) for size in sizes]
    return 100 - 100 * sum(ends) / sum(sizes)


def over_long(experiment: Experiment) -> Result:
    """Percentage of chunks that a model would crop: a row per window, a column per language pair.

    A chunk has source and output of ``window`` sentences at every stride 1; a shorter document is
    one chunk. Settings: ``where``; ``window``; ``tokenizer``, a model; ``limit``, in tokens.
    """
    window = tuple(experiment.setting("window", range(1, 11)))
    limit = experiment.setting("limit", 512) - 4  # less special tokens
    columns = [place["column"] for place in experiment.places]
    rows: dict[str, list[Cell]] = {str(w): [None] * len(columns) for w in window}
    for column, place, root in experiment.sets():
        try:
            length = _counter(experiment)
        except WholetextError as fault:
            experiment.fail(column, fault)
            continue
        lengths = []  # of the sentences of each document of each system
        for pair in _pairs(experiment, place, root):
            loaded = EvalSet.open(root, pair).load()
            size = experiment.setting("sample", len(loaded.corpus.docs))
            for doc in loaded.corpus.docs[:size]:
                source = list(map(length, doc.src or ()))
                for output in loaded.outputs:
                    target = map(length, output.docs[doc.id])
                    lengths.append([a + b for a, b in zip(source, target)])
        for w in window:
            chunks = [
                sum(own[a : a + w]) > limit
                for own in lengths
                for a in range(max(1, len(own) - w + 1))
            ]
            rows[str(w)][columns.index(column)] = 100 * sum(chunks) / len(chunks)
    return experiment.finish(columns, rows)


def _counter(experiment: Experiment) -> Callable[[str], int]:
    """Tokens of a text: by the tokenizer of a model, or by blingfire's copy of XLM-R's."""
    model = experiment.setting("tokenizer", "minilm")
    try:
        return token_counter(model)
    except WholetextError:
        if find_spec("blingfire") is None:
            raise
    blingfire: Any = import_module("blingfire")
    handle = blingfire.load_model(str(Path(blingfire.__file__).parent / "xlm_roberta_base.bin"))
    experiment.notes.append(f"{model} is missing: tokens are those of blingfire's XLM-R model")
    return lambda text: len(blingfire.text_to_ids(handle, text, 4096, 3, no_padding=True))


def extraction(experiment: Experiment) -> Result:
    """Chunks of documents of some lengths: how many there are, and sentences that are dropped.

    Settings: ``documents``, name → sentences; ``size``; ``step``.
    """
    view = Slide(size=experiment.setting("size", 4), step=experiment.setting("step", 2))
    rows: dict[str, tuple[Cell, ...]] = {}
    for name, size in experiment.setting("documents", {}).items():
        spans = view.spans(size)
        covered = {i for start, stop, _ in spans for i in range(start, stop)}
        rows[name] = (float(size), float(len(spans)), float(size - len(covered)))
    return ("sentences", "chunks", "dropped"), rows


KINDS: Mapping[str, Callable[[Experiment], Result]] = {
    "by-set": by_set,
    "wins": wins,
    "mean-over-sets": mean_over_sets,
    "grid": grid,
    "contrastive": contrastive,
    "system-pairs": system_pairs,
    "dropped": dropped,
    "over-long": over_long,
    "extraction": extraction,
}
