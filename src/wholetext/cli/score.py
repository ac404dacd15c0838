"""Verbs that take texts: `wholetext score`, `plan`, `sweep` and `demo`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext import slices
from wholetext.cli import options, terminal
from wholetext.cli.completion import complete_metrics, complete_models
from wholetext.cli.spelling import with_model
from wholetext.cli.terminal import number, printable, progress_bar, warn
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.io import Loaded
    from wholetext.scoring.plan import Plan
    from wholetext.scoring.sweep import Sweep


def score(
    *,
    files: options.Files,
    metric: options.Metrics = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            autocompletion=complete_models,
            help="COMET's spelling: model of metrics that name none (alone: of comet).",
        ),
    ] = None,
    chosen: options.Chosen,
    aligning: options.Aligning,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    format: options.Format = "table",
    width: options.Decimals = None,
    score_only: Annotated[
        bool,
        typer.Option(
            "-b",
            "--score-only",
            help="Print scores only: a line per system in the given order, a column per metric.",
        ),
    ] = False,
    by_domain: options.ByDomain = False,
    baseline: options.Baseline = None,
    testing: options.Testing,
    execution: options.Execution,
    overflow: Annotated[
        Literal["warn", "error"],
        typer.Option("--overflow", help="What to do if text exceeds the model's maximum length."),
    ] = "warn",
    no_flags: Annotated[
        bool,
        typer.Option(
            "--no-flags", help="Disable checks for suspicious input and degenerate output."
        ),
    ] = False,
    signatures: options.Signatures = False,
    log: Annotated[
        list[str] | None,
        typer.Option(
            "--log", help="Also send the scores to an experiment tracker: mlflow (repeatable)."
        ),
    ] = None,
    dry_run: Annotated[
        Path | None,
        typer.Option(
            "--dry-run",
            metavar="FILE",
            help="Write the calls of judges to FILE without making them.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Score systems on whole documents, with confidence intervals and significance tests."""
    from wholetext.cli.leaderboard import render
    from wholetext.errors import WholetextError
    from wholetext.scoring.comparison import compare_run
    from wholetext.scoring.run import make_run

    for name in log or ():
        slices.required("find-logger", "--log")(name)  # fail before scoring
    loaded = options.load(files, chosen)
    metrics = with_model(metric, model) if model else metric or _chosen(loaded, quiet)
    if dry_run is not None:
        options.refuse_existing(dry_run, files, overwrite, "--dry-run FILE")
        _write_prompts(loaded, metrics, dry_run, execution)
        return
    how = execution.options(overflow=overflow, flags=not no_flags, **aligning.options())
    try:
        with progress_bar(quiet) as progress:
            results = make_run(
                loaded,
                metrics,
                replace(how, progress=progress),
                testing.significance(baseline),
                out=out,
                overwrite=overwrite,
            )
    except WholetextError:
        warn(loaded.warnings)  # what the reader noticed may be the cause
        raise
    shown = "scores" if score_only else format
    with terminal.paged(shown == "table"):
        render(results, compare_run(results)[1], shown, signatures, width, by_domain)
    if getattr(how.calls, "counts", None) and not quiet:
        print(how.calls.summary(), file=sys.stderr)
    for name in log or ():
        print(slices.required("log-run", "--log")(results, name, out), file=sys.stderr)
    if not quiet and (out is not None or shown == "table"):
        print("\n" * (shown == "table") + _next_step(results.systems, out), file=sys.stderr)


def _write_prompts(
    loaded: Loaded, metrics: Sequence[str], file: Path, execution: options.Execution
) -> None:
    from wholetext.scoring.plan import write_prompts

    many = write_prompts(loaded.corpus, loaded.outputs, metrics, file, execution.options().calls)
    print(f"written: {file} ({count(many, 'call')}, none made)")


def _chosen(loaded: Loaded, quiet: bool) -> list[str]:
    """The metrics for a corpus where none are named, which are printed."""
    from wholetext.scoring.defaults import default_metrics

    found = default_metrics(loaded.corpus, loaded.outputs)
    if not quiet:
        print(f"metrics: {', '.join(found)} (choose others with -m)", file=sys.stderr)
    return found


