"""A WMT document, which is one string, → its segments.

``p``: a segment is a paragraph ``<p>…</p>``; ``lines``: a line; ``json``: a string in a (fenced)
JSON block; ``blank``: text between empty lines (WMT25); ``none``: the document is one segment.
Markup that systems of WMT26 broke is read nevertheless, and ``Parts.repairs`` says how.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from wholetext.errors import InputError, count
from wholetext.files.parsing import read_json

Division = Literal["auto", "p", "lines", "json", "none"]
DIVISIONS: tuple[str, ...] = get_args(Division)

_OPEN = re.compile(r"<\s*p(?:\s[^<>]*)?/?>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s*/\s*p\s*>", re.IGNORECASE)
# what follows the "<" of a tag: such a "&lt;" stays escaped, or it would become a tag
_ESCAPE = re.compile(r"&(?:amp|gt|quot|apos|#0*39|#x0*27|nbsp|lt(?!;[/!A-Za-z]));")
_TAG = re.compile(r"<(?![/!A-Za-z])")  # a sign that opens no tag
_FENCE = re.compile(
    r"^[ \t]*```[ \t]*\w*[ \t]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_QUOTES = '"“”„‟«»″'
_ENTRY = re.compile(
    rf"\s*(?:[{_QUOTES}](?P<key>[^{_QUOTES}]*)[{_QUOTES}]\s*:\s*)?"
    rf"[{_QUOTES}](?P<text>.*)[{_QUOTES}]\s*,?\s*"
)
_BRACKETS = re.compile(r"\s*[\[\]{}]*\s*,?\s*")


@dataclass(frozen=True)
class MarkupParts:
    """The segments of a document, how it was divided, and what was repaired."""

    segments: tuple[str, ...]
    by: str  # p, lines, json, blank, none
    keys: tuple[str, ...] = ()  # of ``json``: those of its strings
    repairs: tuple[str, ...] = ()


def division(text: str, lines: bool = False) -> str:
    """Choose the division of a text by its content; ``lines`` is the default of WMT26."""
    if _OPEN.search(text) or _CLOSE.search(text):
        return "p"
    body, _ = _block(text)
    if body[:1] in ("{", "[") and body[-1:] in ("}", "]"):
        entries = sum(map(bool, map(_ENTRY.fullmatch, body.split("\n"))))
        if _FENCE.search(text) or entries > 1 or _parsed(body) is not None:
            return "json"
    return "lines" if lines else "blank"


def split(text: str, by: str, like: MarkupParts | None = None) -> MarkupParts:
    """Divide a document; ``like`` is the division of the source, if known."""
    if by == "none":
        return MarkupParts((text,), by)
    if by == "blank":
        return MarkupParts(tuple(text.split("\n\n")), by)
    text = text.replace("\r\n", "\n")
    if not text.strip():
        return MarkupParts(("",), by)
    if by == "json":
        return _json(text, like.keys if like else ())
    fenced = _FENCE.fullmatch(text.strip())
    text = fenced[1] if fenced else text
    if by == "p" and _OPEN.search(text):
        segments, faults = _paragraphs(text)
    else:
        segments, faults = _lines(text, len(like.segments) if like else 0)
        faults += ["no <p>: divided by line"] if by == "p" else []
    faults += ["``` around the text removed"] if fenced else []
    return MarkupParts(segments, by, repairs=tuple(faults))


def join(segments: Sequence[str], by: str, keys: Sequence[str] = ()) -> str:
    """Join segments to one string; ``split`` restores most texts, which writers check."""
    if by == "json":
        nested = json.dumps(_nested(keys, segments), ensure_ascii=False, indent=2)
        return f"```json\n{nested}\n```"
    if by == "p":
        plain = (segment.replace("&", "&amp;") for segment in segments)
        return "\n".join(f"<p>{_TAG.sub('&lt;', segment)}</p>" for segment in plain)
    return {"lines": "\n", "blank": "\n\n"}.get(by, "").join(segments)


def _nested(keys: Sequence[str], segments: Sequence[str]) -> Any:
    """Put strings at their paths; a list where there are no paths, or other ones."""
    if len(keys) != len(segments):
        return list(segments)
    root: dict[str, Any] = {}
    for path, text in zip(keys, segments):
        *parents, last = path.split("/")[1:] or [path]
        place = root
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = text
    return root


def _paragraphs(text: str) -> tuple[tuple[str, ...], list[str]]:
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
    plain = tuple(_ESCAPE.sub(lambda m: html.unescape(m[0]), text).strip() for text in segments)
    return plain or ("",), ["<p> and </p> do not match: a segment per <p>"] if broken else []


def _lines(text: str, size: int) -> tuple[tuple[str, ...], list[str]]:
    """Make a segment of each line; blank ones count only if the source has as many lines."""
    lines = text.strip("\n").split("\n")
    full = [line for line in lines if line.strip()]
    if len(lines) == size or len(full) == len(lines):
        return tuple(lines), []
    return tuple(full), [f"{count(len(lines) - len(full), 'blank line')} left out"]


def _block(text: str) -> tuple[str, str]:
    """Return the JSON block of a text, and the text around it."""
    fenced = _FENCE.search(text)
    if fenced:
        return fenced[1].strip(), (text[: fenced.start()] + text[fenced.end() :]).strip()
    starts = [at for at in map(text.find, "{[") if at >= 0]
    start, stop = min(starts, default=0), max(map(text.rfind, "}]")) + 1
    if stop <= start:
        return text.strip(), ""
    return text[start:stop], (text[:start] + text[stop:]).strip()


def _json(text: str, keys: tuple[str, ...]) -> MarkupParts:
    """Extract the strings of the block; by key where most keys of the source are present."""
    body, around = _block(text)
    repairs = [f"left out around the JSON block: “{around[:60]}”"] if around else []
    value = _parsed(body)
    if value is None:
        value = _entries(body)
        repairs.append("this is not JSON: read line by line")
    strings = dict(_strings(value))
    if keys and set(keys) != set(strings):
        repairs.append("JSON keys changed")
    if 2 * len(strings.keys() & set(keys)) >= len(keys):
        strings = {**dict.fromkeys(keys, ""), **strings}
    return MarkupParts(tuple(strings.values()) or ("",), "json", tuple(strings), tuple(repairs))


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
