"""Whether a model folder is whole and safe to load, without loading it: hashes, headers, tokenizer."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wholetext.backends import hub
from wholetext.backends.loading import load_tokenizer
from wholetext.backends.tokenizer import read_config
from wholetext.errors import WholetextError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what, and whether it is as it should be."""

    file: str
    good: bool
    what: str


def verify(folder: Path) -> list[Finding]:
    """Everything that can be said about a model folder without running it."""
    found = [*_described(folder), *_weights(folder), *_hashes(folder)]
    gone = hub.incomplete(folder)
    if gone:
        found.append(Finding(gone, False, "missing"))
    return found


def _described(folder: Path) -> Iterator[Finding]:
    """config.json or hparams.yaml, and the tokenizer where the folder has one."""
    if (folder / "wholetext.json").is_file() and not (folder / "config.json").is_file():
        yield Finding("wholetext.json", True, "a metric made by `wholetext train`")
        return
    if (folder / "hparams.yaml").is_file():
        yield Finding("hparams.yaml", True, "a COMET checkpoint")
        return
    try:
        config = read_config(folder)
    except WholetextError as fault:
        yield Finding("config.json", False, fault.what)
        return
    yield Finding("config.json", True, f"a model of type {config.get('model_type', 'unknown')}")
    if "auto_map" in config:
        yield Finding("config.json", False, "asks for program code from the hub, which is never run")
    if any(folder.glob("tokenizer*")) or any(folder.glob("*.model")) or (folder / "vocab.txt").is_file():
        try:
            yield Finding("tokenizer", True, f"{len(load_tokenizer(folder))} words")
        except WholetextError as fault:
            yield Finding("tokenizer", False, fault.what)


def _weights(folder: Path) -> Iterator[Finding]:
    for path in sorted(folder.rglob("*.safetensors")):
        yield _safetensors(path, path.relative_to(folder).as_posix())
    for path in sorted([*folder.rglob("*.bin"), *folder.rglob("*.ckpt")]):
        name = path.relative_to(folder).as_posix()
        if zipfile.is_zipfile(path):
            yield Finding(name, True, "a torch archive; read as tensors only")
        else:
            yield Finding(name, False, "not a torch archive (cut off, or of a version before 1.6)")


def _safetensors(path: Path, name: str) -> Finding:
    """The header says where each tensor ends; the last one must end where the file does."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > path.stat().st_size:
                return Finding(name, False, "cut off inside its header")
            header = json.loads(file.read(length))
        ends = [facts["data_offsets"][1] for key, facts in header.items() if key != "__metadata__"]
    except (struct.error, ValueError, KeyError, TypeError, IndexError, AttributeError) as fault:
        return Finding(name, False, f"not a safetensors file ({fault})")
    there, wanted = path.stat().st_size, 8 + length + max(ends, default=0)
    if there != wanted:
        return Finding(name, False, f"{there} bytes, its header speaks of {wanted}")
    return Finding(name, True, f"{len(ends)} tensors, {there / 1e6:.1f} MB")


def _hashes(folder: Path) -> Iterator[Finding]:
    """Files in the hub's cache are named after their content: it must still be that."""
    for path in sorted(folder.rglob("*")):
        blob = path.resolve()
        if path.is_symlink() and blob.is_file() and blob.parent.name == "blobs":
            good = _git_or_sha256(blob) == blob.name
            said = "as the hub has it" if good else "other content than the hub's"
            yield Finding(path.relative_to(folder).as_posix(), good, said)


def _git_or_sha256(path: Path) -> str:
    """Large files go by SHA-256, small ones by the hash git gives them."""
    digest = hashlib.sha256() if len(path.name) == 64 else hashlib.sha1(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
