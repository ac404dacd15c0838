"""Spec strings, ``[view:]metric[@model[#revision]]`` with named arguments: parsed and printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from wholetext.errors import SpecError
from wholetext.files.parsing import integer, number

Value = str | int | float | bool | None
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+.-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BARE = re.compile(r"[^\s,()=\"':@#]+")
_INT, _FLOAT = (
    re.compile(r"[+-]?[0-9]+"),
    re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][+-]?[0-9]+)?"),
)
_FORM = "a spec reads [view:]metric[@model[#revision]], e.g. context(prev=2):chrf"
_WORDS: Mapping[str, Value] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Call:
    """A name with named arguments: ``slide(size=6,step=6)``."""

    name: str
    args: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", MappingProxyType(dict(self.args)))

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.args.items())))

    def __str__(self) -> str:
        if not self.args:
            return self.name
        return (
            f"{self.name}({','.join(f'{key}={_write(value)}' for key, value in self.args.items())})"
        )


@dataclass(frozen=True)
class Spec:
    """A parsed spec string; ``str(spec)`` gives it back."""

    metric: Call
    view: Call | None = None
    model: str | None = None
    revision: str | None = None

    def __str__(self) -> str:
        text = f"{self.view}:{self.metric}" if self.view else str(self.metric)
        if self.model:
            text += f"@{self.model}"
            if self.revision:
                text += f"#{self.revision}"
        return text


def parse(text: str) -> Spec:
    """Read a spec string; a fault is shown with a caret under it."""
    cursor = _Cursor(text)
    first = cursor.call("a view or metric name")
    view, metric = None, first
    if cursor.take(":"):
        view, metric = first, cursor.call("a metric name")
    name = revision = ""
    if cursor.take("@"):
        name, revision = cursor.model()
    elif cursor.at < len(text):
        raise caret(text, cursor.at, f"unexpected {text[cursor.at]!r}", _FORM)
    return Spec(metric, view, name or None, revision or None)


def given_parameters(text: str) -> list[str]:
    """Parameters that a spec sets, as signatures name them: ``view.`` before those of the view."""
    spec = parse(text)
    return [*(f"view.{name}" for name in (spec.view.args if spec.view else ())), *spec.metric.args]


def _write(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if (_INT.fullmatch(value) or _FLOAT.fullmatch(value)) or not value:
        return f'"{value}"'
    if _BARE.fullmatch(value) and isinstance(_read(value), str):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(word: str) -> Value:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if _INT.fullmatch(word):
        return integer(word, error=SpecError)
    if _FLOAT.fullmatch(word):
        return number(word, error=SpecError)
    return word


def caret(text: str, at: int, what: str, next: str = "") -> SpecError:
    """A SpecError that shows ``text`` with a caret under position ``at``."""
    return SpecError(f"{what}\n  {text}\n  {' ' * at}^", next=next)


@dataclass
class _Cursor:
    """A position in a spec string."""

    text: str
    at: int = 0

    def blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def take(self, mark: str) -> bool:
        self.blank()
        present = self.text.startswith(mark, self.at)
        self.at += len(mark) if present else 0
        return present

    def match(self, pattern: re.Pattern[str], expected: str) -> str:
        self.blank()
        matched = pattern.match(self.text, self.at)
        if not matched:
            got = "the spec ends" if self.at >= len(self.text) else f"found {self.text[self.at]!r}"
            raise caret(self.text, self.at, f"expected {expected} here, but {got}", _FORM)
        self.at = matched.end()
        return matched.group()

    def call(self, expected: str) -> Call:
        name = self.match(_NAME, expected)
        args: dict[str, Value] = {}
        if self.take("(") and not self.take(")"):
            while True:
                self.blank()
                at = self.at
                if re.match("[0-9\"']", self.text[at : at + 1]):
                    raise caret(
                        self.text,
                        at,
                        f"arguments of {name} are named, and this is a value alone",
                        f"write {name}(NAME=VALUE,…); `wholetext show {name}` lists the names",
                    )
                key = self.match(_KEY, "an argument name")
                if key in args:
                    raise caret(
                        self.text, at, f"argument {key!r} is given twice", "keep one of them"
                    )
                if not self.take("="):
                    raise caret(
                        self.text,
                        at,
                        f"arguments are named: {key!r} has no value",
                        f"write {key}=… ",
                    )
                args[key] = self.value()
                if self.take(")"):
                    break
                if not self.take(","):
                    raise caret(
                        self.text,
                        self.at,
                        "expected ',' or ')' here",
                        "arguments read name=value,name=value; values with other signs go in quotes",
                    )
        return Call(name, args)

    def value(self) -> Value:
        self.blank()
        if self.at < len(self.text) and self.text[self.at] in "\"'":
            return self.quoted()
        word = self.match(_BARE, "a value")
        try:
            return _read(word)
        except SpecError as fault:
            raise caret(
                self.text, self.at - len(word), fault.what, "write a smaller number"
            ) from None

    def quoted(self) -> str:
        begin, quote = self.at, self.text[self.at]
        out: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == quote:
                return "".join(out)
            if char == "\\" and self.at < len(self.text):
                char = self.text[self.at]
                self.at += 1
            out.append(char)
        raise caret(self.text, begin, "this quote is never closed", f"end the value with {quote}")

    def model(self) -> tuple[str, str]:
        """Everything after ``@``: a hub name or a path, then an optional ``#revision``."""
        rest = self.text[self.at :].strip()
        name, _, revision = rest.rpartition("#") if "#" in rest else (rest, "", "")
        if not name:
            raise caret(
                self.text,
                self.at,
                "expected a model name or folder after '@'",
                "e.g. bertscore@minilm, comet@Unbabel/wmt22-comet-da#main",
            )
        return name, revision
