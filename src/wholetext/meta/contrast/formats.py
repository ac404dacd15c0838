"""Reading a contrastive set: the format by content; JSONL, DiscEvalMT, Voita's sets."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, SpecError, choices, count
from wholetext.files.parsing import read_json, reader
from wholetext.io.text import read_lines
from wholetext.meta.contrast.items import (
    Candidate,
    ContrastOptions,
    ContrastSet,
    Fields,
    Item,
    repeated,
)
from wholetext.meta.contrast.subtitles import contrapro, ctxpro
from wholetext.text import pair_of, same_language

_MARK = " _eos "
_NUMBER = re.compile("[0-9]{1,9}")


@reader
def read_contrast_set(
    path: str | Path, options: ContrastOptions | None = None, reader: str = "auto"
) -> ContrastSet:
    """The set in a file; ``reader`` forces a format."""
    path, options = Path(path), options or ContrastOptions()
    if reader not in ("auto", *READERS):
        raise SpecError(
            f"there is no reader {reader!r} for contrastive sets", next=choices(reader, READERS)
        )
    as_lines = reader == "jsonl" or (reader == "auto" and path.suffix == ".jsonl")
    contrast_set = _jsonl(path, options) if as_lines else _json(path, options, reader)
    if not contrast_set.items:
        raise InputError("there are no items in this set", where=str(path))
    return replace(contrast_set, warnings=(*contrast_set.warnings, *repeated(contrast_set.items)))


def _json(path: Path, options: ContrastOptions, reader: str) -> ContrastSet:
    data = read_json(
        "\n".join(read_lines(path)),
        where=str(path),
        unique=False,
        next="a file of JSON lines is read with --reader jsonl",
    )
    name = (
        reader if reader != "auto" else next((name for name in _JSON if _matches(name, data)), "")
    )
    if not name:
        raise InputError(
            "unknown format of contrastive set",
            where=str(path),
            next=f"name its format with --reader {'|'.join(READERS)}",
        )
    parse, keys = _JSON[name]
    if not _matches(name, data):
        listed = " and ".join(f'"{key}"' for key in keys)
        wrong = f"a list of objects with {listed}" if keys else 'blocks numbered "1", "2" …'
        raise InputError(f"expected {wrong}", where=str(path))
    parts = (
        [(f"item {at}", str(at), value) for at, value in enumerate(data)]
        if keys
        else [(f"block {block}", block, data[block]) for block in sorted(data, key=int)]
    )
    try:
        return parse(
            {at: Fields(value, f"{path}, {place}") for place, at, value in parts}, path, options
        )
    except InputError as fault:
        raise InputError(fault.what, where=_with_line(fault.where, path), next=fault.next) from None


def _matches(name: str, data: Any) -> bool:
    """Whether JSON has the fields of a format in its first object, or numbered blocks."""
    keys = _JSON[name][1]
    if not keys:  # anaphora.json, lexical-choice.json
        return isinstance(data, dict) and bool(data) and all(_NUMBER.fullmatch(key) for key in data)
    return (
        isinstance(data, list)
        and bool(data)
        and isinstance(data[0], dict)
        and set(keys) <= set(data[0])
    )


def _jsonl(path: Path, options: ContrastOptions) -> ContrastSet:
    """One item per line; lines with a ``choice`` are preferences between two texts."""
    items: list[Item] = []
    pairs: Counter[tuple[str, str]] = Counter()
    ties = 0
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where, name = f"{path}:{number}", f"{path.stem}-{number}"
        fields = Fields(read_json(line, where=where), where)
        chosen = fields.value.get("choice")
        ties += chosen == "tie"
        if chosen != "tie":
            items.append(
                _preference(fields, name) if "choice" in fields.value else _item(fields, name)
            )
        if fields.text("langs", ""):
            pairs[_pair(fields)] += 1
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


def _pair(fields: Fields) -> tuple[str, str]:
    try:
        return pair_of(fields.text("langs"))
    except ValueError:
        raise fields.fault("langs", "a language pair such as en-de") from None


def _item(fields: Fields, name: str) -> Item:
    """``contrastive_ref_context`` gives variants separate contexts."""
    source, target = fields.texts("src_context", ()), fields.texts("ref_context", ())
    texts = fields.texts("contrastive")
    own = fields.value.get("contrastive_ref_context") or [list(target)] * len(texts)
    if (
        not isinstance(own, list)
        or len(own) != len(texts)
        or not all(isinstance(one, list) for one in own)
    ):
        raise fields.fault(
            "contrastive_ref_context", "one list of sentences for each contrastive translation"
        )
    wrong = [Candidate(text, tuple(map(str, context))) for text, context in zip(texts, own)]
    pronouns = [fields.text(key, "") for key in ("src_pronoun", "ref_pronoun")]
    return fields.item(
        id=fields.text("id", name),
        src=fields.text("src"),
        src_context=source,
        candidates=(Candidate(fields.text("target"), target), *wrong),
        type=fields.text("type", ""),
        category=":".join(part for part in pronouns if part),
        distance=fields.number("antecedent_distance"),
        intra=fields.flag("intrasegmental"),
        block=fields.text("block", ""),
    )


def _preference(fields: Fields, name: str) -> Item:
    """The text that people chose is the correct candidate; its system is the item's type."""
    order = {"text1": ("text1", "text2"), "text2": ("text2", "text1")}.get(fields.text("choice"))
    if order is None:
        raise fields.fault("choice", "text1, text2 or tie")
    candidates = tuple(Candidate(fields.text(key)) for key in order)
    return Item(
        id=name,
        src=fields.text("source"),
        src_context=(),
        candidates=candidates,
        type=fields.text(f"{order[0]}_tag", ""),
    )


