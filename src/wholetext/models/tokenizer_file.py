"""Bounds on what a ``tokenizer.json`` does to a text: nobody vouches for a model's files."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes
from wholetext.models.hub.locate import guarded

BROKEN = "its tokenizer cannot be loaded"
GROWTH = 1000  # characters per character of text; ALBERT's 648 is the largest of a published model
MARKERS = 100  # special tokens around a text
PATTERN = 1000  # characters of a regular expression; 400 in the longest of a published model
REPEATS = 3  # unbounded repetitions in a branch; 2 in published models
# the most characters that a step makes of a character
_STEPS = {
    "NFC": 3,
    "NFD": 4,
    "NFKC": 18,
    "NFKD": 18,
    "Lowercase": 2,
    "BertNormalizer": 6,  # NFD, spaces around Chinese characters
    "ByteLevel": 4,
    "Metaspace": 2,
}
_PARTS = ("normalizer", "pre_tokenizer", "decoder")
_GROUP = re.compile(
    r"\((?:\?(?:<?[=!]|>|<\w+>|[a-zA-Z-]*:|[a-zA-Z-]+(?=\))))?([^()]*)\)([*+]|\{\d*,?\d*\})?"
)
_UNBOUNDED = re.compile(r"[*+]\+?|\{\d+,\}")
_VARYING = re.compile(r"[*+?|]|\{\d*,")  # matches of different lengths
_LISTS = ("normalizers", "pretokenizers", "decoders", "processors")


def check_tokenizer_files(folder: Path) -> None:
    """Raise an error if a file would run away with time or memory, before anything loads it."""
    for path in sorted(folder.glob("tokenizer.*json")):
        with guarded(path, BROKEN):
            check_steps(json.loads(file_bytes(path, error=ModelError)), path)


def check_loaded(tokenizer: Any, folder: Path) -> None:
    """Check the steps of a fast tokenizer, wherever its library found or made them."""
    core = getattr(tokenizer, "backend_tokenizer", None)
    with guarded(folder, BROKEN):
        steps = {part: getattr(core, part, None) for part in _PARTS}
        check_steps(
            {part: json.loads(step.__getstate__()) for part, step in steps.items() if step}, folder
        )


def check_steps(table: dict[str, Any], where: Path) -> None:
    """Raise an error if a step of a tokenizer could run away with time or memory."""
    for part in _PARTS:
        steps = [*_flat(table.get(part))]
        for step in steps:
            pattern = step.get("pattern")
            if isinstance(pattern, dict) and "Regex" in pattern:
                _check_pattern(pattern["Regex"], part, where)
        growth = math.prod(map(_growth, steps))
        if growth > GROWTH:
            _refuse(f"its {part} could multiply the length of a text by {growth:.3g}", where)
    for step in _flat(table.get("post_processor")):
        tokens = step.get("special_tokens")
        sizes = {name: len(token["ids"]) for name, token in tokens.items()} if tokens else {}
        for form in ("single", "pair") if step.get("type") == "TemplateProcessing" else ():
            names = [piece["SpecialToken"]["id"] for piece in step[form] if "SpecialToken" in piece]
            markers = sum(sizes.get(name, 0) for name in names)
            if markers > MARKERS:
                _refuse(f"it puts {markers} special tokens around a text", where)


def _flat(step: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps of a part in order, those of sequences one by one."""
    nested = [step[key] for key in _LISTS if key in step] if step else []
    for steps in nested:
        for inner in steps:
            yield from _flat(inner)
    if step and not nested:
        yield step


def _growth(step: dict[str, Any]) -> float:
    """The factor by which a step can lengthen a text, or more."""
    kind = step.get("type")
    if kind == "Precompiled":  # sentencepiece: size of a trie, the trie, strings that end in NUL
        table = base64.b64decode(step["precompiled_charsmap"])
        strings = table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
        return max(1, *(len(string.decode("utf-8", "replace")) for string in strings))
    if kind == "Prepend":
        return 1 + len(step["prepend"])
    if kind != "Replace":
        return _STEPS.get(str(kind), 1)
    content, pattern = len(step["content"]), step["pattern"]
    if "String" in pattern:
        return max(1.0, content / max(1, len(pattern["String"])))
    # an expression that is more than a character and its repetition may match nothing at all
    plain = re.fullmatch(r"[^\\^$()*?{|](\+|\{[1-9]\d*(,\d*)?\})?", _atoms(pattern["Regex"]))
    return max(1, content) if plain else 1 + content


def _atoms(pattern: str) -> str:
    """A regular expression with escapes and classes reduced to a character each."""
    pattern = re.sub(r"\\[bBAzZGKyY]", "^", pattern)
    pattern = re.sub(r"\\(?:[pP]\{[^}]*\}|.)", "c", pattern, flags=re.DOTALL)
    reduced = ""
    while reduced != pattern:
        reduced, pattern = pattern, re.sub(r"\[\^?\]?[^\[\]]*\]", "c", pattern)
    return pattern


def _check_pattern(pattern: str, part: str, where: Path) -> None:
    """Refuse expressions that take exponential time, and forms that no published tokenizer has."""
    atoms, ends = _atoms(pattern[:PATTERN]), not re.search(r"\\[1-9kg]", pattern)

    def inner(group: re.Match[str]) -> str:
        nonlocal ends
        content, repeat = group[1], group[2]
        ends &= not content.startswith("?") and not (repeat and _VARYING.search(content))
        return f"c{repeat}" if repeat else content

    while (reduced := _GROUP.sub(inner, atoms)) != atoms:
        atoms = reduced
    repeats = (len(_UNBOUNDED.findall(branch)) for branch in atoms.split("|"))
    if len(pattern) > PATTERN or not ends or max(repeats) > REPEATS:
        _refuse(f"its {part} has a regular expression that may not end: {pattern[:60]!r}", where)


def _refuse(what: str, where: Path) -> None:
    raise ModelError(
        what,
        where=str(where),
        next="no published tokenizer needs this: fetch the model again, from its authors",
    )
