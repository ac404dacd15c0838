"""A WMT document, which is one string, → its segments.

``p``: a segment is a paragraph ``<p>…</p>``; ``lines``: a line; ``json``: a string in a (fenced)
JSON block; ``blank``: text between empty lines (WMT25); ``none``: the document is one segment.
Markup that systems of WMT26 broke is read nevertheless, and ``Parts.repairs`` says how.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json

DIVISIONS = ("auto", "p", "lines", "json", "none")

_OPEN = re.compile(r"<\s*p(?:\s[^<>]*)?/?>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s*/\s*p\s*>", re.IGNORECASE)
# what follows the "<" of a tag: such a "&lt;" stays escaped, or it would become a tag
_ESCAPE = re.compile(r"&(?:amp|gt|quot|apos|#0*39|#x0*27|nbsp|lt(?!;[/!A-Za-z]));")
_FENCED = re.compile(r"\s*```[ \t]*\w*[ \t]*\n(.*?)(?:^[ \t]*```\s*|\Z)", re.DOTALL | re.MULTILINE)
_QUOTES = '"“”„‟«»″'
_ENTRY = re.compile(
    rf"\s*(?:[{_QUOTES}](?P<key>[^{_QUOTES}]*)[{_QUOTES}]\s*:\s*)?"
    rf"[{_QUOTES}](?P<text>.*)[{_QUOTES}]\s*,?\s*"
)
_BRACKETS = re.compile(r"\s*[\[\]{}]*\s*,?\s*")


@dataclass(frozen=True)
class Parts:
    """The segments of a document, and what was repaired."""

    segments: tuple[str, ...]
    keys: tuple[str, ...] = ()  # of ``json``: those of its strings
    repairs: tuple[str, ...] = ()


def division(text: str, lines: bool = False) -> str:
    """Choose the division of a text by its content; ``lines`` is the default of WMT26."""
    if _OPEN.search(text) or _CLOSE.search(text):
        return "p"
    body = _block(text)
    if body[:1] in ("{", "[") and body[-1:] in ("}", "]"):
        entries = sum(map(bool, map(_ENTRY.fullmatch, body.split("\n"))))
        if entries > 1 or _FENCED.fullmatch(text) or _parsed(body) is not None:
            return "json"
    return "lines" if lines else "blank"


def split(text: str, by: str, keys: tuple[str, ...] = ()) -> Parts:
    """Divide a document; ``keys`` are those of the source, where it is JSON."""
    if by in ("none", "blank"):
        return Parts(tuple(text.split("\n\n")) if by == "blank" else (text,))
    text = text.replace("\r\n", "\n")
    if not text.strip():
        return Parts(("",))
    if by == "json":
        return _json(text, keys)
    if by == "p" and _OPEN.search(text):
        return _paragraphs(text)
    lines = text.strip("\n").split("\n")
    if by == "lines":
        return Parts(tuple(lines))
    return Parts(tuple(filter(str.strip, lines)), repairs=("no <p>: divided by line",))


def _paragraphs(text: str) -> Parts:
    """Begin a segment at each ``<p>``, and at text outside that begins its own line."""
    segments, broken = list[str](), False
    for number, piece in enumerate(_OPEN.split(text)):
        inside, *outside = _CLOSE.split(piece)
        if number:
            segments.append(inside)
            broken = broken or len(outside) != 1 or bool(outside[0].strip())
        else:  # before the first <p>
            outside = [inside, *outside]
            broken = bool(piece.strip())
        for rest in filter(str.strip, outside):
            if not segments or "\n" in rest[: len(rest) - len(rest.lstrip())]:
                segments += [line for line in rest.split("\n") if line.strip()]
            else:
                segments[-1] += rest
    plain = (_ESCAPE.sub(lambda m: html.unescape(m[0]), text).strip() for text in segments)
    repairs = ("<p> and </p> do not match: a segment per <p>",) if broken else ()
    return Parts(tuple(plain), repairs=repairs)


def _json(text: str, keys: tuple[str, ...]) -> Parts:
    """Extract the strings of the block; by key where most keys of the source are present."""
    body, repairs = _block(text), list[str]()
    value = _parsed(body)
    if value is None:
        value = _entries(body)
        repairs.append("this is not JSON: read line by line")
    strings = dict(_strings(value))
    if keys and set(keys) != set(strings):
        repairs.append("JSON keys changed")
    if 2 * len(strings.keys() & set(keys)) >= len(keys):
        strings = {**dict.fromkeys(keys, ""), **strings}
    return Parts(tuple(strings.values()) or ("",), tuple(strings), tuple(repairs))


def _block(text: str) -> str:
    fenced = _FENCED.fullmatch(text)
    return (fenced[1] if fenced else text).strip()


def _parsed(body: str) -> Any:
    """Parse a block, which may have a comma before its end, as sources have; None if invalid."""
    try:
        return read_json(re.sub(r",(\s*[\]}]\s*)\Z", r"\1", body))
    except InputError:
        return None


def _entries(body: str) -> dict[str, str]:
    """Read an entry per line of a block that is not JSON."""
    entries: dict[str, str] = {}
    for number, line in enumerate(body.split("\n")):
        entry = _ENTRY.fullmatch(line)
        if not _BRACKETS.fullmatch(line):
            key, text = (entry["key"], entry["text"]) if entry else ("", line.strip())
            entries[key or f"line {number}"] = str(_parsed(f'"{text}"') or text)
    return entries


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings of a value, with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(child, f"{path}/{key}")
