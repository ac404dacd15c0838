"""Contrastive items and readers of contrastive sets: JSONL, DiscEvalMT and ContraPro.

An item is a source sentence in context and candidates of which the first is correct. Formats are
told apart by name and content.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, count
from wholetext.files.parsing import read_json, reader, reading
from wholetext.io.text import read_lines
from wholetext.notebook.display import brief
from wholetext.text import pair_of, same_language


@dataclass(frozen=True)
class Candidate:
    """A translation and the target sentences before it."""

    text: str
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One decision: the correct candidate must score strictly better than every other."""

    id: str
    src: str
    src_context: tuple[str, ...]
    candidates: tuple[Candidate, ...]  # the first is the correct one
    type: str = ""
    category: str = ""  # of pronouns: source:target
    distance: int | None = None  # sentences back to the antecedent; None: unknown
    intra: bool | None = None  # whether the set marks it as within the sentence
    block: str = ""
    ref: str | None = None  # a human translation besides the candidates
    langs: Langs | None = None  # where they differ from those of the set

    def __post_init__(self) -> None:
        if len(self.candidates) < 2:
            raise ValueError("there is no contrastive translation")
        for candidate in self.candidates:
            if len(candidate.context) != len(self.src_context):
                raise ValueError(
                    f"context of {len(self.src_context)} source sentences, but "
                    f"{len(candidate.context)} target sentences"
                )


@dataclass(frozen=True)
class ContrastSet:
    """Items in order, with the languages, and what the reader had to decide or leave out."""

    name: str
    langs: tuple[str, str]
    items: tuple[Item, ...]
    warnings: tuple[str, ...] = ()
    __repr__ = brief

    def __len__(self) -> int:
        return len(self.items)


def repeated(items: Sequence[Item]) -> Iterator[str]:
    """Note the items that give a candidate twice: equal texts cannot be told apart, and chance differs."""
    same = [item for item in items if item.candidates[0] in item.candidates[1:]]
    twice = [item for item in items if len(set(item.candidates[1:])) < len(item.candidates) - 1]
    for faulty, what in (
        (same, "with the correct translation among the wrong ones, so that every metric ties"),
        (twice, "with a wrong translation given twice, so that chance is higher than shown"),
    ):
        if faulty:
            yield f"{count(len(faulty), 'item')} {what}; see item {faulty[0].id}"


Langs = tuple[str, str]
_FAULT = "this item cannot be read"
_NEXT = 'an item of JSONL has "src", "target" and "contrastive", a list of wrong translations'
_REMEMBERED = 256  # documents of ContraPro
_PROBE = 50  # items by which the numbering of lines is recognised
_LOOSE = re.compile(r"[\s\"'“”„‘’«»`]+")  # what extraction from subtitles may change


@reader
def read_contrast_set(
    path: str | Path,
    langs: Langs | None = None,
    documents: Path | None = None,
    context: int = 3,
) -> ContrastSet:
    """Read the set in a file.

    ContraPro's items have no context of their own: up to ``context`` sentences before them are
    taken from ``documents``, a folder of line-aligned files.
    """
    path = Path(path)
    if path.suffix == ".jsonl":
        contrast_set = _jsonl(path, langs)
    else:
        data = read_json("\n".join(read_lines(path)), where=str(path))
        if isinstance(data, list) and data and "errors" in data[0]:
            contrast_set = _contrapro(data, path, langs, documents, context)
        elif isinstance(data, dict) and all(block.isdecimal() for block in data):
            contrast_set = _discevalmt(data, path, langs)
        else:
            raise InputError(
                "unknown format of contrastive set",
                where=str(path),
                next="give DiscEvalMT's or ContraPro's JSON, or name JSON lines FILE.jsonl",
            )
    if not contrast_set.items:
        raise InputError("there are no items in this set", where=str(path))
    return replace(contrast_set, warnings=(*contrast_set.warnings, *repeated(contrast_set.items)))