def _next_step(systems: Sequence[str], out: Path | None) -> str:
    """Where the run is, and what to do with it."""
    if out is None:
        return "next: add --out run to keep the scores, then `wholetext report run`"
    folder, baseline = (shlex.quote(printable(name)) for name in (str(out), systems[0]))
    compare = (
        f"wholetext compare {folder} --baseline {baseline}\n      " if len(systems) > 1 else ""
    )
    return f"run folder: {folder}\nnext: {compare}wholetext report {folder}"


def plan(
    *,
    files: options.Files,
    metric: options.Metrics = None,
    chosen: options.Chosen,
    show: Annotated[
        int, typer.Option("--show", min=0, help="Number of rows to print in full.")
    ] = 2,
    endpoint: options.Endpoint = "",
    prices: options.Prices = "",
    format: options.TableOrJson = "table",
) -> None:
    """Show what would be scored, without running models: rows, inputs, truncation, calls and their cost, texts."""
    from wholetext.scoring.plan import plan as make

    loaded = options.load(files, chosen)
    warn(loaded.warnings)
    metrics = metric or _chosen(loaded, quiet=False)
    calls = slices.required("calls", "plan")(endpoint, prices=prices)
    plans = [make(loaded.corpus, loaded.outputs, text, show=show, calls=calls) for text in metrics]
    if format == "json":
        terminal.print_json([one.as_json() for one in plans])
        return
    with terminal.paged():
        for one in plans:
            _print_plan(one)


def _print_plan(one: Plan) -> None:
    print(one.spec)
    left_out = f"{one.dropped} of {count(one.segments, 'segment')} not scored"
    print(
        f"  {count(one.rows, 'row')} of {count(one.systems, 'system')}, "
        f"{count(one.distinct, 'distinct request')}, {left_out if one.dropped else 'every segment is scored'}"
    )
    if one.tokens is not None:
        print(
            f"  {count(one.tokens, 'token')}; {count(one.lost_context, 'row')} would lose context, "
            f"{one.lost_focus} scored text"
        )
    if one.calls is not None:
        print(f"  {one.calls}")
    for row in one.shown:
        segments = f"{row.start + 1}–{row.stop}" if row.stop > row.start + 1 else row.stop
        marked = "" if one.calls else "  (« » marks what is scored)"
        print(f"  {printable(row.doc)} {segments}, {printable(row.system)}{marked}")
        for side, text in row.sides:
            for at, line in enumerate(
                text.split("\n") if one.calls else [text]
            ):  # a prompt has lines
                head = f"    {'' if at else side:<6} "
                if sys.stdout.isatty():
                    terminal.entry(head, printable(line))
                else:
                    print(f"{head}{printable(line)}")


def sweep(
    *,
    files: options.Files,
    metric: Annotated[
        str,
        typer.Option(
            "-m",
            "--metric",
            autocompletion=complete_metrics,
            help="Metric; the sweep replaces its view.",
        ),
    ] = "chrf",
    context: Annotated[
        int | None,
        typer.Option(
            "--context", min=0, help="Maximum context size in segments; sizes 0 … N are scored."
        ),
    ] = None,
    hyp: Annotated[
        list[str] | None,
        typer.Option("--hyp", help="Context of the output: ref, own (default: both)."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            help="Origin of the context: same, or the controls shuffled, other (default: all).",
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", min=1, help="Maximum window size in segments; sizes 1 … N are scored."
        ),
    ] = None,
    step: Annotated[
        list[int] | None,
        typer.Option("--step", min=1, help="Stride of the windows (default: all; repeatable)."),
    ] = None,
    partial: Annotated[
        Literal["drop", "include", "weighted"],
        typer.Option("--partial", help="How to treat incomplete windows."),
    ] = "drop",
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=0,
            max=2**63 - 1,
            help="Random seed of the shuffled and other-document controls.",
        ),
    ] = 0,
    chosen: options.Chosen,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Output run folder; the grid is written to grid.json."),
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableJsonTsv = "table",
    execution: options.Execution,
    quiet: options.Quiet = False,
) -> None:
    """Score systems over a grid of context sizes (--context) or window sizes (--window)."""
    from wholetext.scoring.results import refuse_unwritable
    from wholetext.scoring.sweep import HYP, SOURCE, Axes, write_sweep
    from wholetext.scoring.sweep import sweep as run

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
        refuse_unwritable(out, overwrite=overwrite)  # fail before scoring
    with progress_bar(quiet) as progress:
        found = run(
            loaded.corpus, loaded.outputs, metric, axes, execution.options(progress=progress)
        )
    notes = (*loaded.warnings, *found.results.warnings)
    found = replace(found, results=replace(found.results, warnings=notes))
    if out is not None:
        write_sweep(found, out, overwrite=overwrite)
    with terminal.paged(format == "table"):
        _show_grid(found, format)


