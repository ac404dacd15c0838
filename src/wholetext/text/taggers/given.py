"""Annotations of the user's own (CoNLL-U or JSON lines): ``tagger=given/FILE``.

CoNLL-U: one sentence is one segment, or neighbouring sentences with the same ``# seg_id``, joined
by a blank. The text is the ``# text`` line, or the forms joined by blanks; entities are
``NER=B-PER`` and ``NER=I-PER`` in the last column.

JSON: one object a line of the form ``{"text": …, "tokens": [...], "tags": [...], "pos": [...],
"lemmas": [...], "morph": [...], "entities": [[label, start, end], …], "sentences": [[start, end],
…]}``; all but ``tokens`` may be left out, ``text`` is then the tokens joined by blanks, and starts
and ends count characters of it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, read_json, reading
from wholetext.text.taggers.analysis import LAYERS, Analyser, Analysis, Entity, Layer, Token, joined
from wholetext.text.taggers.plain import locate, sentences

_COLUMNS: dict[Layer, str] = {
    "tag": "tags",
    "pos": "pos",
    "morph": "morph",
    "lemma": "lemmas",
    "entity": "entities",
    "sentence": "sentences",
}
_ID = re.compile(r"[0-9]{1,9}(?:[-.][0-9]{1,9})?")
Annotated = tuple[str, Analysis, frozenset[Layer]]  # a segment, its annotation, its layers


class GivenAnalyser(Analyser):
    """Looks each segment up by its text, in a file or in every file of a folder."""

    def __init__(self, path: Path, layers: frozenset[Layer] = LAYERS) -> None:
        digest = hashlib.blake2b(digest_size=6)
        self._known: dict[str, Analysis] = {}
        annotated: set[Layer] = set()
        is_folder = os.path.isdir(path)  # noqa: PTH112 - pathlib raises where a name is impossible
        for file in sorted(filter(Path.is_file, path.iterdir())) if is_folder else [path]:
            data = file_bytes(file, next="write tagger=given/FILE.conllu or given/FILE.jsonl")
            digest.update(data)
            with reading(str(file), "save it as UTF-8", what="not valid UTF-8"):
                text = data.decode("utf-8-sig")
            read = _from_json if text.lstrip().startswith("{") else _from_conllu
            for segment, analysis, has in read(text, file):
                self._known[segment] = analysis
                annotated |= has
        self.layers = layers & annotated
        self.id = f"given/{path.name}-{digest.hexdigest()}"

    @classmethod
    def open(cls, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
        return cls(Path(detail), layers)

    def analyse(self, text: str) -> Analysis:
        if not text.strip():
            return Analysis(())
        analysis = self._known.get(text) or self._known.get(text.strip())
        if analysis is None:
            raise InputError(
                f"there is no annotation for the segment {text[:80]!r}",
                where=self.id,
                next="annotate every segment of every system and reference, or use tagger=auto",
            )
        return analysis


# ---------------------------------------------------------------- CoNLL-U


def _from_conllu(text: str, file: Path) -> Iterator[Annotated]:
    blocks = groupby(text.splitlines(), key=lambda line: not line.strip())
    sents = [_sentence(list(lines), file) for blank, lines in blocks if not blank]
    for _, group in groupby(enumerate(sents), key=lambda item: item[1][0] or item[0]):
        segment, parts = "", []
        for _, (_, sentence, analysis) in group:
            parts.append((len(segment) + 1 if segment else 0, analysis))
            segment = f"{segment} {sentence}".strip() if segment else sentence
        yield segment, joined(parts), LAYERS


def _sentence(lines: Sequence[str], file: Path) -> tuple[str | None, str, Analysis]:
    """The ``seg_id``, the text and its analysis."""
    facts = {
        k.strip(): v.strip()
        for line in lines
        if line.startswith("#")
        for k, _, v in [line[1:].partition("=")]
    }
    words, forms, holder = list[list[str]](), list[str](), list[int]()
    last = 0  # word of the last range: ``3-4  du`` is the surface form of two words
    for row in (line.split("\t") for line in lines if not line.startswith("#")):
        if len(row) != 10 or not _ID.fullmatch(row[0]):
            raise InputError(
                f"not a CoNLL-U line (ten columns, the first a number): {' '.join(row)[:60]!r}",
                where=str(file),
                next="separate columns by tabs and sentences by a blank line",
            )
        if "." in row[0]:  # empty nodes are not text
            continue
        first, _, end = row[0].partition("-")
        if end or int(first) > last:
            forms.append(row[1])
        if end:
            last = int(end)
        else:
            words.append(row)
            holder.append(len(forms) - 1)
    text = facts.get("text") or " ".join(forms)
    places = locate(forms, text)
    tokens = tuple(
        Token(
            row[1],
            row[2],
            row[4] if row[4] != "_" else row[3],
            row[3],
            "" if row[5] == "_" else row[5],
            *places[at],
        )
        for row, at in zip(words, holder)
    )
    entities, inside = list[Entity](), ""
    for row, token in zip(words, tokens):
        mark = next((item[4:] for item in row[9].split("|") if item.startswith("NER=")), "O")
        label = mark[2:] if mark[:2] in ("B-", "I-") else ""
        if label:
            goes_on = mark.startswith("I-") and label == inside
            start = entities.pop().start if goes_on else token.start
            entities.append(Entity(text[start : token.end], label, start, token.end))
        inside = label
    return facts.get("seg_id"), text, Analysis(tokens, tuple(entities), ((0, len(text)),))


# ---------------------------------------------------------------- JSON


def _from_json(text: str, file: Path) -> Iterator[Annotated]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            where, remedy = (
                f"{file}:{number}",
                "write one JSON object a line (`wholetext help taggers`)",
            )
            record = read_json(line, where=where, next=remedy)
            with reading(where, remedy, what="this is not an annotation"):
                yield _record(record)


def _record(record: dict[str, Any]) -> Annotated:
    words = record["tokens"]
    text = str(record.get("text") or " ".join(words))
    blank = [""] * len(words)
    columns = {"lemmas": words, "tags": blank, "pos": blank, "morph": blank}
    columns |= {name: record[name] for name in columns if record.get(name)}
    for name, values in (("tokens", words), *columns.items()):
        strings = isinstance(values, list) and all(isinstance(value, str) for value in values)
        if not strings or len(values) != len(words):
            raise ValueError(f"{name} are a list of strings, one per token")
    labels = [(str(label), start, end) for label, start, end in record.get("entities") or ()]
    spans = [(start, end) for start, end in record.get("sentences") or sentences(text)]
    for start, end in (*spans, *(entity[1:] for entity in labels)):
        if not 0 <= start <= end <= len(text):
            raise ValueError(f"places are not between 0 and {len(text)}: {start}, {end}")
    rows = zip(words, *columns.values(), locate(words, text))
    tokens = tuple(Token._make((*row, *place)) for *row, place in rows)
    entities = tuple(Entity(text[start:end], label, start, end) for label, start, end in labels)
    layers = frozenset(layer for layer, key in _COLUMNS.items() if key in record)
    return text, Analysis(tokens, entities, tuple(spans)), layers
