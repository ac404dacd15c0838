"""One ranking of systems from many metrics."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.ranking.procedure import (
        RankedSystem as RankedSystem,
        Ranking as Ranking,
        rank as rank,
    )
else:
    __getattr__, __dir__, __all__ = exports(
        __name__, {"ranking.procedure": ("RankedSystem", "Ranking", "rank")}
    )
