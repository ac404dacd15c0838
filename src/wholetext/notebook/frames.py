"""Scores as DataFrames of pandas or polars, imported when used (extras ``pandas``, ``polars``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from wholetext.errors import optional

if TYPE_CHECKING:
    import pandas
    import polars

Level = Literal["row", "segment", "doc", "corpus"]


class Tabular(ABC):
    """A table at every level: subclasses define ``columns``."""

    @abstractmethod
    def columns(self, level: Level = "doc") -> Mapping[str, Any]:
        """Column → values, one per item of the level; NaN where a score is not defined."""

    def to_pandas(self, level: Level = "doc") -> pandas.DataFrame:
        """A pandas DataFrame, one line per item of the level (extra ``pandas``)."""
        return frame("pandas", self.columns(level))

    def to_polars(self, level: Level = "doc") -> polars.DataFrame:
        """A polars DataFrame, one line per item of the level (extra ``polars``)."""
        return frame("polars", self.columns(level))


def frame(library: Literal["pandas", "polars"], columns: Mapping[str, Any]) -> Any:
    """Make a DataFrame of a library."""
    return optional(library, library).DataFrame(dict(columns))
