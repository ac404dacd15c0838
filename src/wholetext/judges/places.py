"""Locate the words of an error in the text that was judged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence
from typing import Any

from wholetext.judges.parsers import Fault
from wholetext.types import Request

Place = tuple[int, int]


def placed(
    faults: Sequence[Fault], request: Request
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return spans of the scored text, and all errors with whether a text contains their words."""
    text, taken = request.hyp[0].text, set[Place]()
    spans, errors = list[dict[str, Any]](), list[dict[str, Any]]()
    for fault in faults:
        facts = {
            "severity": fault.severity or "evidence",
            "category": fault.category,
            "reason": fault.reason,
        }
        place = locate(fault, text, taken)
        if place:
            taken.add(place)
            spans.append({"start": place[0], "end": place[1], **facts})
        in_source = not place and bool(request.src and locate(fault, request.src.text))
        located, side = bool(place or in_source), "src" if in_source else "hyp"
        errors.append({**facts, "quote": fault.quote, "located": located, "side": side})
    return spans, errors


def locate(fault: Fault, text: str, taken: Container[Place] = ()) -> Place | None:
    """Return where the words of an error stand, or None.

    An exact match is preferred to one that ignores blanks, case, and forms of dashes, quotation
    marks and accents; among several, one inside the context that the judge quotes, then whole
    words, then one that is not ``taken`` by an earlier error.
    """
    quote, context = fault.quote.strip().strip("…").strip(), fault.context.strip()
    places = _places(quote, text, loose=False) or _places(quote, text, loose=True)
    contexts = _places(context, text, loose=True) if places else []

    def rank(place: Place) -> tuple[bool, bool, bool, Place]:
        start, end = place
        outside = not any(low <= start and end <= high for low, high in contexts)
        partial = text[:start][-1:].isalnum() or text[end:][:1].isalnum()
        return outside, partial, place in taken, place

    return min(places, key=rank, default=None)


def _places(words: str, text: str, loose: bool) -> list[Place]:
    """Return all matches; words much longer than the text cannot be in it."""
    if not words or len(words) > 3 * len(text):
        return []
    if not loose:
        return [match.span() for match in re.finditer(re.escape(words), text)]
    forms = dict.fromkeys(unicodedata.normalize(form, words) for form in ("NFC", "NFD"))
    patterns = ["".join(map(_pattern, re.findall(r"\s+|\S", form))) for form in forms]
    return [match.span() for pattern in patterns for match in re.finditer(pattern, text, re.I)]


def _pattern(part: str) -> str:
    """Return a pattern for a character of a quote, or for blanks."""
    if part.isspace():
        return r"\s*"
    alike = next((signs for signs in ("\"'“”„‘’«»", "-‐‑–—") if part in signs), "")
    return f"[{re.escape(alike)}]" if alike else re.escape(part)
