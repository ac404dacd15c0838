"""`wholetext train`: train a metric on human scores, from a recipe file or options."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from wholetext.cli import options, terminal
from wholetext.cli.options import option, several

if TYPE_CHECKING:
    from wholetext.training.run import Moment, Trained


def train(
    data: Annotated[
        list[str],
        Parameter(
            help="Recipe file (RECIPE.toml); sent-base, para-unif or para-strat (Deutsch et al. "
            "2023); or EvalSet folders (with -l)."
        ),
    ],
    /,
    *,
    out: Annotated[
        Path,
        option("-o", "--out", help="Output `FOLDER`; an interrupted run in it is resumed."),
    ],
    langs: Annotated[list[str] | None, several("-l", "--langs", help="Language `PAIR`.")] = None,
    gold: Annotated[
        str | None,
        option("--gold", help="Human scores to use (default: MQM if available)."),
    ] = None,
    ref: Annotated[
        list[str] | None,
        several("--ref", rare=True, help="References to use (default: the standard one)."),
    ] = None,
    base: Annotated[
        str | None, option("--base", help="Base `MODEL`: short name, folder or hub name.")
    ] = None,
    form: Annotated[
        str | None, option("--form", rare=True, help="`ARCHITECTURE`: aligned or t5.")
    ] = None,
    sampling: Annotated[
        Literal["sentence", "uniform", "stratified"] | None,
        option(
            "--sampling",
            rare=True,
            help="Paragraph lengths per epoch: k = 1, all, or equally many of each.",
        ),
    ] = None,
    k: options.LengthsIfAny = None,
    epochs: Annotated[
        int | None, option("--epochs", low=1, help="Maximum number of epochs.")
    ] = None,
    steps: Annotated[
        int | None, option("--steps", low=1, rare=True, help="Number of steps, instead of epochs.")
    ] = None,
    batch: Annotated[int | None, option("--batch", low=1, rare=True, help="Batch size.")] = None,
    learning_rate: Annotated[
        float | None, option("--learning-rate", rare=True, help="Learning `RATE`.")
    ] = None,
    runs: Annotated[
        int | None, option("--runs", low=1, help="Number of runs, with different seeds.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        several("--set", help="Override a recipe `SETTING`, e.g. head.hidden=[8]."),
    ] = None,
    seed: Annotated[int | None, option("--seed", low=0, rare=True, help="Random seed.")] = None,
    data_folder: Annotated[
        Path | None,
        option("--data", help="`FOLDER` of the EvalSets (default: $WHOLETEXT_DATA)."),
    ] = None,
    work: Annotated[
        Path | None,
        option(
            "--work", rare=True, help="Cache `FOLDER` for features of a frozen base; can be shared."
        ),
    ] = None,
    resume: Annotated[
        bool,
        option(
            "--resume", negative="--fresh", help="Resume the run in --out, or start from scratch."
        ),
    ] = True,
    device: options.Device = "auto",
    quiet: options.Quiet = False,
) -> None:
    """Train a metric on human scores of paragraphs; `-m learned@FOLDER` uses it with any view.

    To resume an interrupted run, run the same command again.

    Examples:
        wholetext train recipes/smoke.toml -o smoke-metric --data DATA
        wholetext train wmt21.news wmt22.da -l cs-en de-en --base minilm -o metric
        wholetext train para-strat --base google/mt5-small -o metric --data DATA
    """
    from wholetext.meta.paragraphs import read_lengths
    from wholetext.scoring.engine import Engine
    from wholetext.training.recipe import make_recipe, settings
    from wholetext.training.run import Session, train_runs

    over = {
        "base": base,
        "form": form,
        "sampling": sampling,
        "epochs": epochs,
        "steps": steps,
        "batch": batch,
        "rate": learning_rate,
        "runs": runs,
        "seed": seed,
        "k": [*read_lengths(k)] if k else None,
    }
    over = {name: value for name, value in over.items() if value is not None} | settings(set_ or [])
    recipe = make_recipe(data, over, human=gold or "", refs=ref or (), langs=langs or ())
    with terminal.progress_bar(quiet) as progress:

        def tell(moment: Moment) -> None:
            if moment.verdict and not quiet:
                print(f"step {moment.done} of {moment.total}: {moment.verdict}", file=sys.stderr)
            elif progress:
                progress(f"{moment.stage}: ", moment.done, moment.total)

        engine = Engine(device=device)
        session = Session(out, data_folder, work, not resume, engine=engine, tell=tell)
        trained = train_runs(recipe, session)
    show(trained)


def show(runs: Sequence[Trained]) -> None:
    """Print the agreement on the validation set, of several runs the mean ± standard deviation."""
    from statistics import fmean, stdev

    from rich.table import Table

    def cell(values: Sequence[float]) -> str:
        deviation = f" ± {stdev(values):.4f}" if len(values) > 1 else ""
        return f"{fmean(values):.4f}{deviation}"

    table = Table("validation", "pairs", "acc_eq*", "Pearson", box=None)
    for part in zip(*(trained.verdict.parts for trained in runs)):
        names, pairs, acc, pearson = zip(*part)
        table.add_row(names[0], str(pairs[0]), cell(acc), cell(pearson))
    verdicts = [trained.verdict for trained in runs]
    table.add_row(
        "mean",
        "",
        cell([verdict.acc_eq for verdict in verdicts]),
        cell([verdict.pearson for verdict in verdicts]),
    )
    terminal.console(80).print(table)
    ends = {"end": "after the last step", "patience": "by early stopping"}
    for trained in runs:
        first, best = trained.history[0]["verdict"]["loss"], trained.verdict.loss
        print(
            f"\n{trained.examples[0]} training and {trained.examples[1]} validation examples; "
            f"ended {ends[trained.stopped]}, best after {trained.best} steps; "
            f"validation loss {first:.4f} → {best:.4f}\n"
            f"metric written to {trained.out}; its card is README.md there\n"
            f"use it: wholetext score … -m 'paragraph(size=5):learned@{trained.out}'"
        )
