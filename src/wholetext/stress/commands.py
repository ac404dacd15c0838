"""`wholetext meta stress`: which metric detects which document-level error."""

from __future__ import annotations

from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.errors import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wholetext.stress.evaluate import Stress
    from wholetext.stress.statistics import StressCell

_KINDS = {"document": "document errors", "sentence": "sentence errors", "harmless": "harmless"}
_CHANCE = 0.5  # AUC of a metric that does not tell errors from harmless changes


def stress(
    files: options.Files = options.Files(),
    *,
    metric: options.Metrics = None,
    change: Annotated[
        list[str] | None,
        several("--change", help="`CHANGE` to make, one of `wholetext list` (default: all)."),
    ] = None,
    dose: Annotated[
        list[str] | None,
        several(
            "--dose",
            help="`DOSE`, number or share of places to change, or all (default: 1, 50%, all).",
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
        option("-o", "--out", help="Output run `FOLDER`, with stress.json."),
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableJsonTsv = "table",
    quiet: options.Quiet = False,
) -> None:
    """Test metrics with controlled errors in good documents.

    Measures how often, and by how much, metrics prefer the documents over the changed copies.

    Examples:
        wholetext meta stress corpus.jsonl -m chrf whole:chrf -o stress
        wholetext meta stress corpus.jsonl -m comet --change swap drop --dose all
    """
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
    """Print the finding, and metrics by changes at the largest dose; the rest is in the report."""
    console, dose, corpus = terminal.console(80), study.settings.doses[-1], study.results.corpus
    made: dict[str, dict[str, StressCell]] = {}
    for cell in study.cells:
        if cell.dose == dose:
            made.setdefault(cell.change, {})[cell.metric] = cell
    told = any(c.auc == c.auc for by_metric in made.values() for c in by_metric.values())
    rows: list[list[str]] = []
    for kind, title in _KINDS.items():
        changes = [change for change in made if study.perturbed.kinds[change] == kind]
        rows += [[title, "", *([""] * len(study.metrics))]] if changes else []
        for change in changes:
            cells = [made[change][metric] for metric in study.metrics]
            rows.append(
                [f"  {change}", f"{cells[0].documents:,}", *(_cell(cell, told) for cell in cells)]
            )
    terminal.print_finding(_finding(study, made), console)
    terminal.print_blocks(["change", "docs", *study.metrics], rows, 2, console)
    after = (
        "in how many % of the pairs one error costs more than one harmless change of words or "
        "marks (AUC; 50: not told apart)"
    )
    terminal.print_footer(
        f"Dose {dose}. In how many % of the documents the original scores better than the changed "
        f"text; after the dot, {after if told else 'the loss in standard deviations of systems'}.",
        console,
    )
    terminal.print_footer(
        f"{count(len(corpus), 'document')}, {'-'.join(corpus.langs)}; text under test: "
        f"{terminal.printable(study.text)}; seed {study.settings.seed}. Intervals, losses, ties "
        "and other doses: -f json and the report.",
        console,
    )
    terminal.warn(notes, console)


def _finding(study: Stress, made: Mapping[str, Mapping[str, StressCell]]) -> str:
    """Say how many kinds of errors each metric tells from harmless changes, and which none does."""
    errors = [change for change in made if study.perturbed.kinds[change] != "harmless"]
    compared = [change for change in errors if any(c.auc == c.auc for c in made[change].values())]
    if not compared:
        shares = [
            f"{metric} in {100 * sum(c.preferred * c.documents for c in own) / total:.0f} %"
            for metric in study.metrics
            if (own := [made[change][metric] for change in errors])
            and (total := sum(c.documents for c in own))
        ]
        if not shares:
            return "No error could be made in these documents."
        return f"The original is preferred to one with errors: {', '.join(shares)} of documents."
    told = {
        metric: [change for change in compared if made[change][metric].auc_low > _CHANCE]
        for metric in study.metrics
    }
    ranked = sorted(told, key=lambda metric: -len(told[metric]))
    parts = [f"{metric} {len(told[metric])}" for metric in ranked]
    missed = [change for change in compared if not any(change in own for own in told.values())]
    nobody = f"; by none {terminal.listed(missed, most=9)}" if missed else ""
    return (
        f"Of {count(len(compared), 'kind')} of errors, told significantly from harmless changes: "
        f"{', '.join(parts)}{nobody}."
    )


def _cell(cell: StressCell, told: bool) -> str:
    """Render the share of preferences, and the AUC; the loss where no metric has an AUC."""
    more = f"{100 * cell.auc:.0f}" if told else f"{cell.effect:.2f}"
    return f"{100 * cell.preferred:.0f}" + ("" if more == "nan" else f" · {more}")
