"""What a study shows, whatever study it is: tables, grids, curves and bars; page and figures draw only these."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from wholetext.reporting.rounding import shorts

Number = float | None


@dataclass(frozen=True)
class Table:
    """Rows with a name and cells; ``ranks`` are clusters by column, where a column has any."""

    title: str
    columns: tuple[str, ...]  # of the cells; the name's column is ``of``
    rows: tuple[tuple[str, tuple[Number | str, ...]], ...]
    of: str = "metric"
    ranks: tuple[tuple[int | None, ...], ...] = ()  # (rows, columns)
    note: str = ""
    kind: str = "table"


@dataclass(frozen=True)
class Grid:
    """A heat-map: ``values[row][column]``, None where there is nothing; ``extra`` is said of a cell besides."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[Number, ...], ...]
    axes: tuple[str, str] = ("", "")  # what rows and columns are
    extra: tuple[tuple[str, ...], ...] = ()
    centred: bool = False  # diverging colours around 0
    note: str = ""
    kind: str = "grid"


@dataclass(frozen=True)
class Line:
    """One curve: points with None where undefined; a control is drawn dashed."""

    name: str
    y: tuple[Number, ...]
    low: tuple[Number, ...] = ()
    high: tuple[Number, ...] = ()
    control: bool = False
    hue: int | None = None  # lines of one hue belong together; each has its own unless given


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
    """One figure with its interval, in a group."""

    group: str
    name: str
    value: Number
    low: Number = None
    high: Number = None
    count: int | None = None  # items behind it


@dataclass(frozen=True)
class Bars:
    """Dots with intervals in groups; ``chance`` is what guessing gives."""

    title: str
    bars: tuple[Bar, ...]
    axis: str = ""
    chance: float | None = None
    note: str = ""
    kind: str = "bars"


Panel = Table | Grid | Curves | Bars


@dataclass(frozen=True)
class Study:
    """A page of the report that comes from a study's file."""

    kind: str  # meta, sweep, contrast
    title: str
    panels: tuple[Panel, ...]
    facts: tuple[tuple[str, str], ...] = ()  # what was done, as name and value
    warnings: tuple[str, ...] = field(default=())

    def plain(self) -> dict[str, Any]:
        """For the page's JSON."""
        found: dict[str, Any] = _rounded(asdict(self))
        return found


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return shorts(value) if isinstance(value, float) else value
