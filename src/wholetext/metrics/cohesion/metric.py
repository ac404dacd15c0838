"""Cohesion of a text: repetition (rc, lc), sentence graphs, lexical chains, freq and conn.

Definitions: Zhao, Strube and Eger 2023 (DiscoScore, section 4 and appendix), after Guinaudeau and
Strube 2013 (entity graph), Mesgar and Strube 2016 (lexical graph), Gong, Zhang and Zhou 2015
(lexical chain); Wong and Kit 2012 (LC, RC). All but the lexical chain look at the hypothesis alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from wholetext.errors import MetricError
from wholetext.metrics.cohesion import grids
from wholetext.metrics.cohesion.grids import AnalysedText, Grid, Weighting, WordsFrom, grid
from wholetext.metrics.cohesion.vectors import EMBEDDED, StaticVectors, identity, load
from wholetext.metrics.model_metric import refuse_unread
from wholetext.text import code_of
from wholetext.text.taggers.analysis import Analyser, Layer, analyser_for
from wholetext.types import Excerpt, FloatArray, Metric, Request, Runtime, mean_stats

Focus = Literal["nn", "entity"]
Foci = Callable[[Grid], Grid]  # nouns to foci
Items = Literal["lemma", "wordnet", "collocations"]
WORDNET = ("wordnet", "collocations")
INFINITE = float("inf")
_LAYERS: frozenset[Layer] = frozenset({"pos", "lemma", "sentence"})


# ---------------------------------------------------------------- the numbers


def repetition(foci: Grid) -> tuple[float, float]:
    """(RC, LC) of DiscoScore: mentions of repeated foci, and their number, per focus."""
    repeated = sum(len(places) > 1 for places in foci.values())
    return frequency(foci), repeated / len(foci) if foci else 0.0


def frequency(foci: Grid, over: Literal["all", "repeated"] = "all") -> float:
    """FREQ: mentions of repeated foci per focus (for nouns this is RC) or per repeated focus.

    The paper leaves open which number it divides by: "the ratio between the total frequencies of
    foci and the number of foci … We exclude foci occurring only once" (§5). Its Figure 2 has values
    between 0.5 and 2, so it takes all foci.
    """
    repeated = [len(places) for places in foci.values() if len(places) > 1]
    below = len(foci) if over == "all" else len(repeated)
    return sum(repeated) / below if below else 0.0


def connectivity(
    foci: Grid, n: int, weighting: Weighting = "u", average: Literal["nodes", "mean"] = "nodes"
) -> float:
    """Average links of the sentence graph: per sentence (published code) or per cell (paper)."""
    cells = n if average == "nodes" else n * n
    return float(grids.adjacency(foci, n, weighting).sum()) / cells if n else 0.0


def chain_overlap(
    hyp: Grid,
    ref: Grid,
    variant: Literal["recall", "precision", "f"] = "recall",
    per_chain: bool = False,
) -> float:
    """Σ over shared chains of |c_h ∩ c_r|/|c_r|; a chain: a lemma's sentences, two or more."""
    ours, theirs = (
        {lemma: set(places) for lemma, places in text.items() if len(set(places)) > 1}
        for text in (hyp, ref)
    )
    weight = {"recall": 0.0, "precision": 1.0, "f": 0.5}[variant]  # of the hypothesis's length
    total = sum(
        len(chain & theirs[lemma]) / (weight * len(chain) + (1 - weight) * len(theirs[lemma]))
        for lemma, chain in ours.items()
        if lemma in theirs
    )
    return total / len(ours) if per_chain and ours else total


def reiteration(items: Sequence[str]) -> float:
    """Share of tokens that repeat an earlier one (Wong and Kit 2012)."""
    return (len(items) - len(set(items))) / len(items) if items else 0.0


# ---------------------------------------------------------------- the metrics


