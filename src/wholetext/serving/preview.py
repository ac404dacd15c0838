"""Before scoring: what the reader makes of the files, in columns, counts and the first segment."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, WholetextError
from wholetext.files.parsing import printable
from wholetext.io import Loaded
from wholetext.io.assembly import pair
from wholetext.io.columns import settle
from wholetext.io.text import TextFile
from wholetext.serving.jobs import without_paths
from wholetext.serving.worker import load

PREVIEWED = 1_000_000  # bytes: the server itself reads no more of a request
SAMPLE = 20  # records
CHARACTERS = 300  # of a text
NAMES = {"doc": "document", "src": "source", "ref": "reference", "refs": "references"}
NAMES |= {"hyp": "output", "hyps": "outputs", "system": "name of the system", "": "not used"}


def preview(request: Mapping[str, Any], data: Path) -> dict[str, Any]:
    """Columns, counts and the first segment; where the files cannot be read, the error instead."""
    paths = [data / path for entries in request["files"].values() for _, path in entries]
    if sum(path.stat().st_size for path in paths) > PREVIEWED:
        raise InputError(
            f"files of more than {PREVIEWED:,} bytes are read when they are scored",
            next="send the first lines to see what the reader makes of them",
        )
    answer: dict[str, Any] = {"columns": []}
    try:
        for _, path in request["files"].get("corpus", ()):
            answer["columns"] = described_columns(data / path, pair(request["langs"] or None))
        return answer | described(load(request, data))
    except WholetextError as fault:
        what, step = (without_paths(data, text) for text in (fault.what, fault.next))
        return answer | {"error": what, "next": step}


def described_columns(path: Path, langs: tuple[str, str]) -> list[list[str]]:
    """List the columns of a table, or the keys of JSON, each with what it is taken for."""
    records = list(islice(_records(TextFile(path).head().splitlines()), SAMPLE))
    names = [name for name in records[0] if name] if records else []
    keys, _ = settle(names, records, path.name, langs=langs)
    if not keys:
        return []
    known = [(name, keys.get(name, ("", ""))) for name in names]
    return [[name, f"{NAMES.get(kind, kind)} {label}".strip()] for name, (kind, label) in known]


def _records(lines: Sequence[str]) -> Any:
    """Yield the first records: objects of JSON, or rows under a header."""
    if lines and lines[0].lstrip().startswith(("{", "[")):
        for line in lines:
            with suppress(ValueError):  # an array, or the end of what was read
                record = json.loads(line.strip().strip("[],"))
                if isinstance(record, dict):
                    yield record
    elif lines:
        delimiter = max("\t,;", key=lines[0].count)
        if delimiter in lines[0]:
            yield from csv.DictReader(lines, delimiter=delimiter, restkey="")


def described(loaded: Loaded) -> dict[str, Any]:
    """What was read: languages, counts, names, the first segment of each text."""
    corpus, doc = loaded.corpus, loaded.corpus.docs[0]
    texts = [
        ("source", doc.src),
        *((f"reference {name}", doc.refs.get(name)) for name in corpus.references),
        *((f"output {output.system}", output.docs.get(doc.id)) for output in loaded.outputs),
    ]
    return {
        "langs": list(corpus.langs),
        "documents": len(corpus.docs),
        "segments": sum(map(len, corpus.docs)),
        "systems": [output.system for output in loaded.outputs],
        "references": list(corpus.references),
        "first": [[name, segments[0][:CHARACTERS]] for name, segments in texts if segments],
        "notes": [printable(note) for note in loaded.warnings],
    }
