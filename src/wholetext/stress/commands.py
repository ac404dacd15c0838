"""`wholetext stress`: which metric sees which document-level error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wholetext.cli import options, terminal
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.stress.evaluate import Stress
    from wholetext.stress.statistics import StressCell

_KINDS = {"document": "document errors", "sentence": "sentence errors", "harmless": "harmless"}
_COLUMNS = (
    "metric",
    "change",
    "kind",
    "dose",
    "documents",
    "preferred",
    "low",
    "high",
    "ties",
    "undefined",
    "effect",
    "effect_low",
    "effect_high",
    "loss",
    "auc",
    "auc_low",
    "auc_high",
)


def stress(
    *,
    files: options.Files,
    metric: options.Metrics = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--change", help="Change to make, one of `wholetext list` (repeatable; default: all)."
        ),
    ] = None,
    dose: Annotated[
        list[str] | None,
        typer.Option(
            "--dose",
            help="Number or share of places to change, or all (repeatable; default: 1, 50%, all).",
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="Reference or system to change (default: a second reference or the best system).",
        ),
    ] = None,
    chosen: options.Chosen,
    execution: options.Execution,
    draws: options.Resamples = 1000,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, max=2**63 - 1, help="Random seed of changes and resamples."),
    ] = 12345,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Output run folder, with stress.json and, for contrast, stress.jsonl.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.Format = "table",
    quiet: options.Quiet = False,
) -> None:
    """Measure how often, and by how much, metrics prefer documents over copies with controlled errors."""
    from wholetext.scoring.defaults import default_metrics
    from wholetext.scoring.results import refuse_unwritable
    from wholetext.stress.evaluate import stress as run
    from wholetext.stress.perturb import DOSES, StressOptions
    from wholetext.stress.store import write_stress

    settings = StressOptions(
        tuple(change) if change else None, tuple(dose or DOSES), seed, text, draws
    )
    if out is not None:
        refuse_unwritable(out, overwrite=overwrite)
    loaded = options.load(files, chosen)
    metrics = metric or default_metrics(loaded.corpus, loaded.outputs)
    with terminal.progress_bar(quiet) as progress:
        found = run(
            loaded.corpus, loaded.outputs, metrics, settings, execution.options(progress=progress)
        )
    if out is not None:
        found = write_stress(found, out, overwrite=overwrite)
    _print(found, [*loaded.warnings, *found.notes], format)


def _print(found: Stress, notes: list[str], format: str) -> None:
    if format == "json":
        terminal.print_json({**found.as_json(), "notes": notes})
        return
    if format == "table":
        with terminal.paged():
            _tables(found, notes)
        return
    terminal.warn(notes)
    if format == "tsv":
        rows = [
            ["" if value != value else value for value in (getattr(one, name) for name in _COLUMNS)]
            for one in found.cells
        ]
        print("\n".join(map(terminal.tsv_row, [_COLUMNS, *rows])))
    else:
        print(_latex(found))


def _by_change(found: Stress) -> dict[str, dict[str, dict[str, StressCell]]]:
    """Change → metric → dose → figures, of changes that were made."""
    made: dict[str, dict[str, dict[str, StressCell]]] = {name: {} for name in found.perturbed.kinds}
    for one in found.cells:
        made[one.change].setdefault(one.metric, {})[one.dose] = one
    return {change: by_metric for change, by_metric in made.items() if by_metric}


def _tables(found: Stress, notes: list[str]) -> None:
    from rich.text import Text

    console, made = terminal.console(80), _by_change(found)
    largest = found.settings.doses[-1]
    rows: list[list[str]] = []
    for kind, title in _KINDS.items():
        mine = {name: of for name, of in made.items() if found.perturbed.kinds[name] == kind}
        if mine:
            rows.append([title, "", *([""] * len(found.metrics))])
            rows += [_row(name, of, found, largest) for name, of in mine.items()]
    terminal.print_blocks(["change", "docs", *found.metrics], rows, 2, console)
    console.print(
        Text(
            f"\nDose {largest}. Share of documents, in %, in which the original scores better than the changed "
            "text [95 % interval over documents], then the loss in standard deviations between systems. "
            "= ties, ? undefined: both count as not preferred.",
            style="dim",
        )
    )
    _separation(found, made)
    if len(found.settings.doses) > 1:
        _doses(found, made)
    corpus = found.results.corpus
    console.print(
        Text(
            f"\n{count(len(corpus), 'document')}, {'-'.join(corpus.langs)}; text under test: "
            f"{terminal.printable(found.text)}; "
            f"{found.settings.draws:,} resamples of documents, seed {found.settings.seed}.",
            style="dim",
        )
    )
    terminal.notes(notes, console)


def _row(
    name: str, by_metric: dict[str, dict[str, StressCell]], found: Stress, dose: str
) -> list[str]:
    cells = [by_metric.get(spec, {}).get(dose) for spec in found.metrics]
    documents = next((one.documents for one in cells if one is not None), 0)
    return [f"  {name}", f"{documents:,}", *(_cell(one) for one in cells)]


def _cell(one: StressCell | None) -> str:
    if one is None:
        return "–"
    marks = (f" ={one.ties}" if one.ties else "") + (f" ?{one.undefined}" if one.undefined else "")
    return f"{_share(one.preferred, one.low, one.high)} {terminal.number(one.effect, 2)}{marks}"


def _share(value: float, low: float, high: float) -> str:
    """A share in % with its interval."""
    if value != value:
        return "–"
    return f"{100 * value:.0f}" + ("" if low != low else f" [{100 * low:.0f}, {100 * high:.0f}]")


def _separation(found: Stress, made: dict[str, dict[str, dict[str, StressCell]]]) -> None:
    """How well errors are told from harmless changes, where both were made."""
    from rich.text import Text

    console, dose = terminal.console(80), found.settings.doses[-1]
    rows = []
    for name, by_metric in made.items():
        cells = [by_metric.get(spec, {}).get(dose) for spec in found.metrics]
        if any(one is not None and one.auc == one.auc for one in cells):
            rows.append(
                [
                    name,
                    *(
                        "–" if one is None else _share(one.auc, one.auc_low, one.auc_high)
                        for one in cells
                    ),
                ]
            )
    if not rows:
        return
    console.print()
    terminal.print_blocks(["against harmless", *found.metrics], rows, 1, console)
    console.print(
        Text(
            f"\nDose {dose}. Share of pairs, in %, in which one place of the error costs more than one place of a "
            "harmless change of words or marks (AUC). 50: the metric does not tell the error from a harmless "
            "change, however often it prefers the original.",
            style="dim",
        )
    )


def _doses(found: Stress, made: dict[str, dict[str, dict[str, StressCell]]]) -> None:
    """The loss at each dose, and the slope over the share of places that were changed."""
    from rich.text import Text

    console, slopes = terminal.console(80), {(one.change, one.metric): one for one in found.slopes}
    rows = []
    for name, by_metric in made.items():
        row = [name]
        for spec in found.metrics:
            losses = " ".join(
                terminal.number(one.effect, 2) for one in by_metric.get(spec, {}).values()
            )
            slope = slopes.get((name, spec))
            row.append(f"{losses}  {terminal.number(slope.slope, 2) if slope else '–'}")
        rows.append(row)
    console.print()
    terminal.print_blocks(["loss by dose", *found.metrics], rows, 1, console)
    console.print(
        Text(
            f"\nLoss at dose {', '.join(found.settings.doses)}; then its slope from no place changed to all "
            "of them, over documents with several places.",
            style="dim",
        )
    )


def _latex(found: Stress) -> str:
    """Changes by metrics at the largest dose: share preferred, effect, AUC against harmless changes."""
    head = [
        "change",
        "documents",
        *(f"\\multicolumn{{3}}{{r}}{{{_tex(spec)}}}" for spec in found.metrics),
    ]
    below = ["", "", *(["preferred, \\%", "effect", "AUC, \\%"] * len(found.metrics))]
    parts: dict[str, list[list[str]]] = {kind: [] for kind in _KINDS}
    dose = found.settings.doses[-1]
    for name, by_metric in _by_change(found).items():
        row = _row(name, by_metric, found, dose)
        cells = [
            one for spec in found.metrics for one in _tex_cells(by_metric.get(spec, {}).get(dose))
        ]
        parts[found.perturbed.kinds[name]].append([_tex(name), row[1], *cells])
    return terminal.booktabs(
        "l" + "r" * (1 + 3 * len(found.metrics)), [head, below], *filter(None, parts.values())
    )


def _tex_cells(one: StressCell | None) -> tuple[str, str, str]:
    if one is None:
        return "--", "--", "--"
    effect, auc = terminal.number(one.effect, 2), _share(one.auc, one.auc_low, one.auc_high)
    return (
        _share(one.preferred, one.low, one.high),
        effect.replace("–", "--"),
        auc.replace("–", "--"),
    )


def _tex(text: str) -> str:
    return terminal.printable(text).translate(terminal.LATEX)