def _show_grid(found: Sweep, format: Literal["table", "json", "tsv"]) -> None:
    """Print the grid, one line per cell."""
    from wholetext.notes import without_kinds

    notes = list(found.results.warnings)
    if format == "json":
        terminal.print_json({**found.as_json(), "notes": notes})
        return
    notes = without_kinds(notes, "dropped", "cut", "context-cut", "blind")  # the grid has them
    systems = list(found.results.systems)
    head = [*found.axes, *systems, "dropped", "context cut", "text cut"]
    if format == "table":
        _grid_table(found, head, notes)
        return
    warn(notes)
    print(terminal.tsv_row(head))
    for cell in found.cells:
        scores = [repr(cell.scores[name].score) if cell.scores else "nan" for name in systems]
        shares = [repr(share) for share in (cell.dropped, cell.lost_context, cell.lost_focus)]
        print(terminal.tsv_row([*cell.settings.values(), *scores, *shares]))


def _grid_table(found: Sweep, head: Sequence[str], notes: Sequence[str]) -> None:
    from rich.text import Text

    systems, corpus = found.results.systems, found.results.corpus
    places = next((one.places for cell in found.cells for one in cell.scores.values()), 4)
    console, rows = terminal.console(80), []
    lost = [(cell.dropped, cell.lost_context, cell.lost_focus) for cell in found.cells]
    kept = [
        at for at in range(3) if any(share[at] != 0 for share in lost)
    ]  # columns of zeros say nothing
    for cell, shares in zip(found.cells, lost):
        scores = [
            number(cell.scores[name].score if cell.scores else math.nan, places) for name in systems
        ]
        shown = ["–" if math.isnan(shares[at]) else f"{100 * shares[at]:.1f} %" for at in kept]
        rows.append([*map(str, cell.settings.values()), *scores, *shown])
    console.print(Text(f"{found.metric} {'↑' if found.higher_is_better else '↓'}", style="bold"))
    terminal.print_blocks(
        [*head[:-3], *(head[at - 3] for at in kept)], rows, len(found.axes), console
    )
    legend = (
        "dropped: segments not scored",
        "context cut: rows that lost context to the model's limit",
        "text cut: rows that lost scored text to it",
    )
    what = "; ".join(legend[at] for at in kept) or "Every segment was scored, and nothing was cut"
    size = f"{count(len(corpus), 'document')}, {count(sum(map(len, corpus.docs)), 'segment')}"
    console.print(Text(f"\n{size}, {'-'.join(corpus.langs)}. {what}.", style="dim"))
    terminal.notes(notes, console)


def demo(
    pair: Annotated[
        Literal["de-en", "zh-en"],
        typer.Option("-l", "--langs", help="Language pair of the bundled corpus."),
    ] = "de-en",
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics to compute instead of the demo's")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Output run folder.")] = Path("demo-run"),
    overwrite: options.Overwrite = False,
) -> None:
    """Score the bundled documents with every kind of metric that is installed."""
    from wholetext.cli.leaderboard import render
    from wholetext.demo import load
    from wholetext.errors import MissingExtra, RunError
    from wholetext.io import Loaded
    from wholetext.reporting.page import report
    from wholetext.scoring.comparison import compare_run
    from wholetext.scoring.defaults import demo_metrics
    from wholetext.scoring.evaluate import Options, open_run
    from wholetext.scoring.run import make_run

    corpus, outputs = load(pair)
    print(
        f"wholetext score {corpus.id} ({count(len(corpus), 'document')}, {count(len(outputs), 'system')})\n"
    )
    with suppress(RunError):  # a run that is a demo's may be replaced without asking
        overwrite = overwrite or open_run(out).corpus.id.startswith("demo-")
    with progress_bar(quiet=False) as progress:
        results = make_run(
            Loaded(corpus, outputs, ()),
            metric or demo_metrics(),
            Options(progress=progress),
            out=out,
            overwrite=overwrite,
        )
    with terminal.paged():
        render(results, compare_run(results)[1], "table")
    print(f"\n{_next_step(results.systems, out)}")
    try:
        (page,) = report(out)
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
    except MissingExtra as fault:
        print(f"no report: {fault}")
