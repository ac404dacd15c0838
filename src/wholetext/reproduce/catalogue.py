"""The papers, their tables and figures, and the data they need, from the TOML files in papers/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, known
from wholetext.files.parsing import read_toml

Cell = float | None  # None: not published, or not computed
PAPERS = ("V", "S", "D", "P", "B")


@dataclass(frozen=True)
class Entry:
    """A table or figure: what is computed on which data, and what was published."""

    paper: str
    name: str  # table1, figure2 …
    title: str
    kind: str = ""  # the experiment that computes it, as run.KINDS names it; "": none does
    data: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    published: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)  # by row
    digits: int = 3  # decimals that were printed
    metrics: Mapping[str, str] = field(default_factory=dict)  # row → spec
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the experiment
    small: Mapping[str, Any] = field(default_factory=dict)  # fields that --small replaces
    figure: str = ""  # curves, grid or bars; "": a table
    note: str = ""  # what differs from the paper, or why it cannot be computed
    remarks: tuple[str, ...] = ()  # what holds for several entries of the paper

    @property
    def command(self) -> str:
        return f"wholetext reproduce {self.paper} {self.name}"


@dataclass(frozen=True)
class Paper:
    """A paper and its entries, by name."""

    letter: str
    title: str
    authors: str
    entries: Mapping[str, Entry]

    def __getitem__(self, name: str) -> Entry:
        key = name.lower().replace(" ", "")
        return self.entries[known("entry", key, self.entries, where=self.authors)]


@dataclass(frozen=True)
class Dataset:
    """Where a data set lies below the data folder, and how to get it."""

    path: str
    get: str


@cache
def papers() -> Mapping[str, Paper]:
    """Read all papers, by letter."""
    return {letter: _paper(letter) for letter in PAPERS}


@cache
def datasets() -> Mapping[str, Dataset]:
    """Read the data sets, by name."""
    return {name: Dataset(**table) for name, table in _table("data").items()}


def find_paper(letter: str) -> Paper:
    """Return the paper of a letter, in any case."""
    return papers()[known("paper", letter.upper(), PAPERS)]


def locate(name: str, folder: Path | None) -> Path:
    """Return where a data set lies; the error says how to get it."""
    dataset = datasets()[name]
    if folder is None or not (folder / dataset.path).exists():
        raise InputError(
            f"the data set {name} is needed",
            where=str(folder / dataset.path) if folder else "no data folder is named",
            next=f"{dataset.get}; then name its folder with --data, or try --small",
        )
    return folder / dataset.path


def _paper(letter: str) -> Paper:
    table = _table(letter)
    remarks = table.get("remarks", {})
    entries = {
        name: _entry(letter, name, fields, remarks) for name, fields in table["entries"].items()
    }
    return Paper(letter, table["title"], table["authors"], entries)


def _entry(letter: str, name: str, fields: Mapping[str, Any], remarks: Mapping[str, str]) -> Entry:
    published = {
        row: tuple(None if isinstance(cell, str) else float(cell) for cell in cells)
        for row, cells in fields.get("published", {}).items()
    }
    lists = {key: tuple(fields.get(key, ())) for key in ("data", "columns")}
    lists["remarks"] = tuple(remarks[key] for key in fields.get("remarks", ()))
    return Entry(letter, name, **{**fields, **lists, "published": published})


def _table(name: str) -> dict[str, Any]:
    text = (files(__package__) / "papers" / f"{name}.toml").read_text("utf-8")
    return read_toml(text, where=f"{name}.toml")
