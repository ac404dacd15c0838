"""Parse the answers of judges: scores, error lists, choices and rubrics.

JSON is read first, then the published answer formats. Anything else is unparsable: a number in free text may be part
of a scale, a quote or the score of something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.judges.error_lists import (
    SEVERITIES,
    Fault,
    Unparsable,
    evidence,
    is_none,
    listed_errors,
)
from wholetext.scoring.results import Results

PARSER = "5"  # raise it when any answer is parsed differently
ASPECTS = ("reference", "tense", "terminology", "connectives", "register")
REFUSED = "the judge refused to answer"
CUT = "the answer was cut at the limit of tokens"

_THINKING = re.compile(r"<(?:think|thinking|reasoning)>", re.I)
_THOUGHT = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_FENCED = re.compile(r"```[a-z]*\n(.*?)\n?\s*```", re.I | re.S)
_LEAD = re.compile(r"(?:sure[,.!] )?here(?:['’]s| is| are) (?:my|the) \w+:\s+(?=\S)", re.I)
_MARKDOWN = re.compile(r"^\s*#{1,6}\s+|\*+|`|(?<!\w)__|__(?!\w)", re.M)
_SCORE = re.compile(
    r"(?:(?:(?:final|overall|quality)\s+)?(?:score|rating|answer)(?:\s*\(0\s*[-–]\s*100\))?(?:\s*[:=]\s*|\s+is\s+|\s+))?"
    r"[\"'(\[]*(\d{1,3})(?:\s*(?:/|out of)\s*100)?[\"')\]]*[.!]?",
    re.I,
)
_CHOICE = re.compile(
    r"(?:(?:the\s+)?(?:better|best|winner|answer|verdict|choice)(?:\s+translation)?\s*(?:is\b|[:=])?\s*)?"
    r"(?:translation\s+|option\s+)?[\[(\"']*(?:(?P<letter>[AB])|tie)[\])\"']*(?:\s+is\s+better)?[.!]?",
    re.I,
)
_SCORE_KEY = re.compile(
    r"score|rating|grade|scale|out_?of|max", re.I
)  # beside "score": which of them is meant?
_WHY_KEY = re.compile("expla|reason|rational|justif|comment", re.I)
_ERROR_KEY = re.compile("error|critical|major|minor", re.I)
_ASPECT = re.compile(
    rf"[\s-]*({'|'.join(ASPECTS)})\s*[:=]\s*(?:(-1|\d{{1,3}})(?:\s*/\s*100)?|n/?a)[\s.]*", re.I
)
_REFUSAL = re.compile(
    r"\bi['’]?(?: a)?m (?:sorry|unable|not able)|\bi (?:can['’]?t|cannot|can not|won['’]t|will not|must decline)\b|"
    r"\bas an ai\b|\bunable to (?:assist|help|comply|evaluate|provide)|\bagainst (?:my|the) (?:policy|guidelines)|"
    r"\btut mir leid\b|\bich kann\b.*\bnicht\b|\bdésolée?\b|\bje ne peux pas\b|\blo siento\b|\bno puedo\b|"
    r"\bmi dispiace\b|\bnon posso\b|\bdesculpe\b|\bnão posso\b|\bhet spijt me\b|\bprzykro mi\b|\bnie mogę\b|"
    r"\bomlouvám se\b|\bnemohu\b|\büzgünüm\b|извините|не могу|вибачте|抱歉|"
    r"对不起|對不起|我.{0,4}(?:不能|无法|無法)|申し訳|お(?:手伝い|答え)できません|"
    r"죄송|آسف|لا أستطيع|لا يمكنني|क्षमा",
    re.I,
)
_NO_REFUSAL = re.compile(
    r"\b(?:find|see|detect|identify|spot|fault)\b|\d", re.I
)  # "I cannot find any errors"


@dataclass(frozen=True)
class Parsed:
    """The content of an answer; ``problem`` is the reason if it cannot be parsed."""

    problem: str = ""
    refused: bool = False
    score: float | None = None  # 0 to 100
    faults: tuple[Fault, ...] = ()
    choice: str = ""  # A, B, tie
    aspects: Mapping[str, float] = field(
        default_factory=dict
    )  # of a rubric; those that do not arise are left out

    @property
    def ok(self) -> bool:
        return not self.problem


def parse_score(text: str, cut: bool = False) -> Parsed:
    """Parse a whole number from 0 to 100: ``{"score": 85}``, ``85``, ``85/100`` or ``Score: 85``."""
    return _parsed(text, cut, _score_of_json, _score_of_text)


def parse_errors(text: str, cut: bool = False) -> Parsed:
    """Parse errors: JSON, or blocks ``Critical:``, ``Major:``, ``Minor:`` of lines ``category - "words"``."""
    return _parsed(
        text, cut, _errors_of_json, lambda lines: Parsed(faults=tuple(listed_errors(lines)))
    )


def parse_choice(text: str, cut: bool = False) -> Parsed:
    """Parse which of A and B is better, or a tie: ``{"better": "A"}``, ``A``, ``[[A]]`` or ``Better: A``."""
    return _parsed(text, cut, _choice_of_json, lambda lines: _choice("\n".join(lines)))


def parse_rubric(text: str, cut: bool = False) -> Parsed:
    """Parse a score for each aspect of coherence, with quotes as evidence."""
    return _parsed(text, cut, _rubric_of_json, _rubric_of_text)


def refuses(text: str) -> bool:
    """Whether an answer begins with a refusal in the judge's own words, not in a quotation."""
    begin = re.split(r"[.!?。\n\"“”„«{]", text[:300])[0]
    return bool(_REFUSAL.search(begin)) and not _NO_REFUSAL.search(begin)


