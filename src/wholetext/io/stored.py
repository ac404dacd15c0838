"""Corpora larger than memory: while files are read, texts go to a temporary file, and documents are made on demand."""

from __future__ import annotations

import json
import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from wholetext.errors import WriteError
from wholetext.files.storage import refusing
from wholetext.files.text_store import Column, Segments, Stored, TextStore
from wholetext.types import Document, IntArray

LARGE = 1 << 27  # bytes of text files, from which they are not held in memory
ZIPPED = 4  # times as much text as a gzip file has bytes, about


def is_large(paths: Iterable[str | os.PathLike[str] | None]) -> bool:
    """Whether files are so large together that their texts stay on disk."""
    sizes = [os.path.getsize(path) * (ZIPPED if os.fspath(path).endswith(".gz") else 1)  # noqa: PTH202
             for path in paths if path is not None and os.path.isfile(path)]  # noqa: PTH113
    return sum(sizes) >= LARGE


def stored_note(documents: int) -> str:
    """The reader's note on such a corpus."""
    return (f"the texts of {documents:,} documents are read from disk as they are needed: the files have more than "
            f"{LARGE >> 20} MB")


class Spool(TextStore):
    """Texts in a temporary file that is deleted with the process; their offsets are in memory."""

    def __init__(self) -> None:
        self.numbers = {}
        self.metas: dict[int, dict[str, str]] = {}
        self._known: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}  # equal ones are kept once
        self._sizes = array("q")
        self._places: dict[Column, tuple[array[int], array[int]]] = {}  # where a text is, and its bytes
        self._end, self._moved = 0, False  # whether the file is not at its end
        self._source = False  # whether any segment of a source has text
        self.columns = {}
        with refusing(tempfile.gettempdir(), WriteError, _WHAT):
            self._file = tempfile.TemporaryFile(prefix="wholetext-")  # noqa: SIM115 - closed with the process

    def add(self, doc: str, column: Column, segments: Segments) -> None:
        """A text; the first one that is not an output sets the number of segments of its document."""
        number = self.numbers.setdefault(doc, len(self.numbers))
        places, lengths = self._places.setdefault(column, (array("q"), array("q")))
        places.extend([-1] * (number + 1 - len(places)))
        lengths.extend([0] * (number + 1 - len(lengths)))
        data = json.dumps(segments, ensure_ascii=False).encode()
        places[number], lengths[number] = self._end, len(data)
        with refusing(tempfile.gettempdir(), WriteError, _WHAT):
            if self._moved:
                self._file.seek(self._end)
            self._file.write(data)
        self._end, self._moved = self._end + len(data), False
        self._sizes.extend([0] * (number + 1 - len(self._sizes)))
        self._source |= column[0] == "src" and any(segments)
        if column[0] == "src" or (column[0] == "ref" and not self._sizes[number]):
            self._sizes[number] = len(segments)

    def add_meta(self, doc: str, meta: Mapping[str, str]) -> None:
        number = self.numbers.setdefault(doc, len(self.numbers))
        if meta:
            self.metas[number] = self._known.setdefault(tuple(meta.items()), dict(meta))

    @property
    def stored(self) -> Sequence[Column]:
        """The columns that have any text so far."""
        return tuple(self._places)

    def take_meta(self, key: str) -> dict[str, str]:
        """Remove a key from the metadata of documents, and return its values by id."""
        found = {doc: self.metas[number][key] for doc, number in self.numbers.items()
                 if key in self.metas.get(number, ())}
        for doc in found:
            number = self.numbers[doc]
            self.metas[number] = {name: text for name, text in self.metas[number].items() if name != key}
        return found

    def documents(self) -> StoredDocuments:
        """When everything is added."""
        size = len(self.numbers)
        self.columns = {column: len(places) == size and min(places) >= 0
                        for column, (places, _) in self._places.items()}
        self.columns |= {} if self._source else {("src", ""): False}
        return StoredDocuments(self)

    @property
    def sizes(self) -> IntArray:
        return np.array(self._sizes, dtype=np.int64)

    def has(self, column: Column, number: int) -> bool:
        places, _ = self._places.get(column, ((), ()))
        return number < len(places) and places[number] >= 0

    def text(self, column: Column, number: int) -> Segments | None:
        if not self.has(column, number):
            return None
        places, lengths = self._places[column]
        self._moved = True
        self._file.seek(places[number])
        return tuple(json.loads(self._file.read(lengths[number]).decode()))

    def meta(self, number: int) -> Mapping[str, str]:
        return self.metas.get(number, {})


_WHAT = "the temporary copy of the texts (TMPDIR chooses the folder)"


class StoredDocuments(Sequence[Document], Stored):
    """The documents of a store, each made when it is used; with ``refs``, only these references."""

    def __init__(self, store: TextStore, refs: Sequence[str] | None = None) -> None:
        self.store, self.ids, self.sizes = store, tuple(store.numbers), store.sizes
        columns = dict(store.columns)
        named = [name for kind, name in columns if kind == "ref"]
        self.reference_names = tuple(named if refs is None else (name for name in refs if name in named))
        self.references = tuple(name for name in self.reference_names if columns["ref", name])
        self.has_source = columns.get(("src", ""), False)

    def keep(self, refs: Sequence[str]) -> StoredDocuments:
        return StoredDocuments(self.store, refs)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Document, ...]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        number = range(len(self.ids))[index]
        refs = {name: self.store.text(("ref", name), number) for name in self.reference_names}
        return Document(self.ids[number], self.store.text(("src", ""), number),
                        {name: text for name, text in refs.items() if text is not None}, self.store.meta(number))

    def __iter__(self) -> Iterator[Document]:
        return (self[number] for number in range(len(self.ids)))
