"""`wholetext score`, `plan` and `demo`: score systems; show what would be scored; score the bundled documents."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from wholetext.cli import options
from wholetext.cli.terminal import print_json, printable, progress_bar, warn
from wholetext.errors import count


def score(
    *,
    files: options.Files,
    metric: options.Metrics = ["chrf", "bleu"],  # noqa: B006  typer reads the default, nobody changes it
    chosen: options.Chosen,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    format: options.Format = "table",
    json_: options.Json = False,
    baseline: options.Baseline = None,
    testing: options.Testing,
    execution: options.Execution,
    overflow: Annotated[
        Literal["warn", "error"],
        typer.Option("--overflow", help="What to do if text exceeds the model's maximum length."),
    ] = "warn",
    no_flags: Annotated[
        bool, typer.Option("--no-flags", help="Disable checks for suspicious input and degenerate output.")
    ] = False,
    signatures: options.Signatures = False,
    quiet: options.Quiet = False,
) -> None:
    """Score systems on whole documents, with confidence intervals and significance tests."""
    from wholetext.cli.leaderboard import render
    from wholetext.errors import WholetextError
    from wholetext.scoring.run import make_run
    from wholetext.significance.stored import compare_run

    loaded = options.load(files, chosen)
    try:
        with progress_bar(quiet) as progress:
            results = make_run(
                loaded, metric, execution.options(overflow=overflow, flags=not no_flags, progress=progress),
                testing.significance(baseline), out=out, overwrite=overwrite)
    except WholetextError:
        warn(loaded.warnings)  # what the reader noticed may be the cause
        raise
    render(results, compare_run(results)[1], "json" if json_ else format, signatures)


def plan(
    *,
    files: options.Files,
    metric: options.Metrics = ["chrf", "bleu"],  # noqa: B006  typer reads the default, nobody changes it
    chosen: options.Chosen,
    show: Annotated[int, typer.Option("--show", min=0, help="Number of rows to print in full.")] = 2,
    format: options.TableOrJson = "table",
    json_: options.Json = False,
) -> None:
    """Show what would be scored, without running models: rows, distinct inputs, truncation, example texts."""
    from wholetext.scoring.plan import plan as make

    loaded = options.load(files, chosen)
    warn(loaded.warnings)
    plans = [make(loaded.corpus, loaded.outputs, text, show=show) for text in metric]
    if json_ or format == "json":
        print_json([one.as_json() for one in plans])
        return
    for one in plans:
        print(one.spec)
        left_out = f"{one.dropped} of {count(one.segments, 'segment')} not scored"
        print(f"  {count(one.rows, 'row')} of {count(one.systems, 'system')}, "
              f"{count(one.distinct, 'distinct request')}, {left_out if one.dropped else 'every segment is scored'}")
        if one.tokens is not None:
            print(f"  {count(one.tokens, 'token')}; {count(one.lost_context, 'row')} would lose context, "
                  f"{one.lost_focus} scored text")
        for row in one.shown:
            where = f"{printable(row.doc)} {row.start + 1}–{row.stop}, {printable(row.system)}"
            print(f"  {where}  (« » marks what is scored)")
            for side, text in row.sides:
                print(f"    {side:<6} {printable(text)}")


def demo(
    pair: Annotated[
        Literal["de-en", "zh-en"], typer.Option("-l", "--langs", help="Language pair of the bundled corpus.")
    ] = "de-en",
    metric: Annotated[
        list[str] | None, typer.Option("-m", "--metric", help="Metrics to compute instead of the demo's (repeatable).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Output run folder.")] = Path("demo-run"),
    overwrite: options.Overwrite = False,
) -> None:
    """Score the bundled documents with every kind of metric that is installed."""
    from wholetext.cli.leaderboard import render
    from wholetext.demo import default_metrics, load
    from wholetext.errors import MissingExtra, RunError
    from wholetext.io import Loaded
    from wholetext.reporting.report import report
    from wholetext.scoring.evaluate import Options, open_run
    from wholetext.scoring.run import make_run
    from wholetext.significance.stored import compare_run

    corpus, outputs = load(pair)
    print(f"wholetext score {corpus.id} ({count(len(corpus), 'document')}, {count(len(outputs), 'system')})\n")
    with suppress(RunError):  # a run that is a demo's may be replaced without asking
        overwrite = overwrite or open_run(out).corpus.id.startswith("demo-")
    with progress_bar(quiet=False) as progress:
        results = make_run(Loaded(corpus, outputs, ()), metric or default_metrics(), Options(progress=progress),
                           out=out, overwrite=overwrite)
    render(results, compare_run(results)[1], "table")
    print(f"\nrun folder: {out}/   next: wholetext compare {out} --baseline {outputs[0].system}")
    try:
        (page,) = report(out)
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
    except MissingExtra as fault:
        print(f"no report: {fault}")
