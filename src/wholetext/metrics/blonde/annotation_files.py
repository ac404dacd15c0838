"""BlonDe's human annotation files: ambiguity and ellipsis (``an.txt``), names (``ner.txt``); one line per segment."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, integer
from wholetext.metrics.blonde.occurrences import Occurrence

_ERRORS = {"1": "ambiguity", "3": "ellipsis"}  # 0 none, 2 pronoun ellipsis, 4 entity, 5 tense, 6 sentence carry no span
_GROUP = re.compile(r"\b(PERSON|NON-?PERSON)\s*:\s*\(([^)]*)\)", re.IGNORECASE)

_LARGEST = 1 << 26  # bytes
_COUNT = 10_000  # times that a name stands in one segment
# One line: category or group → phrases to look for (with the count a name has in the reference).
Checkpoints = Mapping[str, Sequence[tuple[str, int]]]


def read_annotations(name: str) -> tuple[Checkpoints, ...]:
    """``MT sentence<TAB>1,reference phrase, MT phrase <pos/…>;…<TAB>3,…``: the reference phrases, by category."""
    return tuple(_annotation(line) for line in _lines(name))


def _annotation(line: str) -> Checkpoints:
    found: dict[str, list[tuple[str, int]]] = {}
    for item in line.split("\t")[1:]:
        kind, _, rest = item.strip().partition(",")
        if kind not in _ERRORS:
            continue
        for span in rest.split(";"):
            phrase = span.split(",")[0].strip()
            if len(phrase) >= 2 and not phrase.startswith("<"):
                found.setdefault(_ERRORS[kind], []).append((phrase, 1))
    return found


def read_names(name: str) -> tuple[Checkpoints, ...]:
    """``PERSON: (Name: 2; …)<TAB>NONPERSON: (…)``: the names of the reference segment with their counts."""
    return tuple(_names(line, f"{name}:{number}") for number, line in enumerate(_lines(name), 1))


def _names(line: str, where: str) -> Checkpoints:
    found: dict[str, list[tuple[str, int]]] = {}
    for group, entries in _GROUP.findall(line):
        for entry in filter(str.strip, entries.split(";")):
            name, _, count = entry.rpartition(":")
            if not name.strip():
                raise InputError(f"not an entry 'Name: count': {entry.strip()!r}", where=where)
            many = integer(count, what="the count of an entry 'Name: count'", low=0, high=_COUNT, where=where)
            feature = "person" if group.upper() == "PERSON" else "nonperson"
            found.setdefault(feature, []).append((name.strip(), many))
    return found


def _lines(name: str) -> list[str]:
    try:
        text = file_bytes(Path(name), most=_LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8 at byte {error.start}", where=name, next="save it as UTF-8") from None
    return text.removesuffix("\n").split("\n")


def file_mark(name: str) -> str:
    """File name and content hash, for the signature."""
    return f"{Path(name).name}-{hashlib.blake2b(chr(10).join(_lines(name)).encode(), digest_size=4).hexdigest()}"


def find_phrases(text: str, checkpoints: Checkpoints) -> tuple[Occurrence, ...]:
    """Where the phrases of ambiguity and ellipsis stand in a text: whole words, any case."""
    return tuple(
        Occurrence(category, category, phrase.lower(), start, end)
        for category, phrases in checkpoints.items()
        for phrase in dict.fromkeys(phrase for phrase, _ in phrases)
        for start, end in _places(phrase, text)
    )


def find_names(text: str, checkpoints: Checkpoints, *, as_counted: bool) -> tuple[Occurrence, ...]:
    """Annotated names in a text; in the reference each ``as_counted`` by the annotator, wherever it stands."""
    found = []
    for group, names in checkpoints.items():
        for name, count in names:
            places = _places(name, text)
            if as_counted:
                places = (places + [(0, 0)] * count)[:count]
            found += [Occurrence("entity", group, name.lower(), start, end) for start, end in places]
    return tuple(found)


def _places(phrase: str, text: str) -> list[tuple[int, int]]:
    if len(phrase) > len(text):
        return []
    return [place.span() for place in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)]
