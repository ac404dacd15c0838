"""`wholetext score`, with its plan and its sweep, and `wholetext demo`."""

from __future__ import annotations

import math
import random
import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from wholetext import slices
from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import number, printable, progress_bar, warn
from wholetext.errors import InputError, WholetextError, count, known

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.scoring.plan import Plan
    from wholetext.scoring.sweep import Axes, Sweep

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
    decimals: options.Decimals = None,
    score_only: Annotated[
        bool,
        option(
            "-b",
            "--score-only",
            rare=True,
            help="Print scores only: a line per system in the given order, a column per metric.",
        ),
    ] = False,
    by_domain: options.ByDomain = False,
    baseline: options.Baseline = None,
    testing: options.Testing = options.Testing(),
    execution: options.Execution = options.Execution(),
    overflow: Annotated[
        Literal["warn", "error"],
        option(
            "--overflow",
            rare=True,
            help="What to do if text exceeds the model's maximum length.",
        ),
    ] = "warn",
    no_flags: Annotated[
        bool,
        option(
            "--no-flags",
            rare=True,
            help="Disable checks for suspicious input and degenerate output.",
        ),
    ] = False,
    controls: Annotated[
        str | None,
        option(
            "--controls",
            help="Score nonsense, too, outside ranks and tests: copy, empty, shuffled.",
        ),
    ] = None,
    signatures: options.Signatures = False,
    log: Annotated[
        list[str] | None,
        several("--log", rare=True, help="Also send the scores to a `TRACKER`: mlflow, wandb."),
    ] = None,
    plan: Annotated[
        bool,
        option("--plan", help="Instead, show what would be scored and its cost; runs no model."),
    ] = False,
    show: Annotated[
        int, option("--show", low=0, rare=True, help="With --plan: `ROWS` to print in full.")
    ] = 2,
    sweep: options.SweepGrid = None,
    dry_run: Annotated[
        Path | None,
        option(
            "--dry-run",
            rare=True,
            help="Write the calls of judges to `FILE` without making them.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Score systems on whole documents, with confidence intervals and significance tests.

    Examples:
        wholetext score -s src.txt -t a.txt b.txt -r ref.txt -d docids.txt -l de-en
        wholetext score corpus.jsonl -m chrf doc-comet -o run
        wholetext score corpus.jsonl -m judge-esa@gpt-4.1-mini --plan
        wholetext score corpus.jsonl -m chrf --sweep window=6
    """
    from wholetext.cli.leaderboard import render
    from wholetext.scoring.evaluate import default_metrics, score as score_systems
    from wholetext.scoring.plan import write_prompts

    significance = testing.significance(baseline)
    for name in log or ():
        slices.required("find-logger", "--log")(name)  # fail before scoring
    instead = {"--sweep": sweep is not None, "--plan": plan, "--dry-run": dry_run is not None}
    for mode in (mode for mode, is_requested in instead.items() if is_requested):
        untested = replace(testing, seed=None) if sweep else testing
        of_scoring = {
            "--out": out is not None and not sweep,
            "--align": aligning != options.Aligning(),
            "--score-only": score_only,
            "--by-domain": by_domain,
            "--baseline": baseline,
            "a significance test": untested != options.Testing(),
            "--overflow": overflow != "warn",
            "--no-flags": no_flags,
            "--controls": controls,
            "--log": log,
        }
        options.refuse_beside(mode, {**instead, mode: False, **of_scoring})
    loaded = options.load(files, chosen, bool(aligning.align or aligning.align_to))
    if sweep is not None:
        axes = _axes(sweep, options.seed_or_none(testing.seed or "0"))
        _sweep(loaded, metric or ["chrf"], axes, execution, out, overwrite, format, quiet)
        return
    metrics = metric or default_metrics(loaded.corpus, loaded.outputs)
    if not metric and not quiet:
        print(f"metrics: {', '.join(metrics)} (choose others with -m)", file=sys.stderr)
    if plan:
        _plan(loaded, metrics, show, execution, format)
        return
    if dry_run is not None:
        options.refuse_existing(dry_run, files, overwrite, "--dry-run FILE")
        calls = execution.options().calls
        total = write_prompts(loaded.corpus, loaded.outputs, metrics, dry_run, calls)
        print(f"written: {dry_run} ({count(total, 'call')}, none made)")
        return
    align = None
    if aligning.align or aligning.align_to:
        align = slices.required("align-options", "--align")(aligning.align_to or "auto")
    how = execution.options(
        overflow=overflow,
        flags=not no_flags,
        align=align,
        nulls=aligning.nulls,
        controls=tuple(filter(None, re.split(r"[,\s]+", controls or ""))),
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
    render(results, results.comparisons, shown, signatures, decimals, by_domain)
    if "judge_calls" in results.counts and not quiet:
        calls = how.calls or slices.required("calls", "judges")(counts=Counter(results.counts))
        print(calls.summary(), file=sys.stderr)
    for name in log or ():
        print(slices.required("log-run", "--log")(results, name, out), file=sys.stderr)
    if not quiet and (out is not None or shown == "table"):
        print("\n" * (shown == "table") + _next_step(results.systems, out), file=sys.stderr)


def _next_step(systems: Sequence[str], out: Path | None, reported: bool = False) -> str:
    """Name the run folder and the next commands, of which ``reported`` leaves out the report."""
    if out is None:
        return "next: add --out run to keep the scores, then `wholetext report run --open`"
    folder, baseline = (shlex.quote(printable(name)) for name in (str(out), systems[0]))
    compare = f"wholetext compare {folder} --baseline {baseline}" if len(systems) > 1 else ""
    steps = [compare, "" if reported else f"wholetext report {folder} --open"]
    lines = [f"run folder: {folder}", "next: " + "\n      ".join(filter(None, steps))]
    return "\n".join(lines[: 1 + any(steps)])


def _plan(
    loaded: Loaded, metrics: Sequence[str], show: int, execution: options.Execution, format: str
) -> None:
    """Show rows, inputs, truncation, calls and their cost, and texts, without running models."""
    from wholetext.scoring.plan import plan as planned

    known("format", format, ("table", "json"), where="--plan")
    warn(loaded.warnings)
    calls = execution.options().calls or slices.required("calls", "--plan")()
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


def _axes(settings: Sequence[str], seed: int | None) -> Axes:
    """The axes that ``--sweep`` names; without a seed, a random one."""
    from wholetext.files.parsing import integer
    from wholetext.scoring.sweep import HYP, SOURCE, Axes

    values = options.sweep_settings(settings)
    partial, *others = values.get("partial", ["drop"])
    if others:
        raise InputError("a sweep has one partial=", where="--sweep", next=f"leave out {others[0]}")
    lows = {"context": 0, "window": 1, "step": 1}
    sizes = {
        axis: [
            integer(
                size.removeprefix(f"{low}.."),
                low=low,
                where=f"--sweep {axis}=",
                next=f"write the largest size, such as {axis}=4",
            )
            for size in values.get(axis, ())
        ]
        for axis, low in lows.items()
    }
    return Axes(
        context=max(sizes["context"], default=None),
        hyp=tuple(values.get("hyp", HYP)),
        source=tuple(values.get("source", SOURCE)),
        window=max(sizes["window"], default=None),
        step=tuple(sizes["step"]),
        partial=cast(Any, partial),
        seed=random.randrange(2**31) if seed is None else seed,
    )


def _sweep(
    loaded: Loaded,
    metrics: Sequence[str],
    axes: Axes,
    execution: options.Execution,
    out: Path | None,
    overwrite: bool,
    format: str,
    quiet: bool,
) -> None:
    """Score over a grid of context or window sizes."""
    from wholetext.files.output_folder import check_folder
    from wholetext.scoring.results import RUN
    from wholetext.scoring.sweep import sweep as run, write_sweep

    known("format", format, ("table", "json", "tsv"), where="--sweep")
    metric, *others = metrics
    if others:
        raise InputError("a sweep takes one metric", where="--sweep", next=f"use -m {metric} alone")
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
    studies.finish(out, "grid.json", format)


def _show_grid(grid: Sweep, format: str) -> None:
    """Print the grid, one line per cell."""
    from wholetext.notes import without_kinds

    notes, systems = list(grid.results.warnings), grid.results.systems
    if format == "json":
        terminal.print_json({**grid.as_json(), "notes": notes})
        return
    notes = without_kinds(notes, "dropped", "cut", "context-cut")  # the grid has them
    settings = [[*map(str, cell.settings.values())] for cell in grid.cells]
    scores = [
        [cell.scores[name].score if cell.scores else math.nan for name in systems]
        for cell in grid.cells
    ]
    shares = dict(zip(_LOSSES, zip(*(cell.losses.values() for cell in grid.cells))))
    if format == "tsv":
        warn(notes)
        numbers = [
            map(repr, (*values, *lost)) for values, lost in zip(scores, zip(*shares.values()))
        ]
        rows = [[*cell, *values] for cell, values in zip(settings, numbers)]
        terminal.print_tsv([*grid.axes, *systems, *_LOSSES], rows)
        return
    losses = {title: lost for title, lost in shares.items() if any(lost)}  # no columns of zeros
    places = next((s.places for cell in grid.cells for s in cell.scores.values()), 4)
    rows = []
    for cell, values, *lost in zip(settings, scores, *losses.values()):
        percents = ["–" if math.isnan(share) else f"{100 * share:.1f} %" for share in lost]
        rows.append([*cell, *(number(value, places) for value in values), *percents])
    console, corpus = terminal.console(80), grid.results.corpus
    console.print(f"{grid.metric} {'↑' if grid.higher_is_better else '↓'}", style="bold")
    terminal.print_blocks([*grid.axes, *systems, *losses], rows, len(grid.axes), console)
    legend = "; ".join(f"{title}: {_LOSSES[title]}" for title in losses)
    legend = legend or "Every segment was scored, and nothing was cut"
    size = f"{count(len(corpus), 'document')}, {count(int(corpus.sizes.sum()), 'segment')}"
    console.print(f"\n{size}, {'-'.join(corpus.langs)}. {legend}.", style="dim")
    terminal.warn(notes, console)


def demo(
    *,
    pair: Annotated[
        Literal["de-en", "zh-en"],
        option("-l", "--langs", help="Language pair of the bundled corpus."),
    ] = "de-en",
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics to compute instead of the demo's")
    ] = None,
    out: Annotated[Path, option("-o", "--out", help="Output run `FOLDER`.")] = Path("demo-run"),
    overwrite: options.Overwrite = False,
) -> None:
    """Score the bundled documents with every kind of metric that is installed.

    Examples:
        wholetext demo
        wholetext demo -l zh-en -m chrf d-blonde -o zh-run
    """
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
    print(f"\n{_next_step(results.systems, out, reported=True)}")
    try:
        (page,) = report(out)
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
    except MissingExtra as fault:
        print(f"no report: {fault}")
