"""`wholetext score`, `plan`, `sweep` and `demo`: commands that read texts."""

from __future__ import annotations

import math
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from wholetext import slices
from wholetext.cli import options, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import number, printable, progress_bar, warn
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.scoring.plan import Plan
    from wholetext.scoring.sweep import Sweep

_LOSSES = {
    "dropped": "segments not scored",
    "context cut": "rows that lost context to the model's limit",
    "text cut": "rows that lost scored text to it",
}  # columns of a sweep


def score(
    files: options.Files = options.Files(),
    *,
    metric: options.Metrics = None,
    chosen: options.Chosen = options.Chosen(),
    aligning: options.Aligning = options.Aligning(),
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    format: options.FormatOfScores = "table",
    width: options.Decimals = None,
    score_only: Annotated[
        bool,
        option(
            "-b",
            "--score-only",
            help="Print scores only: a line per system in the given order, a column per metric.",
        ),
    ] = False,
    by_domain: options.ByDomain = False,
    baseline: options.Baseline = None,
    testing: options.Testing = options.Testing(),
    execution: options.Execution = options.Execution(),
    overflow: Annotated[
        Literal["warn", "error"],
        option("--overflow", help="What to do if text exceeds the model's maximum length."),
    ] = "warn",
    no_flags: Annotated[
        bool,
        option("--no-flags", help="Disable checks for suspicious input and degenerate output."),
    ] = False,
    signatures: options.Signatures = False,
    log: Annotated[
        list[str] | None,
        several("--log", help="Also send the scores to an experiment tracker: mlflow."),
    ] = None,
    dry_run: Annotated[
        Path | None,
        option(
            "--dry-run",
            help="Write the calls of judges to FILE without making them.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Score systems on whole documents, with confidence intervals and significance tests."""
    from wholetext.cli.leaderboard import render
    from wholetext.errors import WholetextError
    from wholetext.scoring.evaluate import score as score_systems
    from wholetext.scoring.plan import write_prompts

    significance = testing.significance(baseline)
    for name in log or ():
        slices.required("find-logger", "--log")(name)  # fail before scoring
    loaded = options.load(files, chosen)
    metrics = metric or _defaults(loaded, quiet)
    if dry_run is not None:
        options.refuse_existing(dry_run, files, overwrite, "--dry-run FILE")
        calls = execution.options().calls
        number_of_calls = write_prompts(loaded.corpus, loaded.outputs, metrics, dry_run, calls)
        print(f"written: {dry_run} ({count(number_of_calls, 'call')}, none made)")
        return
    align = None
    if aligning.align or aligning.align_to:
        align = slices.required("align-options", "--align")(aligning.align_to or "auto")
    how = execution.options(
        overflow=overflow, flags=not no_flags, align=align, nulls=aligning.nulls
    )
    try:
        with progress_bar(quiet) as progress:
            results = score_systems(
                loaded,
                metrics,
                options=replace(how, progress=progress),
                significance=significance,
                out=out,
                overwrite=overwrite,
            )
    except WholetextError:
        warn(loaded.warnings)  # they may tell the cause
        raise
    shown = "scores" if score_only else format
    render(results, results.comparisons, shown, signatures, width, by_domain)
    if "judge_calls" in results.counts and not quiet:
        calls = how.calls or slices.required("calls", "judges")(counts=Counter(results.counts))
        print(calls.summary(), file=sys.stderr)
    for name in log or ():
        print(slices.required("log-run", "--log")(results, name, out), file=sys.stderr)
    if not quiet and (out is not None or shown == "table"):
        print("\n" * (shown == "table") + _next_step(results.systems, out), file=sys.stderr)


def _defaults(loaded: Loaded, quiet: bool) -> list[str]:
    """Choose the metrics of a corpus if none are named, and print them."""
    from wholetext.scoring.evaluate import default_metrics

    metrics = default_metrics(loaded.corpus, loaded.outputs)
    if not quiet:
        print(f"metrics: {', '.join(metrics)} (choose others with -m)", file=sys.stderr)
    return metrics


def _next_step(systems: Sequence[str], out: Path | None) -> str:
    """Name the run folder and the next commands."""
    if out is None:
        return "next: add --out run to keep the scores, then `wholetext report run`"
    folder, baseline = (shlex.quote(printable(name)) for name in (str(out), systems[0]))
    compare = (
        f"wholetext compare {folder} --baseline {baseline}\n      " if len(systems) > 1 else ""
    )
    return f"run folder: {folder}\nnext: {compare}wholetext report {folder}"


def plan(
    files: options.Files = options.Files(),
    *,
    metric: options.Metrics = None,
    chosen: options.Chosen = options.Chosen(),
    show: Annotated[int, option("--show", low=0, help="Number of rows to print in full.")] = 2,
    endpoint: options.Endpoint = "",
    prices: options.Prices = "",
    format: options.TableOrJson = "table",
) -> None:
    """Show what would be scored, without running models.

    Shows rows, inputs, truncation, calls and their cost, and texts.
    """
    from wholetext.scoring.plan import plan as planned

    loaded = options.load(files, chosen)
    warn(loaded.warnings)
    metrics = metric or _defaults(loaded, quiet=False)
    calls = slices.required("calls", "plan")(endpoint, prices=prices)
    plans = [
        planned(loaded.corpus, loaded.outputs, text, show=show, calls=calls) for text in metrics
    ]
    if format == "json":
        terminal.print_json([plan.as_json() for plan in plans])
        return
    for plan in plans:
        _print_plan(plan)


def _print_plan(plan: Plan) -> None:
    print(plan.spec)
    coverage = "every segment is scored"
    if plan.dropped:
        coverage = f"{plan.dropped} of {count(plan.segments, 'segment')} not scored"
    rows = f"{count(plan.rows, 'row')} of {count(plan.systems, 'system')}"
    print(f"  {rows}, {count(plan.distinct, 'distinct request')}, {coverage}")
    if plan.tokens is not None:
        losses = f"{count(plan.lost_context, 'row')} would lose context, {plan.lost_focus}"
        print(f"  {count(plan.tokens, 'token')}; {losses} scored text")
    if plan.calls is not None:
        print(f"  {plan.calls}")
    for row in plan.shown:
        segments = f"{row.start + 1}–{row.stop}" if row.stop > row.start + 1 else row.stop
        legend = "" if plan.calls else "  (« » marks what is scored)"
        print(f"  {printable(row.doc)} {segments}, {printable(row.system)}{legend}")
        for side, text in row.sides:
            lines = text.split("\n") if plan.calls else [text]  # a prompt has lines
            for at, line in enumerate(lines):
                print(f"    {'' if at else side:<6} {printable(line)}")


def sweep(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        str,
        option(
            "-m",
            "--metric",
            help="Metric; the sweep replaces its view.",
        ),
    ] = "chrf",
    context: Annotated[
        int | None,
        option(
            "--context", low=0, help="Maximum context size in segments; sizes 0 … N are scored."
        ),
    ] = None,
    hyp: Annotated[
        list[str] | None,
        several("--hyp", help="Context of the output: ref, own (default: both)."),
    ] = None,
    source: Annotated[
        list[str] | None,
        several(
            "--source",
            help="Origin of the context: same, or the controls shuffled, other (default: all).",
        ),
    ] = None,
    window: Annotated[
        int | None,
        option("--window", low=1, help="Maximum window size in segments; sizes 1 … N are scored."),
    ] = None,
    step: Annotated[
        list[int] | None,
        several("--step", low=1, help="Stride of the windows (default: all)."),
    ] = None,
    partial: Annotated[
        Literal["drop", "include", "weighted"],
        option("--partial", help="How to treat incomplete windows."),
    ] = "drop",
    seed: Annotated[
        int,
        option(
            "--seed",
            low=0,
            high=2**63 - 1,
            help="Random seed of the shuffled and other-document controls.",
        ),
    ] = 0,
    chosen: options.Chosen = options.Chosen(),
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output run folder; the grid is written to grid.json."),
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableJsonTsv = "table",
    execution: options.Execution = options.Execution(),
    quiet: options.Quiet = False,
) -> None:
    """Score systems over a grid of context sizes (--context) or window sizes (--window)."""
    from wholetext.files.output_folder import check_folder
    from wholetext.scoring.results import RUN
    from wholetext.scoring.sweep import HYP, SOURCE, Axes, sweep as run, write_sweep

    loaded = options.load(files, chosen)
    axes = Axes(
        context=context,
        hyp=tuple(hyp or HYP),
        source=tuple(source or SOURCE),
        window=window,
        step=tuple(step or ()),
        partial=partial,
        seed=seed,
    )
    if out is not None:
        check_folder(out, RUN, overwrite=overwrite)  # fail before scoring
    with progress_bar(quiet) as progress:
        how = execution.options(progress=progress)
        grid = run(loaded.corpus, loaded.outputs, metric, axes, how)
    notes = (*loaded.warnings, *grid.results.warnings)
    grid = replace(grid, results=replace(grid.results, warnings=notes))
    if out is not None:
        write_sweep(grid, out, overwrite=overwrite)
    _show_grid(grid, format)


def _show_grid(grid: Sweep, format: Literal["table", "json", "tsv"]) -> None:
    """Print the grid, one line per cell."""
    from wholetext.notes import without_kinds

    notes, systems = list(grid.results.warnings), grid.results.systems
    if format == "json":
        terminal.print_json({**grid.as_json(), "notes": notes})
        return
    notes = without_kinds(notes, "dropped", "cut", "context-cut")  # the grid has them
    shares = [(cell.dropped, cell.lost_context, cell.lost_focus) for cell in grid.cells]
    scores = [
        [cell.scores[name].score if cell.scores else math.nan for name in systems]
        for cell in grid.cells
    ]
    if format == "tsv":
        warn(notes)
        print(terminal.tsv_row([*grid.axes, *systems, *_LOSSES]))
        for cell, values, lost in zip(grid.cells, scores, shares):
            numbers = [repr(value) for value in (*values, *lost)]
            print(terminal.tsv_row([*cell.settings.values(), *numbers]))
        return
    corpus, titles = grid.results.corpus, list(_LOSSES)
    places = next((s.places for cell in grid.cells for s in cell.scores.values()), 4)
    losses = [i for i in range(3) if any(lost[i] != 0 for lost in shares)]  # no columns of zeros
    rows = []
    for cell, values, lost in zip(grid.cells, scores, shares):
        percents = ["–" if math.isnan(lost[i]) else f"{100 * lost[i]:.1f} %" for i in losses]
        printed = [number(value, places) for value in values]
        rows.append([*map(str, cell.settings.values()), *printed, *percents])
    console = terminal.console(80)
    console.print(f"{grid.metric} {'↑' if grid.higher_is_better else '↓'}", style="bold")
    head = [*grid.axes, *systems, *(titles[i] for i in losses)]
    terminal.print_blocks(head, rows, len(grid.axes), console)
    legend = "; ".join(f"{titles[i]}: {_LOSSES[titles[i]]}" for i in losses)
    legend = legend or "Every segment was scored, and nothing was cut"
    size = f"{count(len(corpus), 'document')}, {count(int(corpus.sizes.sum()), 'segment')}"
    console.print(f"\n{size}, {'-'.join(corpus.langs)}. {legend}.", style="dim")
    terminal.notes(notes, console)


def demo(
    *,
    pair: Annotated[
        Literal["de-en", "zh-en"],
        option("-l", "--langs", help="Language pair of the bundled corpus."),
    ] = "de-en",
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics to compute instead of the demo's")
    ] = None,
    out: Annotated[Path, option("-o", "--out", help="Output run folder.")] = Path("demo-run"),
    overwrite: options.Overwrite = False,
) -> None:
    """Score the bundled documents with every kind of metric that is installed."""
    from wholetext.cli.leaderboard import render
    from wholetext.demo import load
    from wholetext.errors import MissingExtra, RunError
    from wholetext.io import Loaded
    from wholetext.reporting.page import report
    from wholetext.scoring.evaluate import Options, demo_metrics, score as score_systems
    from wholetext.scoring.results import open_run
    from wholetext.scoring.significance.compare import Significance

    corpus, outputs = load(pair)
    size = f"{count(len(corpus), 'document')}, {count(len(outputs), 'system')}"
    print(f"wholetext score {corpus.id} ({size})\n")
    with suppress(RunError):  # a run of a demo is replaced without asking
        overwrite = overwrite or open_run(out).corpus.id.startswith("demo-")
    with progress_bar(quiet=False) as progress:
        results = score_systems(
            Loaded(corpus, outputs),
            metric or demo_metrics(),
            options=Options(progress=progress),
            significance=Significance(),
            out=out,
            overwrite=overwrite,
        )
    render(results, results.comparisons, "table")
    print(f"\n{_next_step(results.systems, out)}")
    try:
        (page,) = report(out)
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
    except MissingExtra as fault:
        print(f"no report: {fault}")
