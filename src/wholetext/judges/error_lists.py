"""The published format of error lists: blocks ``Critical:``, ``Major:``, ``Minor:``, one error per line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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


class Unparsable(Exception):
    """An answer in no known format; the message says why."""


@dataclass(frozen=True)
class Fault:
    """An error reported by a judge; ``context`` is the text around the quote."""

    severity: str
    category: str
    quote: str
    context: str = ""
    reason: str = ""


def is_none(text: str) -> bool:
    """Whether an entry says that there is nothing to list."""
    return bool(_NONE.fullmatch(text))


def listed_errors(lines: Iterable[str]) -> list[Fault]:
    """Parse the blocks of an answer; ``no-error`` alone is an empty list.

    Raises:
        Unparsable: a line is neither a heading nor an error nor ``no-error``, or a block is empty or repeated.
    """
    blocks: dict[str, list[str]] = {}
    severity = ""
    for line in lines:
        heading = _HEADING.fullmatch(line)
        if heading:
            severity, line = heading[1].lower(), heading[2]
            if severity in blocks:
                raise Unparsable(f"the answer has the block {severity} twice")
        entries = blocks.setdefault(severity, [])
        if line.strip():
            entries.append(line)
    if not any(blocks.values()) or (any(blocks.get("", ())) and len(blocks) > 1):
        raise Unparsable("the answer does not consist of the blocks Critical, Major, Minor")
    return [fault for severity, entries in blocks.items() for fault in _block(severity, entries)]


def _block(severity: str, lines: list[str]) -> list[Fault]:
    if len(lines) == 1 and is_none(lines[0]):
        return []
    faults: list[Fault] = []
    for line in lines:
        error = _ERROR.fullmatch(line) if len(line) <= _LONGEST else None
        category, reason = (
            (error["category"].strip().lower(), error["reason"] or "") if error else ("", "")
        )
        denied = is_none(category) or _DENIAL.search(f"{category} {reason}")
        if not severity or not error or denied or _SECOND_ERROR.search(reason):
            raise Unparsable(f"not an error in the requested format: {line.strip()[:60]!r}")
        faults += [
            Fault(severity, category, quote[1:-1], "", reason)
            for quote in re.findall(_QUOTE, error["quotes"])
        ]
    return faults
