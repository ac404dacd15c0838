"""Systems under one metric compared: intervals, corrected p-values, rank clusters, power."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from wholetext.errors import AlignmentError, InputError, MetricError, count, known, listed
from wholetext.notebook.display import (
    MOST,
    html_table,
    printed,
    shortened,
    text_table,
)
from wholetext.notebook.frames import frame
from wholetext.registry import label
from wholetext.scoring.significance.power import Power, power, standard_error
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    TRIALS,
    Interval,
    Score,
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    few_documents,
    holm,
    holm_levels,
    interval,
    randomization_p,
)
from wholetext.scoring.significance.verdicts import (
    BASELINE,
    BETTER,
    SAME,
    WORSE,
    Verdict,
    verdict,
)
from wholetext.types import FloatArray, Scores, Signature

if TYPE_CHECKING:
    import pandas
    import polars

Test = Literal["randomization", "bootstrap", "bootstrap-centred"]
Unit = Literal["doc", "segment"]


@dataclass(frozen=True)
class Significance:
    """How systems are compared.

    ``draws`` are by default 10,000 swaps or 1,000 resamples, or as many as it takes for a corrected
    p-value to reach ``alpha``; 0: intervals without tests. ``seed=None`` gives other draws each
    time. Without a ``baseline`` the best system is it. p-values are Holm-corrected over the
    comparisons made: with a named baseline, else all pairs, as rank clusters always are.
    """

    test: Test = "randomization"
    unit: Unit = "doc"
    draws: int | None = None
    seed: int | None = SEED
    alpha: float = 0.05
    baseline: str | None = None

    def __post_init__(self) -> None:
        known("test", self.test, get_args(Test))
        known("unit", self.unit, get_args(Unit))
        if not 0 < self.alpha < 1:
            raise InputError(
                f"alpha is {self.alpha}", next="give a level between 0 and 1, such as 0.05"
            )

    def sizes(self, systems: int) -> tuple[int, int]:
        """Draws of the test, and corpora drawn for intervals.

        A corrected p-value is at least pairs / (draws + 1).
        """
        usual = TRIALS if self.test == "randomization" else RESAMPLES
        needed = math.ceil(math.comb(systems, 2) / self.alpha)
        trials = max(usual, needed) if self.draws is None else self.draws
        return trials, RESAMPLES if self.test == "randomization" else trials or RESAMPLES

    def compare(self, scores: Mapping[str, Scores], output: str | None = None) -> Comparison:
        """Compare the systems of one metric in this way."""
        ranked, first = system_totals(scores, self.unit, output), next(iter(scores.values()))
        if self.baseline is not None:
            known("system", self.baseline, ranked.names, error=MetricError)
        trials, resamples = self.sizes(len(scores))
        samples = bootstrap_scores(ranked.units, ranked.score, resamples, self.seed)
        p = np.full((len(ranked.names), len(ranked.names)), np.nan)
        pairs = list(combinations(range(len(p)), 2))
        if pairs and trials and len(ranked.units[0]) > 1:  # otherwise nothing is tested
            if self.test == "randomization":
                values = randomization_p(ranked.units, ranked.score, pairs, trials, self.seed)
            else:
                centred = self.test == "bootstrap-centred"
                values = bootstrap_p(samples, ranked.observed, pairs, centred=centred)
            p = square(values, len(p))
        # resamples of a single document do not estimate the variance between documents
        drawn = samples if len(ranked.units[0]) > 1 else samples[:, :0]
        standings = _standings(ranked, drawn, p, self)
        return Comparison(
            first.metric,
            output or first.outputs[0],
            ranked.higher_is_better,
            ranked.names[0] if self.baseline is None else self.baseline,
            standings,
            p,
            signature=Signature(
                {
                    "test": self.test,
                    "unit": self.unit,
                    "units": len(ranked.units[0]),
                    "draws": trials,
                    "resamples": resamples,
                    "seed": "none" if self.seed is None else self.seed,
                    "alpha": self.alpha,
                    "correction": "holm",
                }
            ),
            warnings=(
                *_warnings(label(first.metric), ranked, samples, self),
                *(_unlike_rows(scores, ranked) if pairs else ()),
                *(_cluster_notes(label(first.metric), standings) if standings[0].rank else ()),
            ),
            deltas=interval_table(drawn),
            decimals=first.places,
            main=output is None or output == first.outputs[0],
        )


@dataclass(frozen=True)
class SystemResult:
    """One system in a comparison. NaN = undefined; ``rank`` is None where there is no test."""

    system: str
    score: float
    interval: Interval
    delta: float  # this score minus the baseline's, whichever direction is better
    delta_interval: Interval
    p: float  # against the baseline, uncorrected; NaN for the baseline itself
    p_holm: float  # corrected for the number of comparisons
    rank: int | None  # cluster: systems of one rank do not differ significantly
    verdict: Verdict
    power: Power | None  # at the level that the correction leaves; None for the baseline


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcome of ``compare``: systems best first, how they were tested, and notes."""

    metric: str
    output: str
    higher_is_better: bool
    baseline: str
    standings: tuple[SystemResult, ...]  # best first
    p: FloatArray  # (systems, systems) of every pair, uncorrected, in the order of ``standings``
    signature: Signature  # test, unit, draws, seed …
    warnings: tuple[str, ...]
    deltas: FloatArray  # (systems, systems, 2) [baseline, system] 95 % interval of the difference
    decimals: int  # of a printed score
    main: bool = True  # whether ``output`` is the metric's score itself

    @property
    def tested(self) -> bool:
        """Whether differences were tested, which takes draws, two units and two systems."""
        units, draws = (int(self.signature[name]) for name in ("units", "draws"))
        return units > 1 and draws > 0 and len(self.standings) > 1

    def __getitem__(self, system: str) -> SystemResult:
        return {standing.system: standing for standing in self.standings}[system]

    def columns(self) -> dict[str, list[object]]:
        """The standings as the columns of a table, best system first."""
        rows = [
            {
                "metric": self.metric,
                "output": self.output,
                "system": standing.system,
                "score": standing.score,
                "low": standing.interval.low,
                "high": standing.interval.high,
                "delta": standing.delta,
                "delta_low": standing.delta_interval.low,
                "delta_high": standing.delta_interval.high,
                "p": standing.p,
                "p_holm": standing.p_holm,
                "rank": standing.rank,
                "verdict": standing.verdict,
            }
            for standing in self.standings
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_pandas(self) -> pandas.DataFrame:
        """The standings as a pandas DataFrame (extra ``pandas``)."""
        return frame("pandas", self.columns())

    def to_polars(self) -> polars.DataFrame:
        """The standings as a polars DataFrame (extra ``polars``)."""
        return frame("polars", self.columns())

    def _cells(self) -> tuple[str, list[list[str]]]:
        """The title, and a table whose first row is its head."""
        arrow = "↑" if self.higher_is_better else "↓"
        head = ["system", f"score {arrow}", "low", "high", "difference", "p (Holm)", "rank"]
        rows = [
            [
                s.system,
                *(
                    printed(value, self.decimals)
                    for value in (s.score, s.interval.low, s.interval.high, s.delta)
                ),
                printed(s.p_holm, 4),
                f"#{s.rank} {s.verdict}" if s.rank else s.verdict,
            ]
            for s in self.standings
        ]
        name = label(self.metric) + ("" if self.main else f" {self.output}")
        systems, baseline = count(len(rows), "system"), shortened(self.baseline, 80)
        return f"{shortened(name, 200)}: {systems} against {baseline}", [head, *rows]

    def __repr__(self) -> str:
        title, table = self._cells()
        head, *rows = [[*row[:4], row[6]] for row in table]  # what fits a line
        return shortened(f"Comparison by {title}\n{text_table(head, rows)}", MOST)

    def _repr_html_(self) -> str:
        title, (head, *rows) = self._cells()
        return html_table(head, rows, title, (str(self.signature), *self.warnings))


@dataclass(frozen=True, eq=False)
class SystemTotals:
    """Systems, best first (undefined scores last), and how their totals become scores."""

    names: tuple[str, ...]
    units: tuple[FloatArray, ...]  # per system (units, k): what the test draws or swaps
    documents: tuple[FloatArray, ...]  # per system (documents, k): what the power hint looks at
    score: Score
    observed: FloatArray  # (systems,)
    higher_is_better: bool


def system_totals(scores: Mapping[str, Scores], unit: Unit, output: str | None) -> SystemTotals:
    """Order the systems of one metric; raise an error if they were scored on different texts."""
    if not scores:
        raise MetricError("there is nothing to compare", next="score at least one system first")
    first = next(iter(scores.values()))
    columns = () if unit == "doc" else ("doc", "start", "stop")
    for name, other in scores.items():
        same = (other.metric, other.rows.docs) == (first.metric, first.rows.docs) and all(
            np.array_equal(getattr(other.rows, column), getattr(first.rows, column))
            for column in columns
        )
        if not same:
            texts = "documents" if unit == "doc" else "segments"
            raise AlignmentError(
                f"system {name!r} was not scored with {first.metric} on the same {texts} as "
                f"{first.system!r}",
                next="score all systems on one corpus, or compare by document",
            )
    column = 0 if output is None else first.column(output)
    totals = {name: each.totals() for name, each in scores.items()}
    value = {name: float(first.reduce(total.sum(axis=0))[column]) for name, total in totals.items()}
    sign = -1 if first.higher_is_better else 1
    names = sorted(
        value, key=lambda name: (np.isnan(value[name]), sign * np.nan_to_num(value[name]), name)
    )
    ordered = [scores[name] for name in names]
    scored = np.unique(np.concatenate([each.rows.doc for each in ordered]))  # documents with rows
    documents = units = tuple(totals[name][scored] for name in names)
    if unit == "segment":
        units = tuple(each.stats * each.rows.weight[:, None] for each in ordered)
    return SystemTotals(
        tuple(names),
        units,
        documents,
        score=lambda totals: np.asarray(first.reduce(totals)[..., column]),
        observed=np.array([value[name] for name in names]),
        higher_is_better=first.higher_is_better,
    )


def square(values: FloatArray, size: int) -> FloatArray:
    """A symmetric table of one value per pair; NaN on the diagonal."""
    table = np.full((size, size), np.nan)
    table[np.triu_indices(size, 1)] = values  # the order of itertools.combinations
    return np.where(np.isnan(table), table.T, table)


def _standings(
    ranked: SystemTotals, samples: FloatArray, p: FloatArray, how: Significance
) -> tuple[SystemResult, ...]:
    """Compare every system with the baseline; correct p-values over the comparisons made."""
    size, every = len(p), p[np.triu_indices(len(p), 1)]
    base = 0 if how.baseline is None else ranked.names.index(how.baseline)
    ranks: list[int] = []
    adjusted, level = p[base], p[base]
    if np.isfinite(every).any():
        corrected, levels = square(holm(every), size), square(holm_levels(every, how.alpha), size)
        ranks, adjusted, level = cluster_ranks(corrected, how.alpha), corrected[base], levels[base]
    if size > 1 and how.baseline is not None:
        adjusted, level = holm(p[base]), holm_levels(p[base], how.alpha)
    standings = []
    for i, name in enumerate(ranked.names):
        score, delta = float(ranked.observed[i]), float(ranked.observed[i] - ranked.observed[base])
        ahead = (delta > 0) == ranked.higher_is_better
        standings.append(
            SystemResult(
                name,
                score,
                interval(samples[i]),
                delta,
                interval(samples[i] - samples[base]),
                float(p[base, i]),
                float(adjusted[i]),
                ranks[i] if ranks and np.isfinite(score) else None,
                BASELINE if i == base else verdict(float(adjusted[i]), how.alpha, ahead),
                None
                if i == base
                else power(
                    ranked.documents[i], ranked.documents[base], ranked.score, float(level[i])
                ),
            )
        )
    return tuple(standings)


def interval_table(samples: FloatArray) -> FloatArray:
    """(systems, systems, 2) [baseline, system] → interval of system minus baseline."""
    table = np.empty((len(samples), len(samples), 2))
    for i, j in combinations_with_replacement(range(len(samples)), 2):
        middle = interval(samples[j] - samples[i])
        table[i, j] = middle.low, middle.high
        table[j, i] = 0.0 - table[i, j, ::-1]  # negated for the reversed pair, without -0
    return table


def _cluster_notes(metric: str, standings: Sequence[SystemResult]) -> list[str]:
    """Explain where rank clusters and verdicts seem to disagree."""
    base = next(standing for standing in standings if standing.verdict == BASELINE)
    marked = [s.system for s in standings if s.verdict in (BETTER, WORSE) and s.rank == base.rank]
    apart = [s.system for s in standings if s.verdict == SAME and s.rank != base.rank]
    many, notes = len(standings) - 1, []
    if marked:
        verb, be = ("differs", "is") if len(marked) == 1 else ("differ", "are")
        notes.append(
            f"{metric}: {listed(marked, 5)} {verb} from {base.system} and {be} in its rank cluster "
            f"#{base.rank}: marks are corrected for the {many} comparisons with {base.system}, "
            f"clusters for all {many * (many + 1) // 2} pairs"
        )
    if apart:
        be = "is" if len(apart) == 1 else "are"
        notes.append(
            f"{metric}: {listed(apart, 5)} {be} in another rank cluster than {base.system} without a "
            "significant difference: clusters end at the first system that differs from any member"
        )
    return notes


def _unlike_rows(scores: Mapping[str, Scores], ranked: SystemTotals) -> list[str]:
    """Note systems whose undefined scores are on different rows: their averages differ in texts."""
    ordered = [scores[name] for name in ranked.names]
    if len({len(each.rows.doc) for each in ordered}) > 1:
        return []
    # (systems, rows) rows that count for nothing
    missing = np.array([~np.asarray(each.stats).any(axis=1) for each in ordered])
    common = np.flatnonzero(~missing.any(axis=0))
    if (missing == missing[0]).all() or not len(common) or np.isnan(ranked.observed).any():
        return []
    totals = [(each.stats[common] * each.rows.weight[common, None]).sum(axis=0) for each in ordered]
    lacking = [f"{name} {many:,}" for name, many in zip(ranked.names, missing.sum(axis=1)) if many]
    alike = [
        f"{name} {float(ranked.score(total)):.{ordered[0].places}f}"
        for name, total in zip(ranked.names, totals)
    ]
    return [
        f"{label(ordered[0].metric)}: systems lack scores on different rows "
        f"({', '.join(lacking)} of {missing.shape[1]:,}), so their averages are over different "
        f"texts; on the {len(common):,} rows that all have: {', '.join(alike)}"
    ]


def _warnings(
    metric: str, ranked: SystemTotals, samples: FloatArray, how: Significance
) -> list[str]:
    warnings = [
        f"{metric}: {name} has no defined score and is not ranked"
        for name, value in zip(ranked.names, ranked.observed)
        if np.isnan(value)
    ]
    warnings += [
        f"{metric}: {undefined} of {samples.shape[1]} resampled scores of {name} are undefined and left out"
        for name, value, undefined in zip(
            ranked.names, ranked.observed, np.isnan(samples).sum(axis=1)
        )
        if undefined and not np.isnan(value)
    ]
    systems, documents = len(ranked.names), len(ranked.documents[0])
    comparisons = math.comb(systems, 2) if how.baseline is None else systems - 1
    few = few_documents(documents, how.alpha, comparisons)
    warnings += [few] if few else []
    (draws, _), pairs = how.sizes(systems), math.comb(systems, 2)
    if 0 < draws * how.alpha < pairs:
        warnings.append(
            f"{draws} draws are too few for {systems} systems: no corrected p-value can "
            f"reach {how.alpha}; give at least {math.ceil(pairs / how.alpha)}"
        )
    if how.unit == "segment" and documents > 1:
        factor = standard_error(ranked.documents[0], ranked.score) / standard_error(
            ranked.units[0], ranked.score
        )
        extent = (
            f"; by document the standard error of {ranked.names[0]} is {factor:.2f} times as large"
        )
        warnings.append(
            f"{metric}: segments were resampled as if they were independent"
            f"{extent if np.isfinite(factor) else ''}"
        )
    return warnings
