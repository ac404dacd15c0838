"""`wholetext contrast` and `features`: what metrics and discourse features are sensitive to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from wholetext.cli import options, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import warn
from wholetext.errors import InputError

if TYPE_CHECKING:
    from wholetext.meta.contrastive.accuracy import ContrastResults


def contrast(
    set: Annotated[
        str,
        Parameter(
            help="Contrastive set: JSONL, or JSON of ContraPro or DiscEvalMT.",
        ),
    ],
    /,
    *,
    metric: Annotated[
        list[str] | None, options.metrics_option("Reference-free metric to evaluate")
    ] = None,
    scores: Annotated[
        list[str] | None,
        several("--scores", help="Precomputed scores, NAME=FILE."),
    ] = None,
    minimize: Annotated[
        bool, option("--minimize", help="Lower is better in --scores files.")
    ] = False,
    documents: Annotated[
        Path | None,
        option("--documents", help="Line-aligned documents with the context (folder or TSV)."),
    ] = None,
    context: Annotated[
        int,
        option("--context", low=0, help="Number of context sentences to take from --documents."),
    ] = 3,
    langs: options.Langs = None,
    split: Annotated[
        Literal["distance", "flag"],
        option("--split", help="Define intra-sentential by distance 0 or by the item's flag."),
    ] = "distance",
    format: options.TableOrJson = "table",
    out: Annotated[
        Path | None, option("-o", "--out", help="Write contrast.json into this folder.")
    ] = None,
    execution: options.Execution = options.Execution(),
) -> None:
    """Evaluate metrics on a contrastive set: accuracy by group, confidence intervals, McNemar's test."""
    from wholetext.io.assembly import pair
    from wholetext.meta import contrast as run
    from wholetext.meta import read_contrast_set

    if not metric and not scores:
        raise InputError(
            "nothing to judge", where=set, next="name a metric (-m) or a file of scores (--scores)"
        )
    items = read_contrast_set(set, pair(langs) if langs else None, documents, context)
    warn(items.warnings)
    results = run(
        items,
        metric or (),
        options.named(scores),
        higher_is_better=not minimize,
        split=split,
        options=execution.options(),
        out=out,
    )
    for decisions in results.decisions:
        warn(decisions.warnings)
    if format == "json":
        terminal.print_json(results.as_json())
    else:
        _accuracies(results)


def _accuracies(results: ContrastResults) -> None:
    from rich.text import Text

    from wholetext.meta.contrastive.accuracy import groups, overall

    console, rows = terminal.console(80), []
    everything = {"": [[overall(accuracy)] for accuracy in results.decisions]}
    by_group = [groups(accuracy, results.split) for accuracy in results.decisions]
    everything |= {kind: [parts[kind] for parts in by_group] for kind in by_group[0]}
    for kind, columns in everything.items():
        for row in zip(*columns):
            label = f"{kind} {row[0].group}".strip()
            chance = f"{100 * row[0].chance:.1f}"
            cells = [
                f"{100 * accuracy.accuracy:.1f} [{100 * accuracy.low:.1f}, "
                f"{100 * accuracy.high:.1f}]"
                + (f" ={accuracy.ties}" if accuracy.ties else "")
                + (f" ?{accuracy.undefined}" if accuracy.undefined else "")
                for accuracy in row
            ]
            rows.append([label, str(row[0].total), chance, *cells])
    terminal.print_blocks(
        ["group", "items", "chance", *(accuracy.metric for accuracy in results.decisions)],
        rows,
        3,
        console,
    )
    console.print(
        Text(
            "\nAccuracy in %, with Wilson's 95 % interval. Ties (=) and undefined scores (?) are "
            "errors. "
            "Chance is what random scores without ties reach.",
            style="dim",
        )
    )
    for test in results.tests:
        console.print(
            Text(
                f"McNemar  {test.first} alone right {test.only_first}, {test.second} alone right "
                f"{test.only_second}, p = {test.p:.4g}"
            )
        )


def features(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        list[str] | None,
        options.metrics_option("Discourse feature of one text: freq, conn, rc, lc"),
    ] = None,
    chosen: options.Chosen = options.Chosen(),
    format: options.TableOrJson = "table",
) -> None:
    """Compare discourse features of outputs and references for each document."""
    from rich.text import Text

    from wholetext.meta.features import FEATURES, discriminativeness
    from wholetext.scoring.comparison import plain

    loaded = options.load(files, chosen)
    warn(loaded.warnings)
    comparisons = discriminativeness(loaded.corpus, loaded.outputs, metric or FEATURES)
    if format == "json":  # undefined is null
        terminal.print_json(plain([asdict(comparison) for comparison in comparisons]))
        return
    columns = ("output", "reference", "ref lower", "equal", "ref higher", "pairs", "identical")
    console, cells = terminal.console(80), []
    for comparison in comparisons:
        shares = (
            f"{100 * share:.1f} %"
            for share in (comparison.below, comparison.equal, comparison.above)
        )
        cells.append(
            [
                comparison.feature,
                comparison.system,
                f"{comparison.hyp:.4f}",
                f"{comparison.ref:.4f}",
                *shares,
                str(comparison.pairs),
                str(comparison.identical),
            ]
        )
    terminal.print_blocks(["feature", "system", *columns], cells, 2, console)
    console.print(
        Text(
            "\nShares of (document, reference) pairs; pairs of equal texts are left out.",
            style="dim",
        )
    )