def _parsed(
    text: str,
    cut: bool,
    of_json: Callable[[Mapping[str, Any]], Parsed],
    of_text: Callable[[Sequence[str]], Parsed],
) -> Parsed:
    plain = ""
    try:
        plain = _answer(text)
        value = _object(plain)
        if value is not None:
            return of_json(value)
        if cut:
            raise Unparsable(CUT)
        return of_text([line for line in _MARKDOWN.sub("", plain).splitlines() if line.strip()])
    except Unparsable as fault:
        if refuses(plain):
            return Parsed(REFUSED, refused=True)
        return Parsed(CUT if cut else str(fault))


def _answer(text: str) -> str:
    """Remove the reasoning of a model, a code fence and a lead such as "Here is my judgment:".

    Some servers leave out the tag that opens the reasoning; then the one that closes it has its own line.
    """
    text = text.strip()
    ends, opened = list(_THOUGHT.finditer(text)), _THINKING.match(text)
    if (opened or ends) and (
        opened or not text.startswith(("{", "`"))
    ):  # else a tag inside is quoted
        if len(ends) != 1:
            raise Unparsable("it is not clear where the reasoning ends")
        (end,) = ends
        line = text[: end.start()].rpartition("\n")[2] + text[end.end() :].partition("\n")[0]
        if line.strip() and not opened:
            raise Unparsable("it is not clear where the reasoning ends")
        text = text[end.end() :].strip()
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    fenced = _FENCED.fullmatch(text)
    text = fenced[1].strip() if fenced else text
    if not text:
        raise Unparsable("the answer has no text")
    return text


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        value = read_json(text)
    except InputError:
        raise Unparsable("the answer is not valid JSON") from None
    return value if isinstance(value, dict) else None


