"""The files a user hands over apart from one another, and the names of the systems and references in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext.errors import InputError
from wholetext.io.text import FilePath, shown, stem

Named = Sequence[FilePath | tuple[str, FilePath]] | Mapping[str, FilePath]


@dataclass(frozen=True)
class LineFiles:
    """Parallel text files with one segment per line, or outputs (``hyps``) for a ``corpus`` that is somewhere else.

    References and outputs are named after their files, or by (name, file). ``docs`` is a file with one document id per
    line; without it ``breaks`` says what a blank line is: ``blank`` a break between documents, ``none`` an empty
    segment, ``auto`` a break where all files agree on them. ``corpus`` is all that ``read`` takes as one source;
    outputs for it may be plain lines, or JSONL, TSV or XML with its document ids.
    """

    src: FilePath | None = None
    hyps: Named = ()
    refs: Named = ()
    docs: FilePath | None = None
    breaks: Literal["auto", "blank", "none"] = "auto"
    corpus: FilePath | None = None


def named(files: Named, numbered: str = "") -> dict[str, FilePath]:
    """name → file; two of one name are an error, but ``numbered`` (``ref0``, ``ref1`` …) if only their files say so."""
    if isinstance(files, Mapping):
        return dict(files)
    pairs = [entry if isinstance(entry, tuple) else (stem(entry), entry) for entry in files]
    made: dict[str, FilePath] = {}
    for name, path in pairs:
        if not name.strip():
            raise InputError("a system or reference needs a name", where=shown(path), next="write NAME=FILE, or FILE")
        if name in made and numbered and not any(isinstance(entry, tuple) for entry in files):
            return {f"{numbered}{i}": path for i, (_, path) in enumerate(pairs)}
        if name in made:
            raise InputError(f"two systems or references are named {name!r}: {shown(made[name])} and {shown(path)}",
                             next="rename one: they are named after their files, or by NAME=FILE")
        made[name] = path
    return made