@dataclass(frozen=True)
class FocusMetric(Metric):
    """A metric over tagged texts in the language ``lang`` (``auto``: the target's)."""

    assumed: ClassVar[bool] = False  # no language was given, so the texts are read as English

    view = "whole"
    lang: str = "auto"
    tagger: str = "auto"

    @property
    def space(self) -> tuple[str, float] | None:
        """Static vectors and the cosine that merges two nouns into one focus; None: no merging."""
        values = vars(self)
        merged = "vectors" in values and values.get("focus", "entity") == "entity"
        return (values["vectors"], values["threshold"]) if merged else None

    def resolve(self, langs: tuple[str, str]) -> FocusMetric:
        if getattr(self, "focus", "entity") == "nn":
            refuse_unread(self, "focus=nn", ("threshold", "vectors"))
        if self.lang != "auto":
            return self
        made = replace(self, lang=langs[1] or "en")
        object.__setattr__(made, "assumed", not langs[1])
        return made

    def facts(self) -> Mapping[str, str]:
        used = {"vectors": identity(self.space[0])} if self.space else {}
        return {"tagger": self.analyser().id, **used}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        unknown = (
            "no target language was given, so the texts are read as English "
            "(-l de-en, in Python langs=)"
        )
        return (unknown,) if self.assumed else ()

    def analyser(self) -> Analyser:
        """Choose the tagger; nothing is loaded yet."""
        analyser = analyser_for(self.lang, self.tagger, _LAYERS, needs=frozenset({"pos"}))
        if "pos" not in analyser.layers:
            raise MetricError(
                f"{self.name} needs parts of speech, which the tagger {analyser.id} does not give",
                next="name one that does (tagger=spacy), or give annotations "
                "(tagger=given/FILE.conllu)",
            )
        return analyser

    def readings(
        self, requests: Sequence[Request], run: Runtime, words: WordsFrom = "tokens"
    ) -> dict[Excerpt, AnalysedText]:
        """Analyse hypotheses and needed references."""
        chosen = self.resolve(run.langs)
        analyser = run.resource(("analyser", chosen.lang, chosen.tagger, _LAYERS), chosen.analyser)
        texts = [view for request in requests for view in request.hyp]
        texts += [view for request in requests for view in request.refs if "ref" in self.needs]
        views = list(dict.fromkeys(texts))  # in order: batches must not depend on hashing
        segments = list(dict.fromkeys(segment for view in views for segment in view.scored))
        analyses = dict(zip(segments, run.map(analyser, segments), strict=True))
        return {
            view: grids.read(view.scored, [analyses[part] for part in view.scored], words)
            for view in views
        }

    def foci(self, run: Runtime) -> Foci:
        """Return the function from nouns to foci: identity, or merging into entities."""
        if self.space is None:
            return lambda grid: grid
        source, threshold = self.space
        return partial(grids.entities, vectors=static_vectors(source, run), threshold=threshold)


def static_vectors(source: str, run: Runtime) -> StaticVectors:
    """Load static vectors, once per process."""
    return run.resource(("vectors", identity(source)), lambda: load(source))


@dataclass(frozen=True)
class CohesionMetric(FocusMetric):
    """A number per text, from its reading alone."""

    needs = frozenset({"hyp"})
    reads_context = False
    range = (0.0, INFINITE)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        read = self.readings(requests, run)
        foci, scores = self.foci(run), []
        for at, request in enumerate(requests):
            text = read[request.hyp[0]]
            if not text.nouns:
                run.detail(at, reason="no noun" if text.words else "no word")
                run.warn("texts without a noun score 0", at)
            scores.append(self.value(text, foci))
        return mean_stats(scores)

    @abstractmethod
    def value(self, text: AnalysedText, foci: Foci) -> float:
        """Score a text; ``foci`` are those of its nouns."""


@dataclass(frozen=True)
class Rc(CohesionMetric):
    """RC: repetitions per distinct noun (disco) or share of repeated content words (wong-kit)."""

    name = "rc"
    summary = "repetition of nouns (DiscoScore) or of content words (Wong & Kit)"
    definition: Literal["disco", "wong-kit"] = "disco"

    def value(self, text: AnalysedText, foci: Foci) -> float:
        if self.definition == "disco":
            return repetition(grid(text))[0]
        return reiteration([form for form, _ in text.content])


