"""Score outputs, compare systems, write a run folder: the function behind `wholetext score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wholetext.errors import InputError, choices
from wholetext.io import Loaded
from wholetext.scoring.evaluate import SIGNIFICANCE, Options, evaluate
from wholetext.scoring.results import Results, refuse_unwritable, write_run
from wholetext.scoring.significance.compare import Comparison, Significance


def make_run(
    loaded: Loaded,
    metrics: Sequence[str] | str,
    options: Options | None = None,
    significance: Significance | None = None,
    *,
    out: Path | str | None = None,
    overwrite: bool = False,
) -> Results:
    """Score all outputs with all metrics and compare the systems (``Results.comparisons``).

    With ``out`` everything is written to this run folder. Mistakes are refused before scoring.
    """
    significance = significance or Significance()
    systems, baseline = [output.system for output in loaded.outputs], significance.baseline
    if baseline is not None and baseline not in systems:
        raise InputError(
            f"there is no system {baseline!r} to compare with", next=choices(baseline, systems)
        )
    if out is not None:
        refuse_unwritable(out, overwrite=overwrite)
    results = evaluate(loaded.corpus, loaded.outputs, metrics, options)
    progress = options.progress if options else None
    comparisons: dict[str, Comparison] = {}
    for spec, scores in results.scores.items():
        if progress:
            progress(SIGNIFICANCE, len(comparisons), len(results.scores))
        comparisons[spec] = significance.compare(scores)
    if progress:
        progress(SIGNIFICANCE, len(comparisons), len(comparisons))
    results = replace(
        results,
        warnings=(*loaded.warnings, *results.warnings),
        significance=significance,
        comparisons=comparisons,
    )
    if out is not None:
        write_run(results, out, overwrite=overwrite)
    return results
