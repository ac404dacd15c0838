"""`wholetext train`: train a metric on human scores, from a recipe file or options."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options, terminal

if TYPE_CHECKING:
    from wholetext.training.run import Moment, Trained


def train(
    data: Annotated[
        list[str], typer.Argument(help="Recipe file (RECIPE.toml), or EvalSet folders (with -l).")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Output folder; an interrupted run in it is resumed."),
    ],
    langs: Annotated[
        list[str] | None, typer.Option("-l", "--langs", help="Language pair (repeatable).")
    ] = None,
    human: Annotated[
        str | None,
        typer.Option("--human", help="Human scores to use, by name (default: MQM if available)."),
    ] = None,
    ref: Annotated[
        list[str] | None,
        typer.Option("--ref", help="References to use, by name (default: the standard one)."),
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="Base model: short name, folder or hub name.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--form", help="Architecture: aligned, matched, bitext or t5.")
    ] = None,
    adapter: Annotated[
        Literal["frozen", "lora", "full"] | None,
        typer.Option("--adapter", help="Which parameters of the base model are trained."),
    ] = None,
    sampling: Annotated[
        Literal["sentence", "uniform", "stratified"] | None,
        typer.Option(
            "--sampling", help="Paragraph lengths per epoch: k = 1, all, or equally many of each."
        ),
    ] = None,
    k: options.LengthsIfAny = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Maximum number of epochs.")
    ] = None,
    batch: Annotated[int | None, typer.Option("--batch", min=1, help="Batch size.")] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Learning rate of the base model.")
    ] = None,
    rank: Annotated[
        float | None, typer.Option("--rank", help="Weight of the ranking loss, from 0 to 1.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a recipe setting, e.g. adapter.rank=16 (repeatable)."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Random seed.")] = None,
    data_folder: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Folder of EvalSets, looked up by name (default: $WHOLETEXT_DATA)."
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", help="Cache folder for features of a frozen base model; can be shared."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Resume the run in --out, or start from scratch."),
    ] = True,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="Number of CPU threads; 0 = PyTorch's default.")
    ] = 0,
    limit_minutes: Annotated[
        float,
        typer.Option(
            "--limit-minutes", min=0, help="Maximum training time in minutes; 0 = no limit."
        ),
    ] = 0,
    save_seconds: Annotated[
        float, typer.Option("--save-seconds", min=0, help="Seconds between checkpoints.")
    ] = 30,
    device: options.Device = "auto",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Do not print progress.")] = False,
) -> None:
    """Train a metric on human scores of paragraphs; `-m learned@FOLDER` uses it with any view.

    To resume an interrupted run, run the same command again.
    """
    from wholetext.meta.paragraphs import read_lengths
    from wholetext.scoring.engine import Engine
    from wholetext.training.recipe import make_recipe, settings
    from wholetext.training.run import Session
    from wholetext.training.run import train as run

    over = {
        "base": base,
        "form": form,
        "adapter.kind": adapter,
        "sampling": sampling,
        "epochs": epochs,
        "batch": batch,
        "rate": rate,
        "rank": rank,
        "seed": seed,
        "k": [*read_lengths(k)] if k else None,
    }
    over = {name: value for name, value in over.items() if value is not None} | settings(set_ or [])
    recipe = make_recipe(data, over, human=human, refs=ref or (), langs=langs or ())
    progress = TrainingProgress(quiet)
    trained = run(
        recipe,
        Session(
            out,
            data_folder,
            work,
            not resume,
            limit_minutes,
            save_seconds,
            threads,
            Engine(device=device),
            progress,
        ),
    )
    progress.end()
    show(trained)


class TrainingProgress:
    """Progress on stderr: one updated line on a terminal, a line every 15 seconds elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.terminal, self.last, self.open = quiet, sys.stderr.isatty(), 0.0, False

    def __call__(self, moment: Moment) -> None:
        if self.quiet:
            return
        if moment.verdict is not None:
            self.end()
            verdict = moment.verdict
            print(
                f"step {moment.done}/{moment.total}: validation loss {verdict.loss:.4f}, acc_eq* {verdict.acc_eq:.4f}, "
                f"Pearson {verdict.pearson:.4f}",
                file=sys.stderr,
            )
            return
        now = time.monotonic()
        if now - self.last < (0.2 if self.terminal else 15) and moment.done < moment.total:
            return
        self.last = now
        text = f"{moment.stage} {moment.done}/{moment.total}"
        if moment.stage == "training":
            left = f"{moment.left:.0f} s" if moment.left < 90 else f"{moment.left / 60:.0f} min"
            text += f", loss {moment.loss:.4f}, {moment.pace:.1f} pairs/s, {left} left"
        if self.terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self.open = True
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line that is being updated."""
        if self.open:
            print(file=sys.stderr)
            self.open = False


def show(trained: Trained) -> None:
    """Print the agreement on the validation set, and how to use the metric."""
    from rich.table import Table

    table = Table("validation", "pairs", "acc_eq*", "Pearson", box=None)
    for part, pairs, acc, pearson in trained.verdict.parts:
        table.add_row(part, str(pairs), f"{acc:.4f}", f"{pearson:.4f}")
    if len(trained.verdict.parts) > 1:
        table.add_row("mean", "", f"{trained.verdict.acc_eq:.4f}", f"{trained.verdict.pearson:.4f}")
    terminal.console(80).print(table)
    first, best = trained.history[0]["verdict"]["loss"], trained.verdict.loss
    ends = {
        "end": "after the last epoch",
        "patience": "by early stopping",
        "minutes": "at the time limit",
    }
    print(
        f"\n{trained.examples[0]} training and {trained.examples[1]} validation examples; "
        f"ended {ends[trained.stopped]}, best after {trained.best} steps; validation loss {first:.4f} → {best:.4f}"
    )
    print(
        f"metric written to {trained.out}; its card is README.md there\n"
        f"use it: wholetext score … -m 'paragraph(size=5):learned@{trained.out}'"
    )