def _discevalmt(rows: Mapping[str, Fields], path: Path, options: ContrastOptions) -> ContrastSet:
    """DiscEvalMT (Bawden et al. 2018): each candidate is correct in one context and wrong in
    another.
    """
    return ContrastSet(
        path.stem,
        options.langs or ("en", "fr"),
        tuple(item for block, fields in rows.items() for item in _block(fields, block)),
    )


def _block(fields: Fields, block: str) -> Iterator[Item]:
    """The items of a block; the previous sentence of each is its own, on both candidates."""
    lexical = "examples" in fields.value
    shared = None if lexical else fields.two("src")
    for at, part in enumerate(fields.list("examples" if lexical else "trg")):
        before, src = shared or part.two("src")
        target = part.inner("trg") if lexical else part
        right = "correct" if lexical or "correct" in part.value else "semi-correct"
        pair = (target.two(right), target.two("incorrect"))
        yield Item(
            id=f"{'lexical' if lexical else 'anaphora'}-{block}-{at}",
            src=src,
            src_context=(before,),
            candidates=tuple(Candidate(text, (previous,)) for previous, text in pair),
            distance=1,
            block=block,
            type=fields.text("type", "") if lexical else part.text("type", "") or right,
        )


def _voita(rows: Mapping[str, Fields], path: Path, options: ContrastOptions) -> ContrastSet:
    """Voita et al. 2019 (deixis, lexical cohesion, ellipsis): four sentences joined by ``_eos``.

    Each candidate keeps the context it is written with: in some sets the variants differ there as
    well.
    """
    items = []
    for at, fields in rows.items():
        *source, current = fields.text("src").split(_MARK)
        texts, right = list(fields.texts("dst")), fields.number("true_ind")
        if right is None or not 0 <= right < len(texts):
            raise fields.fault("true_ind", f"a number from 0 to {len(texts) - 1}")
        texts.insert(0, texts.pop(right))
        split = [text.split(_MARK) for text in texts]
        items.append(
            fields.item(
                id=f"{path.stem}-{at}",
                src=current,
                src_context=tuple(source),
                type=path.stem,
                candidates=tuple(Candidate(last, tuple(before)) for *before, last in split),
                distance=fields.number("ctx_dist"),
            )
        )
    return ContrastSet(path.stem, options.langs or ("en", "ru"), tuple(items))


# name → reader, and the fields by which objects of the format are recognised
_JSON: dict[
    str,
    tuple[Callable[[Mapping[str, Fields], Path, ContrastOptions], ContrastSet], tuple[str, ...]],
] = {
    "contrapro": (contrapro, ("errors",)),
    "ctxpro": (ctxpro, ("expected", "rule")),
    "discevalmt": (_discevalmt, ()),
    "voita": (_voita, ("dst", "true_ind")),
}
READERS = ("jsonl", *_JSON)


_PLACE = re.compile(r", (?:item (?P<item>\d+)|block (?P<block>\d+))")
_BETWEEN = re.compile(r"\s*[\[{,:]\s*")  # what precedes a value in a list or an object


def _with_line(where: str, path: Path) -> str:
    """``FILE, item 3 …`` → ``FILE:LINE, item 3 …``: looked up only when something is wrong."""
    contrast_set = _PLACE.match(where, len(str(path)))
    if not where.startswith(str(path)) or contrast_set is None:
        return where
    text, end = "\n".join(read_lines(path)), 0
    for place in itertools.count():
        between = _BETWEEN.match(text, end)
        begin = between.end() if between else end
        value, end = json.JSONDecoder().raw_decode(text, begin)
        if (
            place == int(contrast_set["item"])
            if contrast_set["item"]
            else value == contrast_set["block"]
        ):
            line = text.count("\n", 0, begin) + 1
            return f"{path}:{line}{where[len(str(path)) :]}"
    return where
