"""Readers of contrastive sets: JSONL, DiscEvalMT and ContraPro, told apart by name and content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, SpecError, choices, count
from wholetext.files.parsing import read_json, reader, reading
from wholetext.io.text import read_lines
from wholetext.meta.contrastive.contrapro import contrapro
from wholetext.meta.contrastive.items import (
    Candidate,
    ContrastOptions,
    ContrastSet,
    Item,
    distance,
    flag,
    repeated,
    text,
    texts,
)
from wholetext.text import pair_of, same_language

READERS = ("jsonl", "contrapro", "discevalmt")
_FAULT = "this item cannot be read"
_NEXT = 'an item of JSONL has "src", "target" and "contrastive", a list of wrong translations'


@reader
def read_contrast_set(
    path: str | Path, options: ContrastOptions | None = None, reader: str = "auto"
) -> ContrastSet:
    """Read the set in a file; ``reader`` forces a format."""
    path, options = Path(path), options or ContrastOptions()
    if reader not in ("auto", *READERS):
        raise SpecError(
            f"there is no reader {reader!r} for contrastive sets", next=choices(reader, READERS)
        )
    if reader == "jsonl" or (reader == "auto" and path.suffix == ".jsonl"):
        contrast_set = _jsonl(path, options)
    else:
        data = read_json("\n".join(read_lines(path)), where=str(path))
        if isinstance(data, list) and data and "errors" in data[0]:
            contrast_set = contrapro(data, path, options)
        elif isinstance(data, dict) and all(block.isdecimal() for block in data):
            contrast_set = _discevalmt(data, path, options)
        else:
            raise InputError(
                "unknown format of contrastive set",
                where=str(path),
                next="give DiscEvalMT's or ContraPro's JSON, or name JSON lines FILE.jsonl",
            )
    if not contrast_set.items:
        raise InputError("there are no items in this set", where=str(path))
    return replace(contrast_set, warnings=(*contrast_set.warnings, *repeated(contrast_set.items)))


def _jsonl(path: Path, options: ContrastOptions) -> ContrastSet:
    """One item per line; lines with a ``choice`` are preferences between two texts."""
    items: list[Item] = []
    pairs: Counter[tuple[str, str]] = Counter()
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
            if record.get("langs"):
                pairs[pair_of(text(record, "langs"))] += 1
    notes = [f"{count(ties, 'item')} left out: people preferred neither text"] if ties else []
    langs = options.langs or next(iter(pairs), ("", ""))
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
    target, wrong = texts(record, "ref_context"), texts(record, "contrastive")
    own = record.get("contrastive_ref_context") or [target] * len(wrong)
    variants = [Candidate(variant, tuple(own[at])) for at, variant in enumerate(wrong)]
    pronouns = [text(record, key, "") for key in ("src_pronoun", "ref_pronoun")]
    return Item(
        id=text(record, "id", name),
        src=text(record, "src"),
        src_context=texts(record, "src_context"),
        candidates=(Candidate(text(record, "target"), target), *variants),
        type=text(record, "type", ""),
        category=":".join(filter(None, pronouns)),
        distance=distance(record, "antecedent_distance"),
        intra=flag(record.get("intrasegmental")),
        block=text(record, "block", ""),
    )


def _preference(record: dict[str, Any], name: str) -> Item:
    """The text that people chose is the correct candidate; its system is the item's type."""
    chosen, other = {"text1": ("text1", "text2"), "text2": ("text2", "text1")}[record["choice"]]
    return Item(
        id=name,
        src=text(record, "source"),
        src_context=(),
        candidates=(Candidate(text(record, chosen)), Candidate(text(record, other))),
        type=text(record, f"{chosen}_tag", ""),
    )


def _discevalmt(blocks: Mapping[str, Any], path: Path, options: ContrastOptions) -> ContrastSet:
    """DiscEvalMT (Bawden et al. 2018): each candidate is correct in one context and wrong in
    another.
    """
    items: list[Item] = []
    for block in sorted(blocks, key=int):
        with reading(f"{path}, block {block}", what=_FAULT):
            items += _block(blocks[block], block)
    return ContrastSet(path.stem, options.langs or ("en", "fr"), tuple(items))


def _block(record: dict[str, Any], block: str) -> Iterator[Item]:
    """The items of a block; the previous sentence of each is its own, on both candidates."""
    lexical = "examples" in record
    for at, part in enumerate(record["examples" if lexical else "trg"]):
        before, src = texts(part if lexical else record, "src")
        target = part["trg"] if lexical else part
        right = "correct" if lexical or "correct" in part else "semi-correct"
        pair = (texts(target, right), texts(target, "incorrect"))
        yield Item(
            id=f"{'lexical' if lexical else 'anaphora'}-{block}-{at}",
            src=src,
            src_context=(before,),
            candidates=tuple(Candidate(current, (previous,)) for previous, current in pair),
            distance=1,
            block=block,
            type=text(record, "type", "") if lexical else text(part, "type", "") or right,
        )
