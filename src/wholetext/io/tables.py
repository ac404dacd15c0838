"""Tables in memory: DataFrames of pandas and polars, ``datasets.Dataset``; none is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from wholetext.errors import InputError
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.formats.tsv import column_keys
from wholetext.io.segments import load_records
from wholetext.io.text import clean

WHERE = "table"


class Table(Protocol):
    """A table with named columns, listed by ``columns`` or ``column_names`` (datasets)."""

    def __getitem__(self, name: Any, /) -> Any: ...

    def __len__(self) -> int: ...


def columns_of(source: object) -> list[Any] | None:
    """Return the column names of a table; None if it is not a table."""
    if isinstance(source, (str, bytes, Sequence)) or not hasattr(source, "__getitem__"):
        return None
    names = getattr(source, "column_names", None)
    names = getattr(source, "columns", None) if names is None else names
    if isinstance(names, dict):  # datasets.DatasetDict: split → names
        raise InputError(
            f"this has several parts: {', '.join(map(str, names))}",
            where=WHERE,
            next="choose one of them: dataset['test']",
        )
    try:
        return None if names is None or callable(names) else list(names)
    except TypeError:
        return None


def read_table(table: Any, names: Sequence[Any], langs: Langs = None) -> Loaded:
    """Read one segment per row; the columns are those of a TSV."""
    header, notes = column_keys([str(name).strip() for name in names], WHERE)
    columns = {}
    for (kind, label), i in header.items():
        alone = kind == "hyp" and not label and ("system", "") not in header
        columns[kind, "hyp" if alone else label] = [
            _text(value, kind, f"{WHERE}, column {names[i]}, row {row}")
            for row, value in enumerate(table[names[i]])
        ]
    size = len(next(iter(columns.values())))
    if not size:
        raise InputError(
            "this has columns but no rows", where=WHERE, next="give one row per segment"
        )
    return load_records(columns, range(1, size + 1), "", langs, notes, WHERE)


def _text(value: object, kind: str, where: str) -> str:
    if kind in ("doc", "system", "meta") and isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        clean(value, where)
        return value
    missing = value is None or value != value
    if missing and kind == "meta":
        return ""
    # a number of numpy
    if not missing and kind in ("doc", "system", "meta") and hasattr(value, "item"):
        return str(value.item())
    raise InputError(
        "there is no text here" if missing else f"expected a string, got {type(value).__name__}",
        where=where,
        next='write "" where there is no text'
        if missing
        else "one row is one segment; "
        "rows that are documents are read from JSONL (dataset.to_json(FILE))",
    )