def _jsonl(path: Path, langs: Langs | None) -> ContrastSet:
    """One item per line; lines with a ``choice`` are preferences between two texts."""
    items: list[Item] = []
    pairs: Counter[Langs] = Counter()
    ties = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where, name = f"{path}:{number}", f"{path.stem}-{number}"
        record = read_json(line, where=where)
        with reading(where, _NEXT, what=_FAULT):
            if record.get("choice") == "tie":
                ties += 1
            else:
                make = _preference if "choice" in record else _item
                items.append(make(record, name))
            if record.get("langs"):  # the set's; preferences have their own
                pairs[pair_of(_text(record, "langs"))] += 1
    notes = [f"{count(ties, 'item')} left out: people preferred neither text"] if ties else []
    langs = langs or next(iter(pairs), ("", ""))
    others = [
        f"{size:,} of {'-'.join(pair)}"
        for pair, size in pairs.items()
        if not all(map(same_language, pair, langs))
    ]
    if others:
        shown = "-".join(langs)
        notes.append(
            f"not all items are of the language pair {shown} ({', '.join(others)}): all are read "
            f"as {shown}"
        )
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _item(record: dict[str, Any], name: str) -> Item:
    """``contrastive_ref_context`` gives variants separate contexts."""
    target, wrong = _texts(record, "ref_context"), _texts(record, "contrastive")
    own = record.get("contrastive_ref_context") or [target] * len(wrong)
    variants = [Candidate(variant, tuple(own[at])) for at, variant in enumerate(wrong)]
    pronouns = [_text(record, key, "") for key in ("src_pronoun", "ref_pronoun")]
    return Item(
        id=_text(record, "id", name),
        src=_text(record, "src"),
        src_context=_texts(record, "src_context"),
        candidates=(Candidate(_text(record, "target"), target), *variants),
        type=_text(record, "type", ""),
        category=":".join(filter(None, pronouns)),
        distance=_distance(record, "antecedent_distance"),
        intra=_flag(record.get("intrasegmental")),
        block=_text(record, "block", ""),
    )


def _preference(record: dict[str, Any], name: str) -> Item:
    """The text that people chose is the correct candidate; its system is the item's type.

    ``target`` is a published translation, ``source_lang`` and ``target_lang`` the languages
    (Karpinska and Iyyer 2023).
    """
    chosen, other = {"text1": ("text1", "text2"), "text2": ("text2", "text1")}[record["choice"]]
    pair = _text(record, "source_lang", ""), _text(record, "target_lang", "")
    return Item(
        id=name,
        src=_text(record, "source"),
        src_context=(),
        candidates=(Candidate(_text(record, chosen)), Candidate(_text(record, other))),
        type=_text(record, f"{chosen}_tag", ""),
        ref=_text(record, "target", "") or None,
        langs=pair if any(pair) else None,
    )


def _discevalmt(blocks: Mapping[str, Any], path: Path, langs: Langs | None) -> ContrastSet:
    """DiscEvalMT (Bawden et al. 2018): each candidate is correct in one context and wrong in another.

    The previous sentence of each item is its own, on both candidates.
    """
    items: list[Item] = []
    for block in sorted(blocks, key=int):
        with reading(f"{path}, block {block}", what=_FAULT):
            record, lexical = blocks[block], "examples" in blocks[block]
            for at, part in enumerate(record["examples" if lexical else "trg"]):
                before, src = _texts(part if lexical else record, "src")
                target = part["trg"] if lexical else part
                right = "correct" if lexical or "correct" in part else "semi-correct"
                pair = (_texts(target, right), _texts(target, "incorrect"))
                kind = _text(record if lexical else part, "type", "")
                items.append(
                    Item(
                        id=f"{'lexical' if lexical else 'anaphora'}-{block}-{at}",
                        src=src,
                        src_context=(before,),
                        candidates=tuple(Candidate(text, (previous,)) for previous, text in pair),
                        distance=1,
                        block=block,
                        type=kind if lexical else kind or right,
                    )
                )
    return ContrastSet(path.stem, langs or ("en", "fr"), tuple(items))


# ---------------------------------------------------------------- ContraPro

Lines = tuple[tuple[str, ...], tuple[str, ...]]  # source and target, line by line
# context in source and target, and whether the document has the item's source; None: not found
Before = tuple[tuple[str, ...], tuple[str, ...], bool | None]


