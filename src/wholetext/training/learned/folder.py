"""Folders of learned metrics: trained tensors, the base model, atomic writing.

``weights.safetensors`` must hold exactly the tensors expected by name and shape.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MissingExtra, ModelError
from wholetext.files.output_folder import LIST, OwnFolder, read_list, replacing_folder
from wholetext.files.storage import sha256
from wholetext.models.hub import locate as hub
from wholetext.models.tokenizer import FILES
from wholetext.training.learned.config import CARD, FILE, WEIGHTS, Config, plain

Array = NDArray[np.float32]
PREFIX = "head."  # of its tensors in ``weights.safetensors``
AGAIN = "the file is damaged, or belongs to another wholetext.json: train or copy it again"


def read_weights(path: Path) -> dict[str, Array]:
    """The tensors of a safetensors file, all finite numbers."""
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise MissingExtra("safetensors", "models") from None
    try:
        tensors: dict[str, Any] = load_file(str(path))
    except FileNotFoundError:
        raise ModelError(f"there is no {path.name}", where=str(path.parent), next=AGAIN) from None
    except Exception as fault:  # SafetensorError, KeyError (a dtype numpy lacks), OSError
        raise ModelError(f"it cannot be read ({fault})", where=str(path), next=AGAIN) from None
    for name, tensor in tensors.items():
        if tensor.dtype.kind != "f" or not np.isfinite(tensor).all():
            raise ModelError(
                f"{name} contains values that are not finite numbers", where=str(path), next=AGAIN
            )
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def read_head(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """The tensors of a head by name without prefix; exactly these shapes are accepted."""
    tensors, expected = (
        read_weights(path),
        {f"{PREFIX}{name}": shape for name, shape in shapes.items()},
    )
    faults = [
        *(f"it has no {name}" for name in expected if name not in tensors),
        *(f"unexpected tensor {name}" for name in sorted(tensors) if name not in expected),
        *(
            f"{name} has the shape {tensors[name].shape}, not {shape}"
            for name, shape in expected.items()
            if name in tensors and tensors[name].shape != shape
        ),
    ]
    if faults:
        raise ModelError(faults[0], where=str(path), next=AGAIN)
    return {name: tensors[f"{PREFIX}{name}"] for name in shapes}


def write_weights(path: Path, tensors: Mapping[str, Array]) -> None:
    from safetensors.numpy import save_file

    with safetensors_faults():
        save_file(
            {name: np.ascontiguousarray(tensor) for name, tensor in sorted(tensors.items())},
            str(path),
        )


@contextmanager
def safetensors_faults() -> Iterator[None]:
    """Convert errors of safetensors while writing to the underlying OSError."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as fault:
        code = re.search(r"\(os error (\d+)\)|code: (\d+)", str(fault))
        if code is None:
            raise OSError(str(fault)) from fault
        number = int(code[1] or code[2])
        raise OSError(number, os.strerror(number)) from fault


def find_base(config: Config, folder: Path, override: str) -> hub.Located:
    """The base model: as given, next to the metric's folder, or by name; its content must match."""
    if not config.base:
        if override:
            raise ModelError(
                "it contains the whole model, so base= has no effect",
                where=str(folder),
                next="leave it out",
            )
        return hub.locate(str(folder))
    name = override or hub.beside(folder, Path(config.base).name)
    if not override and not Path(name).is_dir():
        name = config.base
    path = Path(name)
    if "/" in name and path.is_dir() and not (path / "config.json").is_file():
        raise ModelError(
            f"its base model {name!r} is not a model folder",
            where=str(folder),
            next="give its path: learned(base=FOLDER)@…",
        )
    local = path.is_dir() or name in hub.EMBEDDED
    if path.is_absolute() and not path.is_dir():
        raise ModelError(
            f"its base model {config.base!r} was not found",
            where=str(folder),
            next="put it next to the metric's folder, or give its path: learned(base=FOLDER)@…",
        )
    base = hub.locate(name, "" if local else config.content, patterns=FILES)
    if base.revision != config.content:
        raise ModelError(
            f"it was trained on {Path(config.base).name} with the content {config.content}; {name} has "
            f"{base.revision}",
            where=str(folder / FILE),
            next="give the base model it was trained on: learned(base=FOLDER)@…",
        )
    return base


def write_folder(
    folder: Path,
    config: Config,
    card: str,
    tensors: Mapping[str, Array],
    more: Callable[[Path], None] | None = None,
) -> None:
    """Write a learned metric, all of its files or none; ``more`` adds files of the form."""
    with replacing_folder(folder, MODEL) as staged:
        if tensors:
            write_weights(staged / WEIGHTS, tensors)
        if more is not None:
            with safetensors_faults():
                more(staged)
        (staged / CARD).write_text(card, "utf-8")
        (staged / FILE).write_text(
            json.dumps(plain(config), indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
        listed = {path.name: sha256(path) for path in sorted(staged.iterdir())}
        (staged / LIST).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")


def verify(folder: Path) -> None:
    """Raise if weights were changed; bundled folders have no list of files."""
    for name, digest in read_list(folder, ModelError).items():
        path = folder / name
        if name.endswith(".safetensors") and path.is_file() and sha256(path) != digest:
            raise ModelError(
                "the weights were changed since they were written (their SHA-256 differs)",
                where=str(path),
                next="copy the folder again, or train again",
            )


def _written(folder: Path) -> dict[str, str] | None:
    """Files that ``write_folder`` listed, with their hashes; None without a list."""
    try:
        listed = read_list(folder, ModelError)
    except ModelError:
        return None
    return {LIST: "", **listed} if listed else None


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
OWN = (FILE, WEIGHTS, CARD, "model.safetensors", *MODEL_FILES)
_NAMES = re.compile("|".join(map(re.escape, (*OWN, LIST))))
MODEL = OwnFolder(
    "folder of a learned metric",
    _NAMES,
    _written,
    ModelError,
    ignored=re.compile(r"\..*", re.DOTALL),
)
