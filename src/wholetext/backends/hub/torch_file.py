"""Files of ``torch.save``, before and since version 1.6: the tensors in them, read in place and bounded by the file."""

from __future__ import annotations

import io
import mmap
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wholetext.backends.device import torch_module
from wholetext.backends.hub.pickled import AGAIN, BYTES, Stored, Unpickler
from wholetext.errors import ModelError

_LOCAL = b"PK\x03\x04"  # begins every entry of a zip archive
_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # begin a file of a version before 1.6
Span = tuple[int, int]  # where numbers begin in the file, and how many bytes there are


class TorchFile:
    """A checkpoint: its pickle and the position of its data. A truncated file is read as far as possible."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes = _mapped(path)
        if self.bytes[:4] == _LOCAL:
            listed = self._listed()
            self.entries = self._scanned() if listed is None else listed
            self.content = self._archived(listed is not None)
        else:
            self.entries, self.content = self._sequence()

    def fault(self, what: str) -> ModelError:
        return ModelError(what, where=str(self.path), next=AGAIN)

    def tensor(self, key: str, stored: Stored) -> Any:
        """The tensor, memory-mapped; an error names the key if data is missing."""
        begin = self.checked(key, stored)
        torch, storage = torch_module(), stored.storage
        dtype = getattr(torch, storage.dtype)
        if stored.extent == 0:
            return torch.zeros(stored.shape, dtype=dtype)
        flat = torch.frombuffer(self.bytes, dtype=dtype, count=stored.extent, offset=begin)
        found = flat.as_strided(stored.shape, stored.stride)
        return found.clone() if begin % storage.width else found

    def checked(self, key: str, stored: Stored) -> int:
        """Where the numbers begin; an error where they are not all in the file, or used twice."""
        storage = stored.storage
        begin, size = self.entries.get(storage.key, (0, -1))
        if (stored.offset + stored.extent) * storage.width > min(size, len(self.bytes) - begin):
            raise self.fault(f"the checkpoint is truncated: the data of {key[:200]!r} is missing")
        if stored.elements > stored.extent:
            raise self.fault(f"the tensor {key[:200]!r} of shape {stored.shape} repeats the same {stored.extent} "
                             "values by overlapping strides")
        return begin + stored.offset * storage.width

    def check(self) -> int:
        """The number of tensors, every one within the file; an error names the first that is not."""
        return len([self.checked(key, stored) for key, stored in _tensors(self.content)])

    # ---------------------------------------------------------------- since 1.6: a zip archive without compression

    def _listed(self) -> dict[str, Span] | None:
        """Entries by the table of contents; None if it is missing."""
        found = {}
        try:
            if not zipfile.is_zipfile(self.path):
                return None
            with zipfile.ZipFile(self.path) as archive:
                items = archive.infolist()
        except Exception as fault:  # a damaged table of contents can fail in any way
            raise self.fault(f"its table of contents cannot be read ({fault})") from None
        for item in items:
            if item.compress_type != zipfile.ZIP_STORED:
                raise self.fault(f"its entry {item.filename[:80]!r} is compressed, which PyTorch never does")
            found[item.filename] = (self._data(item.header_offset), item.file_size)
        return found

    def _scanned(self) -> dict[str, Span]:
        """Entries by their own headers, for a truncated file, which has no central directory."""
        found, at = {}, 0
        while at >= 0 and at + 30 <= len(self.bytes):
            name = self.bytes[at + 30 : at + 30 + int.from_bytes(self.bytes[at + 26 : at + 28], "little")]
            begin = self._data(at)
            found[name.decode("utf-8", "replace")] = (begin, max(0, len(self.bytes) - begin))
            at = self.bytes.find(_LOCAL, begin)
        return found

    def _data(self, header: int) -> int:
        if not 0 <= header <= len(self.bytes) - 30:
            raise self.fault("its table of contents points outside the file")
        name, extra = (int.from_bytes(self.bytes[header + i : header + i + 2], "little") for i in (26, 28))
        return header + 30 + name + extra

    def _archived(self, whole: bool) -> Any:
        """The values in data.pkl; entries are then named as its tensors name them."""
        root = next((name[: -len("data.pkl")] for name in self.entries if name.endswith("/data.pkl")), None)
        if root is None:
            raise self.fault("the archive has no data.pkl, so it is not a PyTorch checkpoint")
        begin, size = self.entries[f"{root}data.pkl"]
        if whole and size > BYTES:
            raise self.fault(f"its data.pkl has {size:,} bytes, more than any checkpoint needs")
        inside = f"{root}data/"
        self.entries = {name[len(inside) :]: span for name, span in self.entries.items() if name.startswith(inside)}
        return Unpickler(str(self.path)).read(io.BytesIO(self.bytes[begin : begin + min(size, BYTES)]))

    # ---------------------------------------------------------------- before 1.6: pickles, then the numbers

    def _sequence(self) -> tuple[dict[str, Span], Any]:
        head = io.BytesIO(self.bytes[:BYTES])
        where = str(self.path)
        try:
            known = (Unpickler(where).read(head), Unpickler(where).read(head)) == (_MAGIC, _PROTOCOL)
        except ModelError:
            known = False
        if not known:
            raise self.fault("it cannot be loaded: this is not a file that torch.save wrote")
        Unpickler(where).read(head)  # sizes of numbers on the machine that wrote it
        content, keys = Unpickler(where).read(head), Unpickler(where).read(head)
        widths = {stored.storage.key: stored.storage.width for _, stored in _tensors(content)}
        found, at = {}, head.tell()
        for key in keys if isinstance(keys, list) else ():
            count = int.from_bytes(self.bytes[at : at + 8], "little")
            if not isinstance(key, str) or key not in widths:
                raise self.fault(f"its storage {str(key)[:80]!r} belongs to no tensor")
            found[key] = (at + 8, count * widths[key])
            at += 8 + count * widths[key]
        return found, content


def _mapped(path: Path) -> mmap.mmap:
    try:
        if not path.is_file():  # a device or a pipe has no end
            raise ModelError("the checkpoint is not a file", where=str(path), next=AGAIN)
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError("the checkpoint is empty", where=str(path), next=AGAIN)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as fault:
        raise ModelError(f"the checkpoint cannot be read ({fault.strerror})", where=str(path), next=AGAIN) from None


def _tensors(content: Any) -> Iterator[tuple[str, Stored]]:
    """Every tensor with its name; containers may hold each other, each is looked into once."""
    waiting, known = [("", content)], set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Stored):
            yield name, value
        elif isinstance(value, (dict, list, tuple)) and id(value) not in known:
            known.add(id(value))
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(f"{name[:200]}.{str(key)[:200]}".lstrip("."), each) for key, each in inner]
