"""What all figures share: altair when it is installed, quiet colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wholetext.errors import MissingExtra

BLUE, ORANGE, INK, SOFT, FAINT = "#0b5cad", "#a8480a", "#1a1e23", "#56606b", "#e1e5e9"
SERIES = ("#0072b2", "#a64c00", "#00795a", "#a3457a", "#6a5a00", "#3c5fb8", "#5a5f66", INK)
RAMP, PALE = ("#f0f5fa", "#0a427a"), "#f7f7f5"


def altair_module() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401 — fails now rather than after drawing
    except ImportError:
        raise MissingExtra("altair or vl-convert", "report") from None
    return altair


def across(field: str, title: str) -> Any:
    alt = altair_module()
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))


def title_of(metric: Mapping[str, Any]) -> str:
    """A metric on an axis; arrows are not in every font, so only the unusual direction is told, in words."""
    return str(metric["spec"]) if metric["higher"] else f"{metric['spec']} (lower is better)"
