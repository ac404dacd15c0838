"""BlonDe, d-BlonDe and BlonDe+ (Jiang et al. 2022): tense, pronouns, entities, discourse markers and n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from wholetext.errors import MetricError, SpecError, did_you_mean
from wholetext.languages import code_of
from wholetext.metrics.blonde.categories import CategoryTable, Profile, load_table
from wholetext.metrics.blonde.occurrences import Finder, layers_for
from wholetext.metrics.blonde.scores import CATEGORIES, DISCOURSE, NGRAMS, CountColumns, Formula
from wholetext.metrics.blonde.units import Checkpoints, Lines, Reader, file_mark, read_annotations, read_names
from wholetext.metrics.surface import Smoothing
from wholetext.taggers.analysis import Analyser, analyser_for
from wholetext.types import Excerpt, FloatArray, Metric, Request, Runtime

NOTHING = "neither output nor reference has anything that it counts"


@dataclass(frozen=True)
class Blonde(Metric):
    """BlonDe: the mean over categories of the share of aligned, clipped counts (Eqs. 2–10).

    Profiles: ``reference`` is the released code (0.1.4), ``paper`` the printed definitions (uniform weights, one
    temporal sense), ``fixed`` the paper's with pronouns in any case; only ``reference`` keeps the code's smoothing.
    """

    name = "blonde"
    summary = "tense, pronouns, entities, discourse markers and n-grams, against a reference (not English: own tables)"
    view = "whole"
    outputs = ("f1", "precision", "recall")
    factors: ClassVar[tuple[str, ...]] = (*DISCOURSE, *NGRAMS)

    profile: Profile = "reference"
    table: str = "auto"  # language, or a TOML file of one's own
    tagger: str = "auto"  # spacy, spacy/NAME, given/FILE … (text/analysis.py)
    clip_scope: Literal["sentence", "document"] = "sentence"
    mean: Literal["geometric", "arithmetic"] = "geometric"
    smooth: Smoothing = "exp"
    smooth_value: float | None = None
    zero: Literal["floor", "delta"] = "floor"  # a factor of 0 becomes zero_value, or zero_value / count
    zero_value: float = 1e-5
    weights: str = ""  # of features and categories: "neuter=1,epicene=1,tense=2"
    lowercase: bool = False
    annotations: str = ""  # an.txt: phrases of ambiguity and ellipsis, one line a segment
    names: str = ""  # ner.txt: the names of the reference, one line a segment
    with_d: bool = False  # d-blonde as one more factor, as in the released experiments ("sBlonDe")

    assumed: ClassVar[bool] = False  # no language was given, so the table is English

    def __post_init__(self) -> None:
        names = [*self.factors, *(f"{category}.{feature}" for category, feature in self._features)]
        each = [f"{name}{side}" for name in names for side in ("", ".precision", ".recall")]
        object.__setattr__(self, "outputs", ("f1", "precision", "recall", *each))
        object.__setattr__(self, "surveys", bool(self.annotations or self.names))
        self._weights  # noqa: B018 — validates them now

    def resolve(self, langs: tuple[str, str]) -> Blonde:
        if self.table != "auto":
            return self
        lang = code_of(langs[1])
        made = replace(self, table=lang or "en")
        object.__setattr__(made, "assumed", not lang)
        return made

    def facts(self) -> Mapping[str, str]:
        table = self._table
        facts = {"tagger": self._analyser().id, "table": table.id, "table.origin": table.origin, "references": "max",
                 "corpus_score": f"f1-of-{self.mean}-means", "document_score": "mean-of-f1"}
        facts |= {"table.hash": table.digest} if table.origin != "paper" else {}
        files = {"annotations": self.annotations, "names": self.names}
        return facts | {key: file_mark(name) for key, name in files.items() if name}

    def survey(self, references: Iterable[Excerpt], run: Runtime) -> tuple[str, ...]:
        """All reference segments in order: annotation files go by line, so a document must know its place."""
        return tuple(view.text for view in references)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        analyser = run.resource(("analyser", self._table.id, self.tagger), self._analyser)
        finder = Finder(self._table, analyser.layers, self.profile)
        texts = (view.scored for request in requests for view in (request.hyp[0], *request.refs))
        segments = list(dict.fromkeys(part.lower() if self.lowercase else part for parts in texts for part in parts))
        analyses = dict(zip(segments, run.map(analyser, segments)))
        lines = Lines(run.survey or (), self._file(run, self.annotations, read_annotations),
                      self._file(run, self.names, read_names))
        reader = Reader(finder, analyses, lines, ngrams="ngram1" in self.factors,
                        by_document=self.clip_scope == "document", lowercase=self.lowercase)
        columns = CountColumns({name: i for i, name in enumerate(self._features)}, self._weights)
        stats = np.zeros((len(requests), 3 * (len(CATEGORIES) + len(self._features))))
        counted = [3 * CATEGORIES.index(name) + i for name in self.factors for i in range(3)]
        for index, request in enumerate(requests):
            pairs = reader.pairs(request)
            stats[index] = columns.count(pairs)
            run.detail(index, blonde=columns.spans(pairs))
            if not stats[index, counted].any():
                run.detail(index, reason=NOTHING)
        return stats

    def reduce(self, totals: FloatArray) -> FloatArray:
        return self.recipe.reduce(np.asarray(totals, dtype=np.float64))

    def reduce_docs(self, totals: FloatArray) -> FloatArray:
        return self.recipe.documents(np.asarray(totals, dtype=np.float64))

    def reduce_rows(self, stats: FloatArray) -> FloatArray:
        return self.reduce_docs(stats)

    @cached_property
    def recipe(self) -> Formula:
        return Formula(
            self.profile, self.mean, self.smooth, self.smooth_value, self.zero, self.zero_value, self.factors,
            tuple(self._weights.get(name, 1.0) for name in self.factors), self.with_d,
        )

    # -------------------------------------------------------- what the parameters stand for

    @cached_property
    def _table(self) -> CategoryTable:
        return load_table("en" if self.table == "auto" else self.table, self.profile)

    @cached_property
    def _features(self) -> list[tuple[str, str]]:
        """(category, feature) of every feature that is reported."""
        return [(category, f) for category in self.factors for f in self._table.features.get(category, ())]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Weights of features and categories where they are not 1: the table's, then the user's."""
        weights = dict(self._table.weights)
        known = [*CATEGORIES, *(feature for _, feature in self._features)]
        for item in filter(None, (item.strip() for item in self.weights.split(","))):
            name, _, value = item.partition("=")
            try:
                weights[name.strip()] = float(value)
            except ValueError:
                raise SpecError(f"not a weight: {item!r}", next='write weights="neuter=1,tense=2"') from None
            if name.strip() not in known and self.table != "auto":
                raise SpecError(f"nothing here is called {name.strip()!r}",
                                next=did_you_mean(name.strip(), known) or f"names: {', '.join(known)}")
        if any(not 0 <= value < float("inf") for value in weights.values()):
            raise SpecError("a weight is not a number from 0 up", next='write weights="neuter=1,tense=2"')
        return weights

    def _file(self, run: Runtime, name: str, read: Callable[[str], Sequence[Checkpoints]]) -> Sequence[Checkpoints]:
        return run.resource(("annotation file", name, file_mark(name)), lambda: read(name)) if name else ()

    def _analyser(self) -> Analyser:
        return analyser_for(self._table.language, self.tagger, layers_for(self._table))

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        analyser, table = self._analyser(), self._table
        finder = Finder(table, analyser.layers, self.profile)
        uncounted, by_spelling = finder.uncounted, finder.by_spelling
        assumed = "the target language is not known and was taken to be English (-l SRC-TGT, in Python langs=)"
        found = [assumed] if self.assumed else []
        found += [f"{analyser.id} gives no {' and no '.join(uncounted)}: left out of the score"] if uncounted else []
        spelled = f"{analyser.id} gives no tags: {', '.join(by_spelling)} told by spelling alone"
        found += [spelled] if by_spelling else []
        found += [f"{category} is not counted in {table.language}: {why}" for category, why in table.left_out.items()
                  if category in self.factors]
        found += [f"the table {table.id} is {table.origin}, not the paper's"] if table.origin != "paper" else []
        return tuple(found)


@dataclass(frozen=True)
class DBlonde(Blonde):
    """d-BlonDe (BLOND-D): the discourse categories alone, without n-grams."""

    name = "d-blonde"
    summary = "BlonDe without n-grams: tense, pronouns, entities and discourse markers"
    factors = DISCOURSE


@dataclass(frozen=True)
class BlondePlus(Blonde):
    """BlonDe+: with the human annotation of ambiguity and ellipsis as two more categories."""

    name = "blonde-plus"
    summary = "BlonDe with human annotation of ambiguity and ellipsis (annotations=FILE)"
    factors = CATEGORIES

    def resolve(self, langs: tuple[str, str]) -> Blonde:
        if not self.annotations:
            raise MetricError("blonde-plus needs human annotation", next="blonde-plus(annotations=an.txt)")
        return super().resolve(langs)
