"""Lemmas from simplemma's dictionaries, for languages that have no tagger here: words by rule, no tags, no entities."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from wholetext.taggers.analysis import LEMMAS, Analyser, Analysis, Layer, Token
from wholetext.taggers.plain import sentences, words


def open_simplemma(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    found = find_spec("simplemma")
    if found is None or not found.submodule_search_locations:
        return None
    dictionaries = Path(found.submodule_search_locations[0]) / "strategies" / "dictionaries" / "data"
    return SimplemmaAnalyser(lang) if any(dictionaries.glob(f"{lang}.*")) else None


OPENERS = {"simplemma": open_simplemma}


class SimplemmaAnalyser(Analyser):
    """Words by rule, their lemmas by dictionary."""

    layers = LEMMAS

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.id = f"simplemma/{lang}-{version('simplemma')}"

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        import simplemma

        return [
            Analysis(
                tuple(Token(text[a:b], simplemma.lemmatize(text[a:b], lang=self.lang), "", "", "", a, b)
                      for a, b in words(text)),
                (),
                sentences(text),
            )
            for text in batch
        ]
