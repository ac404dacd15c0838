"""COMET checkpoints are untrusted files: tensors and plain containers are read from them, and nothing is executed."""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.backends.encoder import torch_module
from wholetext.cache import note_damage
from wholetext.errors import ModelError, WriteError
from wholetext.storage import replacing

_LOCAL = b"PK\x03\x04"  # begins every entry of a zip archive
_STORAGES = {
    "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16", "DoubleStorage": "float64",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool",
}  # fmt: skip
# data that training tools leave beside the weights: stood in for by an object that does nothing, never imported
_INERT = frozenset({"pytorch_lightning", "lightning", "lightning_fabric", "lightning_utilities", "torchmetrics",
                    "comet", "omegaconf", "numpy", "argparse"})  # fmt: skip
_INERT_NAMES = frozenset({("torch", "Size"), ("torch", "device"), ("_codecs", "encode"), ("pathlib", "PosixPath")})
_PLAIN: Mapping[tuple[str, str], Any] = {("collections", "OrderedDict"): OrderedDict,
                                         **{("builtins", kind.__name__): kind for kind in (dict, list, set, tuple)}}
WANTED = ("encoder.model.", "layerwise_attention.", "estimator.", "hidden2tag.")
_REMEDY = "fetch the model again, or convert it to a format without code on a machine you can lose"


@dataclass(frozen=True)
class Stored:
    """A tensor as the file describes it; its numbers are still in the archive."""

    entry: str
    dtype: str
    offset: int  # in elements
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def extent(self) -> int:
        """Elements from the first to the last that the tensor touches."""
        if 0 in self.shape:
            return 0
        return 1 + sum((size - 1) * step for size, step in zip(self.shape, self.stride))


class Archive:
    """The entries of a checkpoint: where each lies in the file. A file cut short is read as far as it goes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError("the checkpoint is empty", where=str(path), next=_REMEDY)
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        if self.bytes[:4] != _LOCAL:
            raise ModelError("this is not a checkpoint of PyTorch 1.6 or later (a zip archive)", where=str(path),
                             next="load it with the tool that wrote it and save it again")
        self.entries = self._listed() if zipfile.is_zipfile(path) else self._scanned()

    def _listed(self) -> dict[str, tuple[int, int]]:
        found = {}
        with zipfile.ZipFile(self.path) as archive:
            for item in archive.infolist():
                if item.compress_type != zipfile.ZIP_STORED:
                    raise ModelError(f"its entry {item.filename!r} is compressed, which PyTorch never does",
                                     where=str(self.path), next=_REMEDY)
                found[item.filename] = (self._data(item.header_offset), item.file_size)
        return found

    def _scanned(self) -> dict[str, tuple[int, int]]:
        """Entries by their own headers, for a file whose table of contents, at its end, is gone."""
        found, at = {}, 0
        while at >= 0 and at + 30 <= len(self.bytes):
            name = self.bytes[at + 30 : at + 30 + int.from_bytes(self.bytes[at + 26 : at + 28], "little")]
            begin = self._data(at)
            found[name.decode("utf-8", "replace")] = (begin, max(0, len(self.bytes) - begin))
            at = self.bytes.find(_LOCAL, begin)
        return found

    def _data(self, header: int) -> int:
        name, extra = (int.from_bytes(self.bytes[header + i : header + i + 2], "little") for i in (26, 28))
        return header + 30 + name + extra

    def pickle(self) -> tuple[str, bytes]:
        """The folder inside the archive, and the pickle that describes what it holds."""
        for name, (begin, size) in self.entries.items():
            if name.endswith("/data.pkl"):
                return name[: -len("data.pkl")], self.bytes[begin : begin + size]
        raise ModelError("the archive holds no data.pkl, so it is no PyTorch checkpoint", where=str(self.path),
                         next=_REMEDY)

    def tensor(self, key: str, stored: Stored) -> Any:
        """The tensor, still lying in the file; an error that names the key where its numbers are missing."""
        torch = torch_module()
        dtype = getattr(torch, stored.dtype)
        begin, size = self.entries.get(stored.entry, (0, -1))
        width = torch.empty((), dtype=dtype).element_size()
        if stored.offset < 0 or min((*stored.shape, *stored.stride), default=0) < 0:
            raise ModelError(f"the tensor {key!r} is described by negative numbers", where=str(self.path), next=_REMEDY)
        if (stored.offset + stored.extent) * width > min(size, len(self.bytes) - begin):
            raise ModelError(f"the checkpoint is cut short: the numbers of {key!r} are missing", where=str(self.path),
                             next=_REMEDY)
        if stored.extent == 0:
            return torch.zeros(stored.shape, dtype=dtype)
        flat = torch.frombuffer(self.bytes, dtype=dtype, count=stored.extent, offset=begin + stored.offset * width)
        return flat.as_strided(stored.shape, stored.stride)


class _Inert:
    """Stands for an object of a training tool; takes anything, does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __setstate__(self, state: Any) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def append(self, item: Any) -> None: ...
    def extend(self, items: Any) -> None: ...


