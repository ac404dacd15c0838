"""Many systems under one metric: intervals, differences to a baseline, corrected p-values, rank clusters, power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from wholetext.errors import MetricError, did_you_mean
from wholetext.significance.clusters import cluster_ranks
from wholetext.significance.lineup import Lineup, Unit, line_up
from wholetext.significance.multiple import holm, holm_levels
from wholetext.significance.power import Power, few_documents, power, standard_error
from wholetext.significance.resample import (
    RESAMPLES,
    SEED,
    TRIALS,
    Interval,
    bootstrap_p,
    bootstrap_scores,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray, Scores, Signature

Test = Literal["randomization", "bootstrap", "bootstrap-centred"]
Verdict = Literal["baseline", "better", "worse", "open"]


@dataclass(frozen=True)
class Significance:
    """How systems are compared: the arguments of ``compare``, as stored in a run folder."""

    test: Test = "randomization"
    unit: Unit = "doc"
    draws: int | None = None
    seed: int | None = SEED
    alpha: float = 0.05
    baseline: str | None = None

    def resamples(self, systems: int) -> int:
        """Corpora drawn for intervals, of a metric that this many systems are compared under."""
        return RESAMPLES if self.test == "randomization" else _draws(self.test, self.draws, systems, self.alpha)

    def compare(self, scores: Mapping[str, Scores], output: str | None = None) -> Comparison:
        """The systems of one metric compared in this way."""
        return compare(scores, self.baseline, test=self.test, unit=self.unit, draws=self.draws, seed=self.seed,
                       alpha=self.alpha, output=output)


@dataclass(frozen=True)
class SystemResult:
    """One system in a comparison. NaN = undefined; ``rank`` is None where the score is."""

    system: str
    score: float
    interval: Interval
    delta: float  # this score minus the baseline's, whichever direction is better
    delta_interval: Interval
    p: float  # against the baseline, uncorrected; NaN for the baseline itself
    p_holm: float  # corrected for every comparison that was made
    rank: int | None  # cluster: systems of one rank do not differ significantly
    verdict: Verdict  # "open": not significant on these documents
    power: Power | None  # at the level that the correction leaves; None for the baseline


@dataclass(frozen=True, eq=False)
class Comparison:
    """The outcome of ``compare``: systems best first, how they were tested, and what to be careful about."""

    metric: str
    output: str
    higher_is_better: bool
    baseline: str
    standings: tuple[SystemResult, ...]  # best first
    p: FloatArray  # (systems, systems) of every pair, uncorrected, in the order of ``standings``; NaN on the diagonal
    signature: Signature  # test, unit, draws, seed …
    warnings: tuple[str, ...]
    deltas: FloatArray  # (systems, systems, 2) [baseline, system] 95 % interval of the difference, in the same order
    decimals: int  # of a printed score
    main: bool = True  # whether ``output`` is the metric's score itself

    @property
    def label(self) -> str:
        """What heads its column: the metric, and the output where it is not the score itself."""
        return self.metric if self.main else f"{self.metric} {self.output}"

    def __getitem__(self, system: str) -> SystemResult:
        for standing in self.standings:
            if standing.system == system:
                return standing
        raise KeyError(system)


@dataclass(frozen=True)
class _Plan:
    """How to test: the arguments of ``compare`` after checking."""

    test: Test
    unit: Unit
    draws: int
    seed: int | None
    alpha: float

    @property
    def resamples(self) -> int:
        return RESAMPLES if self.test == "randomization" else self.draws

    def signature(self, units: int) -> Signature:
        return Signature({
            "test": self.test, "unit": self.unit, "units": units, "draws": self.draws, "resamples": self.resamples,
            "seed": "none" if self.seed is None else self.seed, "alpha": self.alpha, "correction": "holm",
        })


def compare(scores: Mapping[str, Scores], baseline: str | None = None, *, test: Test = "randomization",
            unit: Unit = "doc", draws: int | None = None, seed: int | None = SEED, alpha: float = 0.05,
            output: str | None = None) -> Comparison:
    """Compare systems scored by one metric on the same documents.

    Without a ``baseline`` the best system is it. ``draws`` are those of the test: 10,000 swaps, or 1,000 resamples, or
    as many as it takes for a corrected p-value to reach ``alpha`` where systems are very many. Intervals take 1,000
    resamples, or the test's own where it is a bootstrap. ``seed=None`` draws anew each time.
    p-values are Holm-corrected over the comparisons made: systems against a named baseline, or all pairs where the
    baseline is the best system, since choosing it looked at all of them. Rank clusters always use all pairs.
    """
    plan = _plan(test, unit, alpha, seed, _draws(test, draws, len(scores), alpha))
    lineup = line_up(scores, unit, output)
    base = _index(lineup.names, baseline)
    samples = bootstrap_scores(lineup.units, lineup.score, plan.resamples, seed)
    p = _all_pairs(lineup, samples, plan)
    corrected, levels = _over_pairs(holm, p), _over_pairs(lambda pairs: holm_levels(pairs, alpha), p)
    adjusted, level = corrected[base], levels[base]
    if baseline is not None:
        adjusted, level = holm(p[base]), holm_levels(p[base], alpha)
    tested = _Tested(p[base], adjusted, level, cluster_ranks(corrected, alpha))
    first = next(iter(scores.values()))
    standings = _standings(lineup, base, samples, tested, alpha)
    warnings = _warnings(first.metric, lineup, samples, plan, baseline is not None)
    return Comparison(
        metric=first.metric,
        output=output or first.outputs[0],
        higher_is_better=lineup.higher_is_better,
        baseline=lineup.names[base],
        standings=standings,
        p=p,
        signature=plan.signature(len(lineup.units[0])),
        warnings=(*warnings, *_marked_in_cluster(first.metric, standings)),
        deltas=interval_table(samples if len(lineup.units[0]) > 1 else samples[:, :0]),
        decimals=first.places,
        main=output is None or output == first.outputs[0],
    )


# ---------------------------------------------------------------- input


def _plan(test: Test, unit: Unit, alpha: float, seed: int | None, draws: int) -> _Plan:
    for name, value, known in (("test", test, get_args(Test)), ("unit", unit, get_args(Unit))):
        if value not in known:
            raise MetricError(f"unknown {name} {value!r}", next=f"{name} is one of {', '.join(known)}")
    if not 0 < alpha < 1:
        raise MetricError(f"alpha is {alpha}", next="give a level between 0 and 1, such as 0.05")
    return _Plan(test, unit, draws, seed, alpha)


def _draws(test: Test, draws: int | None, systems: int, alpha: float) -> int:
    """A p-value is at least 1 / (draws + 1), and correcting it for all pairs multiplies that."""
    usual = TRIALS if test == "randomization" else RESAMPLES
    return max(usual, _draws_needed(systems, alpha)) if draws is None else draws


def _draws_needed(systems: int, alpha: float) -> int:
    return math.ceil(systems * (systems - 1) / 2 / alpha) if 0 < alpha < 1 else 0


def _index(names: tuple[str, ...], baseline: str | None) -> int:
    if baseline is None:
        return 0
    if baseline not in names:
        near = did_you_mean(baseline, list(names)) or f"the systems are {', '.join(names)}"
        raise MetricError(f"there is no system {baseline!r} to compare with", next=near)
    return names.index(baseline)


# ---------------------------------------------------------------- tests


def _all_pairs(lineup: Lineup, samples: FloatArray, plan: _Plan) -> FloatArray:
    """(systems, systems) symmetric p-values, NaN on the diagonal."""
    pairs = list(combinations(range(len(lineup.names)), 2))
    if plan.test == "randomization":
        values = randomization_p(lineup.units, lineup.score, pairs, plan.draws, plan.seed)
    else:
        values = bootstrap_p(samples, lineup.observed, pairs, centred=plan.test == "bootstrap-centred")
    return _square(values, len(lineup.names))


def _over_pairs(correct: Callable[[FloatArray], FloatArray], p: FloatArray) -> FloatArray:
    """(systems, systems) a correction over every pair once."""
    return _square(correct(p[np.triu_indices(len(p), 1)]), len(p))


def _square(values: FloatArray, size: int) -> FloatArray:
    table = np.full((size, size), np.nan)
    table[np.triu_indices(size, 1)] = values  # the order of itertools.combinations
    return np.where(np.isnan(table), table.T, table)


# ---------------------------------------------------------------- outcome


@dataclass(frozen=True, eq=False)
class _Tested:
    """Per system, against the baseline."""

    p: FloatArray
    p_holm: FloatArray
    level: FloatArray  # the level that the correction left for this comparison
    rank: list[int]


def _standings(
    lineup: Lineup, base: int, samples: FloatArray, tested: _Tested, alpha: float
) -> tuple[SystemResult, ...]:
    standings = []
    drawn = len(lineup.units[0]) > 1  # one document drawn again and again says nothing about others
    for i, name in enumerate(lineup.names):
        delta = float(lineup.observed[i] - lineup.observed[base])
        p_holm = float(tested.p_holm[i])
        standings.append(SystemResult(
            system=name,
            score=float(lineup.observed[i]),
            interval=interval(samples[i] if drawn else samples[i, :0]),
            delta=delta,
            delta_interval=interval(samples[i] - samples[base] if drawn else samples[i, :0]),
            p=float(tested.p[i]),
            p_holm=p_holm,
            rank=tested.rank[i] if np.isfinite(lineup.observed[i]) else None,
            verdict="baseline" if i == base else _verdict(delta, p_holm, alpha, lineup.higher_is_better),
            power=None if i == base else _power(lineup, i, base, tested.level[i]),
        ))
    return tuple(standings)


def interval_table(samples: FloatArray) -> FloatArray:
    """(systems, systems, 2) [baseline, system] → interval of system minus baseline."""
    bounds = [[interval(other - base) for other in samples] for base in samples]
    return np.array([[(bound.low, bound.high) for bound in row] for row in bounds])


def _power(lineup: Lineup, i: int, base: int, level: float) -> Power:
    return power(lineup.documents[i], lineup.documents[base], lineup.score, float(level))


def _verdict(delta: float, p: float, alpha: float, higher_is_better: bool) -> Verdict:
    if not p <= alpha:  # NaN too
        return "open"
    return "better" if (delta > 0) == higher_is_better else "worse"


def _marked_in_cluster(metric: str, standings: Sequence[SystemResult]) -> list[str]:
    """Why a system can differ from the baseline and yet be in its rank cluster."""
    base = next(one for one in standings if one.verdict == "baseline")
    names = [one.system for one in standings if one.verdict in ("better", "worse") and one.rank == base.rank]
    if not names:
        return []
    many = len(standings) - 1
    return [f"{metric}: {', '.join(names)} differ{'s' * (len(names) == 1)} from {base.system} and "
            f"{'are' if len(names) > 1 else 'is'} in its rank cluster #{base.rank}: marks are corrected for the {many} "
            f"comparisons with {base.system}, clusters for all {many * (many + 1) // 2} pairs"]


def _warnings(metric: str, lineup: Lineup, samples: FloatArray, plan: _Plan, named: bool) -> tuple[str, ...]:
    warnings = [
        f"{metric}: {name} has no defined score and is not ranked"
        for name, value in zip(lineup.names, lineup.observed) if np.isnan(value)
    ]
    warnings += [
        f"{metric}: {undefined} of {samples.shape[1]} resampled scores of {name} are undefined and left out"
        for name, value, undefined in zip(lineup.names, lineup.observed, np.isnan(samples).sum(axis=1))
        if undefined and not np.isnan(value)
    ]
    documents = len(lineup.documents[0])
    others = len(lineup.names) - 1
    few = few_documents(documents, plan.alpha, others if named else others * (others + 1) // 2)
    if few:
        warnings.append(few)
    needed = _draws_needed(len(lineup.names), plan.alpha)
    if plan.draws < needed:
        warnings.append(f"{plan.draws} draws are too few for {len(lineup.names)} systems: no corrected p-value can "
                        f"reach {plan.alpha}; give at least {needed}")
    if plan.unit == "segment" and documents > 1:
        factor = standard_error(lineup.documents[0], lineup.score) / standard_error(lineup.units[0], lineup.score)
        warnings.append(
            f"{metric}: segments were resampled as if they were independent"
            + (f"; by document the standard error of {lineup.names[0]} is {factor:.2f} times as large"
               if np.isfinite(factor) else "")
        )
    return tuple(warnings)
