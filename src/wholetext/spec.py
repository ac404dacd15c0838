"""Spec strings, ``[view:]metric[@model[#revision]]`` with named arguments: parsed and printed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from wholetext.errors import SpecError

Value = str | int | float | bool | None
# a name, a key and a quoted value have blanks after them; a name may have empty parentheses
_NAME = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9_+.-]*)[ \t]*(?:\([ \t]*\)[ \t]*)?")
_KEY = re.compile(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
_BARE = re.compile(r"[^\s,()=\"':@#]+")
_VALUE, _END = re.compile(rf"({_BARE.pattern})[ \t]*"), re.compile(r"\)[ \t]*")
_QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1|\\).)*)\1[ \t]*""", re.DOTALL)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][+-]?[0-9]+)?")
_FORM = "a spec reads [view:]metric[@model[#revision]], e.g. context(prev=2):chrf"
_WORDS: Mapping[str, Value] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Call:
    """A name with named arguments: ``slide(size=6,step=6)``."""

    name: str
    args: Mapping[str, Value] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.args.items())))

    def __str__(self) -> str:
        args = ",".join(f"{key}={_write(value)}" for key, value in self.args.items())
        return f"{self.name}({args})" if args else self.name


@dataclass(frozen=True)
class Spec:
    """A parsed spec string; ``str(spec)`` gives it back."""

    metric: Call
    view: Call | None = None
    model: str | None = None
    revision: str | None = None

    def __str__(self) -> str:
        text = f"{self.view}:{self.metric}" if self.view else str(self.metric)
        model = f"@{self.model}" if self.model else ""
        return f"{text}{model}#{self.revision}" if model and self.revision else text + model


def parse(text: str) -> Spec:
    """Read a spec string; a fault is shown with a caret under it."""
    view, (metric, at) = None, _call(text, 0, "a view or metric name")
    if text.startswith(":", at):
        view, (metric, at) = metric, _call(text, at + 1, "a metric name")
    if at == len(text):
        return Spec(metric, view)
    if text[at] != "@":
        raise caret(text, at, f"unexpected {text[at]!r}", _FORM)
    model, mark, revision = text[at + 1 :].strip().rpartition("#")
    if not mark:
        model, revision = revision, ""
    if not model:
        raise caret(
            text,
            at + 1,
            "expected a model name or folder after '@'",
            "e.g. bertscore@minilm, comet@Unbabel/wmt22-comet-da#main",
        )
    return Spec(metric, view, model, revision or None)


def caret(text: str, at: int, what: str, next: str = "") -> SpecError:
    """A SpecError that shows ``text`` with a caret under position ``at``."""
    return SpecError(f"{what}\n  {text}\n  {' ' * at}^", next=next)


def _write(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if _BARE.fullmatch(value) and not _NUMBER.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _call(text: str, at: int, expected: str) -> tuple[Call, int]:
    """Read a name with its arguments; return it with the position after it."""
    word = _NAME.match(text, at)
    if word is None:
        at = len(text) - len(text[at:].lstrip(" \t"))
        place = f"found {text[at]!r}" if at < len(text) else "the spec ends"
        raise caret(text, at, f"expected {expected} here, but {place}", _FORM)
    name, at = word[1], word.end()
    args: dict[str, Value] = {}
    mark = text[at : at + 1]
    if mark != "(":
        return Call(name, args), at
    while mark in ("(", ","):
        key = _KEY.match(text, at + 1)
        if key is None:
            raise caret(
                text,
                at + 1,
                f"arguments of {name} are named, and this has no name and value",
                f"write {name}(NAME=VALUE,…); `wholetext list {name}` lists the names",
            )
        if key[1] in args:
            raise caret(text, key.start(1), f"{key[1]!r} is given twice", "keep one of them")
        args[key[1]], at = _value(text, key.end())
        mark = text[at : at + 1]
    if not (end := _END.match(text, at)):
        advice = "arguments read name=value,name=value; values with other signs go in quotes"
        raise caret(text, at, "expected ',' or ')' here", advice)
    return Call(name, args), end.end()


def _value(text: str, at: int) -> tuple[Value, int]:
    if quoted := _QUOTED.match(text, at):
        return re.sub(r"(?s)\\(.)", r"\1", quoted[2]), quoted.end()
    if text.startswith(("'", '"'), at):
        raise caret(text, at, "this quote is never closed", f"end the value with {text[at]}")
    bare = _VALUE.match(text, at)
    if bare is None:
        raise caret(text, at, "expected a value here", _FORM)
    word = bare[1]
    value: Value = _WORDS.get(word.lower(), word)
    if _NUMBER.fullmatch(word):
        value = int(word) if _INTEGER.fullmatch(word) and len(word) <= 300 else float(word)
        if math.isinf(value):
            raise caret(text, at, "this number is too large", "write a smaller number")
    return value, bare.end()
