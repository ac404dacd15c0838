"""Annotations the user already has (CoNLL-U or JSON lines), so that no tagger is needed: ``tagger=given/FILE``.

CoNLL-U: see ``text/conllu.py``. JSON: one object a line (or one list) of the form ``{"text": …, "tokens": [...],
"tags": [...], "pos": [...], "lemmas": [...], "morph": [...], "entities": [[label, start, end], …], "sentences":
[[start, end], …]}``; all but ``tokens`` may be left out, ``text`` is then the tokens joined by blanks, and starts and
ends count characters of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, read_json
from wholetext.taggers.analysis import LAYERS, Analyser, Analysis, Entity, Layer, Token
from wholetext.taggers.conllu import conllu_records
from wholetext.taggers.plain import locate, sentences

_COLUMNS: dict[Layer, str] = {"tag": "tags", "pos": "pos", "morph": "morph", "lemma": "lemmas", "entity": "entities",
                              "sentence": "sentences"}


_LARGEST = 1 << 28  # bytes of a file of annotations


def open_given(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return GivenAnalyser(Path(detail), layers)


OPENERS = {"given": open_given}


class GivenAnalyser(Analyser):
    """Looks each segment up by its text, in a file or in every file of a folder; read by the first ``run``."""

    def __init__(self, path: Path, layers: frozenset[Layer] = LAYERS) -> None:
        if not os.path.exists(path):  # noqa: PTH110 - pathlib raises where a name is impossible
            raise InputError("there is no such file of annotations", where=str(path),
                             next="write tagger=given/FILE.conllu or given/FILE.jsonl")
        files = sorted(item for item in path.iterdir() if item.is_file()) if path.is_dir() else [path]
        digest = hashlib.blake2b(digest_size=6)
        self._known: dict[str, Analysis] = {}
        given: set[Layer] = set()
        for file in files:
            data = file_bytes(file, most=_LARGEST)
            digest.update(data)
            for record in _records(_text(data, file), file):
                text, analysis = _analysis(record, file)
                self._known[text] = analysis
                given.update(layer for layer, column in _COLUMNS.items() if column in record)
        self.layers = layers & given
        self.id = f"given/{path.name}-{digest.hexdigest()}"

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        return [self._find(text) for text in batch]

    def _find(self, text: str) -> Analysis:
        if not text.strip():
            return Analysis(())
        found = self._known.get(text) or self._known.get(text.strip())
        if found is None:
            raise InputError(f"there is no annotation for the segment {text[:80]!r}", where=self.id,
                             next="annotate every segment of every system and reference, or use tagger=auto")
        return found


def _text(data: bytes, file: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8 at byte {error.start}", where=str(file), next="save it as UTF-8") from None


def _records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    if text.lstrip()[:1] in ("{", "["):
        yield from _json_records(text, file)
    else:
        yield from conllu_records(text, file)


def _json_records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    whole = text.lstrip().startswith("[")
    for number, line in enumerate([text] if whole else text.splitlines(), 1):
        if not line.strip():
            continue
        where = str(file) if whole else f"{file}:{number}"
        loaded = read_json(line, where=where, next="one JSON object a line")
        for at, record in enumerate(loaded if isinstance(loaded, list) else [loaded], 1):
            yield _checked(record, f"{where}, object {at}" if isinstance(loaded, list) else where)


def _checked(record: Any, where: str) -> dict[str, Any]:
    """A record whose every field has the type that it must have."""
    if not isinstance(record, dict) or not _is_strings(record.get("tokens")):
        raise InputError('an annotation needs "tokens": a list of strings', where=where)
    text = record.get("text")
    if text is not None and not isinstance(text, str):
        raise InputError('"text" is a string', where=where)
    size = len(text if text else " ".join(record["tokens"]))
    for column in ("lemmas", "tags", "pos", "morph"):
        if record.get(column) is not None and not _is_strings(record[column]):
            raise InputError(f'"{column}" is a list of strings', where=where)
    for column, labels in (("entities", 1), ("sentences", 0), ("spans", 0)):
        for entry in _entries(record, column, where):
            right = isinstance(entry, list) and len(entry) == labels + 2 and _is_strings(entry[:labels])
            if not right or not _is_span(entry[labels:], size):
                raise InputError(f'"{column}" is a list of {"[label, start, end]" if labels else "[start, end]"} with '
                                 f"places from 0 to {size}", where=where)
    if record.get("spans") and len(record["spans"]) != len(record["tokens"]):
        raise InputError(f'{len(record["spans"])} spans for {len(record["tokens"])} tokens', where=where)
    return record


def _is_span(places: Sequence[Any], size: int) -> bool:
    return all(type(place) is int for place in places) and 0 <= places[0] <= places[1] <= size


def _entries(record: Mapping[str, Any], column: str, where: str) -> list[Any]:
    found = record.get(column) or []
    if not isinstance(found, list):
        raise InputError(f'"{column}" is a list', where=where)
    return found


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _analysis(record: Mapping[str, Any], file: Path) -> tuple[str, Analysis]:
    words = record["tokens"]
    text = record.get("text") or " ".join(words)
    spans = record.get("spans") or locate(words, text)
    columns = []
    for column, default in (("lemmas", words), ("tags", None), ("pos", None), ("morph", None)):
        values = record.get(column) or default or [""] * len(words)
        if len(values) != len(words):
            raise InputError(f"{len(values)} {column} for {len(words)} tokens in {text[:60]!r}", where=str(file))
        columns.append(values)
    lemmas, tags, pos, morph = columns
    tokens = tuple(map(Token, words, lemmas, tags, pos, morph, (a for a, _ in spans), (b for _, b in spans)))
    entities = tuple(Entity(text[a:b], label, a, b) for label, a, b in record.get("entities") or ())
    ends = tuple((int(a), int(b)) for a, b in record["sentences"]) if record.get("sentences") else sentences(text)
    return text, Analysis(tokens, entities, ends)
