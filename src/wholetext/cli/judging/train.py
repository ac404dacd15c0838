"""`wholetext train`: a metric learned from human scores, by a recipe file or by options."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wholetext.cli import terminal

if TYPE_CHECKING:
    from wholetext.training.recipe import Recipe
    from wholetext.training.session import Moment, Trained


def train(
    data: Annotated[list[str], typer.Argument(help="A recipe (RECIPE.toml), or EvalSet folders (with -l).")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the metric; an interrupted run in it goes on.")],
    langs: Annotated[list[str] | None, typer.Option("-l", "--langs", help="Language pair (repeatable).")] = None,
    human: Annotated[str | None, typer.Option("--human", help="Human scores by name (MQM where there is MQM).")] = None,
    ref: Annotated[list[str] | None, typer.Option("--ref", help="References by name (the standard one).")] = None,
    base: Annotated[str | None, typer.Option("--base", help="Base model: short name, folder or hub name.")] = None,
    form: Annotated[str | None, typer.Option("--form", help="How texts are read: joint, separate, t5 …")] = None,
    adapter: Annotated[
        Literal["frozen", "lora", "full"] | None,
        typer.Option("--adapter", help="Which parameters of the base model are trained."),
    ] = None,
    sampling: Annotated[
        Literal["sentence", "uniform", "stratified"] | None,
        typer.Option("--sampling", help="Which lengths an epoch sees: k = 1, all, or equally many of each."),
    ] = None,
    k: Annotated[str | None, typer.Option("--k", help="Lengths in segments, e.g. 1..10 or 1,5,10.")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Maximum number of epochs.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", min=1, help="Examples per step.")] = None,
    rate: Annotated[float | None, typer.Option("--rate", help="Learning rate of the base model.")] = None,
    rank: Annotated[float | None, typer.Option("--rank", help="Weight of the ranking loss, 0 … 1.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Any other setting: adapter.rank=16 (repeatable).")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")] = None,
    data_folder: Annotated[
        Path | None, typer.Option("--data", help="Where EvalSets are looked up by name (WHOLETEXT_DATA).")
    ] = None,
    work: Annotated[
        Path | None, typer.Option("--work", help="Where features of a frozen base are kept; runs may share it.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Go on with the run in the folder, or begin anew.")
    ] = True,
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads; 0 = as many as torch takes.")] = 0,
    limit_minutes: Annotated[float, typer.Option("--limit-minutes", min=0, help="Stop training after this long.")] = 0,
    save_seconds: Annotated[float, typer.Option("--save-seconds", min=0, help="How often the state is saved.")] = 30,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")] = "auto",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> None:
    """Train a metric on human scores of paragraphs: a folder that `learned@FOLDER` scores with on any view.

    A killed run goes on where it stopped when the same command is given again.
    """
    from wholetext.cli.options import warn
    from wholetext.files.cache import damage_notes
    from wholetext.scoring.engine import Engine
    from wholetext.training.loop import train as run
    from wholetext.training.session import Session

    given = {"human": human, "refs": ref, "langs": langs}
    over = {"base": base, "form": form, "adapter.kind": adapter, "sampling": sampling, "epochs": epochs, "batch": batch,
            "rate": rate, "rank": rank, "seed": seed}
    recipe = chosen(data, given, {**over, **({"k": lengths(k)} if k else {}), **settings(set_ or [])})
    if threads:
        import torch

        torch.set_num_threads(threads)
    told = Told(quiet)
    found = run(recipe, Session(out, data_folder, work, not resume, limit_minutes, save_seconds,
                                Engine(device=device), told))
    told.end()
    warn(damage_notes())
    show(found)


def chosen(data: list[str], given: dict[str, Any], over: dict[str, Any]) -> Recipe:
    """The recipe of a file or of options; options win."""
    from wholetext.errors import InputError
    from wholetext.training.recipe import read_recipe

    overrides = {key: value for key, value in over.items() if value is not None}
    files = [name for name in data if name.endswith(".toml")]
    about = {key: value for key, value in given.items() if value}
    if files and len(data) > 1:
        raise InputError("a recipe names its data itself", where=files[0], next="give a recipe, or EvalSets")
    if files:
        if about:
            raise InputError(f"the recipe says which {', '.join(about)}", where=files[0], next="change it there")
        return read_recipe(Path(files[0]), overrides)
    return read_recipe(None, {"data": [{"evalset": name, **about} for name in data], **overrides})


def lengths(text: str) -> list[int]:
    from wholetext.cli.judging.meta import read_lengths

    return [*read_lengths(text)]


def settings(pairs: list[str]) -> dict[str, Any]:
    """``adapter.rank=16`` → the setting and its value, read as TOML where it is TOML, else as a word."""
    from wholetext.errors import InputError
    from wholetext.files.parsing import read_toml

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(f"{pair!r} is no setting", next="write --set name=value, e.g. --set adapter.rank=16")
        try:
            found[key.strip()] = read_toml(f"value = {text}")["value"]
        except InputError:
            found[key.strip()] = text.strip()
    return found


class Told:
    """Progress on stderr: a line that is written over on a terminal, one now and then elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.terminal, self.last, self.open = quiet, sys.stderr.isatty(), 0.0, False

    def __call__(self, moment: Moment) -> None:
        if self.quiet:
            return
        if moment.verdict is not None:
            self.end()
            found = moment.verdict
            print(f"step {moment.done}/{moment.total}: validation loss {found.loss:.4f}, acc_eq* {found.acc_eq:.4f}, "
                  f"Pearson {found.pearson:.4f}", file=sys.stderr)
            return
        now = time.monotonic()
        if now - self.last < (0.2 if self.terminal else 15) and moment.done < moment.total:
            return
        self.last = now
        text = f"{moment.stage} {moment.done}/{moment.total}"
        if moment.stage == "training":
            text += f", loss {moment.loss:.4f}, {moment.pace:.1f} pairs/s, {left(moment.left)} left"
        if self.terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self.open = True
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line that was written over."""
        if self.open:
            print(file=sys.stderr)
            self.open = False


def left(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def show(found: Trained) -> None:
    """The agreement on the validation examples, and how to go on."""
    from rich.table import Table

    table = Table("validation", "pairs", "acc_eq*", "Pearson", box=None)
    for part, pairs, acc, pearson in found.verdict.parts:
        table.add_row(part, str(pairs), f"{acc:.4f}", f"{pearson:.4f}")
    if len(found.verdict.parts) > 1:
        table.add_row("mean", "", f"{found.verdict.acc_eq:.4f}", f"{found.verdict.pearson:.4f}")
    console = terminal.console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    first, best = found.history[0]["verdict"]["loss"], found.verdict.loss
    ends = {"end": "after the last epoch", "patience": "because it got no better", "minutes": "by the time limit"}
    print(f"\n{found.examples[0]} training and {found.examples[1]} validation examples; ended {ends[found.stopped]}, "
          f"best after {found.best} steps; validation loss {first:.4f} → {best:.4f}")
    print(f"metric written to {found.out}; its card is README.md there\n"
          f"use it: wholetext score … -m 'paragraph(size=5):learned@{found.out}'")
