"""Ways to damage a file, structure-aware ones beside those of tests/io/fuzz_breaks.py."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

from tests.io.fuzz_breaks import BREAKS

Change = Callable[[bytes, random.Random], bytes]
NUMBERS = [
    "0",
    "-1",
    "1_0",
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "1e-400",
    "٣",
    "0x10",
    "1.5",
    "2147483648",
    "9223372036854775808",
    "",
    "true",
    "null",
    "00",
    "+1",
    "1e5",
    '"7"',
    "1000000000",
]
VALUES = [
    "null",
    "[]",
    "{}",
    '""',
    "true",
    "-1",
    "1.5",
    '"\\ud800"',
    '"\\u0000"',
    '["x"]',
    '{"a": 1}',
    "[[[]]]",
    "1e999",
    "NaN",
    "9" * 400,
    '"x\\n\\ty"',
    "[null]",
    "[1, 2, 3]",
    '{"": ""}',
    "[" * 3000 + "]" * 3000,
    "[" * 120 + "]" * 120,
]
SIGNS = [
    "\u202e",
    "\u2066",
    "\x1b[31m",
    "\u200b",
    "\ufeff",
    "e\u0301",
    "\u00a0",
    "\x85",
    "\u2028",
    "\r",
    "\x00",
    "\x9b",
    "\U0010ffff",
    "\ufdd0",
    "'",
    '"',
    "\\",
    "=cmd()",
    "../",
    "/",
    "%",
    "{",
    "<v>",
    "</v>",
    "_eos",
    " _eos ",
    "None",
]


def numbers(data: bytes, rng: random.Random) -> bytes:
    """Another number in the place of one."""
    found = list(re.finditer(rb"-?[0-9]+(?:\.[0-9]+)?", data))
    if not found:
        return data + rng.choice(NUMBERS).encode()
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(NUMBERS).encode() + data[place.end() :]


def values(data: bytes, rng: random.Random) -> bytes:
    """Another JSON value (or TOML, by chance) in the place of one."""
    found = list(re.finditer(rb'"(?:[^"\\]|\\.)*"|\[[^\[\]]*\]|\b(?:true|false|null)\b|-?[0-9.]+', data))
    if not found:
        return data
    place = rng.choice(found)
    return data[: place.start()] + rng.choice(VALUES).encode() + data[place.end() :]


def fields(data: bytes, rng: random.Random) -> bytes:
    """In one JSON line or file: a field away, another value, a field of another name, nested once more."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    for text, put in (
        (data, lambda new: new),
        (lines[at], lambda new: b"\n".join([*lines[:at], new, *lines[at + 1 :]])),
    ):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return bytes(put(json.dumps(_changed(value, rng)).encode()))
    return values(data, rng)


def _changed(value: object, rng: random.Random) -> object:
    if rng.random() < 0.25 or not isinstance(value, (dict, list)) or not value:
        return rng.choice(
            [None, [], {}, "", "x", -1, 10**30, 1.5, True, [value], {"x": value}, [value, value], "\u202e"]
        )
    if isinstance(value, list):
        at = rng.randrange(len(value))
        return rng.choice(
            [
                value[:at],
                value[at:] + value[:at],
                [*value[:at], _changed(value[at], rng), *value[at + 1 :]],
                value + value[at:],
            ]
        )
    key = rng.choice(list(value))
    if rng.random() < 0.3:
        return {k: v for k, v in value.items() if k != key}
    return {
        k if k != key or rng.random() < 0.9 else f"{k}x": _changed(v, rng) if k == key else v for k, v in value.items()
    }


def signs(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(SIGNS).encode("utf-8") * rng.choice([1, 1, 2, 300]) + data[at:]


def lines(data: bytes, rng: random.Random) -> bytes:
    """A line twice, away, moved or blank; a column away or twice."""
    parts = data.split(b"\n")
    at = rng.randrange(len(parts))
    kind = rng.randrange(6)
    if kind == 0:
        parts.insert(rng.randint(0, len(parts)), parts[at])
    elif kind == 1:
        del parts[at]
    elif kind == 2:
        rng.shuffle(parts)
    elif kind == 3:
        parts[at] = b""
    else:
        cells = parts[at].split(b"\t")
        cells = cells[:-1] if kind == 4 else [*cells, *cells[:1]]
        parts[at] = b"\t".join(cells)
    return b"\n".join(parts)


def swapped(data: bytes, rng: random.Random) -> bytes:
    """Two cells or words exchanged."""
    parts = re.split(rb"([\t\n ,:=]+)", data)
    if len(parts) < 4:
        return data[::-1]
    a, b = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[a], parts[b] = parts[b], parts[a]
    return b"".join(parts)


def deep(data: bytes, rng: random.Random) -> bytes:
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"a.", b""), (b"<p>", b"</p>")])
    many = rng.choice([50, 150, 2000, 20_000])
    at = rng.randint(0, len(data))
    return data[:at] + opening * many + rng.choice([b"1", b""]) + closing * many + data[at:]


CHANGES: list[Change] = [
    *BREAKS,
    numbers,
    numbers,
    values,
    values,
    fields,
    fields,
    fields,
    signs,
    signs,
    lines,
    lines,
    swapped,
    deep,
]


def damage(folder: Path, rng: random.Random) -> str:
    """Damage one file of a folder once or twice; some inputs stay whole. What was done, for the failure's name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files or rng.random() < 0.03:
        return "whole"
    victim = rng.choice(files)
    names = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        change = rng.choice(CHANGES)
        victim.write_bytes(change(victim.read_bytes(), rng)[: 1 << 22])
        names.append(change.__name__)
    if rng.random() < 0.02:
        victim.unlink()
        names.append("removed")
    return f"{victim.name}, {'+'.join(names)}"
