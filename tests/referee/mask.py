"""Compare frozen values with new ones: what is masked, and what counts as equal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

PROSE = {"notes", "warnings", "note", "reason", "why", "instructions", "summary", "about", "what"}  # English sentences
MACHINE = {"wholetext", "path", "bytes", "seconds"}  # what depends on version, machine and time
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
VERSION = re.compile(r"(?<=[-:])\d+\.\d+(?:\.\d+)*\b")  # sacrebleu:2.6.0, spacy-3.8.18/…
HASH = re.compile(r"#[0-9a-f]{8}\b")  # of signatures and models


def masked(value: Any, key: str = "") -> Any:
    """Leave out what may change: of prose only its numbers stay, of signatures their names."""
    if key in MACHINE:
        return "*"
    if isinstance(value, dict):
        return {str(name): masked(item, str(name)) for name, item in value.items()}
    if isinstance(value, list):
        return [masked(item, key) for item in value]
    if not isinstance(value, str):
        return value
    if key in PROSE:
        return " ".join(["#", *NUMBER.findall(value)])
    if value.startswith("metric:"):
        return "signature"  # measures.py freezes them
    return VERSION.sub("*", HASH.sub("#*", value))


def masked_signature(text: str) -> str:
    """The text of a signature without the versions of packages."""
    return VERSION.sub("*", text)


def shape(value: Any) -> Any:
    """The types of a value instead of itself."""
    return {key: shape(item) for key, item in value.items()} if isinstance(value, dict) else type(value).__name__


def differences(expected: Any, actual: Any, tolerance: float, place: str = "") -> Iterator[str]:
    """Yield where two values differ; numbers may by the tolerance, relative or absolute."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in {**expected, **actual}:
            if key not in actual or key not in expected:
                yield f"{place}/{key}: {'missing' if key in expected else 'new'}"
            else:
                yield from differences(expected[key], actual[key], tolerance, f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{place}: {len(expected)} items expected, {len(actual)} now"
        for i, (before, now) in enumerate(zip(expected, actual)):
            yield from differences(before, now, tolerance, f"{place}/{i}")
    elif not equal(expected, actual, tolerance):
        yield f"{place}: {expected!r} expected, {actual!r} now"


def equal(expected: Any, actual: Any, tolerance: float) -> bool:
    """Whether two leaves are the same."""
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (expected, actual)]
    if all(numbers) and float in (type(expected), type(actual)):
        undefined = math.isnan(expected) and math.isnan(actual)
        return undefined or math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance)
    return type(expected) is type(actual) and bool(expected == actual)