def _contrapro(
    rows: Sequence[Any], path: Path, langs: Langs | None, folder: Path | None, limit: int
) -> ContrastSet:
    """ContraPro (Müller et al. 2018; En-Fr: Lopes et al. 2020), with context from documents."""
    if folder is not None and not folder.is_dir():
        raise InputError(
            "there are no documents here",
            where=str(folder),
            next="give the folder of line-aligned documents",
        )
    with reading(str(path)):
        ending = _text(rows[0], "document id", "").rpartition(".")[2]
        langs = langs or ("en", ending if len(ending) == 2 else "de")
        document = lru_cache(_REMEMBERED)(partial(_document, folder, langs))

        def before(record: dict[str, Any], first: int) -> Before:
            return _before(record, document(_text(record, "document id", "")), first, limit)

        def hits(first: int) -> int:
            return sum(before(record, first)[2] or False for record in rows[:_PROBE])

        first = max((1, 0), key=hits)  # ``segment id`` counts from 1 (German) or 0 (French)
    items, alike = list[Item](), Counter[bool | None]()
    for at, record in enumerate(rows):
        with reading(f"{path}, item {at}", what=_FAULT):
            source, target, same = before(record, first)
            alike[same] += 1
            texts = [_text(record, "ref segment")]
            texts += [_text(error, "contrastive") for error in record["errors"]]
            pronouns = [_text(record, key, "").lower() for key in ("src pronoun", "ref pronoun")]
            items.append(
                Item(
                    id=f"contrapro-{at}",
                    src=_text(record, "src segment"),
                    src_context=source,
                    candidates=tuple(Candidate(variant, target) for variant in texts),
                    category=":".join(filter(None, pronouns)),
                    distance=_distance(record, "ante distance"),
                    intra=_flag(record.get("intrasegmental")),
                )
            )
    notes = []
    if folder is None:
        notes.append("no documents were given (--context-from), so the items have no context")
    elif alike[None]:
        notes.append(
            f"{count(alike[None], 'item', 'have')} no context: the document or line was not found"
        )
    if alike[False]:
        notes.append(
            f"{count(alike[False], 'item', 'have')} another source sentence than the document's line"
        )
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _before(record: dict[str, Any], lines: Lines | None, first: int, limit: int) -> Before:
    """Up to ``limit`` sentences before an item."""
    place = record.get("segment id")
    if lines is None or place is None or not 0 <= int(place) - first < len(lines[0]):
        return (), (), None
    here = int(place) - first
    span = slice(max(0, here - limit), here)
    same = _LOOSE.sub("", lines[0][here]) == _LOOSE.sub("", _text(record, "src segment"))
    return lines[0][span], lines[1][span], same


def _document(folder: Path | None, langs: Langs, doc: str) -> Lines | None:
    """The line-aligned files ``ID.src`` and ``ID.tgt``, also in folders by year."""
    stem = Path(doc.removesuffix(f".{langs[0]}").removesuffix(f".{langs[1]}"))
    if folder is None or ".." in stem.parts or stem.is_absolute():
        return None  # an id may not lead out of the folder
    for parent in (stem.parent, Path(stem.name.split("_")[0]), Path()):
        files = [folder / parent / f"{stem.name}.{lang}" for lang in langs]
        # pathlib raises where a name is too long
        if all(os.path.isfile(file) for file in files):  # noqa: PTH113
            source, target = (tuple(map(str.strip, read_lines(file))) for file in files)
            if len(source) != len(target):
                raise InputError(
                    f"{count(len(source), 'line')}, but {len(target)} in {files[1].name}",
                    where=str(files[0]),
                    next="documents must be aligned line by line",
                )
            return source, target
    return None


# ---------------------------------------------------------------- fields of JSON objects


def _text(record: dict[str, Any], key: str, otherwise: str | None = None) -> str:
    """A field that is text; a ValueError names the field."""
    value = otherwise if record.get(key) is None else record[key]
    if not isinstance(value, str):
        raise ValueError(f"the field {key!r} should be a string")
    return value


def _texts(record: dict[str, Any], key: str) -> tuple[str, ...]:
    """A field that is a list of texts, empty if absent."""
    values = record.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"the field {key!r} should be a list of strings")
    return tuple(values)


def _distance(record: dict[str, Any], key: str) -> int | None:
    """A field that is a number of sentences, written as a number or as text; None if absent."""
    value = record.get(key)
    if value is not None and not str(value).lstrip("-").isdecimal():
        raise ValueError(f"the field {key!r} should be a whole number")
    return None if value is None else int(value)


def _flag(value: Any) -> bool | None:
    """Read true and false, also as words; anything else is None."""
    return {"true": True, "false": False}.get(str(value).lower())
