"""Guarded parsing of untrusted text: numbers, JSON, TOML and YAML. Every fault is a WholetextError with its place.
``printable`` is for the other direction: untrusted text that is shown.

All readers of files and of command-line values parse through these functions, so the bounds are the same everywhere:
nesting depth, digits of a number, expansion of YAML aliases, size of a settings file.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from wholetext.errors import InputError, MissingExtra, WholetextError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEPTH = 100  # nested lists and objects; real files have fewer than ten
DIGITS = 300  # of an integer: more would overflow a float
SETTINGS = 1 << 18  # bytes of a TOML or YAML file; real ones have a few thousand
_DOTS = 1000  # on a line of TOML, where the time for a dotted key grows with the square of its parts
_NODES = 20_000  # values of a YAML file with its aliases expanded

_HALF = "half of a surrogate pair without the other half, which is not a character"
_WHOLE = "write the character itself or both halves of its pair, or remove the half"
_SHORTER = f"write a number of at most {DIGITS} digits below 1e308, or quote it as text"
# C0 and C1 controls, line and paragraph separators, overrides and isolates of direction, halves of surrogate pairs
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
Error = type[WholetextError]
Number = TypeVar("Number", int, float)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_CONSTANT = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_SURROGATE = re.compile("[\\ud800-\\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = re.compile(rb'"[^"]*"?')
_ZEROS = bytes.maketrans(b"123456789E", b"000000000e")  # one digit and one exponent sign represent all
_NOT_BRACKETS = bytes(set(range(256)) - set(b'[]{}"'))


def integer(
    text: str, *, what: str = "an integer", low: int | None = None, high: int | None = None,
    where: str = "", next: str = "", error: Error = InputError,
) -> int:
    """An integer in ASCII digits, with blanks around it allowed; no underscores, at most ``DIGITS`` digits."""
    word = text.strip()
    if not _INTEGER.fullmatch(word):
        raise error(f"{_short(text)} is not {what}", where=where, next=next)
    if len(word) > DIGITS:
        raise error(f"this integer has {len(word)} digits, at most {DIGITS} are read", where=where, next=next)
    return _within(int(word), what, low, high, where, next, error)


def number(
    text: str, *, what: str = "a number", low: float | None = None, high: float | None = None, finite: bool = True,
    where: str = "", next: str = "", error: Error = InputError,
) -> float:
    """A decimal number such as ``-1.5e3``; ``nan`` and ``inf`` only where ``finite`` is false."""
    word = text.strip()
    if not finite and _CONSTANT.fullmatch(word):
        return float(word)
    if not _NUMBER.fullmatch(word):
        raise error(f"{_short(text)} is not {what}", where=where, next=next)
    value = float(word)
    if finite and not math.isfinite(value):
        raise error(f"{_short(text)} is not {what}: it is too large", where=where, next=next)
    return _within(value, what, low, high, where, next, error)


def plain_number(word: str) -> float | None:
    """A finite decimal number without blanks around it, as most are; None where ``number`` has to look closer."""
    return value if _NUMBER.fullmatch(word) and math.isfinite(value := float(word)) else None


def read_json(
    text: str | bytes, *, where: str = "", next: str = "", error: Error = InputError, constants: bool = False,
    unique: bool = True,
) -> Any:
    """A JSON value. ``constants`` admits NaN and Infinity; ``unique`` refuses an object that has a key twice.

    A lone surrogate, an integer of more than ``DIGITS`` digits, a number beyond a float and nesting deeper than
    ``DEPTH`` are errors. The line is added to ``where`` if the text has several.
    """
    try:
        source = _decoded(text)
        data = source.encode("utf-8")
        if data.count(b"[") + data.count(b"{") > DEPTH and _is_deep(data):
            raise InputError(f"this JSON is nested more than {DEPTH} levels deep", next="flatten its lists and objects")
        same = data.translate(_ZEROS, b"+")  # also finds the digits of strings, which costs only time
        value = _decoder(constants, unique, extreme=b"e000" in same or b"0" * DIGITS in same).decode(source)
        if _ESCAPED_SURROGATE.search(source) and _has_surrogate(value):
            raise InputError(_HALF, next=_WHOLE)
    except json.JSONDecodeError as fault:
        place = f"{where}:{fault.lineno}" if where and "\n" in source.strip() else where
        raise error(f"this is not JSON: {fault.msg} (column {fault.colno})", where=place, next=next) from None
    except UnicodeEncodeError:
        raise error(_HALF, where=where, next=_WHOLE if error is InputError else next) from None
    except InputError as fault:  # user-written files have a specific remedy, others are generated again
        raise error(fault.what, where=where, next=(error is InputError and fault.next) or next or fault.next) from None
    return value


def read_toml(data: str | bytes, *, where: str = "", next: str = "") -> dict[str, Any]:
    """A TOML document."""
    with _reading("TOML", where, next, InputError):
        source = _decoded(data, SETTINGS)
        for line, text in enumerate(source.split("\n"), 1):
            if text.count(".") > _DOTS:
                raise InputError(f"line {line} has more than {_DOTS} dots", next="break the line")
        found: dict[str, Any] = tomllib.loads(source)
        for value, depth in _walk(found):
            if depth > DEPTH:
                raise InputError(f"this TOML is nested more than {DEPTH} levels deep")
            if isinstance(value, int) and abs(value) >= 10**DIGITS:
                raise InputError(f"an integer here has more than {DIGITS} digits")
    return found


def read_yaml(text: str | bytes, *, where: str = "", next: str = "", error: Error = InputError) -> Any:
    """A YAML document by the safe loader: plain values only, and aliases expand to a bounded number of them."""
    try:
        import yaml
    except ImportError:
        raise MissingExtra("pyyaml", "models") from None
    with _reading("YAML", where, next, error):
        source = _decoded(text, SETTINGS)
        loader = yaml.SafeLoader(source)
        node = loader.get_single_node()  # nothing is built yet, and aliases are not expanded
        size, levels = _expanded(node, {}) if node else (0, 0)
        if levels > DEPTH:
            raise InputError(f"this YAML is nested more than {DEPTH} levels deep")
        if size > _NODES:
            raise InputError(f"the aliases of this YAML expand to more than {_NODES:,} values")
        value = loader.construct_document(node) if node else None
        if _has_surrogate(value):
            raise InputError(_HALF)
    return value


def file_bytes(path: Path, *, most: int = SETTINGS, next: str = "", error: Error = InputError) -> bytes:
    """The bytes of a regular file of at most ``most`` bytes; a device, a pipe or a larger file is an error."""
    try:
        if not path.is_file():
            raise error("it cannot be read: there is no such file", where=str(path), next=next or "check the path")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the path
        raise error(f"this file cannot be read ({fault})", where=str(path), next=next) from None
    if len(data) > most:
        raise error(f"this file has more than {most:,} bytes", where=str(path), next=next)
    return data


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters as visible escapes (``\x1b``, ``\u202e``, ``\n``), except those to ``keep``.

    Beyond ASCII the escapes are also JSON's, so that JSON stays JSON.
    """

    def escaped(found: re.Match[str]) -> str:
        char = found[0]
        escape = _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 0x20 else f"\\u{ord(char):04x}")
        return char if char in keep else escape

    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(escaped, text)


