"""The finding of a run in one sentence, made from the verdicts of its comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from wholetext.errors import count, listed
from wholetext.notebook.display import printed, shortened
from wholetext.scoring.significance.compare import Comparison
from wholetext.scoring.significance.resample import attainable
from wholetext.scoring.significance.verdicts import BETTER, SAME, UNTESTED, WORSE

NAMED = 3  # systems that a clause names; of more it gives the number
COMMON = 5  # the same of those that lead on every metric
CLAUSES = 4  # of a sentence; further metrics are left to the table
Names = tuple[str, ...]


class _Statement(str):
    """A clause that does not begin with a name, whose case is kept."""


def finding(compared: Mapping[str, Comparison], baseline: str | None = None) -> str:
    """State who leads under which metrics, or how systems compare with a named baseline.

    Args:
        compared: the comparisons of a run by label of the metric.
        baseline: the system that others were compared with; None: the best of each metric.
    """
    if not compared:
        return ""
    first = next(iter(compared.values()))
    if len(first.standings) == 1:
        return _alone(compared)
    every = {label: _Metric(comparison) for label, comparison in compared.items()}
    tested = {label: metric for label, metric in every.items() if metric.tested}
    clauses = [
        *(_against(tested) if baseline else _leading(tested)),
        *_untested({label: metric for label, metric in every.items() if not metric.tested}),
        *(
            f"{_who(names)} {'has' if len(names) == 1 else 'have'} no score on {labels}"
            for (names,), labels in _grouped(every, lambda m: (m.undefined,)).items()
            if names
        ),
    ]
    if len(clauses) > CLAUSES:
        clauses[CLAUSES - 1 :] = ["for the other metrics see the table"]
    sentence = "; ".join(clauses)
    if baseline and tested:
        sentence = f"Compared with {_name(baseline)}, {sentence}"
    elif len(tested) > 1 and not set.intersection(*(set(m.leaders) for m in tested.values())):
        sentence = f"The metrics disagree: {sentence}"
    elif isinstance(clauses[0], _Statement):
        sentence = f"{sentence[0].upper()}{sentence[1:]}"
    if tested and not any(metric.better or metric.worse for metric in tested.values()):
        sentence += _too_few(first, baseline)
    return f"{sentence}."


class _Metric:
    """The systems of one comparison by verdict, best first."""

    def __init__(self, comparison: Comparison) -> None:
        self.systems = [s.system for s in comparison.standings]
        self.units = int(comparison.signature["units"])
        self.better, self.worse, self.same = (
            tuple(s.system for s in comparison.standings if s.verdict == verdict)
            for verdict in (BETTER, WORSE, SAME)
        )
        self.tested = bool(self.better or self.worse or self.same)
        self.leaders = (comparison.baseline, *self.same)  # none differs significantly from the best
        scores = [s.score for s in comparison.standings]
        self.best = tuple(s.system for s in comparison.standings if s.score == scores[0])
        self.undefined = tuple(s.system for s in comparison.standings if math.isnan(s.score))


def _grouped(
    metrics: Mapping[str, _Metric], key: Callable[[_Metric], tuple[Names, ...]]
) -> dict[tuple[Names, ...], str]:
    """Join the labels of metrics that have the same systems in the same roles."""
    groups: dict[tuple[Names, ...], list[str]] = {}
    order = next((metric.systems for metric in metrics.values()), [])
    for label, metric in metrics.items():
        roles = tuple(tuple(sorted(names, key=order.index)) for names in key(metric))
        groups.setdefault(roles, []).append(label)
    return {roles: listed(labels) for roles, labels in groups.items()}


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
                f"{listed([*map(_name, leaders)])} {lead} on {labels}, where {rest} significantly "
                "worse than the best"
            )
        else:
            few = f" ({listed([*map(_name, worse)])})" if len(worse) <= NAMED else ""
            numbers.append(f"{len(worse)} of {size}{few} on {labels}")
    if len(groups) > 1 and all(worse for _, worse in groups):
        clauses = [*_everywhere(metrics), *clauses]
    return [
        *clauses,
        *(
            [_Statement(f"significantly worse than the best are {listed(numbers)}")]
            if numbers
            else []
        ),
    ]


def _undecided(metrics: Sequence[_Metric], labels: str) -> str:
    """Say that no system is worse than the best."""
    systems = metrics[0].leaders
    if len(systems) == 2 == len(metrics[0].systems):
        return _Statement(f"{SAME} between {listed([*map(_name, sorted(systems))])} on {labels}")
    return _Statement(f"no system is significantly worse than the best on {labels}")


def _everywhere(metrics: Mapping[str, _Metric]) -> list[str]:
    """Name the systems that lead under all metrics, which have different leaders."""
    sets = [set(metric.leaders) for metric in metrics.values()]
    common = [name for name in next(iter(metrics.values())).leaders if all(name in s for s in sets)]
    named = any(len(s) <= NAMED and s == set(common) for s in sets)  # by a clause of its own
    if named or not 1 <= len(common) <= COMMON:
        return []
    lead = "leads" if len(common) == 1 else "lead"
    return [f"{listed([*map(_name, common)])} {lead} on every metric"]


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
        clauses.append(f"{listed(parts)} on {labels}")
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
    alone = next(iter(scored.values())).units < 2
    why = " (a test needs several documents)" if alone else ""
    return [_Statement(f"differences were {UNTESTED}{why}: {', '.join(best)}")]


def _alone(compared: Mapping[str, Comparison]) -> str:
    """State the scores of the only system."""
    scores, system = [], ""
    for label, comparison in compared.items():
        decimals, (standing,) = comparison.decimals, comparison.standings
        system = _name(standing.system)
        half = standing.interval.half_width
        spread = "" if math.isnan(half) else f" ± {printed(half, decimals)}"
        scores.append(f"{printed(standing.score, decimals)}{spread} on {label}")
    more = len(scores) - CLAUSES
    scores = [*scores[:CLAUSES], *([f"on {count(more, 'more metric')}"] if more > 0 else [])]
    return f"{system} scores {listed(scores)}; there is no other system to compare it with."


def _too_few(comparison: Comparison, baseline: str | None) -> str:
    """Say that no difference can be significant, where that is so."""
    test, systems = comparison.signature, len(comparison.standings)
    documents, comparisons = int(test["units"]), systems - 1 if baseline else math.comb(systems, 2)
    if test["unit"] != "doc" or attainable(documents, float(test["alpha"]), comparisons):
        return ""
    return f": with {count(documents, 'document')} no difference can be significant"


def _who(names: Sequence[str]) -> str:
    return listed([*map(_name, names)]) if len(names) <= NAMED else f"{len(names)} systems"


def _name(system: str) -> str:
    return shortened(" ".join(system.split()), 40)
