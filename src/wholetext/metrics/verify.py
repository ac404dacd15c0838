"""Verify a model folder without running it: hashes, headers, tokenizer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wholetext import slices
from wholetext.errors import ModelError, WholetextError
from wholetext.files.storage import sha256
from wholetext.metrics.bleurt import open_tokenizer
from wholetext.metrics.comet.model import read_hparams
from wholetext.models.catalogue import named, present
from wholetext.models.fairseq import is_fairseq, read_dictionary
from wholetext.models.hub import locate as hub
from wholetext.models.hub.torch_file import count_tensors, read_torch_file
from wholetext.models.tokenizer import load_tokenizer, read_config


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
        raise ModelError(
            f"model {model!r} is incomplete or not downloaded",
            next=f"wholetext models fetch {model}",
        )
    return verify(at.path)


def verify(folder: Path) -> list[ModelFinding]:
    """Check a model folder without running it."""
    findings = [_checked(file, check) for file, check in _checks(folder)]
    findings += _hashes(folder)
    missing = hub.incomplete(folder)
    return [*findings, ModelFinding(missing, False, "missing")] if missing else findings


def _checks(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    """List (file, its check): what the folder is, then its weights."""
    if (folder / "wholetext.json").is_file() and not (folder / "config.json").is_file():
        config = slices.required("checked-config", "a trained metric")
        yield (
            "wholetext.json",
            lambda: f"a metric made by `wholetext train`, {config(folder).form}",
        )
    elif (folder / "hparams.yaml").is_file():
        yield "hparams.yaml", lambda: f"a COMET checkpoint, {read_hparams(folder).kind}"
    elif is_fairseq(folder):
        yield "dict.*.txt", lambda: f"{len(read_dictionary(folder))} words of fairseq"
    else:
        yield "config.json", partial(_config, folder)
        if any(next(folder.glob(name), None) for name in ("tokenizer*", "*.model", "vocab.txt")):
            yield "tokenizer", partial(_tokenizer, folder)
    for pattern, count in (
        ("*.safetensors", _safetensors),
        ("pytorch_model*.bin", _torch),
        ("*.ckpt", _torch),
        ("checkpoint.pt", _torch),
    ):
        for path in sorted(folder.rglob(pattern)):
            yield path.relative_to(folder).as_posix(), partial(count, path)


def _config(folder: Path) -> str:
    config = read_config(folder)
    if "auto_map" in config:
        raise ModelError("asks for program code from the hub, which is never run")
    return f"a model of type {config.get('model_type', 'unknown')}"


def _tokenizer(folder: Path) -> str:
    if read_config(folder).get("model_type") != "bleurt":
        return f"{len(load_tokenizer(folder))} words"
    return f"{len(open_tokenizer(folder).ids('a b'))} tokens of two words"


def _safetensors(path: Path) -> str:
    from safetensors import safe_open

    with (
        hub.guarded(path, "not a safetensors file, or cut off"),
        safe_open(path, framework="np") as file,
    ):
        return f"{len(file.keys())} tensors, {path.stat().st_size / 1e6:.1f} MB"


def _torch(path: Path) -> str:
    return f"{count_tensors(read_torch_file(path))} tensors; read as tensors only"


def _checked(file: str, check: Callable[[], str]) -> ModelFinding:
    try:
        return ModelFinding(file, True, check())
    except WholetextError as fault:
        return ModelFinding(file, False, fault.what)


def _hashes(folder: Path) -> Iterator[ModelFinding]:
    """Compare files in the hub's cache, which are named after their content, with their names."""
    for path in sorted(folder.rglob("*")):
        blob = Path(os.path.realpath(path))  # a link to itself stays one
        if path.is_symlink() and blob.is_file() and blob.parent.name == "blobs":
            # large files go by SHA-256, small ones by the hash git gives them
            git = (
                None
                if len(blob.name) == 64
                else hashlib.sha1(f"blob {blob.stat().st_size}\0".encode())
            )
            good = sha256(blob, git) == blob.name
            what = "as the hub has it" if good else "other content than the hub's"
            yield ModelFinding(path.relative_to(folder).as_posix(), good, what)
