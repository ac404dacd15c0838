"""The HTML report of runs and studies (`wholetext report`).

The page holds its data in compressed blocks, our scripts and styles inline, and a content security
policy that admits nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from wholetext import slices
from wholetext.errors import InputError, RunError, optional
from wholetext.files.parsing import printable
from wholetext.files.storage import refuse_foreign, write_file
from wholetext.reporting.analysis import RunAnalysis, analyse
from wholetext.reporting.panels import Study
from wholetext.reporting.studies import controls, read_study, remedy, study_files
from wholetext.reporting.texts import Faults, blocks, choose, gather
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, run_file
from wholetext.scoring.significance.compare import Significance
from wholetext.version import __version__

SCRIPTS = (
    "dom.js",
    "data.js",
    "color.js",
    "export.js",
    "charts.js",
    "grids.js",
    "links.js",
    "leaderboard.js",
    "documents.js",
    "marks.js",
    "diff.js",
    "document.js",
    "texts.js",
    "segment.js",
    "compare.js",
    "studies.js",
    "examples.js",
    "main.js",
)
GENERATOR = b'<meta name="generator" content="wholetext '
STYLES = (
    "theme.css",
    "page.css",
    "navigation.css",
    "charts.css",
    "tables.css",
    "document.css",
    "examples.css",
    "screens.css",
)
LISTED_FLAGS = 200  # of one system
Source = Results | Study | Path | str


@dataclass(frozen=True)
class PageOptions:
    """Options of the report."""

    title: str = ""
    segments: int = 5_000  # at most so many segments of text


def report(
    sources: Source | Sequence[Source],
    page: Path | str | None = None,
    *,
    figures: Path | str | None = None,
    formats: Sequence[str] = ("pdf", "svg", "png"),
    baseline: str | None = None,
    significance: Significance | None = None,
    options: PageOptions | None = None,
) -> list[Path]:
    """Write the HTML report of a run and of studies (meta, sweep, contrast …); return the files.

    Sources are ``Results``, run folders, or folders and JSON files of studies. The page is
    ``report.html`` in the first folder unless named. With ``figures``, the figures are written to
    that folder, and a page only if it is named. A run with several metrics has a ranking by all of
    them (AutoRank) unless a ranking is among the sources.
    """
    listed = [sources] if isinstance(sources, (Results, Study, Path, str)) else list(sources)
    run, studies = read_sources(listed)
    analysis = None if run is None else analyse(run, baseline, significance)
    if analysis is not None:
        run_ranking = slices.hook("run-ranking")
        if run_ranking and not any(study.kind == "rank" for study in studies):
            studies = [*run_ranking(analysis.results, analysis.testing), *studies]
        studies = [*studies, *controls(analysis.results)]
    files = []
    if figures is not None:
        from wholetext.reporting.figures import write_figures

        files += write_figures(analysis, studies, Path(figures), formats)
    if figures is None or page is not None:
        path = default_page(listed) if page is None else Path(page)
        write_report(analysis, studies, path, options)
        files.append(path)
    return files


def read_sources(sources: Sequence[Source]) -> tuple[Results | None, list[Study]]:
    """Read the run among the sources, if there is one, and every study."""
    runs: list[Results | Path] = []
    swept: list[Path] = []  # runs beside a study (a sweep writes both): used if there is no other
    studies: list[Study] = []
    for source in sources:
        if isinstance(source, Study):
            studies.append(source)
        elif isinstance(source, Results):
            runs.append(source)
        elif not run_file(Path(source), "run.json").parent.is_dir():
            studies.append(read_study(Path(source)))
        else:
            files = study_files(Path(source))
            studies += [read_study(file) for file in files]
            if (Path(source) / "run.json").is_file():
                (swept if files else runs).append(Path(source))
            elif not files:
                raise RunError(
                    "there is neither a run nor a study in this folder",
                    where=str(source),
                    next=remedy(),
                )
        if len(runs) > 1:
            raise RunError(
                "there is a run already, and a report is about one",
                where=str(source),
                next="write one report per run",
            )
    run = next(iter([*runs, *swept]), None)
    return open_run(run) if isinstance(run, Path) else run, studies


def default_page(sources: Sequence[Source]) -> Path:
    """Name the page: ``report.html`` in the first folder, or a file beside the first file."""
    first = next((Path(source) for source in sources if isinstance(source, (Path, str))), None)
    if first is None:
        raise InputError("the report has no file name", next='report(results, "report.html")')
    return first / "report.html" if first.is_dir() else first.with_name(f"{first.stem}-report.html")


def write_report(
    analysis: RunAnalysis | None,
    studies: Sequence[Study],
    path: Path,
    options: PageOptions | None = None,
) -> None:
    """Write the page of a run, of studies, or of both."""
    refuse_foreign(path, GENERATOR, "a report of wholetext", "-o")
    page = render(analysis, studies, options or PageOptions())
    write_file(path, page.encode("utf-8", "surrogatepass"))


def render(analysis: RunAnalysis | None, studies: Sequence[Study], options: PageOptions) -> str:
    """Render the page."""
    jinja2 = optional("jinja2", "page")
    markup = optional("markupsafe", "page", "jinja2").Markup
    parts: dict[str, Any] = {"head": {}} if analysis is None else _parts(analysis, options)
    only = studies[0].title if len(studies) == 1 else "Studies"
    parts["head"] |= {
        "title": options.title or (analysis.results.corpus.id if analysis else only),
        "version": __version__,
        "studies": [study.plain() for study in studies],
    }
    script, style = ("\n".join(_asset(name) for name in names) for names in (SCRIPTS, STYLES))
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    page: str = environment.from_string(_asset("template.html")).render(
        head=parts["head"],
        blocks={name: packed(value) for name, value in parts.items()},
        script=markup(script),
        style=markup(style),  # files of this package, without data
        script_hash=_hash(script),
        style_hash=_hash(style),
    )
    return page


def _parts(analysis: RunAnalysis, options: PageOptions) -> dict[str, Any]:
    """Make the blocks of the page: ``head``, and ``metric0`` …, ``text0`` …, unpacked on demand."""
    results, corpus = analysis.results, analysis.results.corpus
    metrics = {f"metric{i}": breakdown for i, breakdown in enumerate(analysis.breakdowns)}
    parts: dict[str, Any] = {"head": {}, **metrics}
    material = gather(results, analysis.systems)
    chosen, notice = choose(results, options.segments)
    block_of: dict[int, int] = {}
    for number, block in enumerate(blocks(material, chosen)):
        block_of |= dict.fromkeys(block, number)
        parts[f"text{number}"] = {str(doc): value for doc, value in block.items()}
    parts["flags"] = [_flags(faults) for faults in material.faults]
    parts["head"] = {
        "corpus": corpus.id,
        "langs": list(corpus.langs),
        "references": list(corpus.references),
        "finding": results.finding,
        "systems": list(analysis.systems),
        "baseline": analysis.baseline,
        "alpha": analysis.testing.alpha,
        "metrics": list(analysis.standings),
        "notice": notice,
        "docs": [[doc.id, len(doc), block_of.get(i, -1)] for i, doc in enumerate(corpus.docs)],
        "warnings": list(results.notes),
        "faults": [
            Counter(kind for doc in faults for _, kind, _ in doc) for faults in material.faults
        ],  # by system, over all documents
    }
    return parts


def _flags(by_document: Sequence[Faults]) -> tuple[int, list[list[Any]]]:
    """The number of a system's flags, and the first of them: document, segment, kind, note."""
    flags = [[doc, *flag] for doc, faults in enumerate(by_document) for flag in faults]
    return len(flags), flags[:LISTED_FLAGS]


# ---------------------------------------------------------------- packing


def packed(value: Any) -> str:
    """Encode as JSON, gzip and base64, in which nothing can close an element or start a script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    compressed = gzip.compress(text.encode("utf-8", "surrogatepass"), 9, mtime=0)
    return base64.b64encode(compressed).decode("ascii")


def _asset(name: str) -> str:
    return (resources.files("wholetext.reporting") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    """Hash an inline script or style for the Content-Security-Policy."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
