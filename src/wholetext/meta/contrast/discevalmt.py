"""DiscEvalMT (Bawden et al. 2018): blocks in which each translation is right in one context and wrong in another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Item, Wanted

_NUMBER = re.compile("[0-9]{1,9}")


def matches(data: Any) -> bool:
    """Whether JSON looks like anaphora.json or lexical-choice.json."""
    return isinstance(data, dict) and bool(data) and all(_NUMBER.fullmatch(key) for key in data)


def read(data: Any, path: Path, wanted: Wanted) -> ContrastSet:
    """Blocks in numeric order; the previous sentence of each item is its own, on both candidates."""
    if not matches(data):
        raise InputError("expected blocks numbered \"1\", \"2\" …", where=str(path))
    items: list[Item] = []
    for block in sorted(data, key=int):
        fields = Fields(data[block], f"{path}, block {block}")
        items += _lexical(fields, block) if "examples" in fields.value else _anaphora(fields, block)
    return ContrastSet(path.stem, wanted.langs or ("en", "fr"), tuple(items))


def _anaphora(block: Fields, name: str) -> Iterator[Item]:
    source = _two(block, "src")
    for at, pair in enumerate(block.list("trg")):
        right = "correct" if "correct" in pair.value else "semi-correct"
        yield _item(f"anaphora-{name}-{at}", source, (_two(pair, right), _two(pair, "incorrect")), name,
                    pair.text("type", "") or right)


def _lexical(block: Fields, name: str) -> Iterator[Item]:
    for at, example in enumerate(block.list("examples")):
        target = example.inner("trg")
        pair = (_two(target, "correct"), _two(target, "incorrect"))
        yield _item(f"lexical-{name}-{at}", _two(example, "src"), pair, name, block.text("type", ""))


def _two(fields: Fields, key: str) -> tuple[str, str]:
    found = fields.texts(key)
    if len(found) != 2:
        raise fields.fault(key, "the previous and the current sentence")
    return found[0], found[1]


def _item(name: str, source: tuple[str, str], pair: tuple[tuple[str, str], ...], block: str, kind: str) -> Item:
    candidates = tuple(Candidate(text, (before,)) for before, text in pair)
    return Item(id=name, src=source[1], src_context=source[:1], candidates=candidates, type=kind, distance=1,
                block=block)