def _score(value: object, low: int = 0) -> float:
    """Check a score from 0 to 100; a model may write it as 85.0 or "85"."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}", value.strip()):
        value = int(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not low <= value <= 100
        or value != int(value)
    ):
        raise Unparsable(f"the score is not a whole number from 0 to 100 but {str(value)[:40]!r}")
    return float(value)


def _score_of_json(value: Mapping[str, Any]) -> Parsed:
    if "score" not in value:
        raise Unparsable('the JSON has no key "score"')
    score = _score(value["score"])
    others = [
        value[key]
        for key in value
        if key != "score" and _SCORE_KEY.search(key) and not _WHY_KEY.search(key)
    ]
    if any(
        isinstance(other, (int, float, str))
        and str(other).removesuffix(".0") not in (f"{score:g}", "100", "0-100")
        for other in others
    ):
        raise Unparsable("the JSON has several scores")
    return Parsed(score=score)


def _score_of_text(lines: Sequence[str]) -> Parsed:
    statement = _SCORE.fullmatch("\n".join(lines).strip())
    if not statement:
        raise Unparsable("the answer is not a score from 0 to 100")
    return Parsed(score=_score(statement[1]))


def _errors_of_json(value: Mapping[str, Any]) -> Parsed:
    errors = value.get("errors")
    if not isinstance(errors, list):
        raise Unparsable('the JSON has no list "errors"')
    others = [
        value[key]
        for key in value
        if key != "errors" and _ERROR_KEY.search(key) and not _WHY_KEY.search(key)
    ]
    if any(other != len(errors) if isinstance(other, (int, float)) else other for other in others):
        raise Unparsable("the JSON has several lists of errors")
    return Parsed(faults=tuple(map(_fault, errors)))


def _fault(value: Any) -> Fault:
    if not isinstance(value, dict) or "span" not in value:
        raise Unparsable("an error is not a JSON object with a span")
    names = ("severity", "category", "span", "context", "reason")
    severity, *rest = (value.get(name) or "" for name in names)
    if not isinstance(severity, str) or severity.lower() not in SEVERITIES:
        raise Unparsable(f"an error has the severity {str(severity)[:20]!r}")
    if not all(isinstance(item, str) for item in rest):
        raise Unparsable("an error has a value that is not text")
    if is_none(rest[0]):
        raise Unparsable("an entry of the errors says that there is none")
    return Fault(severity.lower(), *rest)


def _choice_of_json(value: Mapping[str, Any]) -> Parsed:
    better = value.get("better")
    return _choice(better if isinstance(better, str) else "")


def _choice(text: str) -> Parsed:
    statement = _CHOICE.fullmatch(text.strip())
    if not statement:
        raise Unparsable("the answer does not say which is better")
    letter = statement["letter"]
    return Parsed(choice=letter.upper() if letter else "tie")


def _rubric(scores: Mapping[str, float], faults: Sequence[Fault]) -> Parsed:
    missing = [aspect for aspect in ASPECTS if aspect not in scores]
    if missing:
        raise Unparsable(f"the answer has no score for {missing[0]}")
    aspects = {aspect: scores[aspect] for aspect in ASPECTS if scores[aspect] >= 0}
    if not aspects:
        raise Unparsable("the answer says that no aspect arises")
    return Parsed(score=sum(aspects.values()) / len(aspects), faults=tuple(faults), aspects=aspects)


def _rubric_of_json(value: Mapping[str, Any]) -> Parsed:
    scores, faults = dict[str, float](), list[Fault]()
    for aspect in ASPECTS:
        entry = value.get(aspect)
        quotes = entry.get("evidence", []) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(quotes, list):
            raise Unparsable(f"the JSON has no score and evidence for {aspect}")
        scores[aspect] = _score(entry.get("score"), low=-1)
        for item in quotes:
            words = (
                [item.get(name) for name in ("quote", "reason")]
                if isinstance(item, dict)
                else [None]
            )
            if not all(isinstance(word, str) for word in words):
                raise Unparsable(f"the evidence for {aspect} is not quote and reason")
            faults.append(Fault("", aspect, str(words[0]), "", str(words[1])))
    return _rubric(scores, faults)


def _rubric_of_text(lines: Sequence[str]) -> Parsed:
    scores, faults, aspect = dict[str, float](), list[Fault](), ""
    for line in lines:
        heading = _ASPECT.fullmatch(line)
        if heading:
            aspect = heading[1].lower()
            if aspect in scores:
                raise Unparsable(f"the answer has several scores for {aspect}")
            scores[aspect] = _score(int(heading[2]), low=-1) if heading[2] else -1.0
        elif not aspect:
            raise Unparsable("the answer does not begin with an aspect and its score")
        else:
            faults += evidence(aspect, line)
    return _rubric(scores, faults)


def reparse_notes(found: Results, only: str | None = None) -> list[str]:
    """A note where answers of judges (all, or one) were read by another version of the parser than this one."""
    used = {
        spec: {one.signature["parser"] for one in by_system.values() if "parser" in one.signature}
        for spec, by_system in found.scores.items()
        if only in (None, spec)
    }
    older = {spec: versions for spec, versions in used.items() if not versions <= {PARSER}}
    if not older:
        return []
    versions = ", ".join(sorted(set().union(*older.values())))
    return [
        f"{', '.join(older)}: answers were read by version {versions} of the parser, and this is version {PARSER}: "
        "`wholetext score` again parses the stored answers with it, and calls the model only where an answer that "
        "could be parsed before no longer can"
    ]
