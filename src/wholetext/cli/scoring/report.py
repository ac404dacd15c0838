"""`wholetext report RUN`: one HTML page that opens offline, and the same figures for print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wholetext.cli.scoring import score as options

if TYPE_CHECKING:
    from wholetext.reporting.panels import Study
    from wholetext.scoring.results import Results

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Run folder, and outputs of meta, sweep or contrast (folders or JSON)."),
]
Page = Annotated[Path | None, typer.Option("-o", "--out", help="Output HTML file (default: RUN/report.html).")]
Figures = Annotated[Path | None, typer.Option("--figures", help="Write the figures to this folder instead of a page.")]
As = Annotated[str, typer.Option("--as", help="Figure formats, comma-separated: pdf, svg, png.")]
Title = Annotated[str, typer.Option("--title", help="Page title (default: the name of the corpus).")]
Segments = Annotated[
    int,
    typer.Option("--segments", min=1, help="Maximum number of segments shown in the page; a sample if there are more."),
]


def report(
    context: typer.Context,
    runs: Runs,
    out: Page = None,
    figures: Figures = None,
    formats: As = "pdf,svg,png",
    baseline: options.Baseline = None,
    title: Title = "",
    segments: Segments = 5_000,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
) -> None:
    """Write an HTML report of a run: leaderboard, documents, texts side by side, comparisons. Loads no model."""
    from wholetext.reporting import PageOptions, Significance, analyse, write_figures, write_report
    from wholetext.significance.stored import restored

    run, studies = read(runs)
    analysis = None
    if run is not None:
        kept = restored(run)
        how = options.chosen(context, kept and kept[0], Significance(alpha=alpha, seed=seed, baseline=baseline))
        analysis = analyse(run, baseline, how)
    if figures is not None:
        files = write_figures(analysis, studies, figures, [part.strip() for part in formats.split(",") if part.strip()])
        print(f"figures: {len(files)} files in {figures}/")
    if figures is None or out is not None:
        page = out or default_page(runs[0])
        _print_size(page, write_report(analysis, studies, page, PageOptions(title, segments)))


def _print_size(page: Path, size: int) -> None:
    print(f"report: {page} ({size / 1e6:.1f} MB)")


def read(paths: list[Path]) -> tuple[Results | None, list[Study]]:
    """The run among the paths, if there is one, and every study."""
    from wholetext.errors import RunError
    from wholetext.reporting import read_study
    from wholetext.reporting.studies import FILES
    from wholetext.scoring.evaluate import open_run
    from wholetext.scoring.results import run_file

    run, studies = None, []
    for path in paths:
        if not path.is_dir():
            studies.append(read_study(path))
            continue
        held = [file for name in FILES if (file := run_file(path, name)).is_file()]
        studies += [read_study(file) for file in held]
        if run_file(path, "run.json").is_file() or not held:
            if run is not None:
                raise RunError("there is a run already, and a report is about one", where=str(path),
                               next="write one report per run")
            run = open_run(path)
    return run, studies


def default_page(first: Path) -> Path:
    return first / "report.html" if first.is_dir() else first.with_name(f"{first.stem}-report.html")


def write_beside(folder: Path) -> None:
    """The report of a run in its folder, or what is missing to write it: how `wholetext demo` ends."""
    from wholetext.errors import MissingExtra
    from wholetext.reporting import analyse, write_report

    try:
        run, studies = read([folder])
        page = default_page(folder)
        _print_size(page, write_report(analyse(run) if run else None, studies, page))
    except MissingExtra as fault:
        print(f"no report: {fault}")
