"""BlonDe, d-BlonDe and BlonDe+ (Jiang et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MetricError, SpecError, known
from wholetext.files.parsing import number
from wholetext.metrics.blonde import units
from wholetext.metrics.blonde.categories import (
    CategoryTable,
    Finder,
    Profile,
    layers_for,
    load_table,
)
from wholetext.metrics.blonde.units import CATEGORIES, DISCOURSE, NGRAMS
from wholetext.metrics.surface import SMOOTH_VALUES, Smoothing
from wholetext.text import code_of
from wholetext.text.taggers.analysis import Analyser, analyser_for
from wholetext.types import Excerpt, FloatArray, Metric, Request, Runtime

_ORDERS = slice(len(DISCOURSE), len(DISCOURSE) + len(NGRAMS))
NOTHING = "neither output nor reference has anything that it counts"
ONE_SIDED = "only one of output and reference has anything that it counts"
ABSENT = "n-grams longer than every segment are in neither text and floored to"
UNMATCHED = "a category without a match is floored to"


@dataclass(frozen=True)
class Blonde(Metric):
    """BlonDe: the mean over categories of the share of aligned, clipped counts (Eqs. 2–10).

    The scores of rows, documents and corpora are one formula, applied to their totals of counts.
    Profiles: ``reference`` is the released code (0.1.4), ``paper`` the printed definitions (uniform
    weights, one temporal sense), ``fixed`` the paper's with pronouns in any case; only
    ``reference`` keeps the code's smoothing.
    """

    name = "blonde"
    summary = (
        "tense, pronouns, entities, discourse markers and n-grams, against a reference "
        "(not English: own tables)"
    )
    view = "whole"
    outputs = ("f1", "precision", "recall")
    reads_context = False
    factors: ClassVar[tuple[str, ...]] = (*DISCOURSE, *NGRAMS)

    profile: Profile = "reference"
    table: str = "auto"  # language, or a TOML file of one's own
    tagger: str = "auto"  # spacy, spacy/NAME, given/FILE … (text/analysis.py)
    clip_scope: Literal["sentence", "document"] = "sentence"
    # of precisions and recalls; occurring: of F1
    mean: Literal["geometric", "arithmetic", "occurring"] = "geometric"
    smooth: Smoothing = "exp"
    smooth_value: float | None = None
    # a factor of 0 becomes zero_value (floor) or zero_value / count (delta)
    zero: Literal["floor", "delta"] = "floor"
    zero_value: float = 1e-5
    weights: str = ""  # of features and categories: "neuter=1,epicene=1,tense=2"
    lowercase: bool = False
    annotations: str = ""  # an.txt: phrases of ambiguity and ellipsis, one line a segment
    names: str = ""  # ner.txt: the names of the reference, one line a segment
    references: Literal["max", "sum"] = "max"  # how several are aggregated: ⊕ of Eqs. 3 and 4
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
        table, files = self._table, {"annotations": self.annotations, "names": self.names}
        return {
            "tagger": self._analyser().id,
            "table": table.id,
            "table.origin": table.origin,
            "references": self.references,
            **({} if table.origin == "paper" else {"table.hash": table.digest}),
            **{key: units.file_mark(name, key) for key, name in files.items() if name},
        }

    def survey(
        self, references: Iterable[tuple[Excerpt, ...]], run: Runtime
    ) -> tuple[tuple[str, ...], ...]:
        """List the references of all segments, by which documents find their annotations."""
        return tuple(tuple(ref.text for ref in refs) for refs in references)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        analyser = run.resource(("analyser", self._table.id, self.tagger), self._analyser)
        finder = Finder(self._table, analyser.layers, self.profile)
        views = (view for request in requests for view in (request.hyp[0], *request.refs))
        parts = (part.lower() if self.lowercase else part for view in views for part in view.scored)
        segments = list(dict.fromkeys(parts))
        orders = NGRAMS if "ngram1" in self.factors else ()
        analyses = run.map(analyser, segments)
        files = (units.read_names, self.names), (units.read_annotations, self.annotations)
        reader = units.Reader(
            {part: units.read(finder, each, orders) for part, each in zip(segments, analyses)},
            run.survey or (),
            [read(name) for read, name in files if name],
            named=bool(self.names),
            by_document=self.clip_scope == "document",
            lowercase=self.lowercase,
        )
        stats = np.zeros((len(requests), 3 * (len(CATEGORIES) + len(self._features))))
        for index, request in enumerate(requests):
            pairs = reader.pairs(request)
            counted = pairs
            if self.references == "sum":  # each reference is compared alone
                counted = [(hyp, [ref]) for hyp, refs in pairs for ref in refs]
            stats[index] = units.count(counted, self._features, self._weights)
            run.detail(index, blonde=units.spans(pairs, self._weights))
        # (requests, factors, match|ref|sys)
        counts = stats.reshape(len(requests), -1, 3)[:, self._chosen]
        absent = np.asarray(np.equal(counts, 0).all(axis=-1))  # (requests, factors)
        floored = self.floored(stats).any(axis=-1)
        for index in np.flatnonzero(np.isnan(self.reduce(stats)[:, 0])).tolist():
            run.detail(index, reason=NOTHING if absent[index].all() else ONE_SIDED)
        for what, where in ((ABSENT, floored & absent), (UNMATCHED, floored & ~absent)):
            for index in np.flatnonzero(where.any(axis=-1)).tolist():
                run.warn(f"{what} {self.floor}", index)
        return stats

    # -------------------------------------------------------- from counts to scores: Eqs. 5–10

    @np.errstate(divide="ignore", invalid="ignore")
    def reduce(self, totals: FloatArray) -> FloatArray:
        """F1, precision, recall, overall and of each: (..., 3 + 3·(categories + features))."""
        # (..., categories + features, match|ref|sys)
        table = totals.reshape(*totals.shape[:-1], -1, 3)
        occurring = self.mean == "occurring"
        # (..., categories + features, precision|recall), with F1 first for occurring
        values = self._shares(table) if occurring else self._ratios(table)
        below = table[..., 2:0:-1]  # denominators: (..., categories + features, sys|ref)
        factors, counts = values[..., self._chosen, :], below[..., self._chosen, :]
        parts = [factors, values[..., len(CATEGORIES) :, :]]
        importance = self.importance
        if self.with_d:  # the "sBlonDe" of the released experiments: d-blonde is one more factor
            first = (..., slice(0, len(DISCOURSE)), slice(None))
            inner = self._combine(values[first], below[first], (1.0,) * len(DISCOURSE))
            factors = np.concatenate([factors, inner[..., None, :]], axis=-2)
            counts = np.concatenate([counts, np.ones_like(counts[..., :1, :])], axis=-2)
            importance = (*importance, 1.0)
        overall = self._combine(factors, counts, importance)[..., None, :]
        scores = np.concatenate([overall, *parts], axis=-2)
        if not occurring:
            precision, recall = scores[..., 0], scores[..., 1]
            scores = np.stack([self._f1(precision, recall), precision, recall], axis=-1)
        return scores.reshape(*totals.shape[:-1], -1)

    def _shares(self, table: FloatArray) -> FloatArray:
        """F1, precision and recall of what either side has, 0 where only one does: (..., 3).

        Nothing is smoothed and nothing floored, so that no factor decides the score of a short text
        alone.
        """
        match, ref, sys = (table[..., i] for i in range(3))  # each (..., categories + features)
        counts = np.stack([(ref + sys) / 2, sys, ref], axis=-1)
        either = ((ref > 0) | (sys > 0))[..., None]
        return np.where(either, np.where(counts > 0, match[..., None] / counts, 0.0), np.nan)

    def _ratios(self, table: FloatArray) -> FloatArray:
        """Precision and recall, smoothed for n-grams: (..., categories + features, 2)."""
        match, counts = table[..., :1], table[..., 2:0:-1]
        ratio = match / counts  # 0/0 is undefined
        ratio[..., _ORDERS, :] = self._smoothed(match[..., _ORDERS, :], counts[..., _ORDERS, :])
        return ratio

    @property
    def floor(self) -> str:
        """What the geometric mean takes a factor of 0 for."""
        return f"{self.zero_value:g}" + (" / count" if self.zero == "delta" else "")

    @np.errstate(divide="ignore", invalid="ignore")
    def floored(self, totals: FloatArray) -> NDArray[np.bool_]:
        """Where the geometric mean replaces a factor of 0: (..., factors, precision|recall)."""
        table = totals.reshape(*totals.shape[:-1], -1, 3)
        ratio, counts = (x[..., self._chosen, :] for x in (self._ratios(table), table[..., 2:0:-1]))
        below = (ratio == 0) & (counts > 0) if self.zero == "delta" else ratio < self.zero_value
        counted = np.greater(self.importance, 0)[:, None] & (self.mean == "geometric")
        return np.asarray(below & counted)

    def _smoothed(self, match: FloatArray, counts: FloatArray) -> FloatArray:
        """Matches and counts of n-grams, (..., 4, 1) and (..., 4, precision|recall), as ratios.

        The released code divides by 0.25·count where nothing matched, and gives 0 to orders longer
        than every segment; the other profiles divide by the count and leave those orders undefined.
        An empty text is never smoothed.
        """
        reference = self.profile == "reference"
        value = (
            SMOOTH_VALUES.get(self.smooth, 0.0) if self.smooth_value is None else self.smooth_value
        )
        both = (counts[..., :1, :] > 0).all(axis=-1, keepdims=True)  # neither side is empty
        seen = np.logical_and.accumulate(counts > 0, axis=-2)
        missed = seen & both & (match == 0)
        weighted = counts * (0.25 if reference else 1.0)
        ratio = match / counts
        if self.smooth == "exp":
            ratio = np.where(missed, 1 / (2.0 ** np.cumsum(missed, axis=-2) * weighted), ratio)
        elif self.smooth == "floor":
            ratio = np.where(missed, value / weighted, ratio)
        elif self.smooth == "add-k":
            longer = np.arange(match.shape[-2])[:, None] > 0
            ratio = np.where(longer & seen & both, (match + value) / (counts + value), ratio)
        unseen = np.where(seen[..., :1, :] & both, 0.0, np.nan) if reference else np.nan
        return np.where(seen, ratio, unseen)

    def _combine(
        self, values: FloatArray, totals: FloatArray, importance: Sequence[float]
    ) -> FloatArray:
        if self.mean != "geometric":
            return _mean(values, importance)
        low, floor = values < self.zero_value, np.asarray(self.zero_value)  # NaN stays NaN
        if self.zero == "delta":  # 0/0 is left out
            low, floor = values == 0, np.where(totals > 0, self.zero_value / totals, np.nan)
        return np.asarray(np.exp(_mean(np.log(np.where(low, floor, values)), importance)))

    def _f1(self, precision: FloatArray, recall: FloatArray) -> FloatArray:
        """Harmonic mean; if one side has nothing: recall (reference), NaN (paper), 0 (fixed)."""
        harmonic = 2 * precision * recall / (precision + recall)
        one_sided = np.isnan(precision) != np.isnan(recall)
        if self.profile == "reference":
            return np.where(one_sided, recall, harmonic)
        zero = (precision == 0) & (recall == 0)
        return np.where(zero | one_sided if self.profile == "fixed" else zero, 0.0, harmonic)

    # -------------------------------------------------------- meaning of the parameters

    @cached_property
    def importance(self) -> tuple[float, ...]:
        """The weight of each factor."""
        return tuple(self._weights.get(name, 1.0) for name in self.factors)

    @cached_property
    def _chosen(self) -> list[int]:
        """The place of each factor among all categories."""
        return [CATEGORIES.index(name) for name in self.factors]

    @cached_property
    def _table(self) -> CategoryTable:
        return load_table("en" if self.table == "auto" else self.table, self.profile)

    @cached_property
    def _features(self) -> list[tuple[str, str]]:
        """(category, feature) of every feature that is reported."""
        return [
            (category, f)
            for category in self.factors
            for f in self._table.features.get(category, ())
        ]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Weights of features and categories where they are not 1: the table's, then the user's."""
        weights = dict(self._table.weights)
        names = [*CATEGORIES, *(feature for _, feature in self._features)]
        for item in filter(None, map(str.strip, self.weights.split(","))):
            name, _, value = (part.strip() for part in item.partition("="))
            what, step = f"a weight of {name}", 'write weights="neuter=1,tense=2"'
            weights[name] = number(value, what=what, low=0, next=step, error=SpecError)
            if self.table != "auto":
                known("category or feature", name, names, error=SpecError)
        return weights

    def _analyser(self) -> Analyser:
        return analyser_for(self._table.language, self.tagger, layers_for(self._table))

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        analyser, table = self._analyser(), self._table
        finder = Finder(table, analyser.layers, self.profile)
        uncounted, by_spelling = " and no ".join(finder.uncounted), ", ".join(finder.by_spelling)
        whose = "wholetext's own" if table.origin == "ours" else f"from {table.origin}"
        notes = {
            "the target language is not known and was taken to be English "
            "(-l SRC-TGT, in Python langs=)": self.assumed,
            f"{analyser.id} gives no {uncounted}: left out of the score": uncounted,
            f"{analyser.id} gives no tags: {by_spelling} identified by spelling alone": by_spelling,
            **{
                f"{category} is not counted in {table.language}: {why}": category in self.factors
                for category, why in table.left_out.items()
            },
            f"the category table {table.id} is {whose}, not the paper's": table.origin != "paper",
        }
        return tuple(note for note, holds in notes.items() if holds)


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

    def annotated(self, annotations: Mapping[str, str]) -> Blonde:
        """Read the annotation that lies beside the texts unless another is named."""
        path = self.annotations or annotations.get("annotations", "")
        if not path:
            raise MetricError(
                "blonde-plus needs human annotation",
                next="blonde-plus(annotations=an.txt), or score a folder of BWB that has some",
            )
        return replace(self, annotations=path)


def _mean(values: FloatArray, importance: Sequence[float]) -> FloatArray:
    """Weighted mean over defined factors, NaN if none is: (..., factors, n) → (..., n)."""
    weight = np.where(np.isnan(values), 0.0, np.asarray(importance, dtype=np.float64)[:, None])
    return np.asarray(np.nansum(weight * values, axis=-2) / weight.sum(axis=-2))
