"""Lists of errors that a judge writes in words: blocks ``Critical:``, ``Major:``, ``Minor:`` of one error a line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wholetext.metrics.judges.statements import Unparsable, check_remarks, sentences

SEVERITIES = ("critical", "major", "minor")
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "‘": "’", "'": "'", "`": "`", "‹": "›", "「": "」",
           "『": "』"}  # fmt: skip
_ANY_QUOTE = "[" + "".join(_QUOTES) + "]"
_HEADING = re.compile(r"\A[\s#*_-]*(critical|major|minor)(?:\s+errors?)?[\s*_]*:[\s*_]*(.*)\Z", re.I)
_NONE = re.compile(r"\A[\s*_`\[(\"'-]*(no[\s-]*errors?( (found|were found|detected))?|none|n/?a|nothing)"
                   r"[\s*_`\])\"'.!]*\Z", re.I)  # fmt: skip
_BULLET = re.compile(r"\A\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_NO_CATEGORY = re.compile(  # fields of an error, and what is none
    r"\A(?:no[\s-]*error|none\b|n/?a\b|nothing|explanation|reason|rationale|correct|suggest|should|fix|better|note|"
    r"comment|source|translation|reference|original|context|severity|category|span|score|example|"
    r"(?:critical|major|minor)\b)", re.I)  # fmt: skip
_NO_ERROR = re.compile(r"\b(?:not (?:really |actually |necessarily |quite )?(?:an? )?(?:error|mistake|issue|wrong)|"
                       r"no[\s-](?:real )?errors?|(?:is|are|seems?) (?:fine|acceptable|correct|ok(?:ay)?))\b", re.I)
_PRAISE = re.compile(r"(?:overall|in (?:summary|general)|great|excellent|good|well done)\b", re.I)
_FAULTY = re.compile(r"\b(?:errors?|mistakes?|critical|major|minor|wrong|missing|omi\w+|mistransl\w+|incorrect\w*|"
                     r"inaccura\w+|flaws?|problems?|issues?|should)\b", re.I)  # fmt: skip  # may be one more error


@dataclass(frozen=True)
class Fault:
    """An error that a judge reports: how bad, of which kind, the words, what stands around them, and why."""

    severity: str
    category: str
    quote: str
    context: str = ""
    reason: str = ""


def is_none(text: str) -> bool:
    """Whether words say that there is nothing to list."""
    return bool(_NONE.match(text))


def speaks_of_errors(text: str) -> bool:
    """Whether remarks may name one more error, or deny one; a lead ("The errors are:") and general praise do not."""
    return has_quote(text) or any(_denies(one) if one.endswith(":") else not _PRAISE.match(one) or _FAULTY.search(one)
                                  for one in sentences(text) if one)  # fmt: skip


def _denies(lead: str) -> bool:
    return is_none(lead.rstrip(": ")) or bool(_NO_ERROR.search(lead))


def has_quote(text: str) -> bool:
    return any(sign in text for sign in _QUOTES if sign != "'")


def listed_errors(text: str, cut: bool) -> list[Fault]:
    """The errors of all blocks. Words before the first and after the last are left out where they list nothing."""
    if cut:
        raise Unparsable("the list of errors is not complete")
    if is_none(text):
        return []
    lines = [line for line in text.splitlines() if not line.strip().startswith("```")]
    heads = [at for at, line in enumerate(lines) if _HEADING.match(line)]
    if not heads:
        raise Unparsable("the answer has no entry in the blocks Critical, Major, Minor")
    before = "\n".join(lines[: heads[0]]).strip()
    said = any(_denies(one) if one.endswith(":") else _FAULTY.search(one) for one in sentences(before))
    if said or has_quote(before) or any(_BULLET.match(line) for line in before.splitlines()):
        raise Unparsable("the answer has something before the blocks Critical, Major, Minor")
    blocks = [_block(lines[at:stop]) for at, stop in zip(heads, [*heads[1:], len(lines)])]
    names = [name for name, *_ in blocks]
    if len({*names}) < len(names):
        raise Unparsable("the answer has a block twice")
    if not any(filled for _, _, filled, _ in blocks) or any(words for *_, words in blocks[:-1]):
        raise Unparsable("the answer has no entry in the blocks Critical, Major, Minor")
    check_remarks("", lambda remark: False, before)
    check_remarks(blocks[-1][3], speaks_of_errors)
    return [fault for _, faults, *_ in blocks for fault in faults]


def _block(lines: list[str]) -> tuple[str, list[Fault], bool, str]:
    """Name of a block, its errors, whether it has an entry, and the words after a blank line that follows them."""
    heading = _HEADING.match(lines[0])
    assert heading is not None
    severity, faults, nothing = heading[1].lower(), list[Fault](), False
    entries = [line for line in (heading[2], *lines[1:]) if line.strip()]
    closing = _closing([heading[2], *lines[1:]])
    for line in entries[: len(entries) - len(closing)]:
        found = [] if is_none(line) else _errors_of_line(line, severity)
        deeper = faults and _indent(line) > min(map(_indent, entries[heading[2].strip() != "" :]), default=0)
        if (not found and not is_none(line)) or deeper:
            raise Unparsable(f"a line of the block {severity} is no error: {line.strip()[:60]!r}")
        faults, nothing = faults + found, nothing or not found
    if faults and nothing:
        raise Unparsable(f"the block {severity} has errors, and says that there are none")
    return severity, faults, bool(faults or nothing), "\n".join(closing)


def _closing(lines: list[str]) -> list[str]:
    """The last paragraphs of a block where they are words about the whole: after an entry and a blank line, neither
    listed nor with a quote."""
    filled = [at for at, line in enumerate(lines) if line.strip()]
    listed = [at for at in filled if is_none(lines[at]) or _BULLET.match(lines[at]) or has_quote(lines[at])]
    after = [at for at in filled[1:] if at > max(listed, default=-1) and not lines[at - 1].strip()]
    return [lines[at] for at in filled if at >= after[0]] if after else []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _errors_of_line(line: str, severity: str) -> list[Fault]:
    """``category - "words", "more words" - why``: an error for each quote of a plain list, else for the first."""
    line = _BULLET.sub("", line).strip().lstrip("*_`")
    found = re.match(rf"\A([^\W\d_][\w\s/&,()-]{{0,80}}?)[*_`]*\s*[-–—:]\s*(?={_ANY_QUOTE})", line)
    if not found or _NO_CATEGORY.match(found[1]):
        return []
    return quoted_errors(severity, found[1].strip().lower(), line[found.end() :])


def quoted_errors(severity: str, category: str, rest: str) -> list[Fault]:
    """``"words", "more words" - why``; nothing where it is not clear what is quoted as wrong."""
    quotes: list[str] = []
    while rest and rest[0] in _QUOTES:
        quote, rest = _quoted(rest)
        if quote is None:
            return []
        quotes.append(quote)
        following = re.match(rf"\s*(?:,|;|and)\s*(?={_ANY_QUOTE})", rest)
        if not following:
            break
        rest = rest[following.end() :]
    another = re.search(rf"[;,]\s*[^\W\d_][\w/ -]*\s*:\s*{_ANY_QUOTE}|\w\s*[-–—]\s*{_ANY_QUOTE}", rest)
    free = len(quotes) > 1 and re.match(r"\s*[^\s\-–—→>:,.;(\[]", rest)  # "a", "b" would be right
    if another or free or _NO_ERROR.search(rest):
        return []
    reason = re.sub(r"\A[\s\-–—→>:,.(]+|[\s)]+\Z", "", rest)
    return [Fault(severity, category, quote, "", reason) for quote in quotes]


def _quoted(text: str) -> tuple[str | None, str]:
    """The quote that a text begins with and what follows; a mark inside a word, or before one, does not end it. Where
    more marks follow that belong to no list or reason, it has quotes inside, and its end is not clear."""
    for at in range(1, len(text)):
        if text[at] in _QUOTES[text[0]] and re.match(r"\Z|[\s,.;:)–—-]", text[at + 1 :]):
            rest = text[at + 1 :]
            unclear = text[0] in rest and (not re.match(r"\s*(?:[-–—:;,.(]|and\b)", rest) or
                                           (text[0] == '"' and rest.count('"') % 2 == 1))  # fmt: skip
            return (None, "") if unclear else (text[1:at], rest)
    return None, ""
