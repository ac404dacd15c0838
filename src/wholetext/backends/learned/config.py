"""``wholetext.json``: what a learned metric is, in plain words: form, base model by content, scale. It runs nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wholetext.backends.learned.fields import Origin, fill, plain
from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes, read_json

FILE, WEIGHTS, CARD = "wholetext.json", "weights.safetensors", "README.md"
FORMAT = 1
Side = Literal["hyp", "src", "ref"]
Activation = Literal["tanh", "relu", "gelu"]


@dataclass(frozen=True)
class Adapter:
    """How much of the base model was trained: nothing, low-rank additions (Hu et al. 2022), or all of it."""

    kind: Literal["frozen", "lora", "full"] = "frozen"
    rank: int = 8
    alpha: float = 16.0
    linears: tuple[str, ...] = ()  # last parts of layer names; none: the queries and values of attention


@dataclass(frozen=True)
class HeadShape:
    """The feed-forward network over the features, which are standardised first."""

    hidden: tuple[int, ...] = (64,)
    activation: Activation = "tanh"


@dataclass(frozen=True)
class Scale:
    """What the numbers mean: ``shift + scale · prediction``, kept within ``low`` … ``high`` where those are given."""

    meaning: str = ""
    shift: float = 0.0
    scale: float = 1.0
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True


@dataclass(frozen=True)
class Config:
    """A learned metric: its form, base model, what was trained, and what its numbers mean."""

    form: str
    base: str  # short name, hub name or folder of the base model; "": the folder holds the whole model
    content: str  # commit or content hash of the base model
    reads: tuple[Side, ...] = ("hyp", "ref")
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the form
    adapter: Adapter = Adapter()
    head: HeadShape | None = HeadShape()  # None: the base model says the number itself
    output: Scale = Scale()
    targets: tuple[str, ...] = ()  # languages of the outputs it was trained on; none: not known
    joiner: Literal["auto", "space", "none"] = "auto"  # how sentences were joined to paragraphs in training
    format: int = FORMAT


def read_config(folder: Path) -> Config:
    """Read ``wholetext.json``; every fault in it is named."""
    path = folder / FILE
    if not path.is_file():
        raise ModelError(f"there is no {FILE}", where=str(folder), next="give the folder that `wholetext train` wrote")
    given = read_json(file_bytes(path, error=ModelError), where=str(path), next="copy or train it again",
                      error=ModelError)  # fmt: skip
    origin = Origin(str(path), ModelError)
    if isinstance(given, dict) and given.get("format", FORMAT) != FORMAT:
        raise origin.fault(f"it has the format {given['format']!r}, and this version reads {FORMAT}",
                           "use the version of wholetext that wrote it")
    found = fill(Config, given, origin)
    if "hyp" not in found.reads or len(found.reads) < 2 or len(set(found.reads)) < len(found.reads):
        raise origin.fault(f"reads is {list(found.reads)}: it must contain hyp, and at least one of ref and src")
    return found


def write_config(folder: Path, config: Config) -> None:
    (folder / FILE).write_text(json.dumps(plain(config), indent=1, ensure_ascii=False) + "\n", "utf-8")
