"""Texts that stay on disk: segments by document and column, read when they are used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Column = tuple[str, str]  # kind (src, ref, hyp) and name
Segments = tuple[str, ...]


class TextStore(ABC):
    """Metadata of all documents, read without their texts; texts are read by document number."""

    numbers: dict[str, int]  # document id → number, in order
    columns: Mapping[Column, bool]  # whether every document has a text in it (a source: and any of them a word)

    @property
    @abstractmethod
    def sizes(self) -> np.ndarray[Any, Any]:
        """(documents,) segments of the source, or of the first reference where there is none."""

    @abstractmethod
    def has(self, column: Column, number: int) -> bool: ...

    @abstractmethod
    def text(self, column: Column, number: int) -> Segments | None: ...

    @abstractmethod
    def meta(self, number: int) -> Mapping[str, str]: ...


class StoredTexts(Mapping[str, Segments]):
    """One column by document id: the texts of an output."""

    def __init__(self, store: TextStore, column: Column) -> None:
        self.store, self.column = store, column

    def __getitem__(self, doc: str) -> Segments:
        found = self.store.text(self.column, self.store.numbers[doc])
        if found is None:
            raise KeyError(doc)
        return found

    def __contains__(self, doc: object) -> bool:
        number = self.store.numbers.get(doc) if isinstance(doc, str) else None
        return number is not None and self.store.has(self.column, number)

    def __iter__(self) -> Iterator[str]:
        return (doc for doc, number in self.store.numbers.items() if self.store.has(self.column, number))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Stored(ABC):
    """Documents of a corpus that are read when they are used; what they have in common is known without reading."""

    ids: tuple[str, ...]
    sizes: np.ndarray[Any, Any]
    reference_names: tuple[str, ...]  # that any document has
    references: tuple[str, ...]  # that every document has
    has_source: bool
