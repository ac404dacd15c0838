"""Contrastive items: a source sentence in context, and candidates; the first is correct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.errors import count
from wholetext.notebook.display import brief


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
            raise ValueError("there is no contrastive translation")
        for candidate in self.candidates:
            if len(candidate.context) != len(self.src_context):
                raise ValueError(
                    f"context of {len(self.src_context)} source sentences, but "
                    f"{len(candidate.context)} target sentences"
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
    for faulty, what in (
        (same, "with the correct translation among the wrong ones, so that every metric ties"),
        (twice, "with a wrong translation given twice, so that chance is higher than shown"),
    ):
        if faulty:
            yield f"{count(len(faulty), 'item')} {what}; see item {faulty[0].id}"


def text(record: dict[str, Any], key: str, otherwise: str | None = None) -> str:
    """A field of a JSON object that is text; a ValueError names the field."""
    value = otherwise if record.get(key) is None else record[key]
    if not isinstance(value, str):
        raise ValueError(f"the field {key!r} should be a string")
    return value


def texts(record: dict[str, Any], key: str) -> tuple[str, ...]:
    """A field that is a list of texts, empty if absent."""
    values = record.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"the field {key!r} should be a list of strings")
    return tuple(values)


def distance(record: dict[str, Any], key: str) -> int | None:
    """A field that is a number of sentences, written as a number or as text; None if absent."""
    value = record.get(key)
    if value is not None and not str(value).lstrip("-").isdecimal():
        raise ValueError(f"the field {key!r} should be a whole number")
    return None if value is None else int(value)


def flag(value: Any) -> bool | None:
    """True and false, also as words; None for anything else."""
    return {"true": True, "false": False}.get(str(value).lower())
