"""Russian with natasha: universal tags and features, lemmas, entities (PER, LOC, ORG), sentences."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from wholetext.taggers.analysis import Analyser, Analysis, Entity, Layer, Token


def open_natasha(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return NatashaAnalyser(layers) if lang == "ru" and find_spec("natasha") is not None else None


OPENERS = {"natasha": open_natasha}


class NatashaAnalyser(Analyser):
    """natasha's news models; loaded by the first ``run``."""

    def __init__(self, layers: frozenset[Layer]) -> None:
        self.layers = layers
        self.id = f"natasha/{version('natasha')}[{','.join(sorted(layers))}]"
        self._tools: tuple[Any, ...] = ()

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        self._load()
        return [self._analyse(text) for text in batch]

    def _load(self) -> None:
        if not self._tools:
            from natasha import NewsEmbedding, NewsMorphTagger, NewsNERTagger, Segmenter

            vectors = NewsEmbedding()
            lemmas = _vocabulary() if "lemma" in self.layers else None
            self._tools = (Segmenter(), NewsMorphTagger(vectors), NewsNERTagger(vectors), lemmas)

    def _analyse(self, text: str) -> Analysis:
        from natasha import Doc

        segmenter, morph, names, lemmas = self._tools
        if not text.strip():
            return Analysis(())
        doc = Doc(text)
        doc.segment(segmenter)
        doc.tag_morph(morph)
        if "entity" in self.layers:
            doc.tag_ner(names)
        tokens = []
        for token in doc.tokens:
            lemma = lemmas.lemmatize(token.text, token.pos, token.feats) if lemmas else token.text
            features = "|".join(f"{key}={value}" for key, value in sorted((token.feats or {}).items()))
            tokens.append(Token(token.text, lemma, token.pos, token.pos, features, token.start, token.stop))
        entities = tuple(Entity(span.text, span.type, span.start, span.stop) for span in doc.spans or ())
        return Analysis(tuple(tokens), entities, tuple((sent.start, sent.stop) for sent in doc.sents))


def _vocabulary() -> Any:
    """natasha's lemma vocabulary, told where its dictionary is: left alone it looks with ``pkg_resources``,
    which setuptools no longer has."""
    import pymorphy2_dicts_ru
    from natasha.morph.vocab import MorphForm, MorphVocab
    from pymorphy2 import MorphAnalyzer

    vocabulary = MorphVocab.__new__(MorphVocab)
    MorphAnalyzer.__init__(vocabulary, path=pymorphy2_dicts_ru.get_path(), result_type=MorphForm)
    return vocabulary
