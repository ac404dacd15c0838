"""Folders of learned metrics: ``wholetext.json``, trained tensors, the base model by its content.

Plain data (JSON, TOML) become frozen dataclasses: every key and every type is checked.
``weights.safetensors`` must hold exactly the tensors expected by name and shape.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import ModelError, WholetextError, choices
from wholetext.files.output_folder import LIST, OwnFolder, read_list, replacing_folder
from wholetext.files.parsing import file_bytes, read_json, reading
from wholetext.files.storage import sha256
from wholetext.models.hub import locate as hub
from wholetext.models.tokenizer import FILES

FILE, WEIGHTS, CARD = "wholetext.json", "weights.safetensors", "README.md"
FORMAT = 1
PREFIX = "head."  # of tensors in ``weights.safetensors``
AGAIN = "the file is damaged, or belongs to another wholetext.json: train or copy it again"
# of a whole model, next to its weights
MODEL_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "spiece.model",
    "special_tokens_map.json",
    "added_tokens.json",
)
OWN = (FILE, WEIGHTS, CARD, LIST, "model.safetensors", *MODEL_FILES)
Side = Literal["hyp", "src", "ref"]
T = TypeVar("T")
Array = NDArray[np.float32]


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
    """Tell whether a metric reads the hypothesis and something to compare it with."""
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
    """Convert a value to the type of its field."""
    outer, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _filled(hint, value, f"{name}.")
    if outer is types.UnionType:  # X | None
        return None if value is None else _value(inner[0], value, name)
    if outer is tuple:
        value = [value] if isinstance(value, str) else value
        _check(isinstance(value, (list, tuple)), f"{name} takes a list; got {value!r}")
        return tuple(_value(inner[0], item, f"{name}[{i}]") for i, item in enumerate(value))
    if outer is Literal:
        good, takes = value in inner, f"one of {', '.join(map(str, inner))}"
    else:
        plain_type = dict if outer else hint
        value = float(value) if hint is float and type(value) is int else value
        finite = not isinstance(value, float) or math.isfinite(value)
        good, takes = type(value) is plain_type and finite, plain_type.__name__
    _check(good, f"{name} takes {takes}; got {value!r}")
    return value


def _check(good: bool, what: str, step: str = "") -> None:
    if not good:
        raise TypeError(what, step)


def plain(value: Any) -> Any:
    """Convert a dataclass to JSON-ready data, as ``fill`` takes it."""
    return json.loads(json.dumps(dataclasses.asdict(value)))


# ---------------------------------------------------------------- files


def read_head(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Read the tensors of a head by name; exactly these shapes are accepted."""
    from safetensors.numpy import load_file

    path = folder / WEIGHTS
    with reading(str(path), AGAIN, ModelError):
        tensors: dict[str, Any] = load_file(str(path))
    expected = {f"{PREFIX}{name}": shape for name, shape in shapes.items()}
    if expected != {name: tensor.shape for name, tensor in tensors.items()}:
        raise ModelError(
            "its tensors are not those of the head in wholetext.json", where=str(path), next=AGAIN
        )
    return {name: tensors[f"{PREFIX}{name}"].astype(np.float32) for name in shapes}


def verify(folder: Path) -> None:
    """Raise if weights were changed; bundled folders have no list of files."""
    for name, digest in read_list(folder, ModelError).items():
        path = folder / name
        if name.endswith(".safetensors") and path.is_file() and sha256(path) != digest:
            raise ModelError(
                "the weights were changed since they were written (their SHA-256 differs)",
                where=str(path),
                next=AGAIN,
            )


def find_base(config: Config, folder: Path, override: str) -> hub.Located:
    """Locate the base model: as given, beside the metric, or by name; its content must match."""
    if not config.base:
        return hub.locate(str(folder))
    name = override or hub.beside(folder, Path(config.base).name)
    if not override and not Path(name).is_dir():
        name = config.base
    local, lost = Path(name).is_dir() or name in hub.EMBEDDED, Path(name).is_absolute()
    base = (
        None
        if lost and not local
        else hub.locate(name, "" if local else config.content, patterns=FILES)
    )
    if base is None or base.revision != config.content:
        raise ModelError(
            f"it was trained on {Path(config.base).name} with the content {config.content}; {name} "
            + (f"has the content {base.revision}" if base else "was not found"),
            where=str(folder / FILE),
            next="put its base model next to the metric's folder, or write learned(base=FOLDER)@…",
        )
    return base


def write_folder(
    folder: Path,
    config: Config,
    card: str,
    tensors: Mapping[str, Array],
    write_model: Callable[[Path], None] | None = None,
) -> None:
    """Write a learned metric, all of its files or none.

    ``write_model`` adds the files of a whole model.
    """
    from safetensors.numpy import save_file

    with replacing_folder(folder, MODEL) as staged:
        if tensors:
            save_file(dict(sorted(tensors.items())), str(staged / WEIGHTS))
        if write_model is not None:
            write_model(staged)
        (staged / CARD).write_text(card, "utf-8")
        text = json.dumps(plain(config), indent=1, ensure_ascii=False)
        (staged / FILE).write_text(f"{text}\n", "utf-8")
        listed = {path.name: sha256(path) for path in sorted(staged.iterdir())}
        (staged / LIST).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


def _written(folder: Path) -> dict[str, str] | None:
    """Return the files that ``write_folder`` listed, with their hashes; None without a list."""
    listed = read_list(folder, ModelError)
    return {LIST: "", **listed} if listed else None


MODEL = OwnFolder(
    "folder of a learned metric",
    re.compile("|".join(map(re.escape, OWN))),
    _written,
    ModelError,
    ignored=re.compile(r"\..*", re.DOTALL),
)
