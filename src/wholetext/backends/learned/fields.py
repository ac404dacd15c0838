"""Plain data (JSON, TOML) → frozen dataclasses: every key and every type checked, a wrong one named."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from wholetext.errors import WholetextError, did_you_mean

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where plain data comes from, and which error a fault in it is."""

    where: str
    error: type[WholetextError] = WholetextError

    def fault(self, what: str, next: str = "") -> WholetextError:
        return self.error(what, where=self.where, next=next)


def fill(kind: type[T], given: Any, origin: Origin, inside: str = "") -> T:
    """A dataclass from a mapping; fields that are not given keep their defaults."""
    if not isinstance(given, Mapping):
        raise origin.fault(f"{inside.rstrip('.') or 'it'} is not a table of names and values")
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in given:
        if key not in known:
            raise origin.fault(f"there is no setting {inside}{key}",
                               did_you_mean(str(key), list(known)) or f"there are {', '.join(known)}")
    for name, field in known.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in given:
            raise origin.fault(f"the setting {inside}{name} is missing")
    return kind(**{key: value_of(hints[key], value, origin, f"{inside}{key}") for key, value in given.items()})


def value_of(hint: Any, value: Any, origin: Origin, name: str) -> Any:
    """A value as its field's type, or an error that names the field."""
    outer, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return fill(hint, value, origin, f"{name}.")
    if outer in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return value_of(next(each for each in inner if each is not type(None)), value, origin, name)
    if outer is typing.Literal:
        if value not in inner:
            raise origin.fault(f"{name} is one of {', '.join(map(str, inner))}; got {value!r}",
                               did_you_mean(str(value), [str(each) for each in inner]))
        return value
    if outer is tuple:
        if not isinstance(value, (list, tuple)):
            raise origin.fault(f"{name} is a list; got {value!r}")
        return tuple(value_of(inner[0], each, origin, f"{name}[{i}]") for i, each in enumerate(value))
    if outer is not None and isinstance(value, Mapping):
        return dict(value)
    return _plain(hint, value, origin, name)


def _plain(hint: Any, value: Any, origin: Origin, name: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not hint:
        raise origin.fault(f"{name} takes {getattr(hint, '__name__', hint)}; got {value!r}")
    if hint is float and not math.isfinite(value):
        raise origin.fault(f"{name} is not a finite number")
    return value


def plain(made: Any) -> Any:
    """The other way: a dataclass as JSON-ready data."""
    if dataclasses.is_dataclass(made) and not isinstance(made, type):
        return {field.name: plain(getattr(made, field.name)) for field in dataclasses.fields(made)}
    if isinstance(made, (list, tuple)):
        return [plain(each) for each in made]
    return {key: plain(each) for key, each in made.items()} if isinstance(made, Mapping) else made
