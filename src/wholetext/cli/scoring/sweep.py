"""`wholetext sweep`: one metric over context sizes with controls, or over windows and strides, as a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli import terminal
from wholetext.cli.scoring.score import BatchTokens, Device, Dtype, NoCache, Overwrite, Quiet
from wholetext.notes import BLIND, CONTEXT_CUT, CUT, DROPPED

if TYPE_CHECKING:
    from wholetext.scoring.sweep import Sweep

Metric = Annotated[str, typer.Option("-m", "--metric", help="Metric; the sweep replaces its view.")]
ContextSize = Annotated[
    int | None, typer.Option("--context", min=0, help="Maximum context size in segments; sizes 0 … N are scored.")
]
Hyp = Annotated[
    list[str] | None, typer.Option("--hyp", help="Context of the output: ref, own (default: both).")
]
Source = Annotated[
    list[str] | None,
    typer.Option("--source", help="Origin of the context: same, or the controls shuffled, other (default: all)."),
]
Window = Annotated[
    int | None, typer.Option("--window", min=1, help="Maximum window size in segments; sizes 1 … N are scored.")
]
Step = Annotated[
    list[int] | None, typer.Option("--step", min=1, help="Stride of the windows (default: all; repeatable).")
]
Partial = Annotated[
    Literal["drop", "include", "weighted"], typer.Option("--partial", help="How to treat incomplete windows.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**63 - 1, help="Random seed of the shuffled and other-document controls.")
]
Out = Annotated[Path | None, typer.Option("--out", help="Output run folder; the grid is written to grid.json.")]
Format = Annotated[Literal["table", "json", "tsv"], typer.Option("-f", "--format", help="Output format.")]


def sweep(
    input: inputs.Input = None,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    metric: Metric = "chrf",
    context: ContextSize = None,
    hyp: Hyp = None,
    source: Source = None,
    window: Window = None,
    step: Step = None,
    partial: Partial = "drop",
    seed: Seed = 0,
    langs: inputs.Langs = None,
    test_set: inputs.TestSet = None,
    reader: inputs.Reader = None,
    system: inputs.Systems = None,
    ref: inputs.RefNames = None,
    out: Out = None,
    overwrite: Overwrite = False,
    format: Format = "table",
    json_: inputs.Json = False,
    no_cache: NoCache = False,
    device: Device = "auto",
    dtype: Dtype = "fp32",
    batch_tokens: BatchTokens = 1024,
    quiet: Quiet = False,
) -> None:
    """Score systems over a grid of context sizes (--context) or window sizes (--window)."""
    from dataclasses import replace

    from wholetext.cli.scoring.score import progress_bar, refuse_other_run
    from wholetext.scoring.evaluate import Options
    from wholetext.scoring.results import refuse_unwritable
    from wholetext.scoring.sweep import HYP, SOURCE, Axes
    from wholetext.scoring.sweep import sweep as run

    loaded = inputs.load(
        input, (sources, translations, references, docs), inputs.Chosen(langs, system, ref, reader), test_set
    )
    axes = Axes(context=context, hyp=tuple(hyp or HYP), source=tuple(source or SOURCE), window=window,
                step=tuple(step or ()), partial=partial, seed=seed)  # fmt: skip
    options = Options(cache=not no_cache, device=device, dtype=dtype, batch_tokens=batch_tokens)
    if out is not None:
        refuse_unwritable(out)  # fail before scoring if the folder cannot be written
        refuse_other_run(out, overwrite)
    with progress_bar(quiet) as progress:
        found = run(loaded.corpus, loaded.outputs, metric, axes, replace(options, progress=progress))
    notes = (*loaded.warnings, *found.results.warnings)
    found = replace(found, results=replace(found.results, warnings=notes))
    if out is not None:
        keep(found, out)
    show(found, "json" if json_ else format, list(found.results.warnings))


def keep(found: Sweep, out: Path) -> None:
    """A run folder like any other, and the grid beside it."""
    import json

    from wholetext.scoring.results import write_run

    write_run(found.results, out, {"grid.json": json.dumps(found.as_json(), ensure_ascii=False, indent=1)})


IN_THE_GRID = (DROPPED, CUT, CONTEXT_CUT, BLIND)  # notes that say cell by cell what the grid shows


def show(found: Sweep, format: Literal["table", "json", "tsv"], notes: list[str]) -> None:
    """Print the grid, one line per cell."""
    import json

    if format == "json":
        print(json.dumps({**found.as_json(), "notes": notes}, ensure_ascii=False, indent=1))
        return
    notes = [note for note in notes if not any(known in note for known in IN_THE_GRID)]
    systems = list(found.results.systems)
    head = [*found.axes, *systems, "dropped", "context cut", "text cut"]
    if format == "tsv":
        inputs.warn(notes)
        print(terminal.tsv_row(head))
        for cell in found.cells:
            scores = [repr(cell.scores[name].score) if cell.scores else "nan" for name in systems]
            shares = [repr(share) for share in (cell.dropped, cell.lost_context, cell.lost_focus)]
            print(terminal.tsv_row([*cell.settings.values(), *scores, *shares]))
        return
    _table(found, head, notes)


def _table(found: Sweep, head: list[str], notes: list[str]) -> None:
    import math

    from rich.table import Table
    from rich.text import Text

    from wholetext.cli.tables.leaderboard import footer, number

    systems = found.results.systems
    places = next((one.places for cell in found.cells for one in cell.scores.values()), 4)
    wide = terminal.console()
    console = wide if wide.is_terminal else terminal.console(width=max(80, 14 * len(head)))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in head:
        table.add_column(Text(terminal.printable(name)), justify="right", overflow="fold")
    for cell in found.cells:
        scores = [number(cell.scores[name].score if cell.scores else math.nan, places) for name in systems]
        shares = [_percent(share) for share in (cell.dropped, cell.lost_context, cell.lost_focus)]
        table.add_row(*(Text(str(value)) for value in cell.settings.values()), *scores, *shares)
    console.print(Text(f"{found.metric} {'↑' if found.higher_is_better else '↓'}", style="bold"))
    console.print(table)
    corpus = found.results.corpus
    console.print(Text(
        f"\n{len(corpus)} documents, {sum(map(len, corpus.docs))} segments, {'-'.join(corpus.langs)}. dropped: "
        "segments not scored; context cut, text cut: rows that lost context or scored text to the model's limit.",
        style="dim"))
    footer(notes, console)


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f} %"
