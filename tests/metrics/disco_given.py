"""Stand-ins for the discourse metrics' tests: a tagger made of a word list, and an engine with given resources."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.metrics.cohesion.grids import AnalysedText, read
from wholetext.metrics.cohesion.vectors import StaticVectors
from wholetext.scoring.engine import Engine
from wholetext.text.taggers.analysis import LAYERS, Analysis, Token
from wholetext.types import Excerpt, Fit, Metric, Request

GOLD = json.loads((Path(__file__).parents[1] / "oracle" / "disco" / "disco.json").read_text("utf-8"))
# the micro-test of the specification: two texts and their nouns
HYP = "the cat sat on the mat . the dog saw the cat . paris is a city . the cat left the house ."
REF = "a cat sat on a mat . the dog chased the cat . the house is in paris . the cats like the city ."
NOUNS = {word: word for word in ("cat", "mat", "dog", "house", "paris", "city")} | {"cats": "cat"}


class WordListTagger:
    """Whitespace tokens; a word is a noun when the list has a lemma for it; sentences end after . ! or ?"""

    layers = LAYERS

    def __init__(self, nouns: Mapping[str, str]) -> None:
        self.nouns = nouns
        self.id = f"word-list-{hash(tuple(nouns.items()))}"

    def fit(self, x: str) -> Fit:
        return Fit(tokens=len(x))

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        return [self.analyse(text) for text in batch]

    def analyse(self, text: str) -> Analysis:
        tokens = []
        for found in re.finditer(r"\S+", text):
            word = found.group()
            pos = "NOUN" if word in self.nouns else "X"
            tokens.append(Token(word, self.nouns.get(word, word), "", pos, "", found.start(), found.end()))
        return Analysis(tuple(tokens), (), tuple(spans(text)))


def spans(text: str) -> list[tuple[int, int]]:
    found, start = [], 0
    for gap in re.finditer(r"(?<=[.!?])\s+", text):
        found.append((start, gap.start()))
        start = gap.end()
    if text[start:].strip():
        found.append((start, len(text)))
    return found


class GivenEngine(Engine):
    """An engine whose resources are given beforehand by the first part of their key."""

    given: dict[str, Any]

    def resource(self, key: Hashable, make: Callable[[], Any]) -> Any:
        kind = key[0] if isinstance(key, tuple) else key
        return self.given[kind] if kind in self.given else super().resource(key, make)


def engine(**given: Any) -> GivenEngine:
    made = GivenEngine(langs=("zh", "en"))
    made.given = {name.replace("_", "-"): value for name, value in given.items()}
    return made


def whole(text: str) -> Excerpt:
    return Excerpt((text,), (0, 1))


def request(hyp: str, *refs: str) -> Request:
    return Request((whole(hyp),), None, tuple(map(whole, refs)))


def reading(text: str, nouns: Mapping[str, str]) -> AnalysedText:
    return read([text], [WordListTagger(nouns).analyse(text)])


def static_vectors(vectors: Mapping[str, Sequence[float]]) -> StaticVectors:
    rows = np.array(list(vectors.values()), dtype=np.float32)
    return StaticVectors("given", {word: at for at, word in enumerate(vectors)}, rows)


STATIC = static_vectors({"paris": (1, 0.2), "city": (0.9, 0.3), "cat": (0, 1), "dog": (0.1, 1),
                         "mat": (-1, 0.1), "house": (-1, -1)})  # fmt: skip


def value(metric: Metric, run: Engine, hyp: str, *refs: str) -> float:
    return float(metric.reduce(metric.measure([request(hyp, *refs)], run))[0, 0])
