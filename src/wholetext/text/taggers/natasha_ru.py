"""Russian with natasha: universal tags and features, lemmas, entities, sentences."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from wholetext.text.taggers.analysis import Analyser, Analysis, Entity, Layer, Token


class NatashaAnalyser(Analyser):
    """natasha's news models."""

    name = requires = "natasha"
    language = "ru"

    def __init__(self, lang: str, layers: frozenset[Layer]) -> None:
        super().__init__(lang, layers)
        self.layers = layers
        self.id += f"[{','.join(sorted(layers))}]"

    @cached_property
    def _tools(self) -> tuple[Any, ...]:
        from natasha import NewsEmbedding, NewsMorphTagger, NewsNERTagger, Segmenter

        vectors = NewsEmbedding()
        lemmas = _vocabulary() if "lemma" in self.layers else None
        return Segmenter(), NewsMorphTagger(vectors), NewsNERTagger(vectors), lemmas

    def analyse(self, text: str) -> Analysis:
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
            features = "|".join(
                f"{key}={value}" for key, value in sorted((token.feats or {}).items())
            )
            tokens.append(
                Token(token.text, lemma, token.pos, token.pos, features, token.start, token.stop)
            )
        entities = tuple(
            Entity(span.text, span.type, span.start, span.stop) for span in doc.spans or ()
        )
        return Analysis(
            tuple(tokens), entities, tuple((sent.start, sent.stop) for sent in doc.sents)
        )


def _vocabulary() -> Any:
    """Open natasha's lemma vocabulary without ``pkg_resources``, which setuptools has dropped."""
    import pymorphy2_dicts_ru
    from natasha.morph.vocab import MorphForm, MorphVocab
    from pymorphy2 import MorphAnalyzer

    vocabulary = MorphVocab.__new__(MorphVocab)
    MorphAnalyzer.__init__(vocabulary, path=pymorphy2_dicts_ru.get_path(), result_type=MorphForm)
    return vocabulary
