"""Short text and HTML of values, for consoles and notebooks; strings are escaped in HTML."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from html import escape
from reprlib import Repr
from typing import Any

from wholetext.errors import count

MOST = 2000  # characters of any repr
SYSTEMS, METRICS = 12, 4  # of a leaderboard in plain text
NAME = 24  # characters of a name in it
HTML_SYSTEMS = 100  # rows of a leaderboard in HTML

_SHORT = Repr()
_SHORT.maxlevel = 3
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxfrozenset = _SHORT.maxdict = 4
_SHORT.maxstring, _SHORT.maxother = 80, 240


def shortened(text: str, most: int) -> str:
    """The text, with its middle left out where it has more characters than ``most``."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}…{text[len(text) - half :]}"


def brief(self: Any) -> str:
    """``__repr__`` of a dataclass: every field, shortened; of arrays only the shape."""
    fields = ", ".join(
        f"{field.name}={_value(getattr(self, field.name))}"
        for field in dataclasses.fields(self)
        if field.repr
    )
    return shortened(f"{type(self).__name__}({fields})", MOST)


def _value(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"<{' × '.join(map(str, shape)) or 'one'} {value.dtype}>"
    return _SHORT.repr(value)


def printed(value: float | None, decimals: int) -> str:
    """A number with its decimals and a real minus sign; a dash where it is not defined."""
    return "–" if value is None or math.isnan(value) else f"{value:.{decimals}f}".replace("-", "−")


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under one another: the first to the left, numbers to the right.

    After ``SYSTEMS`` rows and ``METRICS`` columns a line says how many were left out.
    """
    table = [
        [shortened(" ".join(str(cell).split()), NAME) for cell in row[: METRICS + 1]]
        for row in [head, *rows[:SYSTEMS]]
    ]
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:])),
            ]
        )
        for row in table
    ]
    hidden = {"more system": len(rows) - SYSTEMS, "more metric": len(head) - METRICS - 1}
    more = [count(number, noun) for noun, number in hidden.items() if number > 0]
    return "\n".join([*lines, *([f"… {', '.join(more)}"] if more else [])])


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str, notes: Sequence[str] = ()
) -> str:
    """A plain table for notebooks, with aligned columns; all strings are escaped."""

    def cells(tag: str, row: Sequence[str]) -> str:
        style = [
            f"text-align:{side};padding:0.1em 0.6em"
            for side in ("left", *["right"] * (len(row) - 1))
        ]
        return "".join(
            f'<{tag} style="{how}">{escape(cell)}</{tag}>' for how, cell in zip(style, row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    below = "".join(f"<li>{escape(note)}</li>" for note in notes)
    details = (
        f"<details><summary>notes ({len(notes)})</summary><ul>{below}</ul></details>"
        if notes
        else ""
    )
    return (
        f"<div><div>{escape(caption)}</div><table>"
        f"<thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>{details}</div>"
    )
