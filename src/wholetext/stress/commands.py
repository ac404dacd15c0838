"""`wholetext stress`: which metric detects which document-level error."""

from __future__ import annotations

from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.stress.evaluate import Stress
    from wholetext.stress.statistics import StressCell

_KINDS = {"document": "document errors", "sentence": "sentence errors", "harmless": "harmless"}


def stress(
    files: options.Files = options.Files(),
    *,
    metric: options.Metrics = None,
    change: Annotated[
        list[str] | None,
        several("--change", help="Change to make, one of `wholetext list` (default: all)."),
    ] = None,
    dose: Annotated[
        list[str] | None,
        several(
            "--dose",
            help="Number or share of places to change, or all (default: 1, 50%, all).",
        ),
    ] = None,
    text: Annotated[
        str | None,
        option(
            "--text",
            help="Reference or system to change (default: a second reference or the best system).",
        ),
    ] = None,
    chosen: options.Chosen = options.Chosen(),
    execution: options.Execution = options.Execution(),
    draws: options.Resamples = 1000,
    seed: Annotated[
        int,
        option("--seed", low=0, high=2**63 - 1, help="Random seed of changes and resamples."),
    ] = 12345,
    out: Annotated[
        Path | None,
        option("--out", "-o", help="Output run folder, with stress.json."),
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableJsonTsv = "table",
    quiet: options.Quiet = False,
) -> None:
    """Measure how often, and by how much, metrics prefer documents over copies with controlled errors."""
    from wholetext.files.output_folder import check_folder
    from wholetext.scoring.evaluate import default_metrics
    from wholetext.scoring.results import RUN
    from wholetext.stress import StressOptions, stress as run, write_stress
    from wholetext.stress.perturbation import DOSES

    settings = StressOptions(
        tuple(change) if change else None, tuple(dose or DOSES), seed, text, draws
    )
    if out is not None:
        check_folder(out, RUN, overwrite=overwrite)
    loaded = options.load(files, chosen)
    metrics = metric or default_metrics(loaded.corpus, loaded.outputs)
    with terminal.progress_bar(quiet) as progress:
        study = run(
            loaded.corpus, loaded.outputs, metrics, settings, execution.options(progress=progress)
        )
    if out is not None:
        write_stress(study, out, overwrite=overwrite)
    _print(study, [*loaded.warnings, *study.notes], format)
    studies.finish(out, "stress.json", format)


def _print(study: Stress, notes: list[str], format: str) -> None:
    if format == "json":
        terminal.print_json({**study.as_json(), "notes": notes})
    elif format == "tsv":
        terminal.warn(notes)
        columns = list(asdict(study.cells[0]))
        rows = [
            ["" if value != value else value for value in astuple(cell)] for cell in study.cells
        ]
        terminal.print_tsv(columns, rows)
    else:
        _tables(study, notes)


def _tables(study: Stress, notes: list[str]) -> None:
    """Print the preferences at the largest dose, then errors against harmless changes."""
    console, dose, corpus = terminal.console(80), study.settings.doses[-1], study.results.corpus
    made: dict[str, dict[str, StressCell]] = {}
    for cell in study.cells:
        if cell.dose == dose:
            made.setdefault(cell.change, {})[cell.metric] = cell
    rows: list[list[str]] = []
    for kind, title in _KINDS.items():
        changes = [change for change in made if study.perturbed.kinds[change] == kind]
        rows += [[title, "", *([""] * len(study.metrics))]] if changes else []
        for change in changes:
            cells = [made[change][metric] for metric in study.metrics]
            rows.append([f"  {change}", f"{cells[0].documents:,}", *map(_cell, cells)])
    terminal.print_blocks(["change", "docs", *study.metrics], rows, 2, console)
    terminal.print_footer(
        f"Dose {dose}. Share of documents, in %, in which the original scores better than the "
        "changed text [95 % interval over documents], then the loss in standard deviations between "
        "systems. = ties, ? undefined: both count as not preferred.",
        console,
    )
    separation = [
        [change, *(_share(cell.auc, cell.auc_low, cell.auc_high) for cell in by_metric.values())]
        for change, by_metric in made.items()
        if any(cell.auc == cell.auc for cell in by_metric.values())
    ]
    if separation:
        console.print()
        terminal.print_blocks(["against harmless", *study.metrics], separation, 1, console)
        terminal.print_footer(
            f"Dose {dose}. Share of pairs, in %, in which one place of the error costs more than "
            "one place of a harmless change of words or marks (AUC). 50: the metric does not tell "
            "the error from a harmless change, however often it prefers the original.",
            console,
        )
    terminal.print_footer(
        f"{count(len(corpus), 'document')}, {'-'.join(corpus.langs)}; text under test: "
        f"{terminal.printable(study.text)}; {study.settings.draws:,} resamples of documents, seed "
        f"{study.settings.seed}.",
        console,
    )
    terminal.notes(notes, console)


def _cell(cell: StressCell) -> str:
    ties = f" ={cell.ties}" if cell.ties else ""
    undefined = f" ?{cell.undefined}" if cell.undefined else ""
    share = _share(cell.preferred, cell.low, cell.high)
    return f"{share} {terminal.number(cell.effect, 2)}{ties}{undefined}"


def _share(value: float, low: float, high: float) -> str:
    """A share in % with its interval."""
    interval = "" if low != low else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return "–" if value != value else f"{100 * value:.0f}{interval}"
