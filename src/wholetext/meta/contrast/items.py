"""Contrastive items: a source sentence in context, and candidates; the first is correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, count
from wholetext.files.parsing import integer
from wholetext.notebook.display import brief

_LARGEST = 10**9


@dataclass(frozen=True)
class Candidate:
    """A translation and the target sentences before it."""

    text: str
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One decision: the correct candidate must score strictly better than every other."""

    id: str
    src: str
    src_context: tuple[str, ...]
    candidates: tuple[Candidate, ...]  # the first is the correct one
    type: str = ""
    category: str = ""  # of pronouns: source:target
    distance: int | None = None  # sentences back to the antecedent; None: unknown
    intra: bool | None = None  # whether the set marks it as within the sentence
    block: str = ""

    def __post_init__(self) -> None:
        if len(self.candidates) < 2:
            raise InputError("there is no contrastive translation", where=f"item {self.id}")
        for candidate in self.candidates:
            if len(candidate.context) != len(self.src_context):
                raise InputError(
                    f"context of {len(self.src_context)} source sentences, but "
                    f"{len(candidate.context)} target sentences",
                    where=f"item {self.id}",
                    next="give both sides the same number of context sentences",
                )


@dataclass(frozen=True)
class ContrastOptions:
    """Options of a reader: languages, path of the documents, number of context sentences."""

    langs: tuple[str, str] | None = None
    documents: Path | None = None
    context: int = 3


@dataclass(frozen=True)
class ContrastSet:
    """Items in order, with the languages, and what the reader had to decide or leave out."""

    name: str
    langs: tuple[str, str]
    items: tuple[Item, ...]
    warnings: tuple[str, ...] = ()
    __repr__ = brief

    def __len__(self) -> int:
        return len(self.items)


def repeated(items: Sequence[Item]) -> Iterator[str]:
    """Notes on items that give a candidate twice: no metric tells equal texts apart, and chance is
    another.
    """
    same = [item for item in items if item.candidates[0] in item.candidates[1:]]
    twice = [item for item in items if len(set(item.candidates[1:])) < len(item.candidates) - 1]
    for found, what in (
        (same, "with the correct translation among the wrong ones, so that every metric ties"),
        (twice, "with a wrong translation given twice, so that chance is higher than shown"),
    ):
        if found:
            yield f"{count(len(found), 'item')} {what}; see item {found[0].id}"


@dataclass(frozen=True)
class Fields:
    """A JSON object whose fields are checked as they are taken; faults name file and field."""

    value: Any
    where: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, Mapping):
            raise InputError(
                f"expected a JSON object, found {type(self.value).__name__}", where=self.where
            )

    def text(self, key: str, otherwise: str | None = None) -> str:
        found = otherwise if self.value.get(key) is None else self.value[key]
        if not isinstance(found, str):
            raise self.fault(key, "a string")
        return found

    def texts(self, key: str, otherwise: tuple[str, ...] | None = None) -> tuple[str, ...]:
        found = otherwise if self.value.get(key) is None else self.value[key]
        if not isinstance(found, (list, tuple)) or not all(isinstance(part, str) for part in found):
            raise self.fault(key, "a list of strings")
        return tuple(found)

    def number(self, key: str) -> int | None:
        """An integer, written as a number or a string; None if absent."""
        found = self.value.get(key)
        if found is None or found == "":
            return None
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, (int, str)):
            raise self.fault(key, "a whole number")
        return integer(
            str(found),
            what=f"a whole number ({key})",
            low=-_LARGEST,
            high=_LARGEST,
            where=self.where,
        )

    def flag(self, key: str) -> bool | None:
        found = self.value.get(key)
        if isinstance(found, str):
            return {"true": True, "false": False}.get(found.lower())
        return found if isinstance(found, bool) else None

    def two(self, key: str) -> tuple[str, str]:
        found = self.texts(key)
        if len(found) != 2:
            raise self.fault(key, "the previous and the current sentence")
        return found[0], found[1]

    def inner(self, key: str) -> Fields:
        return Fields(self.value.get(key), f"{self.where}, {key!r}")

    def list(self, key: str) -> list[Fields]:
        found = self.value.get(key)
        if not isinstance(found, list):
            raise self.fault(key, "a list")
        return [Fields(part, f"{self.where}, {key!r} {at}") for at, part in enumerate(found)]

    def fault(self, key: str, wanted: str) -> InputError:
        found = "nothing" if key not in self.value else type(self.value[key]).__name__
        return InputError(f"the field {key!r} should be {wanted}, found {found}", where=self.where)

    def item(self, **values: Any) -> Item:
        """An item made from this object; errors name its place in the file."""
        try:
            return Item(**values)
        except InputError as fault:
            raise InputError(
                fault.what, where=f"{self.where} ({values['id']})", next=fault.next
            ) from None
