"""`wholetext sweep`: one metric over context sizes with controls, or over windows and strides, as a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options, terminal
from wholetext.cli.terminal import number
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.scoring.sweep import Sweep


def sweep(
    *,
    files: options.Files,
    metric: Annotated[str, typer.Option("-m", "--metric", help="Metric; the sweep replaces its view.")] = "chrf",
    context: Annotated[
        int | None, typer.Option("--context", min=0, help="Maximum context size in segments; sizes 0 … N are scored.")
    ] = None,
    hyp: Annotated[
        list[str] | None, typer.Option("--hyp", help="Context of the output: ref, own (default: both).")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", help="Origin of the context: same, or the controls shuffled, other (default: all)."),
    ] = None,
    window: Annotated[
        int | None, typer.Option("--window", min=1, help="Maximum window size in segments; sizes 1 … N are scored.")
    ] = None,
    step: Annotated[
        list[int] | None, typer.Option("--step", min=1, help="Stride of the windows (default: all; repeatable).")
    ] = None,
    partial: Annotated[
        Literal["drop", "include", "weighted"], typer.Option("--partial", help="How to treat incomplete windows.")
    ] = "drop",
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, max=2**63 - 1, help="Random seed of the shuffled and other-document controls."),
    ] = 0,
    chosen: options.Chosen,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output run folder; the grid is written to grid.json.")
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableJsonTsv = "table",
    json_: options.Json = False,
    execution: options.Execution,
    quiet: options.Quiet = False,
) -> None:
    """Score systems over a grid of context sizes (--context) or window sizes (--window)."""
    from wholetext.scoring.results import refuse_unwritable
    from wholetext.scoring.sweep import HYP, SOURCE, Axes, write_sweep
    from wholetext.scoring.sweep import sweep as run

    loaded = options.load(files, chosen)
    axes = Axes(context=context, hyp=tuple(hyp or HYP), source=tuple(source or SOURCE), window=window,
                step=tuple(step or ()), partial=partial, seed=seed)  # fmt: skip
    if out is not None:
        refuse_unwritable(out, overwrite=overwrite)  # fail before scoring
    with terminal.progress_bar(quiet) as progress:
        found = run(loaded.corpus, loaded.outputs, metric, axes, execution.options(progress=progress))
    notes = (*loaded.warnings, *found.results.warnings)
    found = replace(found, results=replace(found.results, warnings=notes))
    if out is not None:
        write_sweep(found, out)
    show(found, "json" if json_ else format)


def show(found: Sweep, format: Literal["table", "json", "tsv"]) -> None:
    """Print the grid, one line per cell."""
    from wholetext.notes import BLIND, CONTEXT_CUT, CUT, DROPPED

    notes = list(found.results.warnings)
    if format == "json":
        terminal.print_json({**found.as_json(), "notes": notes})
        return
    shown = (DROPPED, CUT, CONTEXT_CUT, BLIND)  # what the grid itself shows, cell by cell
    notes = [note for note in notes if not any(known in note for known in shown)]
    systems = list(found.results.systems)
    head = [*found.axes, *systems, "dropped", "context cut", "text cut"]
    if format == "table":
        _table(found, head, notes)
        return
    terminal.warn(notes)
    print(terminal.tsv_row(head))
    for cell in found.cells:
        scores = [repr(cell.scores[name].score) if cell.scores else "nan" for name in systems]
        shares = [repr(share) for share in (cell.dropped, cell.lost_context, cell.lost_focus)]
        print(terminal.tsv_row([*cell.settings.values(), *scores, *shares]))


def _table(found: Sweep, head: Sequence[str], notes: Sequence[str]) -> None:
    from rich.text import Text

    systems, corpus = found.results.systems, found.results.corpus
    places = next((one.places for cell in found.cells for one in cell.scores.values()), 4)
    console, table = terminal.console(max(80, 14 * len(head))), terminal.plain_table()
    for name in head:
        table.add_column(Text(terminal.printable(name)), justify="right", overflow="fold")
    for cell in found.cells:
        scores = [number(cell.scores[name].score if cell.scores else math.nan, places) for name in systems]
        shares = ["–" if math.isnan(share) else f"{100 * share:.1f} %"
                  for share in (cell.dropped, cell.lost_context, cell.lost_focus)]
        table.add_row(*(Text(str(value)) for value in cell.settings.values()), *scores, *shares)
    console.print(Text(f"{found.metric} {'↑' if found.higher_is_better else '↓'}", style="bold"))
    console.print(table)
    segments = count(sum(map(len, corpus.docs)), "segment")
    console.print(Text(
        f"\n{count(len(corpus), 'document')}, {segments}, {'-'.join(corpus.langs)}. dropped: segments not scored; "
        "context cut, text cut: rows that lost context or scored text to the model's limit.",
        style="dim"))
    terminal.notes(notes, console)
