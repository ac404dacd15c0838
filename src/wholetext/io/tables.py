"""Tables in memory: DataFrames of pandas and polars, ``datasets.Dataset``; none is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from wholetext.errors import InputError
from wholetext.io import records
from wholetext.io.assembly import Langs, Loaded


class DataFrame(Protocol):
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
            next="choose one of them: dataset['test']",
        )
    try:
        return None if names is None or callable(names) else list(names)
    except TypeError:
        return None


def read_table(table: Any, names: Sequence[Any], langs: Langs = None) -> Loaded:
    """Read one segment (or document) per row; the columns are those of a TSV."""
    labels = [str(name).strip() for name in names]
    kinds = [records.key_of(label) for label in labels]
    if not any(key and key[0] in ("hyp", "hyps") for key in kinds):
        raise InputError(
            f"no column has the output of a system: {', '.join(labels)}",
            where="table",
            next="call a column hyp or hyp:SYSTEM (docs/formats.md)",
        )
    if ("hyp", "") in kinds and ("system", "") not in kinds:
        labels[kinds.index(("hyp", ""))] = "hyp:hyp"
    rows = zip(*(table[name] for name in names))
    numbered = ((i, dict(zip(labels, row))) for i, row in enumerate(rows))
    return records.load(numbered, "table", langs)
