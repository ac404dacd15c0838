"""Parsing of untrusted text: numbers, JSON, TOML and YAML; faults name their place.

``printable`` is for the other direction: untrusted text that is shown.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, NoReturn, ParamSpec, TypeVar

from wholetext.errors import InputError, WholetextError, optional

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DIGITS = 300  # of an integer: more would overflow a float

# controls, separators of lines, overrides and isolates of direction, halves of surrogate pairs
_HIDDEN = (
    *range(0x20),
    *range(0x7F, 0xA0),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xFFF9, 0xFFFC),
    *range(0xD800, 0xE000),
)
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x20 else f"\\u{code:04x}" for code in _HIDDEN}
_ESCAPES |= {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_TABLES = {
    keep: {code: escape for code, escape in _ESCAPES.items() if chr(code) not in keep}
    for keep in ("", "\n", "\n\t")
}
Error = type[WholetextError]
Source = TypeVar("Source")
Value = TypeVar("Value")
Rest = ParamSpec("Rest")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_CONSTANT = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@contextmanager
def reading(
    where: str, next: str = "", error: Error = InputError, what: str = ""
) -> Iterator[None]:
    """Convert whatever a parser raises to one ``error`` that names the file."""
    try:
        yield
    except WholetextError:
        raise
    except Exception as fault:
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise error(
            f"{what or 'it cannot be read'}: {reason[:200]}", where=where, next=next
        ) from fault


def reader(
    function: Callable[Concatenate[Source, Rest], Value],
) -> Callable[Concatenate[Source, Rest], Value]:
    """Decorate a reader of a file: unforeseen faults become an InputError that names it."""

    @wraps(function)
    def guarded(source: Source, /, *args: Rest.args, **options: Rest.kwargs) -> Value:
        with reading(str(source) if isinstance(source, (str, Path)) else ""):
            return function(source, *args, **options)

    return guarded


def integer(
    text: str,
    *,
    what: str = "an integer",
    low: int | None = None,
    high: int | None = None,
    where: str = "",
    next: str = "",
    error: Error = InputError,
) -> int:
    """Parse an integer in at most ``DIGITS`` ASCII digits, with blanks around it allowed."""
    word = text.strip()
    value = int(word) if _INTEGER.fullmatch(word) and len(word) <= DIGITS else None
    if value is None or (low is not None and value < low) or (high is not None and value > high):
        limits = "" if low is None else f" from {low}" + ("" if high is None else f" to {high}")
        raise error(f"{_short(text)} is not {what}{limits}", where=where, next=next)
    return value


def number(
    text: str,
    *,
    what: str = "a number",
    low: float = -math.inf,
    finite: bool = True,
    where: str = "",
    next: str = "",
    error: Error = InputError,
) -> float:
    """Parse a decimal number such as ``-1.5e3``; ``nan`` and ``inf`` unless ``finite``."""
    word = text.strip()
    if not finite and _CONSTANT.fullmatch(word):
        return float(word)
    value = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not math.isfinite(value) or value < low:
        limits = "" if math.isinf(low) else f" from {low}"
        raise error(f"{_short(text)} is not {what}{limits}", where=where, next=next)
    return value


def read_json(
    text: str | bytes,
    *,
    where: str = "",
    next: str = "",
    error: Error = InputError,
    constants: bool = False,
) -> Any:
    """Parse JSON; ``constants`` admits NaN and Infinity.

    The line is added to ``where`` if the text has several.
    """
    with reading(where, next, error, "this is not JSON"):
        source = text if isinstance(text, str) else text.decode("utf-8-sig")
        try:
            value = (_JSON_WITH_CONSTANTS if constants else _JSON).decode(source)
        except json.JSONDecodeError as fault:
            place = f"{where}:{fault.lineno}" if where and "\n" in source.strip() else where
            what = f"this is not JSON: {fault.msg} (column {fault.colno})"
            raise error(what, where=place, next=next) from None
        if _ESCAPED_SURROGATE.search(source):  # half of a pair is not a character
            json.dumps(value, ensure_ascii=False).encode()
    return value


def read_toml(data: str | bytes, *, where: str = "", next: str = "") -> dict[str, Any]:
    """Parse a TOML document."""
    with reading(where, next, what="this is not TOML"):
        return dict(tomllib.loads(data if isinstance(data, str) else data.decode("utf-8-sig")))


def read_yaml(
    text: str | bytes, *, where: str = "", next: str = "", error: Error = InputError
) -> Any:
    """Parse a YAML document by the safe loader: plain values only."""
    yaml = optional("yaml", "models", "pyyaml")
    with reading(where, next, error, "this is not YAML"):
        return yaml.safe_load(text if isinstance(text, str) else text.decode("utf-8-sig"))


def file_bytes(path: Path, *, next: str = "", error: Error = InputError) -> bytes:
    """Return the bytes of a regular file; a device or a pipe is an error."""
    with reading(str(path), next or "check the path", error):
        if not path.is_file():
            raise FileNotFoundError("there is no such file")
        return path.read_bytes()


def printable(text: str, keep: Literal["", "\n", "\n\t"] = "") -> str:
    r"""Escape control characters visibly (``\x1b``, ``\u202e``, ``\n``), except those to ``keep``.

    Beyond ASCII the escapes are also JSON's, so that JSON stays JSON.
    """
    if text.isprintable() and text.isascii():
        return text
    return text.translate(_TABLES[keep])


def _short(text: str) -> str:
    """Quote a value of the user's, cut at 60 characters."""
    shown = " ".join(text.split())
    return repr(shown if len(shown) <= 60 else shown[:57] + "…")


def _constant(word: str) -> NoReturn:
    raise ValueError(
        f"it contains {word}, which is not a number; write null where there is no value"
    )


_JSON, _JSON_WITH_CONSTANTS = json.JSONDecoder(parse_constant=_constant), json.JSONDecoder()
