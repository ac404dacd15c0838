"""Stress tests: documents with controlled errors, and what metrics make of them."""

from typing import Any

__all__ = ["stress"]


def __getattr__(name: str) -> Any:
    if name != "stress":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wholetext.stress.evaluate import stress

    return stress
