"""Agreement over a grid: a metric under many views, and documents against sentences.

A grid is a list of specs. Its cells are told from the views of the specs, so that cells computed
here, named one by one or read from a run folder are the same to tables and reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wholetext.errors import InputError, WholetextError
from wholetext.meta.paragraphs import read_lengths
from wholetext.meta.tasks import TaskResult
from wholetext.registry import Scorer, scorer
from wholetext.scoring.sweep import Axes
from wholetext.views import Context, Sentence, Slide

Partial = Literal["drop", "include", "weighted"]
Setting = int | str
MINIMUM = 3  # cells of a metric that are drawn as a grid


@dataclass(frozen=True)
class GridAxes:
    """Axes of a grid of views: sizes of the context, or windows, their strides and partial ones."""

    context: tuple[int, ...] = ()
    hyp: tuple[str, ...] = ("ref",)
    source: tuple[str, ...] = ("same",)
    window: tuple[int, ...] = ()
    step: tuple[int, ...] = ()  # every stride up to the window's size
    partial: tuple[Partial, ...] = ("drop",)

    def specs(self, metrics: Sequence[str]) -> list[str]:
        """Spec strings of every metric under every view; the metric's own view gives the joiner."""
        if not metrics:
            raise InputError("a grid needs a metric that is computed", next="name one: -m chrf")
        return list(dict.fromkeys(spec for metric in metrics for spec in self._specs(metric)))

    def _specs(self, metric: str) -> Iterator[str]:
        parsed = scorer(metric)
        borrows = "ref" in parsed.metric.needs | parsed.metric.wants
        for partial in self.partial:
            axes = Axes(
                context=max(self.context, default=None),
                hyp=self.hyp if borrows else ("own",),  # no reference to borrow from
                source=self.source,
                window=max(self.window, default=None),
                step=self.step,
                partial=partial,
            )
            for settings, view in axes.views():
                if settings.get("prev", settings.get("size")) in self.context + self.window:
                    yield Scorer(replace(view, joiner=parsed.view.joiner), parsed.metric).spec


def read_sizes(text: str | None, low: int, option: str) -> tuple[int, ...]:
    """``0..9`` or ``1,3,5`` → sizes; a number alone is the largest, as in `score --sweep`."""
    if text is None:
        return ()
    whole = f"{low}..{text}" if text.strip().isdecimal() else text
    return read_lengths(whole, low, f"sizes of {option}")


@dataclass(frozen=True)
class GridCell:
    """Where a spec stands in a grid."""

    name: str  # the spec, as tasks name it
    metric: str  # the same by sentence
    settings: Mapping[str, Setting]  # prev, hyp, source or size, step, partial; none: by sentence

    @property
    def sentence(self) -> bool:
        """Tell whether the metric reads single sentences."""
        return not self.settings or self.settings.get("prev") == 0 or self.settings.get("size") == 1


def grid_cells(names: Sequence[str]) -> tuple[GridCell, ...]:
    """Cells of the metrics that are read under contexts, windows or by sentence, in order."""
    cells = []
    for name in names:
        try:
            parsed = scorer(name)
        except WholetextError:  # a stored metric of any name
            continue
        view, settings = parsed.view, dict[str, Setting]()
        if isinstance(view, Context) and not view.next:
            borrows = "ref" in parsed.metric.needs | parsed.metric.wants
            hyp = "own" if view.hyp == "own" or not borrows else "ref"
            settings = {"prev": view.prev, "hyp": hyp, "source": view.source}
        elif isinstance(view, Slide) and view.size:
            step = view.step or view.size
            settings = {"size": view.size, "step": step, "partial": view.partial}
        elif not isinstance(view, Sentence):
            continue
        metric = Scorer(Sentence(joiner=view.joiner), parsed.metric).spec
        cells.append(GridCell(name, metric, settings))
    return tuple(cells)


def drawn(cells: Sequence[GridCell]) -> tuple[GridCell, ...]:
    """Cells of the metrics that have enough of them for a curve or a heat-map."""
    sizes = [cell.metric for cell in cells]
    return tuple(cell for cell in cells if sizes.count(cell.metric) >= MINIMUM)


@dataclass(frozen=True)
class Contest:
    """A metric with context against itself by sentence, in one task on one set."""

    name: str
    sentence: str
    task: str
    where: str
    difference: float
    p: float  # of the better of both (PERM-BOTH); NaN where not tested


def contests(cells: Sequence[GridCell], results: Sequence[TaskResult]) -> tuple[Contest, ...]:
    """Compare every cell with context with the sentence cell of its metric (Vernikos et al. 2022)."""
    by_sentence = {cell.metric: cell.name for cell in reversed(cells) if cell.sentence}
    rows = []
    for cell in cells:
        sentence = by_sentence.get(cell.metric)
        for result in results if sentence and not cell.sentence else ():
            if sentence in result.metrics and cell.name in result.metrics:
                places = sorted(map(result.metrics.index, (cell.name, sentence)))
                difference = result.value(cell.name) - result.value(sentence)
                p = float(result.p[places[0], places[1]])
                rows.append(
                    Contest(cell.name, sentence, str(result.task), result.where, difference, p)
                )
    return tuple(rows)


def win_counts(rows: Sequence[Contest], alpha: float) -> dict[str, int]:
    """Count how often context wins, of how many, and the same of significant differences."""
    defined = [row for row in rows if not math.isnan(row.difference)]
    tested = [row for row in defined if row.p < alpha]
    return {
        "wins": sum(row.difference > 0 for row in defined),
        "of": len(defined),
        "significant_wins": sum(row.difference > 0 for row in tested),
        "significant": len(tested),
    }
