"""Answers of judges → scores, errors, choices, rubrics. An answer that can be read in two ways is not read at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json

PARSER = "1"  # raised when an answer is read otherwise than before
SEVERITIES = ("critical", "major", "minor")
ASPECTS = ("reference", "tense", "terminology", "connectives", "register")
MOST = 20_000  # characters of an answer that are read
REFUSED = "the judge refused to answer"

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.S | re.I)
_FENCE = re.compile(r"\A\s*```[a-z]*\s*\n?(.*?)\n?\s*```\s*\Z", re.S | re.I)
_REFUSAL = re.compile(
    r"\b(i('| a)?m (sorry|unable|not able)|i (can('|no)t|cannot|can not|won't|will not|must decline)|as an ai\b|"
    r"unable to (assist|help|comply|evaluate|provide)|against (my|the) (policy|guidelines))", re.I)  # fmt: skip
_SCALE = re.compile(r"\(?\b(?:from\s+)?0\s*(?:-|–|—|to|and)\s*100\b\)?", re.I)  # "(0-100)" names the scale, no score
_NUMBER = re.compile(r"(?<![\w.,])[-+−]?\d+(?:[.,]\d+)*(?:\s*%|(?=\W|\Z))")
_OF_100 = re.compile(r"\A(\d{1,3})\s*(?:/|out of|of)\s*100\Z", re.I)
_LABELLED = re.compile(
    r"\b(?:score|rating|grade|points?|quality|answer)s?\b[\s*_`\"']*(?:is|of|=|:|-|–)?[\s*_`\"':]*"
    r"(\d{1,3})(?![\d.,]*\d)(?!\s*%)(?:\s*(?:/|out of)\s*100)?(?!\s*/)(?!\s*[-–]\s*\d)"
    r"(?!\s+(?:or|to|and)\s+\w)", re.I)  # fmt: skip
_LOOSE = re.compile(r"\b(?:score|rating|grade|answer)s?\b[^.\n\d]{0,60}?\b(\d{1,3})\b(?![.,/]\d)", re.I)
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "'": "'", "`": "`", "‹": "›", "「": "」",
           "『": "』"}  # fmt: skip
_HEADING = re.compile(r"\A[\s#*_>-]*(critical|major|minor)(?:\s+errors?)?[\s*_]*:[\s*_]*(.*)\Z", re.I)
_NONE = re.compile(r"\A[\s*_`\[(\"'-]*(no[\s-]*errors?( (found|were found|detected))?|none|n/?a|nothing)"
                   r"[\s*_`\])\"'.!]*\Z", re.I)  # fmt: skip
_BULLET = re.compile(r"\A\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_CHOICE = re.compile(
    r"\A(?:(?:the\s+)?(?:better|best|winner|answer|verdict|choice)(?:\s+(?:one|translation))?\s*(?:is)?\s*[:=]?\s*)?"
    r"(?:translation\s+|option\s+)?[\[(\"'*_`]*(A|B|tie|both|equal|neither)[\])\"'*_`]*"
    r"(?:\s+is\s+better)?[.!]?\Z", re.I)  # fmt: skip
_ASPECT = re.compile(rf"\A[\s#*_-]*({'|'.join(ASPECTS)})[\s*_]*[:=][\s*_]*(?:(-1|\d{{1,3}})(?:\s*/\s*100)?|n/?a)"
                     r"[\s*_.]*\Z", re.I)  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """An error that a judge reports: how bad, of which kind, the words, what stands around them, and why."""

    severity: str
    category: str
    quote: str
    context: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Parsed:
    """What an answer says; ``problem`` why it cannot be told."""

    problem: str = ""
    refused: bool = False
    score: float | None = None  # 0 to 100
    faults: tuple[Fault, ...] = ()
    choice: str = ""  # A, B, tie
    aspects: Mapping[str, float] = field(default_factory=dict)  # of a rubric; those that do not arise are left out

    @property
    def ok(self) -> bool:
        return not self.problem


class _Unparsable(Exception):
    """Why an answer cannot be used."""


def parse_score(text: str, cut: bool = False) -> Parsed:
    """A whole number from 0 to 100: in JSON, alone, labelled as the score, or alone on a line of its own."""
    return _parsed(text, cut, _score_of_json, _score_of_text)


def parse_errors(text: str, cut: bool = False) -> Parsed:
    """Errors: in JSON, or in blocks ``Critical:``, ``Major:``, ``Minor:`` of lines ``category - "words"``."""
    return _parsed(text, cut, _errors_of_json, _errors_of_text)


def parse_choice(text: str, cut: bool = False) -> Parsed:
    """Which of A and B is better, or a tie."""
    return _parsed(text, cut, lambda value: Parsed(choice=_choice(value.get("better"))),
                   lambda text, cut: Parsed(choice=_choice(text)))  # fmt: skip


def parse_rubric(text: str, cut: bool = False) -> Parsed:
    """A score for each aspect of coherence, with quotes as evidence."""
    return _parsed(text, cut, _rubric_of_json, _rubric_of_text)


def _parsed(text: str, cut: bool, of_json: Any, of_text: Any) -> Parsed:
    plain = _THOUGHT.sub("", text[:MOST]).strip()
    cut = cut or len(text) > MOST
    try:
        if not plain:
            raise _Unparsable("the answer has no text")
        value = _object(plain)
        found: Parsed = of_json(value) if value is not None else of_text(plain, cut)
    except _Unparsable as fault:
        if _REFUSAL.search(plain[:300]):
            return Parsed(REFUSED, refused=True)
        return Parsed("the answer was cut at the limit of tokens" if cut else str(fault))
    return found


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that an answer is, or has in a fence or in prose; None where it has none."""
    fenced = _FENCE.match(text)
    begin, end = text.find("{"), text.rfind("}")
    for one in (fenced[1] if fenced else text, text[begin : end + 1] if 0 <= begin < end else ""):
        try:
            value = read_json(one)
        except InputError:
            continue
        if isinstance(value, dict):
            return value
    if begin >= 0 and text.lstrip("`json \n").startswith("{"):
        raise _Unparsable("the answer is not valid JSON")
    return None


