"""The finding of a run in one sentence, made from the verdicts of its comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from wholetext.errors import count
from wholetext.notebook.display import printed, shortened
from wholetext.scoring.significance.compare import Comparison
from wholetext.scoring.significance.resample import attainable
from wholetext.scoring.significance.verdicts import BETTER, SAME, UNTESTED, WORSE

NAMED = 3  # systems that a clause names; of more it gives the number
COMMON = 5  # the same of those that lead on every metric
CLAUSES = 4  # of a sentence; further metrics are left to the table
Names = tuple[str, ...]
# how sentences begin, other than with a name, which keeps its case
_OURS = ("no s", "significantly ", "the metrics disagree", "compared with ", "differences were ")


def finding(compared: Mapping[str, Comparison], baseline: str | None = None) -> str:
    """State who leads under which metrics, or how systems compare with a named baseline.

    Args:
        compared: the comparisons of a run by label of the metric.
        baseline: the system that others were compared with; None: the best of each metric.
    """
    if not compared:
        return ""
    metrics = [_Metric(comparison, baseline) for comparison in compared.values()]
    every = dict(zip(compared, metrics))
    if len(metrics[0].comparison.standings) == 1:
        return _alone(every)
    tested = {label: metric for label, metric in every.items() if metric.tested}
    clauses = [
        *(_against(tested) if baseline else _leading(tested)),
        *_untested({label: metric for label, metric in every.items() if not metric.tested}),
        *_without_score(every),
    ]
    if len(clauses) > CLAUSES:
        clauses[CLAUSES - 1 :] = ["for the other metrics see the table"]
    sentence = "; ".join(clauses)
    if baseline:
        sentence = f"compared with {_name(baseline)}, {sentence}" if tested else sentence
    elif len(tested) > 1 and not set.intersection(*(set(m.leaders) for m in tested.values())):
        sentence = f"the metrics disagree: {sentence}"
    if tested and not any(metric.better or metric.worse for metric in tested.values()):
        sentence += _too_few(metrics[0].comparison, baseline)
    first = sentence[0].upper() if sentence.startswith(_OURS) else sentence[0]
    return f"{first}{sentence[1:]}."


@dataclass(frozen=True)
class _Metric:
    """The systems of one comparison by verdict, best first."""

    comparison: Comparison
    baseline: str | None

    def _with(self, verdict: str) -> Names:
        return tuple(s.system for s in self.comparison.standings if s.verdict == verdict)

    @property
    def better(self) -> Names:
        return self._with(BETTER)

    @property
    def worse(self) -> Names:
        return self._with(WORSE)

    @property
    def same(self) -> Names:
        return self._with(SAME)

    @property
    def tested(self) -> bool:
        return bool(self.better or self.worse or self.same)

    @property
    def leaders(self) -> Names:
        """The best system, and those that do not differ significantly from it."""
        return (self.comparison.baseline, *self.same)

    @property
    def best(self) -> Names:
        """Systems with the best score, however small the difference to others."""
        defined = [s for s in self.comparison.standings if not math.isnan(s.score)]
        return tuple(s.system for s in defined if s.score == defined[0].score)


def _grouped(
    metrics: Mapping[str, _Metric], key: Callable[[_Metric], tuple[Names, ...]]
) -> dict[tuple[Names, ...], str]:
    """Join the labels of metrics that have the same systems in the same roles."""
    groups: dict[tuple[Names, ...], list[str]] = {}
    first = next(iter(metrics.values()), None)
    order = [s.system for s in first.comparison.standings] if first else []
    for label, metric in metrics.items():
        roles = tuple(tuple(sorted(names, key=order.index)) for names in key(metric))
        groups.setdefault(roles, []).append(label)
    return {roles: _and(labels) for roles, labels in groups.items()}


def _leading(metrics: Mapping[str, _Metric]) -> list[str]:
    """Say of every metric who leads: nobody does where none is worse than the best."""
    groups = _grouped(metrics, lambda m: (m.leaders if m.worse else (), m.worse))
    clauses, numbers = list[str](), list[str]()
    for (leaders, worse), labels in groups.items():
        size = len(leaders) + len(worse)
        if not worse:
            clauses.append(_undecided([m for m in metrics.values() if not m.worse], labels))
        elif size == 2:
            clauses.append(
                f"{_name(leaders[0])} is significantly better than {_name(worse[0])} on {labels}"
            )
        elif len(leaders) <= NAMED:
            rest = f"the other {len(worse)} are" if len(worse) > 1 else f"{_name(worse[0])} is"
            lead = "leads" if len(leaders) == 1 else "lead"
            clauses.append(
                f"{_and(map(_name, leaders))} {lead} on {labels}, where {rest} significantly "
                "worse than the best"
            )
        else:
            few = f" ({_and(map(_name, worse))})" if len(worse) <= NAMED else ""
            numbers.append(f"{len(worse)} of {size}{few} on {labels}")
    if len(groups) > 1 and all(worse for _, worse in groups):
        clauses = [*_everywhere(metrics), *clauses]
    return [
        *clauses,
        *([f"significantly worse than the best are {_and(numbers)}"] if numbers else []),
    ]


def _undecided(metrics: Sequence[_Metric], labels: str) -> str:
    """Say that no system is worse than the best."""
    systems = metrics[0].leaders
    if len(systems) == 2 == len(metrics[0].comparison.standings):
        return f"{SAME} between {_and(map(_name, sorted(systems)))} on {labels}"
    return f"no system is significantly worse than the best on {labels}"


def _everywhere(metrics: Mapping[str, _Metric]) -> list[str]:
    """Name the systems that lead under all metrics, which have different leaders."""
    sets = [set(metric.leaders) for metric in metrics.values()]
    common = [name for name in next(iter(metrics.values())).leaders if all(name in s for s in sets)]
    named = any(len(s) <= NAMED and s == set(common) for s in sets)  # by a clause of its own
    if named or not 1 <= len(common) <= COMMON:
        return []
    lead = "leads" if len(common) == 1 else "lead"
    return [f"{_and(map(_name, common))} {lead} on every metric"]


def _against(metrics: Mapping[str, _Metric]) -> list[str]:
    """Say of every metric which systems are better and worse than the named baseline."""
    clauses = []
    for (better, worse, same), labels in _grouped(
        metrics, lambda m: (m.better, m.worse, m.same)
    ).items():
        parts = [
            f"{_who(names)} {'is' if len(names) == 1 else 'are'} significantly {verdict}"
            for names, verdict in ((better, BETTER), (worse, WORSE))
            if names
        ]
        if same:
            parts.append(f"{_who(same)} {'shows' if len(same) == 1 else 'show'} {SAME}")
        clauses.append(f"{_and(parts)} on {labels}")
    return clauses


def _untested(metrics: Mapping[str, _Metric]) -> list[str]:
    """Say who scores best under metrics whose differences were not tested."""
    scored = {label: metric for label, metric in metrics.items() if metric.best}
    if not scored:
        return []
    best = [
        f"{_who(names)} {'scores' if len(names) == 1 else 'score'} best on {labels}"
        for (names,), labels in _grouped(scored, lambda m: (m.best,)).items()
    ]
    units = int(next(iter(scored.values())).comparison.signature["units"])
    why = " (a test needs several documents)" if units < 2 else ""
    return [f"differences were {UNTESTED}{why}: {', '.join(best)}"]


def _without_score(metrics: Mapping[str, _Metric]) -> list[str]:
    groups = _grouped(
        metrics,
        lambda m: (tuple(s.system for s in m.comparison.standings if math.isnan(s.score)),),
    )
    return [
        f"{_who(names)} {'has' if len(names) == 1 else 'have'} no score on {labels}"
        for (names,), labels in groups.items()
        if names
    ]


def _alone(metrics: Mapping[str, _Metric]) -> str:
    """State the scores of the only system."""
    scores = []
    for label, metric in metrics.items():
        decimals, (standing,) = metric.comparison.decimals, metric.comparison.standings
        half = standing.interval.half_width
        spread = "" if math.isnan(half) else f" ± {printed(half, decimals)}"
        scores.append(f"{printed(standing.score, decimals)}{spread} on {label}")
    more = len(scores) - CLAUSES
    scores = [*scores[:CLAUSES], *([f"on {count(more, 'more metric')}"] if more > 0 else [])]
    system = _name(next(iter(metrics.values())).comparison.baseline)
    return f"{system} scores {_and(scores)}; there is no other system to compare it with."


def _too_few(comparison: Comparison, baseline: str | None) -> str:
    """Say that no difference can be significant, where that is so."""
    test, systems = comparison.signature, len(comparison.standings)
    documents, comparisons = int(test["units"]), systems - 1 if baseline else math.comb(systems, 2)
    if test["unit"] != "doc" or attainable(documents, float(test["alpha"]), comparisons):
        return ""
    return f": with {count(documents, 'document')} no difference can be significant"


def _who(names: Sequence[str]) -> str:
    return _and(map(_name, names)) if len(names) <= NAMED else f"{len(names)} systems"


def _name(system: str) -> str:
    return shortened(" ".join(system.split()), 40)


def _and(texts: Iterable[str]) -> str:
    """Enumerate: a, b and c."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last
