"""German with HanTa: STTS tags, lemmas, and runs of proper nouns as entities (label ``NE``); words by rule."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from wholetext.taggers.analysis import Analyser, Analysis, Entity, Layer, Token
from wholetext.taggers.plain import sentences, words

# Beginnings of STTS tags → universal parts of speech; the longest that fits counts.
_POS = {"ADJ": "ADJ", "ADV": "ADV", "APP": "ADP", "APZ": "ADP", "ART": "DET", "CARD": "NUM", "FM": "X", "ITJ": "INTJ",
        "KON": "CCONJ", "KOKOM": "CCONJ", "KOU": "SCONJ", "NE": "PROPN", "NN": "NOUN", "P": "PRON", "PDAT": "DET",
        "PIAT": "DET", "PPOSAT": "DET", "PROAV": "ADV", "PTK": "PART", "PWAV": "ADV", "PWAT": "DET", "TRUNC": "X",
        "VA": "AUX", "VM": "AUX", "VV": "VERB", "XY": "X", "$": "PUNCT"}


def open_hanta(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return HantaAnalyser() if lang == "de" and find_spec("HanTa") is not None else None


OPENERS = {"hanta": open_hanta}


class HantaAnalyser(Analyser):
    """The German model that HanTa carries."""

    layers: frozenset[Layer] = frozenset({"tag", "pos", "lemma", "entity", "sentence"})

    def __init__(self) -> None:
        self.id = f"hanta/{version('HanTa')}"
        self._model: Any = None

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        if self._model is None:
            from HanTa.HanoverTagger import HanoverTagger

            self._model = HanoverTagger("morphmodel_ger.pgz")
        return [self._analyse(text) for text in batch]

    def _analyse(self, text: str) -> Analysis:
        spans, tokens = sentences(text), []
        for start, end in spans:
            places = [(start + a, start + b) for a, b in words(text[start:end])]
            tagged = self._model.tag_sent([text[a:b] for a, b in places])
            for (a, b), (_, lemma, tag) in zip(places, tagged, strict=True):
                tag = tag.replace("(", "").replace(")", "") if len(tag) > 2 else tag  # VV(FIN) is VVFIN in STTS
                tokens.append(Token(text[a:b], lemma, tag, _pos(tag), "", a, b))
        return Analysis(tuple(tokens), _names(tokens, text), spans)


def _pos(tag: str) -> str:
    for size in range(len(tag), 0, -1):
        if tag[:size] in _POS:
            return _POS[tag[:size]]
    return "X"


def _names(tokens: Sequence[Token], text: str) -> tuple[Entity, ...]:
    """Runs of proper nouns with nothing but blanks between them."""
    runs: list[tuple[int, int]] = []
    for token in tokens:
        if token.tag != "NE":
            continue
        if runs and not text[runs[-1][1] : token.start].strip():
            runs[-1] = (runs[-1][0], token.end)
        else:
            runs.append((token.start, token.end))
    return tuple(Entity(text[a:b], "NE", a, b) for a, b in runs)
