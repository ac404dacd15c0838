"""Whether a model folder is whole and safe to load, without loading it: hashes, headers, tokenizer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wholetext.backends.catalogue import named, present
from wholetext.backends.comet.model import read_hparams
from wholetext.backends.hub import locate as hub
from wholetext.backends.hub.torch_file import count_tensors, read_torch_file
from wholetext.backends.learned.forms import checked_config
from wholetext.backends.loading import load_tokenizer
from wholetext.backends.tokenizer import read_config
from wholetext.errors import ModelError, WholetextError
from wholetext.files.parsing import read_json
from wholetext.files.storage import sha256

_HEADER = 16 << 20  # bytes of a table of tensors


@dataclass(frozen=True)
class ModelFinding:
    """The check of one file of a model: the result, and whether it is good."""

    file: str
    good: bool
    what: str


def verify_model(name: str, revision: str = "") -> list[ModelFinding]:
    """Check a model's files without loading them: complete, unchanged, safe."""
    model = named(name)
    at = present(model, revision)
    if at is None:
        raise ModelError(f"model {model!r} is incomplete or not downloaded", next=f"wholetext models fetch {model}")
    return verify(at.path)


def verify(folder: Path) -> list[ModelFinding]:
    """Everything that is known about a model folder without running it."""
    strange = [path for path in sorted(folder.rglob("*")) if path.exists() and not path.is_file() and not path.is_dir()]
    if strange:  # opening one may never end
        return [ModelFinding(path.relative_to(folder).as_posix(), False, "a device or a pipe, not a file")
                for path in strange]  # fmt: skip
    found = [*_described(folder), *_weights(folder), *_hashes(folder)]
    gone = hub.incomplete(folder)
    if gone:
        found.append(ModelFinding(gone, False, "missing"))
    return found


def _described(folder: Path) -> Iterator[ModelFinding]:
    if (folder / "wholetext.json").is_file() and not (folder / "config.json").is_file():
        yield _read("wholetext.json", "a metric made by `wholetext train`", lambda: checked_config(folder))
        return
    if (folder / "hparams.yaml").is_file():
        yield _read("hparams.yaml", "a COMET checkpoint", lambda: read_hparams(folder))
        return
    try:
        config = read_config(folder)
    except WholetextError as fault:
        yield ModelFinding("config.json", False, fault.what)
        return
    yield ModelFinding("config.json", True, f"a model of type {config.get('model_type', 'unknown')}")
    if "auto_map" in config:
        yield ModelFinding("config.json", False, "asks for program code from the hub, which is never run")
    if any(folder.glob("tokenizer*")) or any(folder.glob("*.model")) or (folder / "vocab.txt").is_file():
        try:
            yield ModelFinding("tokenizer", True, f"{len(load_tokenizer(folder))} words")
        except WholetextError as fault:
            yield ModelFinding("tokenizer", False, fault.what)


def _read(file: str, what: str, read: Callable[[], object]) -> ModelFinding:
    try:
        read()
    except WholetextError as fault:
        return ModelFinding(file, False, fault.what)
    return ModelFinding(file, True, what)


def _weights(folder: Path) -> Iterator[ModelFinding]:
    for path in sorted(folder.rglob("*.safetensors")):
        yield _safetensors(path, path.relative_to(folder).as_posix())
    for path in sorted([*folder.rglob("*.bin"), *folder.rglob("*.ckpt")]):
        name = path.relative_to(folder).as_posix()
        try:
            yield ModelFinding(name, True, f"{count_tensors(read_torch_file(path))} tensors; read as tensors only")
        except ModelError as fault:
            used = path.suffix == ".ckpt" or path.name.startswith("pytorch_model")
            yield ModelFinding(name, not used, fault.what if used else f"not used here ({fault.what})")


def _safetensors(path: Path, name: str) -> ModelFinding:
    """Check that the last tensor in the header ends where the file does."""
    there = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > there:
            return ModelFinding(name, False, "cut off inside its header")
        text = file.read(min(length, _HEADER + 1))
    try:
        if length > _HEADER:
            raise ModelError(f"its header has {length:,} bytes")
        header = read_json(text, error=ModelError)
        ends = [facts["data_offsets"][1] for key, facts in header.items() if key != "__metadata__"]
        wanted = 8 + length + max(ends, default=0)
    except ModelError as fault:
        return ModelFinding(name, False, f"not a safetensors file ({fault.what})")
    except (KeyError, TypeError, IndexError, AttributeError):
        return ModelFinding(name, False, "not a safetensors file (its header describes no tensors)")
    if there != wanted:
        return ModelFinding(name, False, f"{there} bytes, but its header declares {wanted}")
    return ModelFinding(name, True, f"{len(ends)} tensors, {there / 1e6:.1f} MB")


def _hashes(folder: Path) -> Iterator[ModelFinding]:
    """Files in the hub's cache are named after their content: it must still be that."""
    for path in sorted(folder.rglob("*")):
        blob = Path(os.path.realpath(path))  # a link to itself stays one
        if path.is_symlink() and blob.is_file() and blob.parent.name == "blobs":
            # large files go by SHA-256, small ones by the hash git gives them
            git = None if len(blob.name) == 64 else hashlib.sha1(f"blob {blob.stat().st_size}\0".encode())
            good = sha256(blob, git) == blob.name
            said = "as the hub has it" if good else "other content than the hub's"
            yield ModelFinding(path.relative_to(folder).as_posix(), good, said)

