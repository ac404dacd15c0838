"""Answers of judges → scores, errors, choices, rubrics. An answer that can be read in two ways is not read at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.metrics.judges.error_lists import (
    SEVERITIES,
    Fault,
    has_quote,
    is_none,
    listed_errors,
    quoted_errors,
    speaks_of_errors,
)
from wholetext.metrics.judges.statements import (
    REFUSED,
    Unparsable,
    check_remarks,
    refuses,
    speaks_of_choice,
    speaks_of_number,
    stated_choice,
    stated_score,
)

PARSER = "4"  # raised when an answer is read otherwise than before
ASPECTS = ("reference", "tense", "terminology", "connectives", "register")
MOST = 20_000  # characters of prose that are read
MOST_JSON = 400_000  # of JSON: a long text may have hundreds of errors
CUT = "the answer was cut at the limit of tokens"

_THINKING = re.compile(r"<(?:think|thinking|reasoning)>", re.I)
_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_FENCE = re.compile(r"```[a-z]*", re.I)
_SCORE_KEY = re.compile(r"score|rating|grade|scale|out_?of|max", re.I)  # beside "score": which of them is meant?
_WHY_KEY = re.compile("expla|reason|rational|justif|comment", re.I)
_ERROR_KEY = re.compile("error|critical|major|minor", re.I)
_ASPECT = re.compile(rf"\A[\s#*_-]*({'|'.join(ASPECTS)})[\s*_]*[:=][\s*_]*(?:(-1|\d{{1,3}})(?:\s*/\s*100)?|n/?a)"
                     r"[\s*_.]*\Z", re.I)  # fmt: skip
_BULLET = re.compile(r"\A\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")
Speaks = Callable[[str], bool]  # whether a remark beside an answer speaks of what is asked


@dataclass(frozen=True)
class Parsed:
    """The content of an answer; ``problem`` is the reason if it cannot be parsed."""

    problem: str = ""
    refused: bool = False
    score: float | None = None  # 0 to 100
    faults: tuple[Fault, ...] = ()
    choice: str = ""  # A, B, tie
    aspects: Mapping[str, float] = field(default_factory=dict)  # of a rubric; those that do not arise are left out

    @property
    def ok(self) -> bool:
        return not self.problem


def parse_score(text: str, cut: bool = False) -> Parsed:
    """A whole number from 0 to 100: in JSON, or in one of the forms of :func:`stated_score`."""
    return _parsed(text, cut, _score_of_json, lambda plain, cut: Parsed(score=_score(stated_score(plain, cut))))


def parse_errors(text: str, cut: bool = False) -> Parsed:
    """Errors: in JSON, or in blocks ``Critical:``, ``Major:``, ``Minor:`` of lines ``category - "words"``."""
    return _parsed(text, cut, _errors_of_json, lambda plain, cut: Parsed(faults=tuple(listed_errors(plain, cut))))


def parse_choice(text: str, cut: bool = False) -> Parsed:
    """Which of A and B is better, or a tie."""
    return _parsed(text, cut, _choice_of_json, lambda plain, cut: Parsed(choice=stated_choice(plain)))


def parse_rubric(text: str, cut: bool = False) -> Parsed:
    """A score for each aspect of coherence, with quotes as evidence."""
    return _parsed(text, cut, _rubric_of_json, _rubric_of_text)


def _parsed(text: str, cut: bool, of_json: Callable[[Mapping[str, Any]], tuple[Parsed, Speaks]],
            of_text: Callable[[str, bool], Parsed]) -> Parsed:
    plain = ""
    try:
        plain = _answer(text)
        if not plain:
            raise Unparsable("the answer has no text")
        value, before, after = _object(plain[:MOST_JSON])
        if (len(before) + len(after) if value is not None else len(plain)) > MOST:
            raise Unparsable(f"the answer has more than {MOST:,} characters of prose")
        if value is None:
            found = of_text(plain, cut)
            return Parsed("the answer begins like a refusal") if refuses(plain) else found
        if before.rpartition("\n")[2].rstrip(" *_`")[-1:] not in ("", ":") or re.match(r"[ \t]*\w", after):
            raise Unparsable("the JSON is part of a sentence")
        found, speaks = of_json(value)
        check_remarks(after, speaks, before)
    except Unparsable as fault:
        if refuses(plain):
            return Parsed(REFUSED, refused=True)
        return Parsed(CUT if cut else str(fault))
    return found


def _answer(text: str) -> str:
    """What follows the reasoning of a model; some servers leave out the tag that opens it, but it has its own line."""
    text = text.strip()
    ends, opened = list(_THOUGHT.finditer(text)), _THINKING.match(text)
    if not opened and text.startswith(("{", "`")):
        return text  # a tag inside is quoted
    if not ends:
        return "" if opened else text
    (first, *more) = ends
    line = text[: first.start()].rpartition("\n")[2] + text[first.end() :].partition("\n")[0]
    if more or (line.strip() and not opened):
        raise Unparsable("it is not clear where the reasoning ends")
    return text[first.end() :].strip()


def _object(text: str) -> tuple[dict[str, Any] | None, str, str]:
    """The JSON object that an answer is, or has in a fence or in prose, and the words before and after; None where it
    has none."""
    begin, end = text.find("{"), text.rfind("}")
    inside = (text[begin : end + 1], _FENCE.sub("", text[:begin]), _FENCE.sub("", text[end + 1 :]))
    for one, before, after in ((text, "", ""), inside if 0 <= begin < end else ("", "", "")):
        try:
            value = read_json(one)
        except InputError:
            continue
        if isinstance(value, dict):
            return value, before, after
    if begin >= 0 and text.lstrip("`json \n").startswith("{"):
        raise Unparsable("the answer is not valid JSON")
    return None, "", ""


# ---------------------------------------------------------------- scores


def _score(value: object, low: int = 0) -> float:
    """A whole number from 0 to 100; a model may write it as 85.0 or "85"."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= 100 or value != int(value):
        raise Unparsable(f"the score is not a whole number from 0 to 100 but {str(value)[:40]!r}")
    return float(value)


