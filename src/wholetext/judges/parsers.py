"""Parse the answers of judges: scores, error lists, choices and rubrics.

JSON of the requested form is read first, then the published answer formats. Anything else is
unparsable: a number in free text may be part of a scale, a quote or the score of something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.judges.error_lists import SEVERITIES, Fault, Unparsable, is_none, listed_errors

PARSER = "6"  # raise it when any answer is parsed differently
ASPECTS = ("reference", "tense", "terminology", "connectives", "register")
REFUSED = "the judge refused to answer"
CUT = "the answer was cut at the limit of tokens"

_FENCE = re.compile("```[a-z]*\n", re.I)
_MARKDOWN = re.compile(r"^[^\S\n]*#{1,6}\s+|\*+|`|(?<!\w)__|__(?!\w)", re.M)
_SCORE = re.compile(
    r"(?:(?:score|rating|answer)(?:\s*\(0\s*[-–]\s*100\))?(?:\s*[:=]\s*|\s+))?"
    r"[(\[]*(\d{1,3})(?:\s*(?:/|out of)\s*100)?[)\]]*[.!]?",
    re.I,
)
_CHOICE = re.compile(r"(?:better\s*[:=]\s*)?\[*(A|B|tie)\]*\.?", re.I)


@dataclass(frozen=True)
class Parsed:
    """The content of an answer; ``problem`` is the reason if it cannot be parsed."""

    problem: str = ""
    refused: bool = False
    score: float | None = None  # 0 to 100
    faults: tuple[Fault, ...] = ()
    choice: str = ""  # A, B, tie
    aspects: Mapping[str, float] = field(default_factory=dict)  # without those that do not arise

    @property
    def ok(self) -> bool:
        return not self.problem


def parse_score(text: str, cut: bool = False) -> Parsed:
    """Parse a score from 0 to 100: ``{"score": 85}``, ``85``, ``85/100`` or ``Score: 85``."""

    def of_text(lines: Sequence[str]) -> Parsed:
        statement = _SCORE.fullmatch("\n".join(lines).strip())
        return Parsed(score=_score(int(statement[1]) if statement else None))

    return _parsed(text, cut, lambda value: Parsed(score=_score(value.get("score"))), of_text)


def parse_errors(text: str, cut: bool = False) -> Parsed:
    """Parse errors: JSON, or blocks ``Critical:``, ``Major:``, ``Minor:`` of ``category - "words"``."""

    def of_json(value: Mapping[str, Any]) -> Parsed:
        return Parsed(faults=tuple(map(_fault, _list(value.get("errors")))))

    return _parsed(text, cut, of_json, lambda lines: Parsed(faults=tuple(listed_errors(lines))))


def parse_choice(text: str, cut: bool = False) -> Parsed:
    """Parse which of A and B is better, or a tie: ``{"better": "A"}``, ``A``, ``[[A]]``."""

    def of_text(lines: Sequence[str]) -> Parsed:
        statement = _CHOICE.fullmatch("\n".join(lines).strip())
        if not statement:
            raise Unparsable("the answer does not say which is better")
        return Parsed(choice={"a": "A", "b": "B", "tie": "tie"}[statement[1].lower()])

    return _parsed(text, cut, lambda value: of_text([str(value.get("better"))]), of_text)


def parse_rubric(text: str, cut: bool = False) -> Parsed:
    """Parse a score for each aspect of coherence, with quotes as evidence: JSON only."""

    def of_json(value: Mapping[str, Any]) -> Parsed:
        scores, faults = dict[str, float](), list[Fault]()
        for aspect in ASPECTS:
            entry = _texts(value.get(aspect), ())
            scores[aspect] = _score(entry.get("score"), low=-1)
            for item in _list(entry.get("evidence", [])):
                words = _texts(item, ("quote", "reason"))
                faults.append(Fault("", aspect, words["quote"], "", words["reason"]))
        aspects = {aspect: score for aspect, score in scores.items() if score >= 0}
        if not aspects:
            raise Unparsable("the answer says that no aspect arises")
        mean = sum(aspects.values()) / len(aspects)
        return Parsed(score=mean, faults=tuple(faults), aspects=aspects)

    return _parsed(text, cut, of_json, lambda lines: of_json({}))


# by the schema of the answer
PARSERS = {
    "score": parse_score,
    "errors": parse_errors,
    "choice": parse_choice,
    "rubric": parse_rubric,
}


def _parsed(
    text: str,
    cut: bool,
    of_json: Callable[[Mapping[str, Any]], Parsed],
    of_text: Callable[[Sequence[str]], Parsed],
) -> Parsed:
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
    if sum(not isinstance(value[key], str) for key in value if key not in requested):
        raise Unparsable("the JSON has keys that were not asked for")
    return value


def _score(value: object, low: int = 0) -> float:
    if type(value) not in (int, float) or not low <= value <= 100 or value % 1:  # type: ignore[operator]
        raise Unparsable("the answer has no score that is a whole number from 0 to 100")
    return float(value)  # type: ignore[arg-type]


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise Unparsable("the JSON has no list of errors")
    return value


def _texts(value: object, names: Sequence[str]) -> dict[str, Any]:
    """Check a JSON object whose values of these names are text; one that is absent is empty."""
    if isinstance(value, dict):
        texts = {name: value.get(name) or "" for name in names}
        if all(isinstance(text, str) for text in texts.values()):
            # half of a surrogate pair is not a character, and cannot be written to a file
            return value | {
                name: text.encode("utf-8", "replace").decode() for name, text in texts.items()
            }
    raise Unparsable("an entry of the JSON is not of the form that was asked for")


def _fault(value: object) -> Fault:
    names = ("severity", "category", "span", "context", "reason")
    texts = _texts(value, names)
    severity, *rest = (texts[name] for name in names)
    if severity.lower() not in SEVERITIES or not texts["span"] or is_none(texts["span"]):
        raise Unparsable(
            "an error has no severity or no span, or its entry says that there is none"
        )
    return Fault(severity.lower(), *rest)
