"""A run in consoles and notebooks: leaderboard as text and HTML, scores as a table, charts."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
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
    standings: Any
    labels: Any
    finding: Any
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
        corpus = self.corpus
        langs = f", {'-'.join(corpus.langs)}" if any(corpus.langs) else ""
        title = (
            f"{shortened(corpus.id, 80)}{langs}: {count(len(self.outputs), 'system')}, "
            f"{count(len(self.scores), 'metric')}, {count(len(corpus), 'document')}, "
            f"{count(int(corpus.sizes.sum()), 'segment')}"
        )
        head, order = ["system"], list(self.systems)
        for spec, by_system in self.scores.items():
            first = next(iter(by_system.values()))
            references = f" ({', '.join(first.references)})" if first.references else ""
            head.append(f"{self.labels[spec]} {'↑' if first.higher_is_better else '↓'}{references}")
            if len(head) == 2:
                order = [standing.system for standing in self.standings[spec].standings]
        rows = [[system, *(self._cell(spec, system) for spec in self.scores)] for system in order]
        return title, head, rows

    def _cell(self, spec: str, system: str) -> str:
        """A score with its interval, and its rank cluster where it was tested."""
        places, standing = self.scores[spec][system].places, self.standings[spec][system]
        half = standing.interval.half_width
        cell = printed(standing.score, places) + (
            f" ±{printed(half, places)}" if half == half else ""
        )
        return f"{cell} #{standing.rank}" if standing.rank else cell

    def _legend(self, rows: list[list[str]]) -> str:
        """Explain the signs that the cells have."""
        cells = "".join(cell for row in rows for cell in row[1:])
        signs = {"±": "± is a 95 % interval", "#": "# the rank cluster"}
        return "; ".join(text for sign, text in signs.items() if sign in cells)

    def __repr__(self) -> str:
        title, head, rows = self._leaderboard()
        lines = [f"Results of {title}", *wrap(self.finding, 80, break_on_hyphens=False)]
        lines += [text_table(head, rows), self._legend(rows)]
        lines += [f"{count(len(self.notes), 'note')}: see .notes"] if self.notes else []
        return shortened("\n".join(filter(None, lines)), MOST)

    def _repr_html_(self) -> str:
        title, head, rows = self._leaderboard()
        title += f" (the first {HTML_SYSTEMS} systems)" if len(rows) > HTML_SYSTEMS else ""
        caption = ". ".join(filter(None, [title, self._legend(rows)]))
        caption = f"{caption}. {self.finding}" if self.finding else caption
        return html_table(head, rows[:HTML_SYSTEMS], caption, self.notes)

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
