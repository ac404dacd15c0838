"""`wholetext compare`, `gate`, `explain` and `report`: commands that read a run folder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from wholetext import slices
from wholetext.cli import options, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import number, warn
from wholetext.errors import InputError, RunError, count, known

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from wholetext.metrics.blonde.explain import MatchedSpan, Reasons
    from wholetext.scoring.explain import Explained
    from wholetext.scoring.results import Results


def compare(
    run: options.RunFolder,
    /,
    *,
    baseline: options.Baseline = None,
    metric: Annotated[
        list[str] | None, options.metrics_option("Restrict to these metrics of the run")
    ] = None,
    component: Annotated[
        str | None,
        option(
            "--component",
            help="Component of the metrics to compare, e.g. recall (default: the score).",
        ),
    ] = None,
    format: options.FormatOfScores = "table",
    decimals: options.Decimals = None,
    by_domain: options.ByDomain = False,
    t_test: Annotated[
        bool,
        option("--t-test", help="Instead, t-tests of each output, paired over documents."),
    ] = False,
    between: Annotated[
        bool, option("--between", help="Instead, correlations between the metrics of the run.")
    ] = False,
    testing: options.Testing = options.Testing(),
    signatures: options.Signatures = False,
) -> None:
    """Compare the systems of a run: differences, confidence intervals, p-values, clusters, power.

    Uses the stored comparison of the run; it is computed again only if an option asks for another.

    Examples:
        wholetext compare run --baseline coherent
        wholetext compare run -m d-blonde --component recall
        wholetext compare run --test bootstrap -f latex
    """
    from wholetext.cli.leaderboard import pairs, render
    from wholetext.registry import scorer
    from wholetext.scoring.comparison import compare as compare_systems
    from wholetext.scoring.evaluate import open_run

    results = open_run(run)
    specs = list(results.scores)
    if metric:
        specs = [
            known("metric", scorer(text).spec, results.scores, where=str(run), error=RunError)
            for text in metric
        ]
        results = results.narrowed(specs)
    if t_test or between:
        _documents(results, baseline, component, t_test, between, format)
        return
    how = testing.significance(baseline, results) or results.significance
    comparisons = compare_systems(results, how, component)
    results = replace(results, significance=how)
    render(results, comparisons, format, signatures, decimals, by_domain)
    if format == "table":
        pairs(results, [comparisons[spec] for spec in specs], decimals)


def _documents(
    results: Results,
    baseline: str | None,
    component: str | None,
    t_test: bool,
    between: bool,
    format: str,
) -> None:
    """Print t-tests of systems (against the baseline, or each the next) or metrics' correlations."""
    from wholetext.scoring.comparison import plain
    from wholetext.scoring.significance.paired import between_metrics, paired_t

    names, content = list(results.systems), dict[str, Any]()
    pairs = list(pairwise(names))
    if baseline is not None:
        known("system", baseline, names)
        pairs = [(baseline, name) for name in names if name != baseline]
    if t_test:
        content["t_tests"] = [
            {"metric": spec, "from": first, "to": second, **asdict(test)}
            for spec, by_system in results.scores.items()
            for first, second in pairs
            for test in paired_t(by_system[second], by_system[first])
            if component in (None, test.category)
        ]
    if between:
        content["between_metrics"] = {
            "metrics": list(results.scores),
            "pearson": between_metrics(results.scores),
        }
    if format == "json":
        terminal.print_json(plain(content))
        return
    console = terminal.console(80)
    rows = [
        [test["metric"], test["category"], f"{test['from']} → {test['to']}"]
        + [number(test[key], digits) for key, digits in (("t", 2), ("p", 4))]
        for test in content.get("t_tests", ())
    ]
    if t_test:
        terminal.print_blocks(["metric", "output", "systems", "t", "p"], rows, 3, console)
    if between:
        table = content["between_metrics"]
        cells = [[n, *map(number, row)] for n, row in zip(table["metrics"], table["pearson"])]
        terminal.print_blocks(["", *table["metrics"]], cells, 1, console)


def gate(
    run: options.RunFolder,
    /,
    *,
    baseline: Annotated[
        str,
        option(
            "--baseline",
            help="System that others must not fall below.",
        ),
    ],
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics of the run to check (default: all)")
    ] = None,
    system: Annotated[
        list[str] | None,
        several(
            "--system",
            help="Systems to check (default: all others).",
        ),
    ] = None,
    max_drop: Annotated[
        float,
        option(
            "--max-drop", low=0, help="Largest significant drop that passes, in units of the score."
        ),
    ] = 0.0,
    junit: Annotated[
        Path | None, option("--junit", help="Also write JUnit XML to this `FILE`.")
    ] = None,
    format: options.TableOrJson = "table",
    testing: options.Testing = options.Testing(),
) -> None:
    """Exit with code 1 if a system scores significantly below the baseline.

    Prints one line per check.

    Examples:
        wholetext gate run --baseline production
        wholetext gate run --baseline production -m chrf --max-drop 0.5
        wholetext gate run --baseline production --junit gate.xml
    """
    from wholetext.files.storage import refuse_foreign, write_file
    from wholetext.scoring.evaluate import open_run
    from wholetext.scoring.gate import gate as check_run

    results = open_run(run)
    result = check_run(
        results,
        baseline,
        metrics=metric or (),
        systems=system or (),
        max_drop=max_drop,
        significance=testing.significance(baseline, results),
    )
    if junit is not None:
        refuse_foreign(junit, b"<testsuites", "JUnit XML", "--junit")
        write_file(junit, result.junit())
    if format == "json":
        terminal.print_json(result.as_json())
    else:
        warn(result.notes)
        for check in sorted(result.checks, key=lambda check: not check.passed):  # failures last
            print(terminal.printable(check.reason))
        failed = sum(not check.passed for check in result.checks)
        if len(result.checks) > 1:
            print(f"{failed or 'none'} of {count(len(result.checks), 'check')} failed")
    if not result.passed:
        raise SystemExit(1)


