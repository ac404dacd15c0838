"""The report of runs and studies: read, work out, write; `wholetext report` is this."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wholetext.errors import InputError, RunError
from wholetext.reporting.analysis import analyse
from wholetext.reporting.figures import write_figures
from wholetext.reporting.page import PageOptions, write_report
from wholetext.reporting.panels import Study
from wholetext.reporting.studies import FILES, read_study
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, run_file
from wholetext.significance.compare import Significance

Source = Results | Study | Path | str


def report(
    sources: Source | Sequence[Source], page: Path | str | None = None, *, figures: Path | str | None = None,
    formats: Sequence[str] = ("pdf", "svg", "png"), baseline: str | None = None,
    significance: Significance | None = None, options: PageOptions | None = None,
) -> list[Path]:
    """Write the HTML report of a run, and of results of meta, sweep or contrast; returns the files.

    Sources are ``Results``, run folders, or folders and JSON files of the others. The page is ``report.html`` in the
    first folder unless named. With ``figures`` the figures are written to that folder, and a page only where named.
    """
    given = [sources] if isinstance(sources, (Results, Study, Path, str)) else list(sources)
    run, studies = read_sources(given)
    analysis = None if run is None else analyse(run, baseline, significance)
    files = [] if figures is None else write_figures(analysis, studies, Path(figures), formats)
    if figures is None or page is not None:
        path = default_page(given) if page is None else Path(page)
        write_report(analysis, studies, path, options)
        files.append(path)
    return files


def read_sources(sources: Sequence[Source]) -> tuple[Results | None, list[Study]]:
    """The run among the sources, if there is one, and every study."""
    runs: list[Results] = []
    studies: list[Study] = []
    for source in sources:
        if isinstance(source, Results):
            runs.append(source)
        elif isinstance(source, Study):
            studies.append(source)
        elif not Path(source).is_dir():
            studies.append(read_study(Path(source)))
        else:
            held = [file for name in FILES if (file := run_file(Path(source), name)).is_file()]
            studies += [read_study(file) for file in held]
            if run_file(Path(source), "run.json").is_file() or not held:
                runs.append(runs[0] if runs else open_run(source))
        if len(runs) > 1:
            raise RunError("there is a run already, and a report is about one", where=str(source),
                           next="write one report per run")
    return runs[0] if runs else None, studies


def default_page(sources: Sequence[Source]) -> Path:
    """``report.html`` in the first folder, or beside the first file."""
    first = next((Path(one) for one in sources if isinstance(one, (Path, str))), None)
    if first is None:
        raise InputError("the report has no file name", next='report(results, "report.html")')
    return first / "report.html" if first.is_dir() else first.with_name(f"{first.stem}-report.html")
