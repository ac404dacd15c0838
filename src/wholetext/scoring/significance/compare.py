"""Systems under one metric compared: intervals, corrected p-values, rank clusters, power."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from wholetext.errors import AlignmentError, InputError, MetricError, choices, count
from wholetext.notebook.display import MOST, html_table, printed, shortened, text_table
from wholetext.notebook.frames import frame
from wholetext.scoring.significance.clusters import cluster_ranks, holm, holm_levels
from wholetext.scoring.significance.power import Power, few_documents, power, standard_error
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    TRIALS,
    Interval,
    Score,
    bootstrap_p,
    bootstrap_scores,
    bounds,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray, Scores, Signature

if TYPE_CHECKING:
    import pandas
    import polars

Test = Literal["randomization", "bootstrap", "bootstrap-centred"]
Unit = Literal["doc", "segment"]
Verdict = Literal["baseline", "better", "worse", "open"]


@dataclass(frozen=True)
class Significance:
    """How systems are compared.

    ``draws`` are by default 10,000 swaps or 1,000 resamples, or as many as it takes for a corrected
    p-value to reach ``alpha``; ``seed=None`` gives other draws each time. Without a ``baseline``
    the best system is it. p-values are Holm-corrected over the comparisons made: with a named
    baseline, else all pairs, as rank clusters always are.
    """

    test: Test = "randomization"
    unit: Unit = "doc"
    draws: int | None = None
    seed: int | None = SEED
    alpha: float = 0.05
    baseline: str | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("test", self.test, get_args(Test)),
            ("unit", self.unit, get_args(Unit)),
        ):
            if value not in known:
                raise InputError(
                    f"unknown {name} {value!r}", next=f"{name} is one of {', '.join(known)}"
                )
        if not 0 < self.alpha < 1:
            raise InputError(
                f"alpha is {self.alpha}", next="give a level between 0 and 1, such as 0.05"
            )

    def trials(self, systems: int) -> int:
        """Draws of the test; a corrected p-value is at least pairs / (draws + 1)."""
        usual = TRIALS if self.test == "randomization" else RESAMPLES
        return max(usual, _draws_needed(systems, self.alpha)) if self.draws is None else self.draws

    def resamples(self, systems: int) -> int:
        """Corpora drawn for intervals."""
        return RESAMPLES if self.test == "randomization" else self.trials(systems)

    def compare(self, scores: Mapping[str, Scores], output: str | None = None) -> Comparison:
        """Compare the systems of one metric in this way."""
        ranked, first = system_totals(scores, self.unit, output), next(iter(scores.values()))
        if self.baseline is not None and self.baseline not in ranked.names:
            raise MetricError(
                f"there is no system {self.baseline!r} to compare with",
                next=choices(self.baseline, ranked.names),
            )
        trials, resamples = self.trials(len(scores)), self.resamples(len(scores))
        samples = bootstrap_scores(ranked.units, ranked.score, resamples, self.seed)
        pairs = list(combinations(range(len(ranked.names)), 2))
        if not pairs:
            values = np.zeros(0)
        elif self.test == "randomization":
            values = randomization_p(ranked.units, ranked.score, pairs, trials, self.seed)
        else:
            values = bootstrap_p(
                samples, ranked.observed, pairs, centred=self.test == "bootstrap-centred"
            )
        p = _square(values, len(ranked.names))
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
                *_warnings(first.metric, ranked, samples, self),
                *(_unlike_rows(scores, ranked) if pairs else ()),
                *(_marked_in_cluster(first.metric, standings) if pairs else ()),
            ),
            deltas=interval_table(drawn),
            decimals=first.places,
            main=output is None or output == first.outputs[0],
        )


@dataclass(frozen=True)
class SystemResult:
    """One system in a comparison. NaN = undefined; ``rank`` is None where the score is."""

    system: str
    score: float
    interval: Interval
    delta: float  # this score minus the baseline's, whichever direction is better
    delta_interval: Interval
    p: float  # against the baseline, uncorrected; NaN for the baseline itself
    p_holm: float  # corrected for the number of comparisons
    rank: int | None  # cluster: systems of one rank do not differ significantly
    verdict: Verdict  # "open": not significant on these documents
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
    def label(self) -> str:
        """What heads its column: the metric, and the output where it is not the score itself."""
        return self.metric if self.main else f"{self.metric} {self.output}"

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

    def _cells(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [
            [
                s.system,
                *(
                    printed(value, self.decimals)
                    for value in (s.score, s.interval.low, s.interval.high, s.delta)
                ),
                printed(s.p_holm, 4),
                str(s.rank or "–"),
                s.verdict,
            ]
            for s in self.standings
        ]
        head = [
            "system",
            f"score {'↑' if self.higher_is_better else '↓'}",
            "low",
            "high",
            "difference",
            "p (Holm)",
            "rank",
            "verdict",
        ]
        return (
            f"{shortened(self.label, 200)}: {count(len(rows), 'system')} against {shortened(self.baseline, 80)}",
            head,
            rows,
        )

    def __repr__(self) -> str:
        title, head, rows = self._cells()
        few = [[*row[:4], f"#{row[6]} {row[7]}"] for row in [head, *rows]]  # what fits a line
        few[0][4] = "rank"
        return shortened(f"Comparison by {title}\n{text_table(few[0], few[1:])}", MOST)

    def _repr_html_(self) -> str:
        title, head, rows = self._cells()
        return html_table(head, rows, title, (str(self.signature), *self.warnings))


def _draws_needed(systems: int, alpha: float) -> int:
    return math.ceil(systems * (systems - 1) / 2 / alpha)


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
    if not scores:
        raise MetricError("there is nothing to compare", next="score at least one system first")
    first = next(iter(scores.values()))
    for name, other in scores.items():
        if other.metric != first.metric:
            raise MetricError(
                f"system {name!r} was scored with {other.metric}, others with {first.metric}",
                next="compare systems under one metric at a time",
            )
        columns = () if unit == "doc" else ("doc", "start", "stop")
        if other.rows.docs != first.rows.docs or not all(
            np.array_equal(getattr(other.rows, column), getattr(first.rows, column))
            for column in columns
        ):
            what = "documents" if unit == "doc" else "segments"
            raise AlignmentError(
                f"system {name!r} was not scored on the same {what} as {next(iter(scores))!r}",
                next="score all systems on one corpus, or compare by document",
            )
    if output is not None and output not in first.outputs:
        raise MetricError(
            f"{first.metric} has no output {output!r}", next=f"it has {', '.join(first.outputs)}"
        )
    column = 0 if output is None else first.outputs.index(output)

    def score(totals: FloatArray) -> FloatArray:
        return np.asarray(first.reduce(totals)[..., column])

    value = {name: float(each.table("corpus")[0, column]) for name, each in scores.items()}
    sign = -1 if first.higher_is_better else 1
    names = sorted(
        value, key=lambda name: (np.isnan(value[name]), sign * np.nan_to_num(value[name]), name)
    )
    ordered = [scores[name] for name in names]
    reached = np.zeros(
        len(first.rows.docs), dtype=bool
    )  # documents without a scored row are left out
    for each in ordered:
        reached[each.rows.doc] = True
    totals = (each.totals() for each in ordered)
    documents = units = tuple(some if reached.all() else some[reached] for some in totals)
    if unit == "segment":
        units = tuple(each.stats * each.rows.weight[:, None] for each in ordered)
    observed = np.array([value[name] for name in names])
    return SystemTotals(tuple(names), units, documents, score, observed, first.higher_is_better)


def _square(values: FloatArray, size: int) -> FloatArray:
    table = np.full((size, size), np.nan)
    table[np.triu_indices(size, 1)] = values  # the order of itertools.combinations
    return np.where(np.isnan(table), table.T, table)


def _standings(
    ranked: SystemTotals, samples: FloatArray, p: FloatArray, how: Significance
) -> tuple[SystemResult, ...]:
    """Compare every system with the baseline; correct p-values over the comparisons made."""
    size, every = len(p), p[np.triu_indices(len(p), 1)]
    base = 0 if how.baseline is None else ranked.names.index(how.baseline)
    corrected, levels = _square(holm(every), size), _square(holm_levels(every, how.alpha), size)
    ranks, adjusted, level = cluster_ranks(corrected, how.alpha), corrected[base], levels[base]
    if how.baseline is not None:
        adjusted, level = holm(p[base]), holm_levels(p[base], how.alpha)
    standings = []
    for i, name in enumerate(ranked.names):
        score, delta = float(ranked.observed[i]), float(ranked.observed[i] - ranked.observed[base])
        verdict: Verdict = "baseline" if i == base else "open"
        if adjusted[i] <= how.alpha:  # NaN for the baseline
            verdict = "better" if (delta > 0) == ranked.higher_is_better else "worse"
        standings.append(
            SystemResult(
                name,
                score,
                interval(samples[i]),
                delta,
                interval(samples[i] - samples[base]),
                float(p[base, i]),
                float(adjusted[i]),
                ranks[i] if np.isfinite(score) else None,
                verdict,
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
    for i, base in enumerate(samples):
        table[i, i:] = bounds(samples[i:] - base)
        table[i:, i] = 0.0 - table[i, i:, ::-1]  # negated for the reversed pair, without -0
    return table


def _marked_in_cluster(metric: str, standings: Sequence[SystemResult]) -> list[str]:
    """Explain why a system differs from the baseline and yet is in its rank cluster."""
    base = next(standing for standing in standings if standing.verdict == "baseline")
    names = [
        standing.system
        for standing in standings
        if standing.verdict in ("better", "worse") and standing.rank == base.rank
    ]
    if not names:
        return []
    many = len(standings) - 1
    return [
        f"{metric}: {', '.join(names)} differ{'s' * (len(names) == 1)} from {base.system} and "
        f"{'are' if len(names) > 1 else 'is'} in its rank cluster #{base.rank}: marks are corrected for the {many} "
        f"comparisons with {base.system}, clusters for all {many * (many + 1) // 2} pairs"
    ]


def _unlike_rows(scores: Mapping[str, Scores], ranked: SystemTotals) -> list[str]:
    """Note systems whose undefined scores are on different rows: their averages differ in texts."""
    ordered = [scores[name] for name in ranked.names]
    first = ordered[0]
    if any(len(each.rows.doc) != len(first.rows.doc) for each in ordered):
        return []
    missing = np.array(
        [~np.asarray(each.stats).any(axis=1) for each in ordered]
    )  # (systems, rows): count for nothing
    lacking, common = missing.sum(axis=1), np.flatnonzero(~missing.any(axis=0))
    if (missing == missing[0]).all() or not len(common) or np.isnan(ranked.observed).any():
        return []
    totals = [(each.stats[common] * each.rows.weight[common, None]).sum(axis=0) for each in ordered]
    alike = [
        f"{name} {float(ranked.score(total)):.{first.places}f}"
        for name, total in zip(ranked.names, totals)
    ]
    which = [f"{name} {many:,}" for name, many in zip(ranked.names, lacking) if many]
    return [
        f"{first.metric}: systems lack scores on different rows ({', '.join(which)} of {missing.shape[1]:,}), so "
        f"their averages are over different texts; on the {len(common):,} rows that all have: {', '.join(alike)}"
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
    documents = len(ranked.documents[0])
    others = len(ranked.names) - 1
    few = few_documents(
        documents, how.alpha, others if how.baseline is not None else others * (others + 1) // 2
    )
    if few:
        warnings.append(few)
    needed, draws = _draws_needed(len(ranked.names), how.alpha), how.trials(len(ranked.names))
    if draws < needed:
        warnings.append(
            f"{draws} draws are too few for {len(ranked.names)} systems: no corrected p-value can "
            f"reach {how.alpha}; give at least {needed}"
        )
    if how.unit == "segment" and documents > 1:
        factor = standard_error(ranked.documents[0], ranked.score) / standard_error(
            ranked.units[0], ranked.score
        )
        warnings.append(
            f"{metric}: segments were resampled as if they were independent"
            + (
                f"; by document the standard error of {ranked.names[0]} is {factor:.2f} times as large"
                if np.isfinite(factor)
                else ""
            )
        )
    return warnings