class _Reader(pickle.Unpickler):
    """Unpickles tensors and plain containers; every other name in the file is refused before it is looked up."""

    def __init__(self, data: bytes, root: str, path: Path) -> None:
        super().__init__(io.BytesIO(data))
        self.root, self.path = root, path

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        if module == "torch._utils" and name in {"_rebuild_tensor_v2", "_rebuild_parameter"}:
            return _rebuild if name == "_rebuild_tensor_v2" else _parameter
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        if module.split(".")[0] in _INERT or (module, name) in _INERT_NAMES:
            return _Inert
        raise ModelError(f"the checkpoint asks for {module}.{name}, which is neither a tensor nor a plain container; "
                         "it was refused and nothing in it was run", where=str(self.path), next=_REMEDY)

    def persistent_load(self, pid: Any) -> tuple[str, str]:
        if not (isinstance(pid, tuple) and len(pid) >= 3 and pid[0] == "storage" and isinstance(pid[1], str)):
            raise ModelError("the checkpoint points to something that is no tensor", where=str(self.path), next=_REMEDY)
        return f"{self.root}data/{pid[2]}", pid[1]


def _rebuild(storage: tuple[str, str], offset: int, shape: Any, stride: Any, *_: Any) -> Stored:
    return Stored(storage[0], storage[1], int(offset), tuple(map(int, shape)), tuple(map(int, stride)))


def _parameter(data: Stored, *_: Any) -> Stored:
    return data


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The tensors of a checkpoint's ``state_dict`` that COMET models use, by name."""
    archive = Archive(path)
    root, data = archive.pickle()
    try:
        content = _Reader(data, root, path).load()
    except ModelError:
        raise
    except Exception as fault:  # a damaged pickle can fail in any way
        raise ModelError(f"the checkpoint cannot be read ({type(fault).__name__}: {fault})", where=str(path),
                         next=_REMEDY) from fault
    weights = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(weights, dict):
        raise ModelError("the checkpoint has no state_dict", where=str(path), next=_REMEDY)
    return {
        key: archive.tensor(key, stored)
        for key, stored in weights.items()
        if isinstance(key, str) and isinstance(stored, Stored) and key.startswith(WANTED)
    }


def converted(path: Path, folder: Path | None, mark: str) -> dict[str, Any]:
    """The tensors of a checkpoint, converted once to safetensors in ``folder``; ``mark`` pins the file's content.

    The converted file has a checksum; a damaged one is noted and made again. One that cannot be written is noted too.
    """
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    target = None if folder is None else folder / f"{mark}.safetensors"
    if target is not None and target.is_file() and (kept := _kept(target)) is not None:
        return kept
    tensors = {key: tensor.clone().contiguous() for key, tensor in read_checkpoint(path).items()}
    if target is not None:
        try:
            with replacing(target) as beside:
                save_file(tensors, str(beside), metadata={"checksum": _checksum(tensors)})
        except (WriteError, SafetensorError) as fault:
            what = fault.what if isinstance(fault, WriteError) else str(fault)
            note_damage(f"the converted weights of {path} could not be kept ({what}); the next run converts them again")
    return tensors


def _kept(target: Path) -> dict[str, Any] | None:
    """Tensors that were converted earlier; None where they have no checksum (of 0.1.0) or a wrong one."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(target), "pt") as file:
            wanted = (file.metadata() or {}).get("checksum")
            if wanted is None:
                return None
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a mapping
        if _checksum(tensors) == wanted:
            return tensors
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        pass
    note_damage(f"the converted weights {target} were damaged: dropped, and converted again")
    return None


def _checksum(tensors: Mapping[str, Any]) -> str:
    """Over names, types, shapes and numbers."""
    torch, digest = torch_module(), hashlib.blake2b(digest_size=16)
    for key, tensor in sorted(tensors.items()):
        digest.update(f"{key}\0{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