def _score_of_json(value: Mapping[str, Any]) -> tuple[Parsed, Speaks]:
    if "score" not in value:
        raise Unparsable('the JSON has no key "score"')
    score = _score(value["score"])
    others = [value[key] for key in value if key != "score" and _SCORE_KEY.search(key) and not _WHY_KEY.search(key)]
    if any(isinstance(one, (int, float, str)) and str(one).removesuffix(".0") not in (f"{score:g}", "100", "0-100")
           for one in others):  # fmt: skip
        raise Unparsable("the JSON has several scores")
    return Parsed(score=score), speaks_of_number(score)


# ---------------------------------------------------------------- errors and choices


def _errors_of_json(value: Mapping[str, Any]) -> tuple[Parsed, Speaks]:
    found = value.get("errors")
    if not isinstance(found, list):
        raise Unparsable('the JSON has no list "errors"')
    others = [value[key] for key in value if key != "errors" and _ERROR_KEY.search(key) and not _WHY_KEY.search(key)]
    if any(one != len(found) if isinstance(one, (int, float)) else one for one in others):
        raise Unparsable("the JSON has several lists of errors")
    return Parsed(faults=tuple(map(_fault, found))), speaks_of_errors


def _fault(value: Any) -> Fault:
    if not isinstance(value, dict):
        raise Unparsable("an error is not a JSON object")
    names = ("severity", "category", "span", "context", "reason")
    if "span" not in value:
        raise Unparsable("an error has no span")
    severity, *rest = (value.get(name) or "" for name in names)
    if not isinstance(severity, str) or severity.lower() not in SEVERITIES:
        raise Unparsable(f"an error has the severity {str(severity)[:20]!r}")
    if not all(isinstance(one, str) for one in rest):
        raise Unparsable("an error has a value that is not text")
    if is_none(rest[0]):
        raise Unparsable("an entry of the errors says that there is none")
    return Fault(severity.lower(), *rest)


def _choice_of_json(value: Mapping[str, Any]) -> tuple[Parsed, Speaks]:
    better = value.get("better")
    return Parsed(choice=stated_choice(better if isinstance(better, str) else "")), speaks_of_choice


# ---------------------------------------------------------------- rubrics


def _rubric(scores: Mapping[str, float], faults: Sequence[Fault]) -> Parsed:
    missing = [aspect for aspect in ASPECTS if aspect not in scores]
    if missing:
        raise Unparsable(f"the answer has no score for {missing[0]}")
    aspects = {aspect: scores[aspect] for aspect in ASPECTS if scores[aspect] >= 0}
    if not aspects:
        raise Unparsable("the answer says that no aspect arises")
    return Parsed(score=sum(aspects.values()) / len(aspects), faults=tuple(faults), aspects=aspects)


def _rubric_of_json(value: Mapping[str, Any]) -> tuple[Parsed, Speaks]:
    scores, faults = dict[str, float](), list[Fault]()
    for aspect in ASPECTS:
        one = value.get(aspect)
        evidence = one.get("evidence", []) if isinstance(one, dict) else None
        if not isinstance(one, dict) or not isinstance(evidence, list):
            raise Unparsable(f"the JSON has no score and evidence for {aspect}")
        scores[aspect] = _score(one.get("score"), low=-1)
        for item in evidence:
            words = [item.get(name) for name in ("quote", "reason")] if isinstance(item, dict) else [None]
            if not all(isinstance(word, str) for word in words):
                raise Unparsable(f"the evidence for {aspect} is not quote and reason")
            faults.append(Fault("", aspect, str(words[0]), "", str(words[1])))
    return _rubric(scores, faults), speaks_of_number(None)


def _rubric_of_text(text: str, cut: bool) -> Parsed:
    if cut:
        raise Unparsable("the rubric is not complete")
    scores, faults, remarks, aspect = dict[str, float](), list[Fault](), ["", ""], ""
    for line in filter(str.strip, text.splitlines()):
        found = _ASPECT.match(line)
        if found:
            aspect = found[1].lower()
            if aspect in scores:
                raise Unparsable(f"the answer has several scores for {aspect}")
            scores[aspect] = _score(int(found[2]), low=-1) if found[2] else -1.0
        elif aspect and _BULLET.match(line) and not is_none(_BULLET.sub("", line)):
            evidence = quoted_errors("", aspect, _BULLET.sub("", line))
            if not evidence:
                raise Unparsable(f"the evidence for {aspect} is no quote: {line.strip()[:60]!r}")
            faults += evidence
        else:
            remarks[aspect != ""] += f"{line}\n"
    of_number = speaks_of_number(None)
    check_remarks(remarks[1], lambda remark: of_number(remark) or has_quote(remark), remarks[0])
    return _rubric(scores, faults)
