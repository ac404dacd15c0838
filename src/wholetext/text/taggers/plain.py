"""Words and sentences by rule, for any language; used only on request."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wholetext.text.taggers.analysis import Analyser, Analysis, Layer, Token

# a number, an ideograph or kana, a word (with inner apostrophes and hyphens), any other sign
_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*"
    r"|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+(?:['’‐-][^\W\d_]+)*"
    r"|\S"
)
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s+[^\sa-zß-ÿа-я])|[。！？]+[”’」』）]*")


def words(text: str) -> list[tuple[int, int]]:
    """Character spans of the tokens of a text."""
    return [match.span() for match in _TOKEN.finditer(text)]


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Character spans of the sentences of a text, without the blanks around them."""
    ends = [match.end() for match in _END.finditer(text)] + [len(text)]
    spans, start = [], 0
    for end in ends:
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
        start = end
    return tuple(spans)


def locate(tokens: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Locate tokens in their text, in order; a missing token gets an empty span."""
    spans, at = [], 0
    for token in tokens:
        start = text.find(token, at)
        if start < 0:
            spans.append((at, at))
            continue
        at = start + len(token)
        spans.append((start, at))
    return spans


class PlainAnalyser(Analyser):
    """Tokens and sentences by rule."""

    layers: frozenset[Layer] = frozenset({"sentence"})
    id = "plain-1"  # the number changes with the rules

    def __init__(self, lang: str, layers: frozenset[Layer]) -> None:
        """Nothing to look up."""

    def lemma(self, word: str) -> str:
        return word

    def analyse(self, text: str) -> Analysis:
        tokens = tuple(
            Token(text[start:end], self.lemma(text[start:end]), "", "", "", start, end)
            for start, end in words(text)
        )
        return Analysis(tokens, (), sentences(text))
