"""A corpus → a file or folder of another format, told by its name, and read back as a check."""

from __future__ import annotations

from pathlib import Path

from wholetext.errors import InputError, choices
from wholetext.io import formats
from wholetext.io.assembly import Loaded, check_read_back
from wholetext.io.detect import read
from wholetext.io.text import FilePath, is_folder

_BY_SUFFIX = {"jsonl": "jsonl", "json": "jsonl", "csv": "table", "tsv": "table", "xlsx": "table"}


def writable() -> list[str]:
    """List the formats that can be written."""
    return [name for name in formats.names() if hasattr(formats.find(name), "write")]


def convert(loaded: Loaded, path: FilePath, format: str | None = None) -> tuple[str, list[str]]:
    """Write a corpus with its outputs; return the format, and notes on what it cannot hold.

    The format is that of the suffix, or an EvalSet for a folder. Texts, ids and names that would be
    read back as others are an error.
    """
    suffix = Path(str(path).removesuffix(".gz")).suffix.removeprefix(".")
    kind = format or _BY_SUFFIX.get(suffix, "evalset" if is_folder(path) or not suffix else "")
    known = writable()
    if kind not in known:
        raise InputError(
            f"there is no format {kind or suffix!r} to write",
            where=str(path),
            next=f"{choices(kind, known)} (--to), or call the file .{', .'.join(_BY_SUFFIX)}",
        )
    formats.write(kind, path, loaded)
    langs = loaded.corpus.langs if all(loaded.corpus.langs) else None
    systems = [output.system for output in loaded.outputs]
    back = check_read_back(
        loaded, lambda: read(path, langs=langs, systems=systems or None), str(path)
    )
    losses = _losses(loaded, back)
    if loaded.judgments and kind != "evalset":
        losses.append("human scores")
    return kind, [f"not kept: {', '.join(dict.fromkeys(losses))}"] if losses else []


def _losses(loaded: Loaded, back: Loaded) -> list[str]:
    """Name what was not kept, other than texts."""
    losses = list[str]()
    for doc, other in zip(loaded.corpus.docs, back.corpus.docs):
        changed = [key for key, value in doc.meta.items() if other.meta.get(key) != value]
        losses += [f"the metadata {key!r}" for key in changed]
        losses += [f"the reference {name!r}" for name in doc.refs.keys() - other.refs.keys()]
    for output, copy in zip(loaded.outputs, back.outputs):
        kept = (output.realigned, output.nulls) == (copy.realigned, copy.nulls)
        losses += [] if kept else ["records of the alignment"]
    return losses
