"""A run in consoles and notebooks: leaderboard as text and HTML, scores as a table, charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wholetext.errors import count
from wholetext.notebook.display import (
    HTML_SYSTEMS,
    MOST,
    html_table,
    printed,
    shortened,
    text_table,
)
from wholetext.notebook.frames import Level, Tabular
from wholetext.slices import load

if TYPE_CHECKING:
    import altair

_NUMBERS = ("start", "stop", "weight", "segment", "score")  # columns


class RunTable(Tabular):
    """What ``Results`` shows of itself; the fields are its."""

    corpus: Any
    outputs: Any
    scores: Any
    comparisons: Any
    notes: Any
    systems: Any

    def columns(self, level: Level = "doc") -> Mapping[str, Any]:
        """Columns of a table: metric, system, place and ``score`` of every metric and system.

        Further outputs (precision, categories …) differ between metrics:
        ``results[spec][system].columns()`` has them.
        """
        parts = [
            scores.columns(level)
            for by_system in self.scores.values()
            for scores in by_system.values()
        ]
        names = list(
            dict.fromkeys(
                name for part in parts for name in list(part)[: list(part).index("score") + 1]
            )
        )
        return {
            name: np.concatenate(
                [
                    np.asarray(part[name], dtype=None if name in _NUMBERS else object)
                    for part in parts
                ]
            )
            for name in names
        }

    def _leaderboard(self) -> tuple[str, list[str], list[list[str]]]:
        """Title of the run, head of the table, and a line per system, best first."""
        corpus, by_metric = self.corpus, list(self.scores.values())
        langs = f", {'-'.join(corpus.langs)}" if any(corpus.langs) else ""
        title = (
            f"{shortened(corpus.id, 80)}{langs}: {count(len(self.outputs), 'system')}, "
            f"{count(len(by_metric), 'metric')}, {count(len(corpus), 'document')}, "
            f"{count(int(corpus.sizes.sum()), 'segment')}"
            f"{'; ± is a 95 % interval, # the rank cluster' if self.comparisons else ''}"
        )
        order = list(self.systems)
        if by_metric:
            values = {system: scores.score for system, scores in by_metric[0].items()}
            sign = -1 if next(iter(by_metric[0].values())).higher_is_better else 1
            order = sorted(
                values, key=lambda name: (np.isnan(values[name]), sign * values[name], name)
            )
        head = [
            f"{spec} {'↑' if next(iter(by_system.values())).higher_is_better else '↓'}"
            for spec, by_system in self.scores.items()
        ]
        rows = [[system, *(self._cell(spec, system) for spec in self.scores)] for system in order]
        return title, ["system", *head], rows

    def _cell(self, spec: str, system: str) -> str:
        """A score, with the interval and the rank cluster of a stored comparison."""
        scores = self.scores[spec][system]
        cell = printed(scores.score, scores.places)
        if spec not in self.comparisons:
            return cell
        standing = self.comparisons[spec][system]
        rank = f" #{standing.rank}" if standing.rank else ""
        return f"{cell} ±{printed(standing.interval.half_width, scores.places)}{rank}"

    def __repr__(self) -> str:
        title, head, rows = self._leaderboard()
        notes = f"\n{count(len(self.notes), 'note')}: see .notes" if self.notes else ""
        return shortened(f"Results of {title}\n{text_table(head, rows)}{notes}", MOST)

    def _repr_html_(self) -> str:
        title, head, rows = self._leaderboard()
        title += f" (the first {HTML_SYSTEMS} systems)" if len(rows) > HTML_SYSTEMS else ""
        return html_table(head, rows[:HTML_SYSTEMS], title, self.notes)

    def plot(
        self: Any, kind: str = "leaderboard", metric: str | None = None
    ) -> altair.TopLevelMixin:
        """An altair chart of the run (extra ``report``).

        ``kind`` is ``leaderboard``, ``compare``, ``documents``, ``distribution``, ``scatter`` or
        ``categories``; the metric is the first unless named.
        """
        plot = load("wholetext.reporting.figures:plot")  # of a higher layer
        chart: altair.TopLevelMixin = plot(self, kind, metric)
        return chart
