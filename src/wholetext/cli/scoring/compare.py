"""`wholetext compare RUN`: significance from a run folder, without scoring anything again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from wholetext.cli import options as inputs
from wholetext.cli.scoring import score as options


def compare(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(help="Run folder written by `wholetext score --out`.")],
    baseline: options.Baseline = None,
    metric: Annotated[
        list[str] | None, typer.Option("-m", "--metric", help="Restrict to these metrics of the run (repeatable).")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", help="Output of the metric to compare, e.g. recall (default: the score).")
    ] = None,
    format: options.Format = "table",
    json_: inputs.Json = False,
    resample: options.Resample = "documents",
    test: options.Test = "randomization",
    draws: options.Draws = None,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    signatures: options.Signatures = False,
) -> None:
    """Compare the systems of a run: differences, confidence intervals, p-values, clusters, power.

    Uses the stored comparison of the run; it is computed again only if an option asks for another.
    """
    from wholetext.cli.tables.leaderboard import pairs, render
    from wholetext.errors import RunError, did_you_mean
    from wholetext.registry import scorer
    from wholetext.scoring.evaluate import open_run
    from wholetext.significance.compare import Significance
    from wholetext.significance.stored import compared, restored

    results = open_run(run)
    shown = "json" if json_ else format
    chosen = [scorer(text).spec for text in metric] if metric else list(results.scores)
    for spec in chosen:
        if spec not in results.scores:
            raise RunError(f"the run has no metric {spec!r}", where=str(run),
                           next=did_you_mean(spec, list(results.scores)) or f"it has {', '.join(results.scores)}")
    results = replace(results, scores={spec: results.scores[spec] for spec in chosen})
    kept = restored(results)
    given = Significance(test, options.UNITS[resample], draws, seed, alpha, baseline)
    how = options.chosen(context, kept and kept[0], given)
    if output is None:
        found = compared(results, how)[1]
        comparisons = [found[spec] for spec in chosen]
    else:
        how = how or (kept[0] if kept else given)
        comparisons = [how.compare(results.scores[spec], output) for spec in chosen]
    render(results, comparisons, shown, signatures)
    if shown == "table":
        pairs(comparisons)
