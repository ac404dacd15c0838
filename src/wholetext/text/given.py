"""Annotations the user already has (CoNLL-U or JSON lines), so that no tagger is needed: ``tagger=given/FILE``.

CoNLL-U: see ``text/conllu.py``. JSON: one object a line (or one list) of the form ``{"text": …, "tokens": [...],
"tags": [...], "pos": [...], "lemmas": [...], "morph": [...], "entities": [[label, start, end], …], "sentences":
[[start, end], …]}``; all but ``tokens`` may be left out, ``text`` is then the tokens joined by blanks, and starts and
ends count characters of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.text.analysis import LAYERS, Analyser, Analysis, Entity, Layer, Token
from wholetext.text.conllu import conllu_records
from wholetext.text.plain import locate, sentences

_COLUMNS: dict[Layer, str] = {"tag": "tags", "pos": "pos", "morph": "morph", "lemma": "lemmas", "entity": "entities",
                              "sentence": "sentences"}


def open_given(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return GivenAnalyser(Path(detail), layers)


OPENERS = {"given": open_given}


class GivenAnalyser(Analyser):
    """Looks each segment up by its text, in a file or in every file of a folder; read by the first ``run``."""

    def __init__(self, path: Path, layers: frozenset[Layer] = LAYERS) -> None:
        if not path.exists():
            raise InputError("there is no such file of annotations", where=str(path),
                             next="write tagger=given/FILE.conllu or given/FILE.jsonl")
        files = sorted(item for item in path.iterdir() if item.is_file()) if path.is_dir() else [path]
        digest = hashlib.blake2b(digest_size=6)
        self._known: dict[str, Analysis] = {}
        given: set[Layer] = set()
        for file in files:
            data = file.read_bytes()
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
        try:
            loaded = json.loads(line)
        except json.JSONDecodeError as error:
            where = f"{file}:{error.lineno if whole else number}"
            raise InputError(f"not valid JSON ({error.msg})", where=where, next="one JSON object a line") from None
        for record in loaded if isinstance(loaded, list) else [loaded]:
            if not isinstance(record, dict) or not isinstance(record.get("tokens"), list):
                raise InputError('an annotation needs "tokens": a list of strings', where=f"{file}:{number}")
            yield record


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
    entities = tuple(Entity(text[a:b], label, a, b) for label, a, b in record.get("entities", ()))
    ends = tuple((int(a), int(b)) for a, b in record["sentences"]) if record.get("sentences") else sentences(text)
    return text, Analysis(tokens, entities, ends)
