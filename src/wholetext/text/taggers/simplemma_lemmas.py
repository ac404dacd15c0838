"""Lemmas from simplemma's dictionaries, for languages without a tagger."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from wholetext.text.taggers.analysis import LEMMAS, Analyser, Layer
from wholetext.text.taggers.plain import PlainAnalyser


class SimplemmaAnalyser(PlainAnalyser):
    """Words by rule, their lemmas by dictionary."""

    layers = LEMMAS

    def __init__(self, lang: str, layers: frozenset[Layer]) -> None:
        self.lang = lang
        self.id = f"simplemma/{lang}-{version('simplemma')}"

    @classmethod
    def open(cls, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
        package = find_spec("simplemma")
        folders = (package and package.submodule_search_locations) or ()
        dictionary = f"strategies/dictionaries/data/{lang}.*"
        known = any(list(Path(folder).glob(dictionary)) for folder in folders)
        return cls(lang, layers) if known else None

    def lemma(self, word: str) -> str:
        import simplemma

        return str(simplemma.lemmatize(word, lang=self.lang))
