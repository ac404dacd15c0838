"""A page of the report for a reproduced table or figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wholetext.reporting.panels import Curves, Grid, Line, Panel, Study, Table


def reproduce(study: Mapping[str, Any]) -> Study:
    """Show an entry as a table, and as the curves or the grid that the paper draws."""
    entry, columns, rows = study["entry"], tuple(study["columns"]), study["rows"]
    title = f"{entry['paper']} {entry['name']}: {entry['title']}"
    cells = tuple(
        (
            row["name"],
            tuple(value for triple in zip(row["obtained"], row["published"]) for value in triple),
        )
        for row in rows
    )
    headers = tuple(part for column in columns for part in (column, f"{column} (published)"))
    panels: list[Panel] = [
        Table("Obtained and published", headers, cells, "", note=study["status"])
    ]
    obtained = tuple(tuple(row["obtained"]) for row in rows)
    names = tuple(row["name"] for row in rows)
    if entry["figure"] == "curves":
        lines = tuple(Line(name, values) for name, values in zip(names, obtained))
        panels.insert(0, Curves("As drawn in the paper", tuple(map(float, columns)), lines))
    elif entry["figure"] == "grid":
        panels.insert(0, Grid("As drawn in the paper", names, columns, obtained))
    facts = (("command", f"wholetext reproduce {entry['paper']} {entry['name']}"),)
    return Study("reproduce", title, tuple(panels), facts, tuple(study["notes"]))
