"""``wholetext.json``: what a learned metric is: form, base model by content, scale.

Plain data (JSON, TOML) become frozen dataclasses: every key and every type is checked, a wrong one named.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from wholetext.errors import ModelError, WholetextError, did_you_mean
from wholetext.files.parsing import file_bytes, read_json

FILE, WEIGHTS, CARD = "wholetext.json", "weights.safetensors", "README.md"
FORMAT = 1
Side = Literal["hyp", "src", "ref"]
T = TypeVar("T")


@dataclass(frozen=True)
class Adapter:
    """How much of the base model is trained: nothing, low-rank additions, or all of it."""

    kind: Literal["frozen", "lora", "full"] = "frozen"
    rank: int = 8
    alpha: float = 16.0
    linears: tuple[
        str, ...
    ] = ()  # last parts of layer names; none: the queries and values of attention


@dataclass(frozen=True)
class HeadShape:
    """The feed-forward network over the features, which are standardised first."""

    hidden: tuple[int, ...] = (64,)
    activation: Literal["tanh", "relu", "gelu"] = "tanh"


@dataclass(frozen=True)
class Scale:
    """What the numbers mean: ``shift + scale · prediction``, within ``low`` … ``high``."""

    meaning: str = ""
    shift: float = 0.0
    scale: float = 1.0
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True


@dataclass(frozen=True)
class Penalty:
    """A second output on the scale of MQM: ``-rate · words^length · (1 - score / 100)^shape``.

    Words are those of the reference (of the hypothesis where none is read).
    """

    rate: float  # penalty of a word of the worst text
    length: float = 1.0
    shape: float = 1.0


@dataclass(frozen=True)
class Config:
    """A learned metric: its form, base model, what was trained, and what its numbers mean."""

    form: str
    base: str  # name or folder of the base model; "": this folder holds the whole model
    content: str  # commit or content hash of the base model
    reads: tuple[Side, ...] = ("hyp", "ref")
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the form
    adapter: Adapter = Adapter()
    head: HeadShape | None = HeadShape()  # None: the base model predicts the score directly
    output: Scale = Scale()
    penalty: Penalty | None = None  # None: there is no such output
    version: str = ""  # as the metric's makers count
    targets: tuple[str, ...] = ()  # languages of the outputs it was trained on; none: not known
    joiner: Literal["auto", "space", "none"] = "auto"  # between sentences in training
    format: int = FORMAT


def read_config(folder: Path) -> Config:
    """Read ``wholetext.json``; every fault in it is named."""
    path = folder / FILE
    if not path.is_file():
        raise ModelError(
            f"there is no {FILE}",
            where=str(folder),
            next="give the folder that `wholetext train` wrote",
        )
    given = read_json(
        file_bytes(path, error=ModelError),
        where=str(path),
        next="copy or train it again",
        error=ModelError,
    )
    if isinstance(given, dict) and given.get("format", FORMAT) != FORMAT:
        raise ModelError(
            f"it has the format {given['format']!r}, and this version reads {FORMAT}",
            where=str(path),
            next="use the version of wholetext that wrote it",
        )
    config = fill(Config, given, str(path))
    if (
        "hyp" not in config.reads
        or len(config.reads) < 2
        or len(set(config.reads)) < len(config.reads)
    ):
        raise ModelError(
            f"reads is {list(config.reads)}: it must contain hyp, and at least one of ref and src",
            where=str(path),
        )
    return config


def fill(
    kind: type[T],
    given: Any,
    where: str,
    inside: str = "",
    error: type[WholetextError] = ModelError,
) -> T:
    """A dataclass from a mapping; fields that are not given keep their defaults."""
    if not isinstance(given, Mapping):
        raise error(f"{inside.rstrip('.') or 'it'} is not a table of names and values", where=where)
    hints = typing.get_type_hints(kind)
    known = {item.name: item for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in given:
        if key not in known:
            raise error(
                f"there is no setting {inside}{key}",
                where=where,
                next=did_you_mean(str(key), list(known)) or f"there are {', '.join(known)}",
            )
    for name, item in known.items():
        required = (
            item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        )
        if required and name not in given:
            raise error(f"the setting {inside}{name} is missing", where=where)
    return kind(
        **{
            key: _value(hints[key], value, where, f"{inside}{key}", error)
            for key, value in given.items()
        }
    )


def _value(hint: Any, value: Any, where: str, name: str, error: type[WholetextError]) -> Any:
    """A value as its field's type, or an error that names the field."""
    outer, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return fill(hint, value, where, f"{name}.", error)
    if outer in (typing.Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return _value(
            next(item for item in inner if item is not type(None)), value, where, name, error
        )
    if outer is Literal:
        if value not in inner:
            raise error(
                f"{name} is one of {', '.join(map(str, inner))}; got {value!r}",
                where=where,
                next=did_you_mean(str(value), [str(item) for item in inner]),
            )
        return value
    if outer is tuple:
        if not isinstance(value, (list, tuple)):
            raise error(f"{name} is a list; got {value!r}", where=where)
        return tuple(
            _value(inner[0], item, where, f"{name}[{i}]", error) for i, item in enumerate(value)
        )
    if outer is not None and isinstance(value, Mapping):
        return dict(value)
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint:
        raise error(f"{name} takes {getattr(hint, '__name__', hint)}; got {value!r}", where=where)
    if hint is float and not math.isfinite(value):
        raise error(f"{name} is not a finite number", where=where)
    return value


def plain(value: Any) -> Any:
    """The other way: a dataclass as JSON-ready data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return (
        {key: plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value
    )
