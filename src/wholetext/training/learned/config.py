"""``wholetext.json``: what a learned metric is: form, base model by content, scale.

Plain data (JSON, TOML) become frozen dataclasses: every key and every type is checked.
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

from wholetext.errors import ModelError, WholetextError, choices, did_you_mean
from wholetext.files.parsing import file_bytes, read_json
from wholetext.models.device import Precision
from wholetext.models.hub.locate import Located
from wholetext.types import Runtime

FILE, WEIGHTS, CARD = "wholetext.json", "weights.safetensors", "README.md"
FORMAT = 1
Side = Literal["hyp", "src", "ref"]
T = TypeVar("T")


@dataclass(frozen=True)
class HeadShape:
    """The feed-forward network over the features, which are standardised first."""

    hidden: tuple[int, ...] = (64,)
    activation: Literal["tanh", "gelu"] = "tanh"


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
    adapter: Mapping[str, Any] = field(default_factory=dict)  # written by 0.2, no longer used
    head: HeadShape | None = HeadShape()  # None: the base model predicts the score directly
    output: Scale = Scale()
    penalty: Penalty | None = None  # None: there is no such output
    version: str = ""  # of the metric, for people
    targets: tuple[str, ...] = ()  # languages of the outputs it was trained on; none: not known
    joiner: Literal["auto", "space", "none"] = "auto"  # between sentences in training
    format: int = FORMAT


@dataclass(frozen=True, eq=False)
class Opening:
    """Arguments of a form. ``run`` provides shared models; a form does not keep it."""

    config: Config
    base: Located  # the base model, checked
    precision: Precision
    run: Runtime


def read_config(folder: Path) -> Config:
    """Read ``wholetext.json``."""
    path, again = folder / FILE, "give a folder that this version's `wholetext train` wrote"
    data = file_bytes(path, error=ModelError, next=again)
    config = fill(Config, read_json(data, where=str(path), next=again, error=ModelError), str(path))
    if config.format != FORMAT or not reads_well(config.reads):
        raise ModelError(
            f"its format is {config.format} and it reads {', '.join(config.reads) or 'nothing'}",
            where=str(path),
            next=again,
        )
    return config


def reads_well(reads: tuple[str, ...]) -> bool:
    """Whether a metric reads the hypothesis and something to compare it with."""
    return "hyp" in reads and 2 <= len(set(reads)) == len(reads)


def fill(
    kind: type[T],
    values: Any,
    where: str,
    inside: str = "",
    error: type[WholetextError] = ModelError,
) -> T:
    """Make a dataclass from a mapping; fields without a value keep their defaults."""
    try:
        return _filled(kind, values, inside)
    except TypeError as fault:
        what, step = (*fault.args, "")[:2]
        raise error(what, where=where, next=step) from None


def _filled(kind: type[T], values: Any, inside: str) -> T:
    _check(isinstance(values, Mapping), f"{inside.rstrip('.') or 'it'} is not a table")
    fields = {item.name: item for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in values:
        _check(key in fields, f"there is no setting {inside}{key}", choices(str(key), fields))
    for name, item in fields.items():
        optional = (item.default, item.default_factory) != (dataclasses.MISSING,) * 2
        _check(optional or name in values, f"the setting {inside}{name} is missing")
    hints = typing.get_type_hints(kind)
    return kind(
        **{key: _value(hints[key], value, f"{inside}{key}") for key, value in values.items()}
    )


def _value(hint: Any, value: Any, name: str) -> Any:
    """A value as its field's type."""
    outer, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _filled(hint, value, f"{name}.")
    if outer is types.UnionType:  # X | None
        return None if value is None else _value(inner[0], value, name)
    if outer is Literal:
        allowed = list(map(str, inner))
        what = f"{name} is one of {', '.join(allowed)}; got {value!r}"
        _check(value in inner, what, did_you_mean(str(value), allowed))
        return value
    if outer is tuple:
        value = [value] if isinstance(value, str) else value
        _check(isinstance(value, (list, tuple)), f"{name} is a list; got {value!r}")
        return tuple(_value(inner[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if hint is float and type(value) is int:
        value = float(value)
    plain_type = dict if outer else hint
    _check(type(value) is plain_type, f"{name} takes {plain_type.__name__}; got {value!r}")
    _check(hint is not float or math.isfinite(value), f"{name} is not a finite number")
    return value


def _check(good: bool, what: str, step: str = "") -> None:
    if not good:
        raise TypeError(what, step)


def plain(value: Any) -> Any:
    """The reverse of ``fill``: a dataclass as JSON-ready data."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
