"""German with HanTa: STTS tags, lemmas; runs of proper nouns are entities (``NE``)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from wholetext.text.taggers.analysis import Analyser, Analysis, Entity, Layer, Token
from wholetext.text.taggers.plain import sentences, words

# Beginnings of STTS tags → universal parts of speech; the longest that fits counts.
_POS = {
    "ADJ": "ADJ",
    "ADV": "ADV",
    "APP": "ADP",
    "APZ": "ADP",
    "ART": "DET",
    "CARD": "NUM",
    "FM": "X",
    "ITJ": "INTJ",
    "KON": "CCONJ",
    "KOKOM": "CCONJ",
    "KOU": "SCONJ",
    "NE": "PROPN",
    "NN": "NOUN",
    "P": "PRON",
    "PDAT": "DET",
    "PIAT": "DET",
    "PPOSAT": "DET",
    "PROAV": "ADV",
    "PTK": "PART",
    "PWAV": "ADV",
    "PWAT": "DET",
    "TRUNC": "X",
    "VA": "AUX",
    "VM": "AUX",
    "VV": "VERB",
    "XY": "X",
    "$": "PUNCT",
}


class HantaAnalyser(Analyser):
    """The German model that HanTa carries."""

    name, requires, language = "hanta", "HanTa", "de"
    layers: frozenset[Layer] = frozenset({"tag", "pos", "lemma", "entity", "sentence"})

    @cached_property
    def _model(self) -> Any:
        from HanTa.HanoverTagger import HanoverTagger

        return HanoverTagger("morphmodel_ger.pgz")

    def analyse(self, text: str) -> Analysis:
        spans, tokens = sentences(text), []
        # runs of proper nouns with nothing but blanks between them
        names: list[tuple[int, int]] = []
        for start, end in spans:
            places = [(start + a, start + b) for a, b in words(text[start:end])]
            tagged = self._model.tag_sent([text[a:b] for a, b in places])
            for (a, b), (_, lemma, tag) in zip(places, tagged, strict=True):
                # VV(FIN) is VVFIN in STTS
                tag = tag.replace("(", "").replace(")", "") if len(tag) > 2 else tag
                pos = next(
                    (_POS[tag[:size]] for size in range(len(tag), 0, -1) if tag[:size] in _POS), "X"
                )
                tokens.append(Token(text[a:b], lemma, tag, pos, "", a, b))
                if tag == "NE":
                    joined = names and not text[names[-1][1] : a].strip()
                    names.append((names.pop()[0] if joined else a, b))
        return Analysis(
            tuple(tokens), tuple(Entity(text[a:b], "NE", a, b) for a, b in names), spans
        )
