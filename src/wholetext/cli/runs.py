"""`wholetext compare`, `gate`, `explain` and `report`: what can be read from a run folder, without scoring again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wholetext.cli import options, terminal
from wholetext.cli.completion import complete_documents, complete_metrics, complete_systems
from wholetext.cli.terminal import number, warn
from wholetext.errors import WriteError, count

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from wholetext.metrics.blonde.explain import MatchedSpan
    from wholetext.scoring.explain import Explained
    from wholetext.scoring.results import Results
    from wholetext.scoring.significance.compare import Significance


def compare(
    *,
    context: typer.Context,
    run: options.RunFolder,
    baseline: options.Baseline = None,
    metric: Annotated[
        list[str] | None, options.metrics_option("Restrict to these metrics of the run")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", help="Output of the metric to compare, e.g. recall (default: the score)."
        ),
    ] = None,
    format: options.Format = "table",
    width: options.Decimals = None,
    by_domain: options.ByDomain = False,
    testing: options.Testing,
    signatures: options.Signatures = False,
) -> None:
    """Compare the systems of a run: differences, confidence intervals, p-values, clusters, power.

    Uses the stored comparison of the run; it is computed again only if an option asks for another.
    """
    from wholetext.cli.leaderboard import pairs, render
    from wholetext.errors import RunError, did_you_mean
    from wholetext.registry import scorer
    from wholetext.scoring.comparison import compare_run
    from wholetext.scoring.evaluate import open_run

    results = open_run(run)
    specs = [scorer(text).spec for text in metric] if metric else list(results.scores)
    for spec in specs:
        if spec not in results.scores:
            raise RunError(
                f"the run has no metric {spec!r}",
                where=str(run),
                next=did_you_mean(spec, list(results.scores))
                or f"it has {', '.join(results.scores)}",
            )
    results = replace(results, scores={spec: results.scores[spec] for spec in specs})
    how = _given(context, results, testing.significance(baseline))
    comparisons = compare_run(results, how, output)[1]
    with terminal.paged(format == "table"):
        render(results, comparisons, format, signatures, width, by_domain)
        if format == "table":
            pairs([comparisons[spec] for spec in specs], width)


def gate(
    *,
    context: typer.Context,
    run: options.RunFolder,
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline",
            autocompletion=complete_systems,
            help="System that others must not fall below.",
        ),
    ],
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics of the run to check (default: all)")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            autocompletion=complete_systems,
            help="Systems to check (repeatable; default: all others).",
        ),
    ] = None,
    max_drop: Annotated[
        float,
        typer.Option(
            "--max-drop", min=0, help="Maximum significant drop that passes, in units of the score."
        ),
    ] = 0.0,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Also write JUnit XML to this file.")
    ] = None,
    format: options.TableOrJson = "table",
    testing: options.Testing,
) -> None:
    """Exit with code 1 if a system scores significantly below the baseline; print one line per check."""
    from wholetext.files.storage import write_file
    from wholetext.scoring.evaluate import open_run
    from wholetext.scoring.gate import gate as check

    results = open_run(run)
    found = check(
        results,
        baseline,
        metrics=metric or (),
        systems=system or (),
        max_drop=max_drop,
        significance=_given(context, results, testing.significance(baseline)),
    )
    if junit is not None:
        if (
            junit.is_file()
            and junit.stat().st_size
            and b"<testsuites" not in junit.read_bytes()[:4096]
        ):
            raise WriteError(
                "this file is not JUnit XML, and would be replaced",
                where=str(junit),
                next="choose another file with --junit",
            )
        write_file(junit, found.junit())
    if format == "json":
        terminal.print_json(found.as_json())
    else:
        warn(found.notes)
        for one in sorted(
            found.checks, key=lambda one: not one.passed
        ):  # failed ones stand last, where one looks
            print(terminal.printable(one.reason))
        failed = sum(not one.passed for one in found.checks)
        if len(found.checks) > 1:
            print(f"{failed or 'none'} of {count(len(found.checks), 'check')} failed")
    if not found.passed:
        raise typer.Exit(1)


def _given(context: typer.Context, results: Results, given: Significance) -> Significance | None:
    """How to compare a run that was compared before: as then, except for flags given on this command line.

    None: exactly as then. A run that was never compared is compared as given.
    """
    if results.significance is None:
        return given
    names = {"unit": "resample"}  # field → option, where they differ
    anew = {
        name: value
        for name, value in asdict(given).items()
        if (source := context.get_parameter_source(names.get(name, name)))
        and source.name == "COMMANDLINE"
    }
    return replace(results.significance, **anew) if anew else None


def explain(
    input: Annotated[
        str | None, typer.Argument(help="Run folder, or any input of `wholetext score`.")
    ] = None,
    doc: Annotated[
        str | None,
        typer.Option(
            "--doc",
            autocompletion=complete_documents,
            help="Document id (default: that with the lowest score; BlonDe: with mean=occurring).",
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            autocompletion=complete_systems,
            help="System (required if there are several).",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--metric",
            autocompletion=complete_metrics,
            help="blonde, d-blonde, blonde-plus or a metric with spans (default: the first in the run).",
        ),
    ] = None,
    ref: Annotated[
        str | None, typer.Option("--ref", help="Reference to show (default: the first).")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Also show segments without errors.")] = False,
    format: options.TableOrJson = "table",
    sources: options.Sources = None,
    translations: options.Translations = None,
    references: options.References = None,
    docs: options.Docs = None,
    langs: options.Langs = None,
    reader: options.Reader = None,
) -> None:
    """Explain the score of a document: matching, missing and extra tenses, pronouns, entities and markers."""
    from wholetext.scoring.evaluate import open_run
    from wholetext.scoring.explain import explain as find
    from wholetext.scoring.results import Results, run_file

    if input is not None and run_file(Path(input), "run.json").exists():
        results = open_run(input)
    else:
        files = options.Files(input, sources, translations, references, docs)
        loaded = options.load(files, options.Chosen(langs=langs, reader=reader))
        warn(loaded.warnings)
        results = Results(loaded.corpus, tuple(loaded.outputs), {}, tuple(loaded.warnings))
    found = find(results, metric, system=system, doc=doc, ref=ref)
    warn(found.notes)
    if format == "json":
        terminal.print_json(found.as_json())
    else:
        with terminal.paged():
            _side_by_side(found, every=all_)


def _side_by_side(found: Explained, *, every: bool) -> None:
    """Print a document beside its reference: its score, what matches, is missing or extra, a line per category."""
    from rich.text import Text

    console, values = terminal.console(80, highlight=False), found.values()
    main = " ".join(
        f"{name} {number(values[name], 4)}" for name in list(values)[: 3 if found.reasons else 1]
    )
    names = terminal.printable(f"{found.doc}  {found.system}  {found.spec}")
    console.print(Text(f"{names}  {main}", style="bold"))
    if found.reason:
        console.print(Text(f"! {found.reason}", style="yellow"))
    if found.reasons:
        console.print(Text(found.reasons.sentence(values["f1"])))
    table = terminal.plain_table()
    for name in ("", found.system, f"reference {found.ref}" if found.ref else "no reference"):
        table.add_column(Text(terminal.printable(name)), ratio=None if not name else 1)
    shown = [segment for segment in found.segments if every or not segment.faultless]
    for segment in shown:
        table.add_row(
            Text(str(segment.number), style="dim"),
            _marked(segment.hyp, segment.matched, segment.extra, "+"),
            _marked(segment.ref, segment.matched_ref, segment.missing, "-"),
        )
    console.print(table)
    console.print(_categories(found))
    hidden = len(found.segments) - len(shown)
    legend = "[+extra+] is in the output alone, [-missing-] in the reference alone, green in both."
    legend = legend if found.reasons else "[+text+] is what the metric marked."
    segments = count(len(found.segments), "segment")
    console.print(Text(f"\n{hidden} of {segments} not shown. {legend}", style="dim"))


def _categories(found: Explained) -> Table:
    """One line per category: F1, how many match, what is missing, what is extra, why it is 0 or does not count; or one
    line per severity of what another metric marked."""
    from rich.text import Text

    from wholetext.metrics.blonde.units import DISCOURSE, HUMAN

    def words(kind: str, category: str) -> str:
        why = {
            span: f": {span.feature}" if span.feature and not found.reasons else ""
            for segment in found.segments
            for span in getattr(segment, kind)
        }
        return ", ".join(
            f"{span.text} ({segment.number}{why[span]})"
            for segment in found.segments
            for span in getattr(segment, kind)
            if span.category == category
        )

    table = terminal.plain_table()
    if found.reasons is None:
        for name in ("severity", "marked"):
            table.add_column(name, overflow="fold")
        for severity in dict.fromkeys(
            span.category for segment in found.segments for span in segment.extra
        ):
            table.add_row(
                Text(terminal.printable(severity)), Text(words("extra", severity), style="magenta")
            )
        return table
    for name in ("category", "F1", "matched", "missing", "extra", ""):
        table.add_column(name, overflow="fold")
    for factor in found.reasons.factors:
        if factor.name not in (*DISCOURSE, *HUMAN):
            continue
        category, f1 = factor.name, math.nan if factor.f1 is None else factor.f1
        matched = sum(
            span.category == category for segment in found.segments for span in segment.matched
        )
        missing, extra = (words(kind, category) for kind in ("missing", "extra"))
        table.add_row(
            category,
            number(f1, 4),
            str(matched),
            Text(missing, style="red"),
            Text(extra, style="magenta"),
            Text(factor.why, style="dim"),
        )
    return table


def _marked(
    text: str, matched: Sequence[MatchedSpan], faults: Sequence[MatchedSpan], sign: str
) -> Text:
    """The segment with its spans: green where they match, marked and coloured where they do not."""
    from rich.text import Text

    made, at = Text(), 0
    spans = sorted(
        [(span, False) for span in matched] + [(span, True) for span in faults],
        key=lambda item: (item[0].start, not item[1], -item[0].end),
    )
    for span, fault in spans:
        if span.start < at or span.start == span.end:
            continue  # inside one that is already shown
        made.append(text[at : span.start])
        word = text[span.start : span.end]
        if fault:
            made.append(
                f"[{sign}{word}{sign}]", style="bold red" if sign == "-" else "bold magenta"
            )
        else:
            made.append(word, style="green")
        at = span.end
    made.append(text[at:])
    return made


def report(
    context: typer.Context,
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Run folder, and outputs of meta, sweep, contrast, rank or stress (folders or JSON).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Output HTML file (default: RUN/report.html)."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", help="Write the figures to this folder instead of a page."),
    ] = None,
    formats: Annotated[
        str, typer.Option("--as", help="Figure formats, comma-separated: pdf, svg, png.")
    ] = "pdf,svg,png",
    baseline: options.Baseline = None,
    title: Annotated[
        str, typer.Option("--title", help="Page title (default: the name of the corpus).")
    ] = "",
    segments: Annotated[
        int,
        typer.Option(
            "--segments",
            min=1,
            help="Maximum number of segments shown in the page; a sample if there are more.",
        ),
    ] = 5_000,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
) -> None:
    """Write an HTML report of a run: leaderboard, documents, texts side by side, comparisons. Loads no model."""
    from wholetext.reporting import PageOptions, Significance
    from wholetext.reporting.page import default_page, read_sources
    from wholetext.reporting.page import report as write

    run, studies = read_sources(runs)
    asked = Significance(alpha=alpha, seed=seed, baseline=baseline)
    how = None if run is None else _given(context, run, asked)
    page = out or (default_page(runs) if figures is None else None)
    files = write(
        [*([run] if run else []), *studies],
        page,
        figures=figures,
        baseline=baseline,
        significance=how,
        formats=[part.strip() for part in formats.split(",") if part.strip()],
        options=PageOptions(title, segments),
    )
    if figures is not None:
        print(f"figures: {count(len(files) - (page is not None), 'file')} in {figures}/")
    if page is not None:
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
