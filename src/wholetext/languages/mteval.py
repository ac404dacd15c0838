"""Tokens as in NIST's mteval-v13a, WMT's way to count BLEU; as sacrebleu's tokenizer 13a, in half the time."""

from __future__ import annotations

import re

_MARKS = "".join(map(chr, [*range(0x20, 0x27), *range(0x28, 0x2C), 0x2F, *range(0x3A, 0x41), *range(0x5B, 0x61),
                           *range(0x7B, 0x7F)]))  # fmt: skip
_APART = str.maketrans({mark: f" {mark} " for mark in _MARKS})  # all but ' , - .
_STOP = re.compile(r"([^0-9])([.,])")
_STOP_BEFORE = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"([0-9])-")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))  # in this order


def tokenize_13a(text: str) -> str:
    """Tokens with one blank between them: marks apart, stops and commas except between digits, dashes after digits."""
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, mark in _ENTITIES:
            text = text.replace(entity, mark)
    text = f" {text} ".translate(_APART)
    if "." in text or "," in text:
        text = _STOP_BEFORE.sub(r" \1 \2", _STOP.sub(r"\1 \2 ", text))
    if "-" in text:
        text = _DASH.sub(r"\1 - ", text)
    return " ".join(text.split())
