"""Contrastive items: a source sentence in context, and candidates; the first is correct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
