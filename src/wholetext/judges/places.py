"""Locate the words of an error in the text that was judged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from wholetext.judges.error_lists import Fault
from wholetext.types import Request


def placed(
    faults: Sequence[Fault], request: Request
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Errors as spans of the scored text, and all errors with whether they were located in it or in the source."""
    text, spans, errors = request.hyp[0].text, list[dict[str, Any]](), list[dict[str, Any]]()
    for one in faults:
        facts = {
            "severity": one.severity or "evidence",
            "category": one.category,
            "reason": one.reason,
        }
        place = locate(one, text, [(span["start"], span["end"]) for span in spans])
        if place:
            spans.append({"start": place[0], "end": place[1], **facts})
        source = not place and request.src is not None and locate(one, request.src.text) is not None
        errors.append(
            {
                **facts,
                "quote": one.quote,
                "located": bool(place or source),
                "side": "src" if source else "hyp",
            }
        )
    return spans, errors


def locate(
    fault: Fault, text: str, taken: Sequence[tuple[int, int]] = ()
) -> tuple[int, int] | None:
    """Where the words of an error stand: exactly, else whatever their blanks, case, dashes, quotation marks and form of
    accents are. Of several places, those inside the context that the judge quotes come first, then whole words, then
    those that are not ``taken`` by an error before. None where there is none."""
    quote = fault.quote.strip().strip("…").strip() or ""
    if not quote:
        return None
    for loose in (False, True):
        around = _places(fault.context.strip(), text, True) if fault.context.strip() else []
        places = _places(quote, text, loose)
        if places:
            return min(
                places,
                key=lambda one: (
                    not any(a <= one[0] and one[1] <= b for a, b in around),
                    text[: one[0]][-1:].isalnum() or text[one[1] :][:1].isalnum(),
                    one in taken,
                    one,
                ),
            )
    return None


def _places(words: str, text: str, loose: bool) -> list[tuple[int, int]]:
    if not loose:
        return [found.span() for found in re.finditer(re.escape(words), text)]
    forms = dict.fromkeys(unicodedata.normalize(form, words) for form in ("NFC", "NFD"))
    return [
        found.span()
        for form in forms
        for found in re.finditer("".join(map(_sign, re.findall(r"\s+|\S", form))), text, re.I)
    ]


def _sign(part: str) -> str:
    """A pattern for a sign of a quote, or for blanks."""
    if part.isspace():
        return r"\s*"
    alike = next((signs for signs in ("\"'“”„‘’«»", "-‐‑–—") if part in signs), "")
    return f"[{re.escape(alike)}]" if alike else re.escape(part)
