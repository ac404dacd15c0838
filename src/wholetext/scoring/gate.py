"""A gate for pipelines: a run passes unless a system scores significantly below the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from wholetext.errors import InputError, MetricError, count, known
from wholetext.files.parsing import printable
from wholetext.notebook.display import brief
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison, Significance, SystemResult
from wholetext.scoring.significance.resample import holm
from wholetext.scoring.significance.verdicts import UNTESTED


@dataclass(frozen=True)
class GateCheck:
    """One system under one metric against the baseline."""

    metric: str
    system: str
    score: float
    baseline_score: float
    drop: float  # how much worse than the baseline, whichever direction is better; negative: it is better
    p: float  # of the paired test, Holm-corrected over all checks of the gate
    detectable: float  # the smallest true difference that these documents would probably show
    passed: bool
    reason: str  # one line


@dataclass(frozen=True)
class GateResult:
    """The outcome of ``gate``: it passed if every check did."""

    baseline: str
    max_drop: float
    alpha: float
    checks: tuple[GateCheck, ...]
    notes: tuple[str, ...]  # of the run and its tests
    __repr__ = brief

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Plain values; undefined numbers are null."""
        return plain({"passed": self.passed, **asdict(self)})  # type: ignore[no-any-return]

    def junit(self) -> str:
        """JUnit XML, as CI servers read it: a test case for each check, the notes as its output."""
        attributes = {
            "name": "wholetext gate",
            "tests": str(len(self.checks)),
            "failures": str(sum(not check.passed for check in self.checks)),
            "errors": "0",
        }
        suites = ElementTree.Element("testsuites")
        suite = ElementTree.SubElement(suites, "testsuite", attributes)
        for check in self.checks:
            name = printable(f"{check.system} against {self.baseline}")
            names = {"classname": printable(check.metric), "name": name}
            case, reason = ElementTree.SubElement(suite, "testcase", names), printable(check.reason)
            if not check.passed:
                ElementTree.SubElement(case, "failure", message=reason, type="drop").text = reason
        notes = printable("\n".join(self.notes), keep="\n")
        ElementTree.SubElement(suite, "system-out").text = notes
        ElementTree.indent(suites)
        return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(suites, encoding='unicode')}\n"


def gate(
    run: Results | Path | str,
    baseline: str,
    *,
    metrics: Sequence[str] = (),
    systems: Sequence[str] = (),
    max_drop: float = 0.0,
    significance: Significance | None = None,
) -> GateResult:
    """Check that no system scores significantly below ``baseline``.

    A check fails if the system is worse than the baseline by more than ``max_drop`` (on the
    metric's own scale) and the paired test finds the difference at its ``alpha``, Holm-corrected
    over all checks. By default every metric and every other system of the run is checked, tested as
    the run was.
    """
    results = run if isinstance(run, Results) else open_run(run)
    if not (isinstance(max_drop, (int, float)) and 0 <= max_drop < math.inf):
        raise InputError(
            f"max_drop must not be negative; got {max_drop!r}", next="a drop is a positive number"
        )
    others = list(systems) or [name for name in results.systems if name != baseline]
    for name in (baseline, *others):
        known("system", name, results.systems, where=results.corpus.id)
    if baseline in others or not others:
        raise InputError(
            "there is no system to compare with the baseline",
            where=results.corpus.id,
            next="score the new system and the baseline in one run",
        )
    how = replace(significance or results.significance or Significance(), baseline=baseline)
    compared = [
        how.compare({name: results[spec][name] for name in (baseline, *others)})
        for spec in metrics or results.scores
    ]
    pairs = [(comparison, comparison[name]) for comparison in compared for name in others]
    corrected = holm(np.array([standing.p for _, standing in pairs]))
    checks = tuple(
        _check(*pair, float(p), max_drop, how.alpha) for pair, p in zip(pairs, corrected)
    )
    notes = [
        *results.notes,
        *(note for comparison in compared for note in comparison.warnings),
    ]
    return GateResult(baseline, float(max_drop), how.alpha, checks, tuple(dict.fromkeys(notes)))


def _check(
    compared: Comparison, standing: SystemResult, p: float, max_drop: float, alpha: float
) -> GateCheck:
    base = compared[compared.baseline]
    for result in (base, standing):
        if math.isnan(result.score):
            raise MetricError(
                f"{compared.metric} has no defined score for {result.system}, so nothing can be decided",
                next="choose another metric, or look at the notes of the run",
            )
    drop = -standing.delta if compared.higher_is_better else standing.delta
    significant = p <= alpha  # False for NaN: a test without an outcome shows no drop
    places = compared.decimals
    numbers = f"{standing.score:.{places}f} against {base.score:.{places}f}"
    detectable = standing.power.detectable if standing.power else math.nan
    if drop <= 0:
        why = f"not worse than {compared.baseline}"
    else:
        outcome = f"{'' if significant else 'not '}significant (p {p:.4f})"
        outcome = UNTESTED if math.isnan(p) else outcome
        why = f"{drop:.{places}f} worse than {compared.baseline}, {outcome}"
        if significant and max_drop:
            why += f", {'more' if drop > max_drop else 'not more'} than the {max_drop:g} allowed"
        elif standing.power and not math.isnan(detectable):
            documents = count(standing.power.documents, "document")
            why += f"; on {documents} a drop of {detectable:.{places}f} would be detected"
    passed = not (significant and drop > max_drop)
    return GateCheck(
        compared.metric,
        standing.system,
        standing.score,
        base.score,
        drop,
        p,
        detectable,
        passed,
        f"{'passed' if passed else 'failed'}: {compared.metric} of {standing.system} is {why} ({numbers})",
    )