def _within(
    value: Number, what: str, low: float | None, high: float | None, where: str, next: str, error: Error
) -> Number:
    if (low is None or value >= low) and (high is None or value <= high):
        return value
    right = f"at most {high}" if low is None else f"at least {low}" if high is None else f"between {low} and {high}"
    raise error(f"{_short(str(value))} is not {what} {right}", where=where, next=next)


def _short(text: str) -> str:
    """A value of the user's in quotes, cut at 60 characters."""
    shown = " ".join(text.split())
    return repr(shown if len(shown) <= 60 else shown[:57] + "…")


def _decoded(text: str | bytes, most: int | None = None) -> str:
    try:
        source = text if isinstance(text, str) else text.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InputError(f"this is not valid UTF-8 at byte {fault.start}", next="save it as UTF-8") from None
    if most is not None and len(source) > most:
        raise InputError(f"this file has more than {most:,} characters")
    return source


@contextmanager
def _reading(kind: str, where: str, next: str, error: Error) -> Iterator[None]:
    """Whatever is wrong with a settings file is an ``error`` at its place."""
    try:
        yield
    except InputError as fault:
        raise error(fault.what, where=where, next=next or fault.next) from None
    except RecursionError:
        raise error(f"this {kind} is nested too deeply", where=where, next=next) from None
    except Exception as fault:  # of the parser, or dates that do not exist, huge numbers …
        reason = " ".join(str(fault).split())
        reason = reason if len(reason) <= 200 else reason[:199] + "…"
        raise error(f"this is not {kind}: {reason}", where=where, next=next) from None


@cache
def _decoder(constants: bool, unique: bool, extreme: bool) -> json.JSONDecoder:
    """Hooks for every number are slow, so they are set only where a number is ``extreme``."""
    hooks: dict[str, Any] = {}
    if not constants:
        hooks["parse_constant"] = _constant
    if unique:
        hooks["object_pairs_hook"] = _unique
    if extreme:
        hooks["parse_int"] = partial(integer, next=_SHORTER)
        hooks["parse_float"] = partial(number, finite=not constants, next=_SHORTER)
    return json.JSONDecoder(**hooks)


def _constant(word: str) -> NoReturn:
    raise InputError(f"this JSON contains {word}, which is not a number", next="write null where there is no value")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"the key {_short(twice)} occurs twice")
    return found


def _is_deep(data: bytes) -> bool:
    """Whether brackets are nested more than ``DEPTH`` deep (malformed JSON: at most twice as deep where not).

    All steps are single passes over bytes: a loop over the characters would take longer than parsing.
    """
    marks = data.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _NOT_BRACKETS)
    brackets = _STRING.sub(b"", marks.replace(b'""', b""))
    for _ in range(DEPTH):  # each round removes the innermost pairs
        size = len(brackets)
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(brackets) == size:
            break
    return brackets.count(b"[") + brackets.count(b"{") > DEPTH or (b"[]" in brackets or b"{}" in brackets)


def _walk(value: Any) -> Iterable[tuple[Any, int]]:
    """Every value and key inside a value with its depth, without recursion."""
    stack = [(value, 0)]
    while stack:
        one, depth = stack.pop()
        yield one, depth
        if depth > DEPTH:
            continue
        if isinstance(one, dict):
            stack += [(part, depth + 1) for item in one.items() for part in item]
        elif isinstance(one, (list, tuple, set)):
            stack += [(part, depth + 1) for part in one]


def _has_surrogate(value: Any) -> bool:
    return any(isinstance(one, str) and _SURROGATE.search(one) for one, _ in _walk(value))


def _expanded(node: Any, known: dict[int, tuple[float, int]]) -> tuple[float, int]:
    """How many values and levels a YAML node has with its aliases expanded; each node is looked at once."""
    if id(node) not in known:
        known[id(node)] = math.inf, 0  # what an alias inside its own anchor finds
        parts = [] if isinstance(node.value, str) else node.value
        inside = [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]
        found = [_expanded(one, known) for one in inside]
        levels = 1 + max((below for _, below in found), default=0) if parts else 0
        known[id(node)] = 1 + sum(size for size, _ in found), levels
    return known[id(node)]
