"""Folders of learned metrics: trained tensors, the base model, atomic writing.

``weights.safetensors`` must hold exactly the tensors expected by name and shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
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


def read_head(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Read the tensors of a head by name; exactly these shapes are accepted."""
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise MissingExtra("safetensors", "models") from None
    path = folder / WEIGHTS
    try:
        tensors: dict[str, Any] = load_file(str(path))
    except Exception as fault:  # SafetensorError, KeyError (a dtype numpy lacks), OSError
        raise ModelError(f"it cannot be read ({fault})", where=str(path), next=AGAIN) from None
    expected = {f"{PREFIX}{name}": shape for name, shape in shapes.items()}
    actual = {name: tensor.shape for name, tensor in tensors.items()}
    wrong = sorted(dict(actual.items() ^ expected.items()))
    wrong += [
        name
        for name, tensor in tensors.items()
        if tensor.dtype.kind != "f" or not np.isfinite(tensor).all()
    ]
    if wrong:
        raise ModelError(
            f"{wrong[0]} is missing, unexpected, of another shape or not finite",
            where=str(path),
            next=AGAIN,
        )
    verify(folder)
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
    """The base model: as given, next to the metric's folder, or by name; its content must match."""
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
    """Files that ``write_folder`` listed, with their hashes; None without a list."""
    listed = read_list(folder, ModelError)
    return {LIST: "", **listed} if listed else None


MODEL = OwnFolder(
    "folder of a learned metric",
    re.compile("|".join(map(re.escape, OWN))),
    _written,
    ModelError,
    ignored=re.compile(r"\..*", re.DOTALL),
)
