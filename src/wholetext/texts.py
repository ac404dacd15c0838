"""Documents, corpora and outputs of systems; import them from wholetext.types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from wholetext.errors import InputError, count
from wholetext.notebook.display import brief, listed, shortened
from wholetext.rows import IntArray, Nulls


def _segments(texts: Iterable[str], where: str) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise InputError(
            "segments are a list of strings, not one string", where=where, next="write [text]"
        )
    segments = tuple(texts) if isinstance(texts, Iterable) else (texts,)
    wrong = [kind for kind in set(map(type, segments)) if not issubclass(kind, str)]
    if wrong:
        raise InputError(
            f"segments are a list of strings, and one is of the type {wrong[0].__name__}",
            where=where,
            next='write "" for a segment without text',
        )
    return segments


def _by_name(
    texts: Mapping[str, Iterable[str]], what: str, where: str
) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(texts, Mapping):
        raise InputError(
            f"expected {what} → segments, got {type(texts).__name__}",
            where=where,
            next=f"write {{{what}: [text, …]}}",
        )
    return MappingProxyType(
        {name: _segments(some, f"{where}, {what} {name}") for name, some in texts.items()}
    )


@dataclass(frozen=True)
class Document:
    """One document: its segments in the source (None: there is no source) and in each reference."""

    id: str
    src: tuple[str, ...] | None
    refs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meta: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.src is not None:
            object.__setattr__(self, "src", _segments(self.src, f"document {self.id}"))
        object.__setattr__(self, "refs", _by_name(self.refs, "reference", f"document {self.id}"))
        object.__setattr__(self, "meta", MappingProxyType(dict(self.meta)))

    def __len__(self) -> int:
        """Number of segments (of the source; of the first reference where there is no source)."""
        return len(self.src if self.src is not None else next(iter(self.refs.values()), ()))

    def __hash__(self) -> int:
        return hash((self.id, self.src))

    __repr__ = brief

    def __reduce__(self) -> tuple[Any, ...]:  # read-only mappings are not pickled by themselves
        return Document, (self.id, self.src, dict(self.refs), dict(self.meta))


@dataclass(frozen=True)
class Corpus:
    """Documents in order, with the source and target language codes (``""`` where unknown)."""

    id: str
    langs: tuple[str, str]
    docs: tuple[Document, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "docs", tuple(self.docs))
        langs = self.langs if isinstance(self.langs, (tuple, list)) else ()
        if len(langs) != 2 or not all(isinstance(lang, str) for lang in langs):
            raise InputError(
                f"langs is a pair of language codes, not {self.langs!r}",
                where=str(self.id),
                next='write ("de", "en"), or ("", "") where they are not known',
            )
        object.__setattr__(self, "langs", tuple(langs))
        if not all(isinstance(doc, Document) for doc in self.docs):
            raise InputError(
                "docs is a list of Document",
                where=str(self.id),
                next='write Document("id", ["source segment"], {"ref": ["reference segment"]})',
            )

    def __len__(self) -> int:
        return len(self.docs)

    def __repr__(self) -> str:
        langs = f"{'-'.join(self.langs)}, " if any(self.langs) else ""
        sides = [
            *(["source"] if self.has_source else []),
            *(f"reference {name}" for name in self.references),
        ]
        return (
            f"Corpus({shortened(self.id, 80)!r}, {langs}{count(len(self), 'document')}, "
            f"{count(int(self.sizes.sum()), 'segment')}: {listed(sides) or 'no texts'})"
        )

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(doc.id for doc in self.docs)

    @cached_property
    def sizes(self) -> IntArray:
        """(documents,) segments of each."""
        return np.array(list(map(len, self.docs)), dtype=np.int64)

    @cached_property
    def references(self) -> tuple[str, ...]:
        """Names of the references that every document has, in order of first appearance."""
        first = self.docs[0].refs if self.docs else ()
        return tuple(name for name in first if all(name in doc.refs for doc in self.docs))

    @cached_property
    def has_source(self) -> bool:
        """Whether every document has a source; one of empty segments is a placeholder."""
        return all(doc.src is not None for doc in self.docs) and any(
            any(doc.src or ()) for doc in self.docs
        )


@dataclass(frozen=True)
class Output:
    """The output of one system: document id → segments, whose number may differ from the source's."""

    system: str
    docs: Mapping[str, tuple[str, ...]]
    realigned: Mapping[str, str] = field(
        default_factory=dict, compare=False
    )  # document id → how it was aligned
    nulls: Mapping[str, Nulls] = field(
        default_factory=dict, compare=False
    )  # document id → what has no counterpart

    def __post_init__(self) -> None:
        object.__setattr__(self, "realigned", MappingProxyType(dict(self.realigned)))
        object.__setattr__(self, "nulls", MappingProxyType(dict(self.nulls)))
        object.__setattr__(self, "docs", _by_name(self.docs, "document", f"system {self.system}"))

    def __hash__(self) -> int:
        return hash((self.system, tuple(self.docs)))

    def __repr__(self) -> str:
        realigned = f", {len(self.realigned)} of them aligned" if self.realigned else ""
        size = count(sum(map(len, self.docs.values())), "segment")
        return f"Output({shortened(self.system, 80)!r}, {count(len(self.docs), 'document')}{realigned}, {size})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Output, (self.system, dict(self.docs), dict(self.realigned), dict(self.nulls))
