"""Score outputs, compare systems and write both to a run folder: the function behind `wholetext score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wholetext.errors import InputError, choices
from wholetext.io import Loaded
from wholetext.scoring.comparison import stored
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
    """Score all outputs with all metrics and compare the systems; ``compare_run`` returns the comparisons.

    With ``out`` everything is written to this run folder. What cannot work is refused before anything is scored.
    """
    how, systems = significance or Significance(), [output.system for output in loaded.outputs]
    if how.baseline is not None and how.baseline not in systems:
        raise InputError(
            f"there is no system {how.baseline!r} to compare with",
            next=choices(how.baseline, systems),
        )
    if not 0 < how.alpha < 1:
        raise InputError(f"alpha is {how.alpha}", next="give a level between 0 and 1, such as 0.05")
    if out is not None:
        refuse_unwritable(out, overwrite=overwrite)
    results = evaluate(loaded.corpus, loaded.outputs, metrics, options)
    progress = options.progress if options else None
    compared: list[Comparison] = []
    for scores in results.scores.values():
        if progress:
            progress(SIGNIFICANCE, len(compared), len(results.scores))
        compared.append(how.compare(scores))
    if progress:
        progress(SIGNIFICANCE, len(compared), len(compared))
    comparison = stored(how, compared)
    results = replace(
        results, warnings=(*loaded.warnings, *results.warnings), comparison=comparison
    )
    if out is not None:
        write_run(results, out, overwrite=overwrite)
    return results
