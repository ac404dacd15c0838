"""Folders of learned metrics: finding the base model they were trained on, and writing a new one all at once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from wholetext.backends.hub import locate as hub
from wholetext.backends.learned.config import CARD, FILE, WEIGHTS, Config, write_config
from wholetext.backends.learned.weights import Array, safetensors_faults, write_weights
from wholetext.backends.tokenizer import FILES
from wholetext.errors import ModelError
from wholetext.files.output_folder import LIST, Kind, changing, read_list
from wholetext.files.storage import sha256


def find_base(config: Config, folder: Path, wanted: str) -> hub.Located:
    """The base model: the one asked for, a folder of its name beside the metric's, or by its name; its content must be
    what the metric was trained on.
    """
    if not config.base:
        if wanted:
            raise ModelError("it contains the whole model, so base= has no effect", where=str(folder),
                             next="leave it out")
        return hub.locate(str(folder))
    name = wanted or hub.beside(folder, Path(config.base).name)
    if not wanted and not Path(name).is_dir():
        name = config.base
    path = Path(name)
    if "/" in name and path.is_dir() and not (path / "config.json").is_file():
        raise ModelError(f"its base model {name!r} is not a model folder", where=str(folder),
                         next="give its path: learned(base=FOLDER)@…")
    local = path.is_dir() or name in hub.EMBEDDED
    if path.is_absolute() and not path.is_dir():
        raise ModelError(f"its base model {config.base!r} was not found", where=str(folder),
                         next="put it beside the metric's folder, or give its path: learned(base=FOLDER)@…")
    found = hub.locate(name, patterns=FILES) if local else hub.locate(name, config.content, patterns=FILES)
    if found.revision != config.content:
        raise ModelError(f"it was trained on {Path(config.base).name} with the content {config.content}; {name} has "
                         f"{found.revision}", where=str(folder / FILE),
                         next="give the base model it was trained on: learned(base=FOLDER)@…")
    return found


def write_folder(
    folder: Path, config: Config, card: str, tensors: Mapping[str, Array], more: Callable[[Path], None] | None = None
) -> None:
    """Write a learned metric, all of its files or none; ``more`` adds files of the form's own. Other files stay."""
    with changing(folder, MODEL) as staged:
        if tensors:
            write_weights(staged / WEIGHTS, tensors)
        if more is not None:
            with safetensors_faults():
                more(staged)
        (staged / CARD).write_text(card, "utf-8")
        write_config(staged, config)
        listed = {path.name: sha256(path) for path in sorted(staged.iterdir())}
        (staged / LIST).write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    old = folder / ".new"  # where 0.1.0 staged files; one that was killed left it
    for path in old.iterdir() if old.is_dir() else ():
        if MODEL.names.fullmatch(path.name):
            path.unlink()
    with suppress(OSError):
        old.rmdir()


def verify(folder: Path) -> None:
    """An error where weights are not the ones that were written; folders of 0.1.0 have no list to compare with."""
    for name, digest in read_list(folder, ModelError).items():
        path = folder / name
        if name.endswith(".safetensors") and path.is_file() and sha256(path) != digest:
            raise ModelError("the weights were changed since they were written (their SHA-256 differs)",
                             where=str(path), next="copy the folder again, or train again")


def _written(folder: Path) -> dict[str, str] | None:
    try:
        found = read_list(folder, ModelError)
        if found:
            return {**found, LIST: ""}
        head = {} if (folder / ".new").is_dir() else json.loads((folder / FILE).read_bytes())
    except (ModelError, OSError, ValueError, RecursionError):
        return None
    if not (folder / ".new").is_dir() and not (isinstance(head, dict) and {"form", "content", "reads"} <= set(head)):
        return None
    own = (FILE, WEIGHTS, CARD) if head.get("base") else OWN  # of 0.1.0, which listed no files
    return dict.fromkeys(own, "")


OWN = (FILE, WEIGHTS, CARD, "model.safetensors", "config.json", "generation_config.json", "tokenizer.json",
       "tokenizer_config.json", "spiece.model", "special_tokens_map.json", "added_tokens.json")  # fmt: skip
MODEL = Kind("folder of a learned metric", re.compile("|".join(map(re.escape, (*OWN, LIST)))), _written, ModelError,
             ignored=re.compile(r"\..*", re.DOTALL))  # fmt: skip
