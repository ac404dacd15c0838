"""Annotations of the user's own (CoNLL-U or JSON lines): ``tagger=given/FILE``.

CoNLL-U: one sentence is one segment, or neighbouring sentences with the same ``# seg_id``, joined
by a blank. The text is the ``# text`` line, or the forms joined by blanks; entities are
``NER=B-PER`` and ``NER=I-PER`` in the last column.

JSON: one object a line (or one list) of the form ``{"text": …, "tokens": [...], "tags": [...],
"pos": [...], "lemmas": [...], "morph": [...], "entities": [[label, start, end], …], "sentences":
[[start, end], …]}``; all but ``tokens`` may be left out, ``text`` is then the tokens joined by
blanks, and starts and ends count characters of it.
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
from wholetext.files.parsing import file_bytes, read_json
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
Found = tuple[str, Analysis, frozenset[Layer]]  # a segment, its annotation, the layers that it has


class GivenAnalyser(Analyser):
    """Looks each segment up by its text, in a file or in every file of a folder."""

    def __init__(self, path: Path, layers: frozenset[Layer] = LAYERS) -> None:
        if not os.path.exists(path):  # noqa: PTH110 - pathlib raises where a name is impossible
            raise InputError(
                "there is no such file of annotations",
                where=str(path),
                next="write tagger=given/FILE.conllu or given/FILE.jsonl",
            )
        digest = hashlib.blake2b(digest_size=6)
        self._known: dict[str, Analysis] = {}
        given: set[Layer] = set()
        for file in (
            sorted(item for item in path.iterdir() if item.is_file()) if path.is_dir() else [path]
        ):
            data = file_bytes(file)
            digest.update(data)
            text = decoded(data, file)
            read = _from_json if text.lstrip()[:1] in ("{", "[") else _from_conllu
            for segment, analysis, has in read(text, file):
                self._known[segment] = analysis
                given |= has
        self.layers = layers & given
        self.id = f"given/{path.name}-{digest.hexdigest()}"

    @classmethod
    def open(cls, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
        return cls(Path(detail), layers)

    def analyse(self, text: str) -> Analysis:
        if not text.strip():
            return Analysis(())
        found = self._known.get(text) or self._known.get(text.strip())
        if found is None:
            raise InputError(
                f"there is no annotation for the segment {text[:80]!r}",
                where=self.id,
                next="annotate every segment of every system and reference, or use tagger=auto",
            )
        return found


def decoded(data: bytes, file: Path) -> str:
    """The text of a file in UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not valid UTF-8 at byte {error.start}", where=str(file), next="save it as UTF-8"
        ) from None


# ---------------------------------------------------------------- CoNLL-U


def _from_conllu(text: str, file: Path) -> Iterator[Found]:
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
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for row in rows:
        if len(row) != 10 or not _ID.fullmatch(row[0]):
            raise InputError(
                f"not a CoNLL-U line (ten columns, the first a number): {' '.join(row)[:60]!r}",
                where=str(file),
                next="separate columns by tabs and sentences by a blank line",
            )
    words, forms, holder = _numbered(
        [row for row in rows if "." not in row[0]], file
    )  # empty nodes are not text
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
    entities: list[Entity] = []
    inside = ""
    for row, token in zip(words, tokens):
        mark = next((item[4:] for item in row[9].split("|") if item.startswith("NER=")), "O")
        label = mark[2:] if mark[:2] in ("B-", "I-") else ""
        if mark.startswith("I-") and label == inside and entities:
            start = entities.pop().start
            entities.append(Entity(text[start : token.end], label, start, token.end))
        elif mark[:2] in ("B-", "I-"):
            entities.append(Entity(text[token.start : token.end], label, token.start, token.end))
        inside = label
    return facts.get("seg_id"), text, Analysis(tokens, tuple(entities), ((0, len(text)),))


def _numbered(
    rows: Sequence[list[str]], file: Path
) -> tuple[list[list[str]], list[str], list[int]]:
    """Return words, surface forms (``3-4  du`` for two words), and the form of each word."""
    advice = "number the words of a sentence 1, 2, 3 …, a range (3-4) before its words"
    words: list[list[str]] = []
    forms: list[str] = []
    holder: list[int] = []
    last = 0  # word of the last range
    for row in rows:
        first, _, end = row[0].partition("-")
        if int(first) != len(words) + 1 or (end and (int(end) < int(first) or last > len(words))):
            raise InputError(f"the token id {row[0]} is out of order", where=str(file), next=advice)
        if end or int(first) > last:
            forms.append(row[1])
        if end:
            last = int(end)
        else:
            words.append(row)
            holder.append(len(forms) - 1)
    if last > len(words):
        raise InputError(
            f"a range ends at {last}, and the sentence has {len(words)} words",
            where=str(file),
            next=advice,
        )
    return words, forms, holder


# ---------------------------------------------------------------- JSON


def _from_json(text: str, file: Path) -> Iterator[Found]:
    whole = text.lstrip().startswith("[")
    for number, line in enumerate([text] if whole else text.splitlines(), 1):
        if not line.strip():
            continue
        where = str(file) if whole else f"{file}:{number}"
        loaded = read_json(line, where=where, next="one JSON object a line")
        for at, record in enumerate(loaded if isinstance(loaded, list) else [loaded], 1):
            yield _record(record, f"{where}, object {at}" if isinstance(loaded, list) else where)


def _record(record: Any, where: str) -> Found:
    words: Any = record.get("tokens") if isinstance(record, dict) else None
    if not _is_strings(words):
        raise InputError('an annotation needs "tokens": a list of strings', where=where)
    text = str(record.get("text") or " ".join(words))
    blank = [""] * len(words)
    columns = {"lemmas": words, "tags": blank, "pos": blank, "morph": blank}
    columns |= {name: record[name] for name in columns if record.get(name)}
    for name, values in columns.items():
        if not _is_strings(values):
            raise InputError(f'"{name}" is a list of strings', where=where)
        if len(values) != len(words):
            raise InputError(f"{len(values)} {name} for {len(words)} tokens", where=where)
    try:
        spans = [(start, end) for start, end in record.get("spans") or locate(words, text)]
        labels = [(str(label), start, end) for label, start, end in record.get("entities") or ()]
        ends = [(start, end) for start, end in record.get("sentences") or sentences(text)]
        for start, end in (*spans, *(item[1:] for item in labels), *ends):
            if not {type(start), type(end)} == {int} or not 0 <= start <= end <= len(text):
                raise ValueError(f"not between 0 and {len(text)}: {start!r}, {end!r}")
        if len(spans) != len(words):
            raise ValueError(f"{len(spans)} spans for {len(words)} tokens")
    except (TypeError, ValueError) as fault:
        raise InputError(
            f"places of the wrong form ({fault})",
            where=where,
            next="spans and sentences are [start, end], entities [label, start, end]",
        ) from fault
    starts, stops = ([span[side] for span in spans] for side in (0, 1))
    tokens = tuple(map(Token, words, *columns.values(), starts, stops))
    entities = tuple(Entity(text[start:end], label, start, end) for label, start, end in labels)
    layers = frozenset(layer for layer, key in _COLUMNS.items() if key in record)
    return text, Analysis(tokens, entities, tuple(ends)), layers


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
