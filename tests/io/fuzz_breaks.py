"""Ways to break a file: cut, wrong encoding or count, huge lines, binary, odd characters, broken gzip, XML bombs."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable

ENCODINGS = ["utf-16", "utf-32", "latin-1", "cp1252", "shift_jis", "gb18030", "utf-8-sig", "koi8-r", "utf-7"]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def binary(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.randbytes(rng.choice([1, 2, 8, 300])) + data[at:]


def all_binary(data: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([0, 1, 100, 5000]))


def flip(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(min(len(out), rng.choice([1, 3, 20]))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def mixed_encoding(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    encoding = rng.choice(ENCODINGS)
    for i in range(len(lines)) if rng.random() < 0.4 else [rng.randrange(len(lines))]:
        lines[i] = lines[i].decode("utf-8", "replace").encode(encoding, "replace")
    return b"\n".join(lines)


def wrong_count(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    return b"\n".join(
        rng.choice(
            [
                lines[:at] + lines[at + 1 :],
                [*lines[:at], lines[at], *lines[at:]],
                [*lines[:at], b"", *lines[at:]],
                lines[at:] + lines[:at],
                [*lines, b"", b""],
            ]
        )
    )


def huge_line(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return (
        data[:at]
        + rng.choice([b"x", "猫".encode(), b" a", b" ", b"[", b"<a>", b"\t", b'{"a":', b"\\"])
        * rng.choice([5000, 100_000])
        + data[at:]
    )


def odd_characters(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    odd = [
        b"\0",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        "\u2028".encode(),
        "\u0085".encode(),
        b"\r",
        b"\r\n",
        b"\x1a",
        b"\x1b[31m",
        b"\xff\xfe",
        b"\\ud800",
        b"\\u0000",
        "\u202e".encode(),
        b"\n",
        b"\t",
        b"&#0;",
        b"&#xD800;",
        b"NaN",
        b"null",
        b"1e999",
    ]
    return data[:at] + rng.choice(odd) * rng.choice([1, 1, 50]) + data[at:]


def shuffle_structure(data: bytes, rng: random.Random) -> bytes:
    """Exchange or drop the characters that structure a file."""
    marks = [
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"<",
        b">",
        b"\t",
        b"\n",
        b"/",
        b"id",
        b"doc",
        b"src",
        b"hyp",
        b"sys",
        b"ref",
    ]
    old = rng.choice(marks)
    places = data.count(old)
    if not places:
        return truncate(data, rng)
    parts = data.split(old)
    at = rng.randint(1, places)
    return old.join(parts[:at]) + rng.choice([b"", *marks]) + old.join(parts[at:])


def line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\r", "\u2028".encode(), b"\n\n"]))


def zipped(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data)
    return rng.choice([packed, truncate(packed, rng), flip(packed, rng), packed + b"tail", packed + packed])


def bomb(data: bytes, rng: random.Random) -> bytes:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    return f"<!DOCTYPE d [{entities}]>".encode() + data.split(b"?>")[-1].replace(b"</seg>", b"&e11;</seg>")


BREAKS: list[Callable[[bytes, random.Random], bytes]] = [
    truncate,
    binary,
    all_binary,
    flip,
    mixed_encoding,
    wrong_count,
    huge_line,
    odd_characters,
    shuffle_structure,
    line_ends,
    zipped,
    bomb,
]