@dataclass(frozen=True)
class Lc(CohesionMetric):
    """LC: share of repeated nouns (disco) or of content words related to an earlier one."""

    name = "lc"
    summary = "lexical cohesion: repeated nouns (DiscoScore) or related content words (Wong & Kit)"
    range = (0.0, 1.0)
    definition: Literal["disco", "wong-kit"] = "disco"
    items: Items = "lemma"  # wong-kit only: what makes two words related

    def resolve(self, langs: tuple[str, str]) -> FocusMetric:
        metric = super().resolve(langs)
        if self.definition == "disco":  # goes by lemmas anyway
            refuse_unread(self, "definition=disco", ("items",) if self.items in WORDNET else ())
        elif self.items in WORDNET and not (
            code_of(metric.lang) == "en" and grids.wordnet_version()
        ):
            raise MetricError(
                f"items={self.items} needs WordNet, and English",
                next="python -m nltk.downloader wordnet, or leave items out to go by lemmas",
            )
        return metric

    def facts(self) -> Mapping[str, str]:
        wordnet = {"wordnet": grids.wordnet_version() or "none"} if self.items in WORDNET else {}
        return {**super().facts(), **wordnet}

    def value(self, text: AnalysedText, foci: Foci) -> float:
        if self.definition == "disco":
            return repetition(grid(text))[1]
        return reiteration(lexical_items([lemma for _, lemma in text.content], self.items))


def lexical_items(lemmas: Sequence[str], items: Items) -> list[str]:
    """Replace lemmas by their lexical item: themselves, or the first of their WordNet group."""
    if items not in WORDNET:
        return list(lemmas)
    groups = (grids.synonym_groups if items == "wordnet" else grids.collocated)(lemmas)
    name = {lemma: group[0] for group in groups for lemma in group}
    return [name[lemma] for lemma in lemmas]


@dataclass(frozen=True)
class EntityGraph(CohesionMetric):
    """Entity graph: average links of a sentence to later ones that share a noun."""

    name = "entity-graph"
    summary = "entity graph: how strongly sentences are linked by shared nouns"
    weighting: Weighting = "u"
    average: Literal["nodes", "mean"] = "nodes"

    def value(self, text: AnalysedText, foci: Foci) -> float:
        return connectivity(foci(grid(text)), len(text.sentences), self.weighting, self.average)


@dataclass(frozen=True)
class LexicalGraph(EntityGraph):
    """Lexical graph: the entity graph over clusters of nouns with near vectors."""

    name = "lexical-graph"
    summary = "lexical graph: how strongly sentences are linked by related nouns"
    threshold: float = 0.7
    vectors: str = EMBEDDED


@dataclass(frozen=True)
class LexicalChain(FocusMetric):
    """Lexical chains of the reference that the hypothesis has in the same sentences."""

    name = "lexical-chain"
    reads_context = False
    summary = "lexical chains shared with the reference, sentence by sentence (best reference)"
    range = (0.0, INFINITE)
    variant: Literal["recall", "precision", "f"] = "recall"
    per_chain: bool = False  # divide by the number of chains in the hypothesis

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        grids = {view: grid(text) for view, text in self.readings(requests, run).items()}
        return mean_stats(
            [
                max(
                    (
                        chain_overlap(grids[hyp], grids[ref], self.variant, self.per_chain)
                        for hyp, ref in request.pairs()
                    ),
                    default=np.nan,
                )
                for request in requests
            ]
        )


@dataclass(frozen=True)
class Freq(CohesionMetric):
    """FREQ: mentions of repeated foci over the number of all foci, or of repeated ones."""

    name = "freq"
    summary = "focus frequency: mentions of repeated foci per focus"
    focus: Focus = "nn"
    over: Literal["all", "repeated"] = "all"
    threshold: float = 0.8
    vectors: str = EMBEDDED

    def value(self, text: AnalysedText, foci: Foci) -> float:
        return frequency(foci(grid(text)), self.over)


@dataclass(frozen=True)
class Conn(CohesionMetric):
    """CONN: the mean of all cells of the sentence adjacency matrix."""

    name = "conn"
    summary = "sentence connectivity: mean of the adjacency matrix"
    focus: Focus = "nn"
    weighting: Weighting = "u"
    threshold: float = 0.5
    vectors: str = EMBEDDED

    def value(self, text: AnalysedText, foci: Foci) -> float:
        return connectivity(foci(grid(text)), len(text.sentences), self.weighting, "mean")