def explain(
    files: options.Files = options.Files(),
    *,
    doc: Annotated[
        str | None,
        option(
            "--doc",
            help="Document `ID` (default: that with the lowest score; BlonDe: with mean=occurring).",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        several("--system", help="System (required if there are several)."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        options.metrics_option(
            "blonde, d-blonde, blonde-plus or a metric with spans (default: the first in the run); "
            "with --features freq, conn, rc, lc"
        ),
    ] = None,
    ref: Annotated[
        list[str] | None, several("--ref", help="Reference to show (default: the first).")
    ] = None,
    all_: Annotated[bool, option("--all", help="Also show segments without errors.")] = False,
    features: Annotated[
        bool,
        option(
            "--features",
            help="Instead, compare discourse features of outputs and references by document.",
        ),
    ] = False,
    foci: Annotated[
        bool,
        option("--foci", rare=True, help="With --features: count sentences, foci, repeated foci."),
    ] = False,
    pairs: Annotated[
        bool,
        option(
            "--pairs", rare=True, help="With --features: print both values of every pair (TSV)."
        ),
    ] = False,
    format: options.TableOrJson = "table",
    langs: options.Langs = None,
    reader: options.Reader = None,
    columns: options.Columns = None,
) -> None:
    """Explain the score of a document of a run folder, or of any input of `wholetext score`.

    Shows matching, missing and extra tenses, pronouns, entities and markers.

    Examples:
        wholetext explain run --system patchwork --doc news-ferry
        wholetext explain run --system loopy -m d-blonde --all
        wholetext explain corpus.jsonl -l de-en --features
    """
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import open_run
    from wholetext.scoring.explain import explain as explained
    from wholetext.scoring.results import Results, run_file

    if files.input is not None and run_file(Path(files.input), "run.json").exists():
        results = open_run(files.input)
    else:
        chosen = options.Chosen(langs=langs, reader=reader, columns=columns)
        loaded = options.load(files, chosen)
        warn(loaded.warnings)
        results = Results(loaded.corpus, tuple(loaded.outputs), {}, tuple(loaded.warnings))
    mode = "--features" if features else "an explanation"
    unused = {"--doc": doc, "--all": all_} if features else {"--foci": foci, "--pairs": pairs}
    options.refuse_beside(mode, unused)
    if features:
        compare_features = slices.required("features", "--features")
        texts = Loaded(results.corpus, results.outputs).keep(system, ref)
        compare_features(texts, metric, foci, pairs, format)
        return
    metric_name, system_name, ref_name = (
        _single(values, name)
        for values, name in ((metric, "-m"), (system, "--system"), (ref, "--ref"))
    )
    explanation = explained(results, metric_name, system=system_name, doc=doc, ref=ref_name)
    warn(explanation.notes)
    if format == "json":
        terminal.print_json(explanation.as_json())
    else:
        _side_by_side(explanation, every=all_)


def _single(values: list[str] | None, option: str) -> str | None:
    if values and len(values) > 1:
        raise InputError(f"explain takes one {option}", next=f"choose: {option} {values[0]}")
    return values[0] if values else None


def _side_by_side(explained: Explained, *, every: bool) -> None:
    """Print a document beside its reference: its score, what differs, and a line per category."""
    from rich.text import Text

    console, values, blonde = terminal.console(80), explained.values(), explained.reasons
    first = list(values.items())[: 3 if blonde else 1]
    scores = " ".join(f"{name} {number(value, 4)}" for name, value in first)
    names = terminal.printable(f"{explained.doc}  {explained.system}  {explained.spec}")
    console.print(f"{names}  {scores}", style="bold")
    if explained.reason:
        console.print(f"! {explained.reason}", style="yellow")
    if blonde:
        console.print(blonde.sentence(values["f1"]))
    table = terminal.plain_table()
    reference = f"reference {explained.ref}" if explained.ref else "no reference"
    for name in ("", explained.system, reference):
        table.add_column(terminal.printable(name), ratio=1 if name else None)
    shown = [segment for segment in explained.segments if every or not segment.faultless]
    for segment in shown:
        table.add_row(
            Text(str(segment.number), "dim"),
            _marked(segment.hyp, segment.matched, segment.extra, "+"),
            _marked(segment.ref, segment.matched_ref, segment.missing, "-"),
        )
    console.print(table)
    console.print(_categories(explained, blonde) if blonde else _severities(explained))
    legend = (
        "[+extra+] is in the output alone, [-missing-] in the reference alone, green in both."
        if blonde
        else "[+text+] is what the metric marked."
    )
    hidden = len(explained.segments) - len(shown)
    segments = count(len(explained.segments), "segment")
    console.print(f"\n{hidden} of {segments} not shown. {legend}", style="dim")


def _severities(explained: Explained) -> Table:
    """One line per severity of the spans that a metric marked."""
    from rich.text import Text

    marked: dict[str, list[str]] = {}
    for segment in explained.segments:
        for span in segment.extra:
            why = f": {span.feature}" if span.feature else ""
            marked.setdefault(span.category, []).append(f"{span.text} ({segment.number}{why})")
    table = terminal.plain_table("severity", "marked")
    for severity, words in marked.items():
        table.add_row(
            terminal.printable(severity),
            Text(", ".join(words), "magenta"),
        )
    return table


def _categories(explained: Explained, blonde: Reasons) -> Table:
    """One line per category of BlonDe: F1, matches, missing and extra words, why it is 0."""
    from rich.text import Text

    from wholetext.metrics.blonde.units import DISCOURSE, HUMAN

    def words(kind: str, category: str) -> list[str]:
        return [
            f"{span.text} ({segment.number})"
            for segment in explained.segments
            for span in getattr(segment, kind)
            if span.category == category
        ]

    table = terminal.plain_table("category", "F1", "matched", "missing", "extra", "")
    for factor in blonde.factors:
        if factor.name in (*DISCOURSE, *HUMAN):
            table.add_row(
                factor.name,
                number(math.nan if factor.f1 is None else factor.f1, 4),
                str(len(words("matched", factor.name))),
                Text(", ".join(words("missing", factor.name)), "red"),
                Text(", ".join(words("extra", factor.name)), "magenta"),
                Text(factor.why, "dim"),
            )
    return table


def _marked(
    text: str, matched: Sequence[MatchedSpan], faults: Sequence[MatchedSpan], sign: str
) -> Text:
    """Colour the spans of a segment: green where they match, marked with ``sign`` where not."""
    from rich.text import Text

    styled, at = Text(), 0
    colour = "bold red" if sign == "-" else "bold magenta"
    marks = [(span.start, 0, -span.end) for span in faults]
    marks += [(span.start, 1, -span.end) for span in matched]
    for start, matches, end in sorted(marks):
        if at <= start < -end:  # not inside a span that is already shown
            styled.append(text[at:start])
            word = text[start:-end]
            styled.append(
                word if matches else f"[{sign}{word}{sign}]", "green" if matches else colour
            )
            at = -end
    return styled.append(text[at:])


def report(
    runs: Annotated[
        list[Path],
        Parameter(
            help="`RUN` folder, and what `meta`, `rank` or `score --sweep` wrote (folders or JSON).",
        ),
    ],
    /,
    *,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output HTML `FILE` (default: RUN/report.html)."),
    ] = None,
    open_: Annotated[bool, option("--open", help="Open the page in a browser.")] = False,
    figures: Annotated[
        Path | None,
        option("--figures", help="Write the figures to this `FOLDER` instead of a page."),
    ] = None,
    formats: Annotated[
        str, option("--as", help="Figure `FORMATS`, comma-separated: pdf, svg, png.")
    ] = "pdf,svg,png",
    baseline: options.Baseline = None,
    title: Annotated[
        str, option("--title", help="Page `TITLE` (default: the name of the corpus).")
    ] = "",
    max_segments: Annotated[
        int,
        option(
            "--max-segments",
            low=1,
            help="Maximum number of segments shown in the page; a sample if there are more.",
        ),
    ] = 5_000,
    testing: options.Testing = options.Testing(),
) -> None:
    """Write an HTML report of a run; loads no model.

    The page has a leaderboard, documents, texts side by side and comparisons.

    Examples:
        wholetext report run --open
        wholetext report run agreement -o page.html
        wholetext report run --figures figures --as pdf
    """
    from wholetext.reporting import PageOptions
    from wholetext.reporting.page import default_page, read_sources, report as write

    run, studies = read_sources(runs)
    page = out or (default_page(runs) if figures is None else None)
    files = write(
        [*([run] if run else []), *studies],
        page,
        figures=figures,
        baseline=baseline,
        significance=None if run is None else testing.significance(baseline, run),
        formats=[part.strip() for part in formats.split(",") if part.strip()],
        options=PageOptions(title, max_segments),
    )
    if figures is not None:
        print(f"figures: {count(len(files) - (page is not None), 'file')} in {figures}/")
    if page is not None:
        print(f"report: {page} ({page.stat().st_size / 1e6:.1f} MB)")
    if open_ and page is not None:
        import webbrowser

        if not webbrowser.open(page.resolve().as_uri()):
            warn(["no browser was found; open the page by hand"])
