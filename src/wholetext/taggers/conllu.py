"""Reads CoNLL-U annotations: one sentence is one segment, or neighbouring sentences with the same ``# seg_id``.

The text is the ``# text`` line, or the forms joined by blanks; sentences of one segment are joined by a blank.
Entities are ``NER=B-PERSON`` and ``NER=I-PERSON`` in the last column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.taggers.plain import locate

_ID = re.compile(r"[0-9]{1,9}(?:[-.][0-9]{1,9})?")


def conllu_records(text: str, file: Path) -> Iterator[dict[str, Any]]:
    """One record a segment, with the columns that JSON annotations have."""
    sents = [_conllu_sentence(block, file) for block in _blocks(text)]
    for _, group in groupby(enumerate(sents), key=lambda item: item[1].get("seg_id") or item[0]):
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
        if len(row) != 10 or not _ID.fullmatch(row[0]):
            raise InputError(f"not a CoNLL-U line (ten columns, the first a number): {' '.join(row)[:60]!r}",
                             where=str(file), next="separate columns by tabs and sentences by a blank line")
    surface = [row for row in rows if "." not in row[0]]  # empty nodes are not in the text
    text = facts.get("text") or " ".join(_visible(surface))
    words = [row for row in surface if "-" not in row[0]]
    _check_order(surface, file)
    spans = _spans(surface, text)
    return {
        "text": text, "seg_id": facts.get("seg_id"), "spans": spans,
        "tokens": [row[1] for row in words], "lemmas": [row[2] for row in words], "pos": [row[3] for row in words],
        "tags": [row[4] if row[4] != "_" else row[3] for row in words],
        "morph": ["" if row[5] == "_" else row[5] for row in words],
        "entities": _entities([row[9] for row in words], spans),
    }


def _check_order(rows: Sequence[Sequence[str]], file: Path) -> None:
    """Words are numbered 1, 2, 3 …, and a range stands before its words."""
    word = last = 0
    for row in rows:
        first, _, end = row[0].partition("-")
        if end:
            right = int(first) == word + 1 and int(end) >= int(first) and last <= word
            last = int(end)
        else:
            word += 1
            right = int(first) == word
        if not right:
            raise InputError(f"the token id {row[0]} is out of order", where=str(file),
                             next="number the words of a sentence 1, 2, 3 …, a range (3-4) before its words")
    if last > word:
        raise InputError(f"a range ends at {last}, and the sentence has {word} words", where=str(file),
                         next="number the words of a sentence 1, 2, 3 …, a range (3-4) before its words")


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
