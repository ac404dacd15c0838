"""One metric under many views: a grid of context sizes with controls, or of windows and strides."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from wholetext.errors import SpecError, known
from wholetext.io import Loaded
from wholetext.notebook.display import brief
from wholetext.registry import Scorer, scorer
from wholetext.scoring.bound import check
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results, write_run
from wholetext.spec import parse
from wholetext.types import Corpus, Output, Scores
from wholetext.views import Context, Slide, View

HYP = ("ref", "own")
SOURCE = ("same", "shuffled", "other")
Setting = int | str


@dataclass(frozen=True)
class Axes:
    """Axes of a sweep: context sizes 0…``context`` or windows of 1…``window`` segments."""

    context: int | None = None
    hyp: tuple[str, ...] = HYP
    source: tuple[str, ...] = SOURCE
    window: int | None = None
    step: tuple[int, ...] = ()  # every stride up to the window's size unless given
    partial: Literal["drop", "include", "weighted"] = "drop"
    seed: int = 0

    def __post_init__(self) -> None:
        sizes = [*self.step, self.window or 1]
        sized = (self.context or 0) >= 0 and self.window != 0 and min(sizes) > 0
        if (self.context is None) == (self.window is None) or not sized:
            raise SpecError(
                "a sweep varies either the context or the window: context sizes are at least 0, "
                "windows and strides at least 1",
                next="write context=3, or window=6 step=1",
            )
        for name, words, every in (("hyp", self.hyp, HYP), ("source", self.source, SOURCE)):
            for word in words or ("",):
                known(name, word, every, error=SpecError)

    def views(self) -> Iterator[tuple[dict[str, Setting], View]]:
        """The settings of each cell and the view they make."""
        if self.window is not None:
            for size in range(1, self.window + 1):
                for step in self.step or range(1, size + 1):
                    if step <= size:
                        yield (
                            {"size": size, "step": step},
                            Slide(size=size, step=step, partial=self.partial),
                        )
            return
        yield (
            {"prev": 0, "hyp": "–", "source": "–"},
            Context(prev=0),
        )  # without context all settings are one
        sizes = range(1, (self.context or 0) + 1)
        for prev, hyp, source in product(sizes, self.hyp, self.source):
            view = Context(
                prev=prev,
                hyp="own" if hyp == "own" else "auto",
                source=cast(Any, source),
                seed=0 if source == "same" else self.seed,
            )
            yield {"prev": prev, "hyp": hyp, "source": source}, view


@dataclass(frozen=True, eq=False)
class Cell:
    """One setting: its spec and the scores by system (none if all documents are too short)."""

    settings: Mapping[str, Setting]
    spec: str
    scores: Mapping[str, Scores]

    @cached_property
    def losses(self) -> dict[str, float]:
        """Shares of segments that are not scored, and of rows that lost context or scored text.

        They are means over the systems; NaN where no document is long enough.
        """
        every = list(self.scores.values())
        cut = [s.lost > 0 for s in every if s.lost is not None and len(s.lost)]
        context, focus = sum((rows.mean(axis=0) for rows in cut), np.zeros(2)).tolist()
        dropped = sum(1.0 - s.rows.covered.mean() for s in every)
        totals = {"dropped": dropped, "lost_context": context, "lost_focus": focus}
        return {
            name: float(total / len(every)) if every else math.nan for name, total in totals.items()
        }

    @property
    def rows(self) -> int:
        """Rows of a system, at most."""
        return max((len(s.rows) for s in self.scores.values()), default=0)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A grid of cells over one corpus; ``results`` holds the same scores as an ordinary run."""

    metric: str
    axes: tuple[str, ...]
    higher_is_better: bool
    cells: tuple[Cell, ...]
    results: Results
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        """Convert the grid to plain values, cell by cell; undefined numbers are null."""
        return plain(  # type: ignore[no-any-return]
            {
                "kind": "sweep",
                "metric": self.metric,
                "axes": self.axes,
                "higher_is_better": self.higher_is_better,
                "corpus": self.results.corpus.id,
                "langs": self.results.corpus.langs,
                "systems": self.results.systems,
                "cells": [
                    {
                        **cell.settings,
                        "spec": cell.spec,
                        "rows": cell.rows,
                        **cell.losses,
                        "scores": {
                            s: cell.scores[s].score if cell.scores else None
                            for s in self.results.systems
                        },
                    }
                    for cell in self.cells
                ],
                "signatures": {
                    cell.spec: {
                        system: str(scores.signature) for system, scores in cell.scores.items()
                    }
                    for cell in self.cells
                },
                "warnings": self.results.warnings,
                "counts": self.results.counts,
            }
        )


def sweep(
    corpus: Corpus,
    outputs: Sequence[Output],
    metric: str,
    axes: Axes,
    options: Options | None = None,
) -> Sweep:
    """Score all cells of a grid together: texts that cells or systems share are encoded once."""
    check(corpus, outputs)
    options, parsed = options or Options(), scorer(metric)
    axes, notes = possible(axes, parsed, corpus, options)
    grid = [(settings, Scorer(view, parsed.metric)) for settings, view in axes.views()]
    full = [cell.spec for _, cell in grid if any(cell.view.spans(len(doc)) for doc in corpus.docs)]
    results = score(Loaded(corpus, outputs), full, options=options)
    cells = tuple(
        Cell(settings, cell.spec, results.scores.get(cell.spec, {})) for settings, cell in grid
    )
    return Sweep(
        metric=str(replace(parse(parsed.spec), view=None)),
        axes=tuple(grid[0][0]),
        higher_is_better=parsed.metric.higher_is_better,
        cells=cells,
        results=replace(results, warnings=(*results.warnings, *notes)),
    )


def write_sweep(sweep: Sweep, folder: Path | str, *, overwrite: bool = True) -> None:
    """Write a run folder like any other, with the grid in grid.json."""
    grid = json.dumps(sweep.as_json(), ensure_ascii=False, indent=1)
    write_run(sweep.results, folder, {"grid.json": grid}, overwrite=overwrite)


def possible(
    axes: Axes, parsed: Scorer, corpus: Corpus, options: Options
) -> tuple[Axes, list[str]]:
    """Leave out settings that do not apply to this corpus; return the axes and notes."""
    metric = parsed.metric.resolve(corpus.langs)
    used = corpus.references if options.refs is None else options.refs
    if "ref" not in metric.needs | metric.wants or not used:
        axes = replace(axes, hyp=("own",))  # no reference to borrow from
    if axes.context is None or "other" not in axes.source or len(corpus.docs) > 1:
        return axes, []
    others = tuple(source for source in axes.source if source != "other")
    note = "there is one document only, so none can provide wrong context: source=other is left out"
    return replace(axes, source=others or ("same",)), [note]
