"""Panels of page and figures: tables, grids, curves, bars, with numbers ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

Number = float | None
DIGITS = 6  # significant digits


def shorts(values: Any, digits: int = DIGITS) -> Any:
    """Round numbers, also nested ones, to significant digits; None if not finite."""

    def short(value: float) -> float | int:
        rounded = float(f"{float(value):.{digits}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded

    return _nested(values, short)


def fixed(values: Any, decimals: int) -> Any:
    """Round numbers to decimals as Python prints them, so that the page need not round."""
    return _nested(values, lambda value: float(f"{value:.{decimals}f}"))


def _nested(values: Any, change: Callable[[float], float]) -> Any:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, dict):
        return {key: _nested(value, change) for key, value in values.items()}
    if isinstance(values, Iterable) and not isinstance(values, str):
        return [_nested(value, change) for value in values]
    if isinstance(values, float):
        return change(values) if math.isfinite(values) else None
    return values


@dataclass(frozen=True)
class Table:
    """Rows with a name and cells; ``ranks`` are clusters, for columns that have them."""

    title: str
    columns: tuple[str, ...]  # of the cells; the name's column is ``of``
    rows: tuple[tuple[str, tuple[Number | str, ...]], ...]
    of: str = "metric"
    ranks: tuple[tuple[int | None, ...], ...] = ()  # (rows, columns)
    note: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Grid:
    """A heat-map of ``values[row][column]``; ``extra`` is further text about a cell."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[Number, ...], ...]
    axes: tuple[str, str] = ("", "")  # what rows and columns are
    extra: tuple[tuple[str, ...], ...] = ()
    centred: bool = False  # diverging colours around 0
    note: str = ""
    ends: tuple[float, float] | None = None  # of the colours (default: smallest, largest value)
    kind: str = "grid"


@dataclass(frozen=True)
class Line:
    """One curve: points with None where undefined; a control is drawn dashed."""

    name: str
    y: tuple[Number, ...]
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()
    control: bool = False
    hue: int | None = None  # shared by lines that belong together (default: its own)


@dataclass(frozen=True)
class Curves:
    """Several curves over the same x."""

    title: str
    x: tuple[float, ...]
    lines: tuple[Line, ...]
    axes: tuple[str, str] = ("", "")  # x, y
    note: str = ""
    kind: str = "curves"


@dataclass(frozen=True)
class Bar:
    """One value with its interval, in a group."""

    group: str
    name: str
    value: Number
    low: Number = None
    high: Number = None
    count: int | None = None  # items behind it


@dataclass(frozen=True)
class Bars:
    """Dots with intervals in groups; ``chance`` is the value of guessing."""

    title: str
    bars: tuple[Bar, ...]
    axis: str = ""
    chance: float | None = None
    note: str = ""
    kind: str = "bars"


Marked = tuple[tuple[str, bool], ...]  # stretches of a text; True: marked


@dataclass(frozen=True)
class Examples:
    """Texts before and after a change: name, place, and both texts with differences marked."""

    title: str
    rows: tuple[tuple[str, str, Marked, Marked], ...]
    of: str = "change"
    lang: str = ""
    note: str = ""
    kind: str = "examples"


Panel = Table | Grid | Curves | Bars | Examples


@dataclass(frozen=True)
class Study:
    """A page of the report, read from the file of a study."""

    kind: str  # meta, sweep, contrast, rank, judge-check, stress, reproduce
    title: str
    panels: tuple[Panel, ...]
    facts: tuple[tuple[str, str], ...] = ()  # what was done, as name and value
    warnings: tuple[str, ...] = field(default=())
    picture: tuple[int, ...] = ()  # indices of the panels in its exported figure

    def plain(self) -> dict[str, Any]:
        """Convert to the JSON of the page."""
        page: dict[str, Any] = shorts(asdict(self))
        return page
