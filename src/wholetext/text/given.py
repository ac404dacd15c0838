"""Annotations the user already has (CoNLL-U or JSON lines), so that no tagger is needed: ``tagger=given/FILE``.

CoNLL-U: one sentence is one segment; neighbouring sentences with the same ``# seg_id`` make one segment, joined by a blank.
The text is the ``# text`` line, or the forms joined by blanks. Entities are ``NER=B-PERSON`` / ``NER=I-PERSON`` in MISC.

JSON: one object a line (or one list): ``{"text": …, "tokens": [...], "tags": [...], "pos": [...], "lemmas": [...],
"morph": [...], "entities": [[label, start, end], …], "sentences": [[start, end], …]}``; all but ``tokens`` may be left out,
``text`` is then the tokens joined by blanks, and starts and ends count characters of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.text.analysis import LAYERS, Analyser, Analysis, Entity, Layer, Token
from wholetext.text.plain import locate, sentences
from wholetext.types import Fit

_COLUMNS: dict[Layer, str] = {"tag": "tags", "pos": "pos", "morph": "morph", "lemma": "lemmas", "entity": "entities",
                              "sentence": "sentences"}


def open_given(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return GivenAnalyser(Path(detail), layers)


OPENERS = {"given": open_given}


class GivenAnalyser:
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

    def fit(self, x: str) -> Fit:
        return Fit(tokens=1)

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
        raise InputError(f"not valid UTF-8 at byte {error.start}", where=str(file), next="convert it to UTF-8") from None


def _records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    if text.lstrip()[:1] in ("{", "["):
        yield from _json_records(text, file)
    else:
        yield from _conllu_records(text, file)


# ---------------------------------------------------------------- JSON


def _json_records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    whole = text.lstrip().startswith("[")
    for number, line in enumerate([text] if whole else text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            loaded = json.loads(line)
        except json.JSONDecodeError as error:
            where = f"{file}:{error.lineno if whole else number}"
            raise InputError(f"not valid JSON ({error.msg})", where=where, next="write one JSON object a line") from None
        for record in loaded if isinstance(loaded, list) else [loaded]:
            if not isinstance(record, dict) or not isinstance(record.get("tokens"), list):
                raise InputError('an annotation needs "tokens": a list of strings', where=f"{file}:{number}")
            yield record


# ---------------------------------------------------------------- CoNLL-U


def _conllu_records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    sents = [_conllu_sentence(block, file) for block in _blocks(text)]
    for key, group in groupby(enumerate(sents), key=lambda item: item[1].get("seg_id") or item[0]):
        parts = [sent for _, sent in group]
        record: dict[str, Any] = {"text": "", "entities": [], "sentences": [], "spans": []}
        for part in parts:
            at = len(record["text"]) + 1 if record["text"] else 0
            record["text"] = f"{record['text']} {part['text']}".strip() if at else part["text"]
            record["spans"] += [(a + at, b + at) for a, b in part["spans"]]
            record["entities"] += [(label, a + at, b + at) for label, a, b in part["entities"]]
            record["sentences"].append((at, at + len(part["text"])))
            for column in ("tokens", "lemmas", "pos", "tags", "morph"):
                record.setdefault(column, []).extend(part[column])
        yield record


def _blocks(text: str) -> Iterator[list[str]]:
    for blank, lines in groupby(text.splitlines(), key=lambda line: not line.strip()):
        if not blank:
            yield list(lines)


def _conllu_sentence(lines: list[str], file: Path) -> dict[str, Any]:
    facts = {k.strip(): v.strip() for line in lines if line.startswith("#") for k, _, v in [line[1:].partition("=")]}
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for row in rows:
        if len(row) != 10:
            raise InputError(f"a CoNLL-U line has 10 columns, this one {len(row)}: {' '.join(row)[:60]!r}", where=str(file),
                             next="separate the columns by tabs; put a blank line between sentences")
    surface = [row for row in rows if "." not in row[0]]  # empty nodes are not in the text
    text = facts.get("text") or " ".join(_visible(surface))
    words = [row for row in surface if "-" not in row[0]]
    spans = _spans(surface, text)
    return {
        "text": text, "seg_id": facts.get("seg_id"), "spans": spans,
        "tokens": [row[1] for row in words], "lemmas": [row[2] for row in words], "pos": [row[3] for row in words],
        "tags": [row[4] if row[4] != "_" else row[3] for row in words],
        "morph": ["" if row[5] == "_" else row[5] for row in words],
        "entities": _entities([row[9] for row in words], spans),
    }


def _visible(rows: Sequence[Sequence[str]]) -> list[str]:
    """Forms as they stand in the text: a range (``3-4  du``) instead of its words."""
    forms, hidden = [], 0
    for row in rows:
        if "-" in row[0]:
            hidden = int(row[0].split("-")[1])
            forms.append(row[1])
        elif int(row[0]) > hidden:
            forms.append(row[1])
    return forms


def _spans(rows: Sequence[Sequence[str]], text: str) -> list[tuple[int, int]]:
    """A span for each word; the words of a range share the span of its form."""
    places = iter(locate(_visible(rows), text))
    spans, last, shared = [], 0, (0, 0)
    for row in rows:
        if "-" in row[0]:
            last, shared = int(row[0].split("-")[1]), next(places)
        else:
            spans.append(shared if int(row[0]) <= last else next(places))
    return spans


def _entities(misc: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    inside = ""
    for field, (start, end) in zip(misc, spans, strict=True):
        mark = next((item[4:] for item in field.split("|") if item.startswith("NER=")), "O")
        if mark.startswith("I-") and mark[2:] == inside and found:
            found[-1] = (inside, found[-1][1], end)
        elif mark[:2] in ("B-", "I-"):
            found.append((mark[2:], start, end))
        inside = mark[2:] if mark[:2] in ("B-", "I-") else ""
    return found


# ---------------------------------------------------------------- both


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