# ---------------------------------------------------------------- scores


def _score(value: object, low: int = 0) -> float:
    """A whole number from 0 to 100; a model may write it as 85.0 or "85"."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or not low <= value <= 100:
        raise _Unparsable(f"the score is not a whole number from 0 to 100 but {str(value)[:40]!r}")
    return float(value)


def _score_of_json(value: Mapping[str, Any]) -> Parsed:
    if "score" not in value:
        raise _Unparsable('the JSON has no key "score"')
    return Parsed(score=_score(value["score"]))


def _score_of_text(text: str, cut: bool) -> Parsed:
    plain = _SCALE.sub(" ", text)
    if cut:  # the last word may be the beginning of another
        plain = plain.rpartition(" ")[0]
    numbers = [found[0] for found in _NUMBER.finditer(re.sub(r"(\d)\s*(?:/|out of)\s*100\b", r"\1", plain))]
    bare = re.sub(r"[*_`\"'.!\s]+\Z|\A[*_`\"'\s]+", "", plain)
    alone = _OF_100.match(bare)
    if not cut and (alone or re.fullmatch(r"\d{1,3}", bare)):
        return Parsed(score=_score(int(alone[1] if alone else bare)))
    said = {int(found[1]) for found in _LABELLED.finditer(plain)}
    if not said and len({*numbers}) == 1 and re.fullmatch(r"\d{1,3}", numbers[0]):
        lines = [re.sub(r"[*_`\"'.!\s]+", "", line) for line in plain.splitlines()]
        lines = lines[: len(text.splitlines()) - 1] if cut else lines  # the last one may go on
        if {numbers[0], f"{numbers[0]}/100"} & {*lines}:
            said = {int(numbers[0])}
    if len(said) != 1 or {int(found[1]) for found in _LOOSE.finditer(plain)} - said:
        raise _Unparsable("the answer has several scores" if said else "the answer has no score from 0 to 100")
    return Parsed(score=_score(said.pop()))


# ---------------------------------------------------------------- errors


def _errors_of_json(value: Mapping[str, Any]) -> Parsed:
    found = value.get("errors")
    if not isinstance(found, list):
        raise _Unparsable('the JSON has no list "errors"')
    return Parsed(faults=tuple(map(_fault, found)))


def _fault(value: Any) -> Fault:
    if not isinstance(value, dict):
        raise _Unparsable("an error is not a JSON object")
    names = ("severity", "category", "span", "context", "reason")
    if "span" not in value:
        raise _Unparsable("an error has no span")
    severity, *rest = (value.get(name) or "" for name in names)
    if not isinstance(severity, str) or severity.lower() not in SEVERITIES:
        raise _Unparsable(f"an error has the severity {str(severity)[:20]!r}")
    if not all(isinstance(one, str) for one in rest):
        raise _Unparsable("an error has a value that is not text")
    return Fault(severity.lower(), *rest)


def _errors_of_text(text: str, cut: bool) -> Parsed:
    if cut:
        raise _Unparsable("the list of errors is not complete")
    if _NONE.match(text):
        return Parsed()
    faults: list[Fault] = []
    severity, entries, after = "", 0, False  # of the block: its name, its entries, whether a blank line followed one
    filled = False  # whether any block has an entry
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            severity, line, entries, after = heading[1].lower(), heading[2], 0, False
        if not line.strip() or not severity:
            after = after or entries > 0
            continue
        found = [] if _NONE.match(line) else _line_faults(line, severity)
        if not found and not _NONE.match(line):
            if after and not _BULLET.match(line) and not any(sign in line for sign in _QUOTES):
                continue  # words about the whole
            raise _Unparsable(f"a line of the block {severity} is no error: {line.strip()[:60]!r}")
        faults += found
        entries, filled = entries + 1, True
    if not filled:
        raise _Unparsable("the answer has no entry in the blocks Critical, Major, Minor")
    return Parsed(faults=tuple(faults))


def _line_faults(line: str, severity: str) -> list[Fault]:
    """``category - "words", "more words" - why``: an error for each quote of a plain list, else for the first."""
    line = _BULLET.sub("", line).strip().lstrip("*_`")
    found = re.match(r"\A([^\W\d_][\w\s/&,()-]{0,80}?)[*_`]*\s*[-–—:]\s*(?=[" + "".join(_QUOTES) + "])", line)
    if not found:
        return []
    category, rest = found[1].strip().lower(), line[found.end() :]
    quotes: list[str] = []
    while rest and rest[0] in _QUOTES:
        quote, rest = _quoted(rest)
        if quote is None:
            return []
        quotes.append(quote)
        following = re.match(r"\s*(?:,|;|and)\s*(?=[" + "".join(_QUOTES) + "])", rest)
        if not following:
            break
        rest = rest[following.end() :]
    reason = re.sub(r"\A[\s\-–—:,.(]+|[\s)]+\Z", "", rest)
    return [Fault(severity, category, quote, "", reason) for quote in quotes]


def _quoted(text: str) -> tuple[str | None, str]:
    """The quote that a text begins with and what follows; a mark inside a word, or before one, does not end it. Where
    more marks follow that belong to no list or reason, it has quotes inside, and its end is not clear."""
    for at in range(1, len(text)):
        if text[at] in _QUOTES[text[0]] and re.match(r"\Z|[\s,.;:)–—-]", text[at + 1 :]):
            rest = text[at + 1 :]
            unclear = text[0] in rest and not re.match(r"\s*(?:[-–—:;,.(]|and\b)", rest)
            return (None, "") if unclear else (text[1:at], rest)
    return None, ""


# ---------------------------------------------------------------- choices and rubrics


def _choice(said: object) -> str:
    lines = said.strip().splitlines() if isinstance(said, str) else []
    verdicts = [_CHOICE.match(line.strip()) for line in lines]
    words = {found[1].lower() if found[1].lower() in "ab" else "tie" for found in verdicts if found}
    if not lines or not verdicts[0] or len(words) > 1:
        raise _Unparsable("the answer does not say which is better")
    word = words.pop()
    return word if word == "tie" else word.upper()


def _rubric(scores: Mapping[str, float], faults: Sequence[Fault]) -> Parsed:
    missing = [aspect for aspect in ASPECTS if aspect not in scores]
    if missing:
        raise _Unparsable(f"the answer has no score for {missing[0]}")
    aspects = {aspect: scores[aspect] for aspect in ASPECTS if scores[aspect] >= 0}
    if not aspects:
        raise _Unparsable("the answer says that no aspect arises")
    return Parsed(score=sum(aspects.values()) / len(aspects), faults=tuple(faults), aspects=aspects)


def _rubric_of_json(value: Mapping[str, Any]) -> Parsed:
    scores, faults = dict[str, float](), list[Fault]()
    for aspect in ASPECTS:
        one = value.get(aspect)
        evidence = one.get("evidence", []) if isinstance(one, dict) else None
        if not isinstance(one, dict) or not isinstance(evidence, list):
            raise _Unparsable(f"the JSON has no score and evidence for {aspect}")
        scores[aspect] = _score(one.get("score"), low=-1)
        for item in evidence:
            words = [item.get(name) for name in ("quote", "reason")] if isinstance(item, dict) else [None]
            if not all(isinstance(word, str) for word in words):
                raise _Unparsable(f"the evidence for {aspect} is not quote and reason")
            faults.append(Fault("", aspect, str(words[0]), "", str(words[1])))
    return _rubric(scores, faults)


def _rubric_of_text(text: str, cut: bool) -> Parsed:
    if cut:
        raise _Unparsable("the rubric is not complete")
    scores, faults, aspect = dict[str, float](), list[Fault](), ""
    for line in filter(str.strip, text.splitlines()):
        found = _ASPECT.match(line)
        if found:
            aspect = found[1].lower()
            if aspect in scores:
                raise _Unparsable(f"the answer has several scores for {aspect}")
            scores[aspect] = _score(int(found[2]), low=-1) if found[2] else -1.0
        elif aspect and _BULLET.match(line) and not _NONE.match(_BULLET.sub("", line)):
            evidence = _line_faults(f"{aspect} - {_BULLET.sub('', line)}", "")
            if not evidence:
                raise _Unparsable(f"the evidence for {aspect} is no quote: {line.strip()[:60]!r}")
            faults += evidence
    return _rubric(scores, faults)


# ---------------------------------------------------------------- where the words stand


def locate(fault: Fault, text: str) -> tuple[int, int] | None:
    """Where the words of an error stand: exactly, else whatever their blanks, case and quotation marks are. Of several
    places, those inside the context that the judge quotes come first, then whole words. None where there is none."""
    quote = fault.quote.strip().strip("…").strip() or ""
    if not quote:
        return None
    for loose in (False, True):
        around = _places(fault.context.strip(), text, True) if fault.context.strip() else []
        places = _places(quote, text, loose)
        if places:
            return min(places, key=lambda one: (not any(a <= one[0] and one[1] <= b for a, b in around),
                                                text[: one[0]][-1:].isalnum() or text[one[1] :][:1].isalnum(), one))
    return None


def _places(words: str, text: str, loose: bool) -> list[tuple[int, int]]:
    if not loose:
        return [found.span() for found in re.finditer(re.escape(words), text)]
    signs = [r"\s*" if part.isspace() else r"[\"'“”„‘’«»]" if part in "\"'“”„‘’«»" else re.escape(part)
             for part in re.findall(r"\s+|\S", words)]  # fmt: skip
    return [found.span() for found in re.finditer("".join(signs), text, re.I)]
