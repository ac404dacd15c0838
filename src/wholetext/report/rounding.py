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


def places(values: Iterable[float]) -> int:
    """Decimals that suit the scale of scores: 0–100 scores get two, 0–1 scores four."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 2 if largest >= 2 else 4
