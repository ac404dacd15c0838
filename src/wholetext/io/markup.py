"""A WMT document, which is one string, → its segments; and back.

``p``: a segment is a paragraph ``<p>…</p>``; ``lines``: a line; ``json``: a string in a (fenced)
JSON block; ``blank``: text between empty lines (WMT25); ``none``: the document is one segment.
Markup that systems of WMT26 broke is repaired, and ``Parts.repairs`` lists the repairs.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from wholetext.errors import InputError, count
from wholetext.files.parsing import read_json

Division = Literal["auto", "p", "lines", "json", "none"]
DIVISIONS: tuple[str, ...] = get_args(Division)

_TAG = re.compile(r"<\s*(/?)\s*p(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ESCAPE = re.compile(r"&(?:amp|lt|gt|quot|apos|#0*39|#x0*27|nbsp);")
# what follows the "<" of a tag: such a "&lt;" stays escaped, or it would become a tag
_TAG_LIKE = r"(?=[/!A-Za-z])"
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
class Parts:
    """The segments of a document, how it was divided, and what was repaired."""

    segments: tuple[str, ...]
    by: str  # p, lines, json, blank, none
    frame: str = ""  # of ``json``: the block as JSON, every string in it empty
    repairs: tuple[str, ...] = ()


def division(text: str, lines: bool = False) -> str:
    """Choose the division of a text by its content; ``lines`` is the default of WMT26."""
    if _TAG.search(text):
        return "p"
    if _looks_like_json(text):
        return "json"
    return "lines" if lines else "blank"


def split(text: str, by: str, like: Parts | None = None, *, repair: bool = False) -> Parts:
    """Divide a document; ``like`` is the division of the source, if known.

    With ``repair`` the text is a system's output: a fence around it is removed.
    """
    like = like or Parts((), by)
    if by == "none":
        return Parts((text,), by)
    if by == "blank":
        return Parts(tuple(text.split("\n\n")), by)
    text, repairs = text.replace("\r\n", "\n"), list[str]()
    if not text.strip():
        return Parts(("",), by)
    if repair and by != "json" and (fenced := _FENCE.fullmatch(text.strip())):
        text = fenced[1]
        repairs.append("``` around the text removed")
    if by == "json":
        parts = _json(text, like.frame)
    elif by == "p" and _TAG.search(text):
        parts = _paragraphs(text)
    else:
        parts = _lines(text, len(like.segments))
        repairs += ["no <p>: divided by line"] if by == "p" else []
    return replace(parts, repairs=(*repairs, *parts.repairs))


def join(
    segments: Sequence[str],
    by: str,
    like: Parts | None = None,
    *,
    repair: bool = False,
    where: str = "",
) -> str:
    """Join segments to one string; an InputError where ``split`` would not restore them."""
    frame = like.frame if like else ""
    if by == "json":
        fits = _strings(frame) == len(segments)
        filled = (
            _with_strings(read_json(frame, where=where), iter(segments).__next__)
            if fits
            else list(segments)
        )
        text = "```json\n" + json.dumps(filled, ensure_ascii=False, indent=2) + "\n```"
    elif by == "p":
        text = "\n".join(f"<p>{_escaped(segment)}</p>" for segment in segments)
    else:
        text = {"lines": "\n", "blank": "\n\n"}.get(by, "").join(segments)
    if split(text, by, like, repair=repair).segments != tuple(segments):
        raise InputError(
            f"these {count(len(segments), 'segment')} cannot be written as WMT's {by!r}: "
            "they would be read back as others",
            where=where,
            next="write JSONL (wholetext.io.formats.jsonl.write)",
        )
    return text


def _unescaped(text: str) -> str:
    """Unescape ``&amp;`` and the like once; a ``&lt;`` that would begin a tag stays."""
    pieces = re.split(rf"(&lt;{_TAG_LIKE})", text)
    return "".join(
        part if part == "&lt;" else _ESCAPE.sub(lambda escape: html.unescape(escape[0]), part)
        for part in pieces
    )


def _escaped(text: str) -> str:
    return re.sub(rf"<(?!{_TAG_LIKE})", "&lt;", text.replace("&", "&amp;"))


# ---------------------------------------------------------------- paragraphs and lines


def _paragraphs(text: str) -> Parts:
    """Begin a segment at each ``<p>``, and at text outside that begins its own line."""
    segments, faults = list[str](), Counter[str]()
    inside, at = False, 0
    for tag in (*_TAG.finditer(text), None):
        piece, closing = text[at : tag.start() if tag else len(text)], bool(tag and tag[1])
        if inside:
            segments[-1] += piece
            faults["missing </p> added"] += not closing
        elif piece.strip():
            own = not segments or "\n" in piece[: len(piece) - len(piece.lstrip())]
            faults[
                "text outside <p> "
                + ("taken as a segment" if own else "joined to the paragraph before it")
            ] += 1
            if own:
                segments += [line for line in piece.split("\n") if line.strip()]
            else:
                segments[-1] += piece
        if tag is None:
            break
        faults["surplus </p> removed"] += closing and not inside
        inside, at = not closing, tag.end()
        if inside:
            segments.append("")
    return Parts(
        tuple(_unescaped(segment).strip() for segment in segments) or ("",),
        "p",
        repairs=_counted(faults),
    )


def _lines(text: str, size: int) -> Parts:
    """Make a segment of each line; blank ones count only if the source has as many lines."""
    lines = text.strip("\n").split("\n")
    full = [line for line in lines if line.strip()]
    if len(lines) == size or len(full) == len(lines):
        return Parts(tuple(lines), "lines")
    return Parts(
        tuple(full), "lines", repairs=(f"{count(len(lines) - len(full), 'blank line')} left out",)
    )


# ---------------------------------------------------------------- JSON


def _looks_like_json(text: str) -> bool:
    body = _block(text)[0]
    if body[:1] not in ("{", "[") or body[-1:] not in ("}", "]"):
        return False
    try:
        read_json(body)
    except InputError:
        return (
            bool(_FENCE.search(text)) or sum(map(bool, map(_ENTRY.fullmatch, body.split("\n")))) > 1
        )
    return True


def _block(text: str) -> tuple[str, str]:
    """Return the JSON block of a text, and the text around it."""
    fenced = _FENCE.search(text)
    if fenced:
        return fenced[1].strip(), (text[: fenced.start()] + text[fenced.end() :]).strip()
    starts = [at for at in map(text.find, "{[") if at >= 0]
    start, stop = min(starts, default=0), max(map(text.rfind, "}]")) + 1
    if not starts or stop <= start:
        return text.strip(), ""
    return text[start:stop], (text[:start] + text[stop:]).strip()


def _json(text: str, frame: str) -> Parts:
    """Extract the strings of the block; by key where most keys of the source are present."""
    body, around = _block(text)
    repairs = (
        [f"left out around the JSON block: “{' '.join(around.split())[:60]}”"] if around else []
    )
    try:
        value = read_json(body)
    except InputError as fault:
        value, how = _repaired(body)
        repairs.append(f"{fault.what.partition(' (')[0]}: {how}")
    expected = read_json(frame) if frame else None
    texts = [leaf for leaf in _leaves(value) if isinstance(leaf, str)]
    if not texts:
        return replace(_lines(text, 0), repairs=(*repairs, "no text in JSON: divided by line"))
    if (
        isinstance(value, dict)
        and isinstance(expected, dict)
        and all(isinstance(leaf, str) for leaf in (*value.values(), *expected.values()))
    ):
        lacking, added = (
            [key for key in expected if key not in value],
            [key for key in value if key not in expected],
        )
        by_key = 2 * len(lacking) <= len(expected)
        repairs += (
            [f"{count(len(lacking), 'JSON key')} missing: empty segments"]
            if lacking and by_key
            else []
        )
        repairs += (
            [f"{count(len(added), 'JSON key')} not in the source"] if added and by_key else []
        )
        repairs += (
            [f"{count(len(lacking), 'JSON key')} changed: strings in their order"]
            if not by_key
            else []
        )
        if by_key:
            value = {key: value.get(key, "") for key in (*expected, *added)}
            texts = list(value.values())
    elif expected is not None and (changed := set(_keys(expected)) ^ set(_keys(value))):
        repairs.append(f"{count(len(changed), 'JSON key')} changed: strings in their order")
    return Parts(
        tuple(texts),
        "json",
        json.dumps(_with_strings(value, str), ensure_ascii=False),
        tuple(repairs),
    )


def _repaired(body: str) -> tuple[Any, str]:
    """Read a block that is not JSON: without its last comma, or an entry per line."""
    try:
        return read_json(re.sub(r",(\s*[\]}]\s*)\Z", r"\1", body)), "last comma removed"
    except InputError:
        pass
    entries: dict[str, str] = {}
    for number, line in enumerate(body.split("\n")):
        if _BRACKETS.fullmatch(line):
            continue
        entry = _ENTRY.fullmatch(line)
        key = entry["key"] if entry else ""
        text = _string(entry["text"]) if entry else line.strip()
        entries[key if key and key not in entries else f"line {number + 1}"] = text
    listed = all(key.startswith("line ") for key in entries)
    return list(entries.values()) if listed else entries, "read line by line"


def _string(text: str) -> str:
    """Decode the inside of a JSON string as far as it is valid."""
    try:
        return str(read_json(f'"{text}"'))
    except InputError:
        return text


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _leaves(child)
    else:
        yield value


def _keys(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of objects, in whatever array they are."""
    for key, child in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        if isinstance(value, dict):
            yield (*path, str(key))
        yield from _keys(child, (*path, str(key)))


def _with_strings(value: Any, text: Callable[[], str]) -> Any:
    """Replace every string of a value by ``text()``, in order."""
    if isinstance(value, dict):
        return {key: _with_strings(child, text) for key, child in value.items()}
    if isinstance(value, list):
        return [_with_strings(child, text) for child in value]
    return text() if isinstance(value, str) else value


def _strings(frame: str) -> int:
    return sum(isinstance(leaf, str) for leaf in _leaves(read_json(frame))) if frame else -1


def _counted(faults: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{number} × {what}" for what, number in faults.items() if number)
