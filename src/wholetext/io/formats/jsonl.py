"""JSONL, one document or segment per line, and JSON arrays of the same objects."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.columns import Columns, with_paths
from wholetext.io.records import NULLS, REALIGNED, load
from wholetext.io.text import FilePath, TextFile, at, clean, text_writer
from wholetext.types import Corpus

_START = re.compile(r"\{|\[\s*\{")
_KEY = re.compile(r'(?<!\\)"(\w+)"\s*:')
NUL = re.compile(r"(?<!\\)(\\\\)*\\u0000")  # a NUL as JSON writes it, not a text about one


def recognise(file: TextFile) -> bool:
    """Tell JSON by the bracket that it starts with."""
    return _START.match(file.head()) is not None


def read(
    file: TextFile,
    langs: Langs = None,
    *,
    columns: Columns | None = None,
    corpus: Corpus | None = None,
    outputs: bool = True,
) -> Loaded:
    """Read objects; ``langs`` selects a language pair (``en-de`` also matches en-de_DE).

    ``columns`` may have paths of nested objects, such as ``response.choices.0.text``.
    """
    records = ((line, with_paths(fields, columns)) for line, fields in objects(file))
    return load(records, file.name, langs, columns=columns, corpus=corpus, outputs=outputs)


def first_keys(file: TextFile) -> frozenset[str]:
    """Return the keys of the first line, which may be broken, or longer than the head."""
    line = file.head().split("\n", 1)[0]
    if not line.startswith("{"):
        return frozenset()
    try:
        return frozenset(read_json(line))
    except InputError:
        return frozenset(_KEY.findall(line))


def objects(file: TextFile, constants: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the numbered objects of a file: of an array, or one per line.

    Blank lines at the end are ignored. ``constants`` allows NaN and infinities.
    """
    blank = 0
    if recognise(file) and file.head().startswith("["):
        items = read_json("\n".join(file.lines()), where=file.name, constants=constants)
        for number, item in enumerate(items, 1):
            if not isinstance(item, dict):
                raise InputError(
                    "this item of the array is not a JSON object",
                    where=at(file.name, number),
                    next='write [{"source": "…", "output": "…"}, …]',
                )
            yield number, item
        return
    for number, line in enumerate(file.lines(), 1):
        if not line.strip():
            blank = blank or number
            continue
        where, remedy = at(file.name, blank or number), "write one JSON object per line"
        fields = None if blank else read_json(line, where=where, next=remedy, constants=constants)
        if not isinstance(fields, dict):
            raise InputError("this line is not a JSON object", where=where, next=remedy)
        yield number, fields


def write(path: FilePath, loaded: Loaded) -> None:
    """Write a line that names the corpus, then one document per line; ``read`` restores it.

    A file called ``.json`` becomes an array of the same objects.
    """
    corpus, outputs = loaded.corpus, loaded.outputs
    array = os.fspath(path).removesuffix(".gz").endswith(".json")
    with text_writer(path) as out:
        head = {"corpus": corpus.id, "langs": list(corpus.langs)}
        out.write("[" * array + _line(head, os.fspath(path)))
        for doc in corpus.docs:
            meta = dict(doc.meta)
            for output in outputs:
                if doc.id in output.realigned:
                    meta[f"{REALIGNED}{output.system}"] = output.realigned[doc.id]
                if nulls := output.nulls.get(doc.id):
                    value = [nulls.policy, nulls.omitted, nulls.added]
                    meta[f"{NULLS}{output.system}"] = json.dumps(value, ensure_ascii=False)
            fields = {
                "doc": doc.id,
                "src": doc.src,
                "refs": dict(doc.refs),
                "outputs": {output.system: output.docs[doc.id] for output in outputs},
                "meta": meta,
            }
            present = {key: value for key, value in fields.items() if value not in (None, {})}
            out.write("," * array + _line(present, f"{path}, document {doc.id!r}"))
        out.write("]\n" * array)


def _line(fields: Mapping[str, object], where: str) -> str:
    text = json.dumps(fields, ensure_ascii=False)
    return clean("\0" if NUL.search(text) else text, where) + "\n"
