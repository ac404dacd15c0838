"""Draw the first table of a page in docs/studies as docs/studies/NAME.svg: a dot for each number, with its interval.

    python studies/pictures.py [NAME …]

Learned metrics and paragraphs have curves, drawn by their own studies.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import altair as alt
import vl_convert as vlc

PAGES = Path(__file__).resolve().parent.parent / "docs" / "studies"
# page → the columns that are drawn, and the name of the axis
COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "blonde": (("news zh-en", "TED zh-en", "news en-de", "news en-ru"), "Pearson with MQM"),
    "coherence": (("SummEval", "NeR18"), "Kendall τ × 100 with coherence"),
    "context": (("change of r (95 %)",), "change of r"),
    "contrast": (("no context", "one sentence", "one sentence of another item"), "accuracy, %"),
    "format-flags": (("hits read", "right"), "hits"),
    "stress": (("pronoun", "tense", "name", "term", "connective", "number", "negation"), "pairs told apart, %"),
    "wt-doc": (("pronoun (28)", "tense (47)", "name (59)", "swap (261)", "drop (262)"), "pairs told apart, %"),
}
_NUMBER = r"[+-]?\d+(?:\.\d+)?"
_CELL = re.compile(rf"({_NUMBER})(?:\s*[\[(]({_NUMBER})(?:,| …)\s*({_NUMBER})[\])])?")


def first_table(page: Path) -> list[dict[str, str]]:
    """Read the rows of the first table; the column after one with a number may be its interval."""
    lines = [line for line in page.read_text("utf-8").split("\n\n![")[0].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(named(head, row)) for row in rows]


def named(head: list[str], row: list[str]) -> list[tuple[str, str]]:
    """Pair names and cells; a column ``interval`` is joined to the one before it."""
    pairs: list[tuple[str, str]] = []
    for name, cell in zip(head, row):
        if name == "interval":
            before, value = pairs.pop()
            pairs.append((before, f"{value} [{cell}]".replace(" … ", ", ")))
        else:
            pairs.append((name or "row", cell))
    return pairs


def points(name: str) -> list[dict[str, object]]:
    """List the numbers of a page's first table that are drawn."""
    columns, _ = COLUMNS[name]
    drawn: list[dict[str, object]] = []
    for order, row in enumerate(first_table(PAGES / f"{name}.md")):
        label = next(iter(row.values())).strip("`")
        for column in columns:
            cell = _CELL.fullmatch(row[column].replace("−", "-"))
            if cell:
                value, low, high = (None if part is None else float(part) for part in cell.groups())
                drawn.append({"row": label, "order": order, "column": column, "value": value, "low": low, "high": high})
    return drawn


def draw(name: str) -> None:
    columns, title = COLUMNS[name]
    base = alt.Chart(alt.Data(values=points(name))).encode(
        y=alt.Y("row:N", title=None, sort=alt.SortField("order"), axis=alt.Axis(labelLimit=260)),
        color=alt.Color("column:N", title=None, sort=list(columns), legend=None),
    )
    dots = base.mark_point(filled=True, size=40).encode(x=alt.X("value:Q", title=title, scale=alt.Scale(zero=False)))
    bars = base.transform_filter("datum.low != null").mark_rule().encode(x="low:Q", x2="high:Q")
    width = max(90, 460 // len(columns))
    chart = alt.layer(bars, dots).properties(width=width, height=alt.Step(16)).facet(
        column=alt.Column("column:N", title=None, sort=list(columns)))  # fmt: skip
    (PAGES / f"{name}.svg").write_text(vlc.vegalite_to_svg(chart.to_json()), "utf-8")


def main() -> None:
    for name in sys.argv[1:] or COLUMNS:
        draw(name)


if __name__ == "__main__":
    main()
