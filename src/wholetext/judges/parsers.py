"""Parse the answers of judges: scores, error lists, choices, rubrics; locate quoted words.

JSON of the requested form is read first, then the published answer formats. Anything else is
unparsable: a number in free text may be part of a scale, a quote or the score of something else.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.types import Request

PARSER = "6"  # raise it when any answer is parsed differently
ASPECTS = ("reference", "tense", "terminology", "connectives", "register")
REFUSED = "the judge refused to answer"
CUT = "the answer was cut at the limit of tokens"

SEVERITIES = ("critical", "major", "minor")
_QUOTE = "|".join(
    [
        '"[^"]*"',
        "“[^“”]*”",
        "„[^“”]*[“”]",
        "«[^«»]*»",
        "»[^«»]*«",
        "‘[^‘]*’",
        "`[^`]*`",
        "‹[^‹›]*›",
        "「[^「」]*」",
        "『[^『』]*』",
        r"'(?:[^']|(?<=\w)'(?=\w))*'",
    ]
)
_QUOTES = rf"(?P<quotes>(?:{_QUOTE})(?:\s*[,;]\s*(?:{_QUOTE}))*)(?:\s*(?:[-–—]+>?|→)\s*(?P<reason>.*?))?[.\s]*"
_BULLET = r"\s*(?:(?:[-*•–]|\(?\d{1,2}[.)])\s+)?"
_ERROR = re.compile(
    rf"{_BULLET}[*_`]*(?P<category>[^\W\d_][\w\s/&,()-]{{0,80}}?)[*_`]*\s+[-–—]\s+{_QUOTES}"
)
_HEADING = re.compile(r"[\s#*_-]*(critical|major|minor)(?:\s+errors?)?[\s*_]*:[\s*_]*(.*)", re.I)
_NONE = re.compile(r"[\s*_`\[(\"'-]*(?:no[\s-]*errors?|none|n/?a|nothing)[\s*_`\])\"'.!]*", re.I)
_DENIAL = re.compile(r"\bno[\s-]errors?\b|\bnot\b.*\b(?:error|mistake|wrong)\b", re.I)
_LONGEST = 3_000  # characters of an entry: the patterns take quadratic time
_SECOND_ERROR = re.compile(rf"\w\s*[-–—:]\s*(?:{_QUOTE})")


_FENCE = re.compile("```[a-z]*\n", re.I)
_MARKDOWN = re.compile(r"^[^\S\n]*#{1,6}\s+|\*+|`|(?<!\w)__|__(?!\w)", re.M)
_SCORE = re.compile(
    r"(?:(?:score|rating|answer)(?:\s*\(0\s*[-–]\s*100\))?(?:\s*[:=]\s*|\s+))?"
    r"[(\[]*(\d{1,3})(?:\s*(?:/|out of)\s*100)?[)\]]*[.!]?",
    re.I,
)
_CHOICE = re.compile(r"(?:better\s*[:=]\s*)?\[*(A|B|tie)\]*\.?", re.I)


class Unparsable(Exception):
    """An answer in no known format; the message says why."""


def _require(good: object, why: str) -> None:
    if not good:
        raise Unparsable(why)


@dataclass(frozen=True)
class Fault:
    """An error reported by a judge; ``context`` is the text around the quote."""

    severity: str
    category: str
    quote: str
    context: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Parsed:
    """The content of an answer; ``problem`` is the reason if it cannot be parsed."""

    problem: str = ""
    score: float | None = None  # 0 to 100
    faults: tuple[Fault, ...] = ()
    choice: str = ""  # A, B, tie
    aspects: Mapping[str, float] = field(default_factory=dict)  # without those that do not arise

    @property
    def ok(self) -> bool:
        return not self.problem


def parse(schema: str, text: str, cut: bool = False) -> Parsed:
    """Parse an answer.

    Args:
        schema: ``score`` (``{"score": 85}``, ``85``, ``85/100`` or ``Score: 85``), ``errors`` (JSON
            or blocks of lines), ``choice`` (``{"better": "A"}``, ``A``, ``[[A]]``, also B and tie)
            or ``rubric`` (JSON only).
        text: The answer.
        cut: Whether the limit of tokens ended it; then only JSON is believed.
    """
    of_json, of_text = _FORMATS[schema]
    try:
        plain = _answer(text)
        if plain.startswith("{"):
            return of_json(_object(plain))
        lines = [line for line in _MARKDOWN.sub("", plain).splitlines() if line.strip()]
        return Parsed(CUT) if cut else of_text(lines)
    except Unparsable as fault:
        return Parsed(CUT if cut else str(fault))


def _answer(text: str) -> str:
    """Remove the reasoning of a model and a code fence.

    Some servers leave out the tag that opens the reasoning. In JSON the tag is quoted text.
    """
    text = text.strip()
    if not text.startswith(("{", "`")):
        reasoning, tag, rest = text.partition("</think>")
        text = rest.strip() if tag and re.match("<think>|.*\n$", reasoning, re.S) else text
    fence = _FENCE.match(text)
    return text[fence.end() : -3].strip() if fence and text[fence.end() :].endswith("```") else text


def _object(text: str) -> dict[str, Any]:
    """Parse a JSON object; other keys than the requested ones may hold explanations only."""

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    try:
        value: dict[str, Any] = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise Unparsable("the answer is not valid JSON") from None
    requested = ("score", "errors", "better", *ASPECTS)
    further = [value[key] for key in value if key not in requested]
    _require(all(isinstance(x, str) for x in further), "the JSON has keys that were not asked for")
    return value


# ---------------------------------------------------------------- JSON


def _score(value: Any, low: int = 0) -> float:
    whole = type(value) in (int, float) and low <= value <= 100 and not value % 1
    _require(whole, "the answer has no score that is a whole number from 0 to 100")
    return float(value)


def _list(value: Any) -> list[Any]:
    _require(isinstance(value, list), "the JSON has no list of errors")
    return list(value)


def _text(entry: object, name: str) -> str:
    """Return a text of a JSON object; one that is absent is empty."""
    text = entry.get(name) or "" if isinstance(entry, dict) else None
    form = "an entry of the JSON is not of the form that was asked for"
    _require(isinstance(text, str), form)
    # half of a surrogate pair is not a character, and cannot be written to a file
    return str(text).encode("utf-8", "replace").decode()


def _fault(entry: object) -> Fault:
    names = ("severity", "category", "span", "context", "reason")
    severity, category, span, *rest = (_text(entry, name) for name in names)
    marked = severity.lower() in SEVERITIES and span and not _NONE.fullmatch(span)
    _require(marked, "an error has no severity or no span, or its entry says that there is none")
    return Fault(severity.lower(), category, span, *rest)


def _rubric(value: Mapping[str, Any]) -> Parsed:
    aspects, faults = dict[str, float](), list[Fault]()
    for aspect in ASPECTS:
        entry = value.get(aspect)
        entry = entry if isinstance(entry, dict) else {}
        score = _score(entry.get("score"), low=-1)
        aspects |= {aspect: score} if score >= 0 else {}
        for item in _list(entry.get("evidence", [])):
            faults.append(Fault("", aspect, _text(item, "quote"), "", _text(item, "reason")))
    _require(aspects, "the answer says that no aspect arises")
    mean = sum(aspects.values()) / len(aspects)
    return Parsed(score=mean, faults=tuple(faults), aspects=aspects)


# ---------------------------------------------------------------- published formats


def _score_in_text(lines: Sequence[str]) -> Parsed:
    statement = _SCORE.fullmatch("\n".join(lines).strip())
    return Parsed(score=_score(int(statement[1]) if statement else None))


def _choice_in_text(lines: Sequence[str]) -> Parsed:
    statement = _CHOICE.fullmatch("\n".join(lines).strip())
    choices = {"a": "A", "b": "B", "tie": "tie"}
    choice = choices[statement[1].lower()] if statement else ""
    _require(choice, "the answer does not say which is better")
    return Parsed(choice=choice)


def _listed_errors(lines: Sequence[str]) -> list[Fault]:
    """Parse blocks ``Critical:``, ``Major:``, ``Minor:`` of lines ``category - "words"``.

    ``no-error`` alone is an empty list.
    """
    blocks: dict[str, list[str]] = {}
    severity = ""
    for line in lines:
        heading = _HEADING.fullmatch(line)
        if heading:
            severity, line = heading[1].lower(), heading[2]
            _require(severity not in blocks, f"the answer has the block {severity} twice")
        entries = blocks.setdefault(severity, [])
        if line.strip():
            entries.append(line)
    only_blocks = any(blocks.values()) and not (any(blocks.get("", ())) and len(blocks) > 1)
    _require(only_blocks, "the answer does not consist of the blocks Critical, Major, Minor")
    return [fault for severity, entries in blocks.items() for fault in _block(severity, entries)]


def _block(severity: str, lines: list[str]) -> list[Fault]:
    if len(lines) == 1 and _NONE.fullmatch(lines[0]):
        return []
    faults: list[Fault] = []
    for line in lines:
        error = _ERROR.fullmatch(line) if severity and len(line) <= _LONGEST else None
        parts = (
            error.groupdict("") if error else dict.fromkeys(("category", "reason", "quotes"), "")
        )
        category, reason = parts["category"].strip().lower(), parts["reason"]
        denied = _NONE.fullmatch(category) or _DENIAL.search(f"{category} {reason}")
        sound = error and not denied and not _SECOND_ERROR.search(reason)
        _require(sound, f"not an error in the requested format: {line.strip()[:60]!r}")
        quotes = re.findall(_QUOTE, parts["quotes"])
        faults += [Fault(severity, category, quote[1:-1], "", reason) for quote in quotes]
    return faults


Read = tuple[Callable[[Mapping[str, Any]], Parsed], Callable[[Sequence[str]], Parsed]]
_FORMATS: Mapping[str, Read] = {  # schema → readers of JSON and of lines of text
    "score": (lambda value: Parsed(score=_score(value.get("score"))), _score_in_text),
    "errors": (
        lambda value: Parsed(faults=tuple(map(_fault, _list(value.get("errors"))))),
        lambda lines: Parsed(faults=tuple(_listed_errors(lines))),
    ),
    "choice": (lambda value: _choice_in_text([str(value.get("better"))]), _choice_in_text),
    "rubric": (_rubric, lambda lines: _rubric({})),
}


# ---------------------------------------------------------------- places of errors

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
