"""Numbers as the page's JSON holds them: short, and null where they are undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

DIGITS = 6  # significant digits: more than anyone sees


def short(value: float | None, digits: int = DIGITS) -> float | int | None:
    """A number with few digits; None for NaN and infinities."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{float(value):.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def shorts(values: Any, digits: int = DIGITS) -> Any:
    """The same for arrays and nested sequences of any depth, as nested lists."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, Iterable):
        return [shorts(value, digits) for value in values]
    return short(values, digits)


def fixed(values: Any, decimals: int) -> Any:
    """The same with a number of decimals, rounded as Python prints them: a page that prints them rounds no more."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, Iterable):
        return [fixed(value, decimals) for value in values]
    return float(f"{values:.{decimals}f}") if math.isfinite(values) else None
