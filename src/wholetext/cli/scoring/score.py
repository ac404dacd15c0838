"""`wholetext score`: all systems under all metrics, with intervals and significance, in one table and a run folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli import terminal

if TYPE_CHECKING:
    from wholetext.scoring.evaluate import Options, Progress
    from wholetext.significance.compare import Significance


def int_or_none(text: str) -> int | None:
    """An integer, or ``none`` for a random seed, as for sacreBLEU's SACREBLEU_SEED."""
    from wholetext.files.parsing import integer

    return None if str(text).lower() == "none" else integer(str(text), low=0, high=2**63 - 1, where="--seed")


Format = Annotated[Literal["table", "json", "tsv", "latex"], typer.Option("-f", "--format", help="Output format.")]
Out = Annotated[Path | None, typer.Option("--out", help="Output run folder (read by compare, explain and report).")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing run in --out.")]
Signatures = Annotated[bool, typer.Option("--signatures", help="Print full signatures.")]
Baseline = Annotated[
    str | None, typer.Option("--baseline", help="Baseline system for paired tests (default: the best system).")
]
Resample = Annotated[
    Literal["documents", "segments"], typer.Option("--resample", help="Unit that is resampled in significance tests.")
]
UNITS: dict[str, Literal["doc", "segment"]] = {"documents": "doc", "segments": "segment"}  # of --resample
Test = Annotated[
    Literal["randomization", "bootstrap", "bootstrap-centred"], typer.Option("--test", help="Paired significance test.")
]
Draws = Annotated[
    int | None,
    typer.Option("--draws", min=1, help="Number of trials (default 10,000) or bootstrap resamples (default 1,000)."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", help="Random seed; 'none' for a different seed each time.", envvar="SACREBLEU_SEED",
                 parser=int_or_none, metavar="INT|none"),
]
Alpha = Annotated[float, typer.Option("--alpha", help="Significance level.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Disable the cache of scores.")]
Device = Annotated[str, typer.Option("--device", help="Device: auto, cpu, cuda or mps.")]
Dtype = Annotated[str, typer.Option("--dtype", metavar="fp32|bf16|fp16", help="Numeric precision of models.")]
BatchTokens = Annotated[
    int, typer.Option("--batch-tokens", min=1, help="Maximum number of tokens per batch, padding included.")
]
Overflow = Annotated[
    Literal["warn", "error"], typer.Option("--overflow", help="What to do if text exceeds the model's maximum length.")
]
NoFlags = Annotated[bool, typer.Option("--no-flags", help="Disable checks for suspicious input and degenerate output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not show a progress bar.")]


def score(
    input: inputs.Input = None,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    metric: inputs.Metrics = ["chrf", "bleu"],  # noqa: B006  typer reads the default, nobody changes it
    langs: inputs.Langs = None,
    test_set: inputs.TestSet = None,
    reader: inputs.Reader = None,
    system: inputs.Systems = None,
    ref: inputs.RefNames = None,
    out: Out = None,
    overwrite: Overwrite = False,
    format: Format = "table",
    json_: inputs.Json = False,
    baseline: Baseline = None,
    resample: Resample = "documents",
    test: Test = "randomization",
    draws: Draws = None,
    seed: Seed = 12345,
    alpha: Alpha = 0.05,
    no_cache: NoCache = False,
    device: Device = "auto",
    dtype: Dtype = "fp32",
    batch_tokens: BatchTokens = 1024,
    overflow: Overflow = "warn",
    no_flags: NoFlags = False,
    signatures: Signatures = False,
    quiet: Quiet = False,
) -> None:
    """Score systems on whole documents, with confidence intervals and significance tests."""
    from wholetext.scoring.evaluate import Options
    from wholetext.significance.compare import Significance

    wanted = inputs.Chosen(langs, system, ref, reader)
    loaded = inputs.load(input, (sources, translations, references, docs), wanted, test_set)
    options = Options(cache=not no_cache, device=device, dtype=dtype, batch_tokens=batch_tokens, overflow=overflow,
                      flags=not no_flags)
    how = Significance(test, UNITS[resample], draws, seed, alpha, baseline)
    shown = Presentation(out, overwrite, "json" if json_ else format, signatures, quiet)
    run(loaded, metric, options, how, shown)


@dataclass(frozen=True)
class Presentation:
    """How results are kept and shown."""

    out: Path | None = None
    overwrite: bool = False
    format: Literal["table", "json", "tsv", "latex"] = "table"
    signatures: bool = False
    quiet: bool = False


def run(loaded: Any, metrics: list[str], options: Options, how: Significance, shown: Presentation) -> None:
    """Evaluate, compare, keep and print."""
    from dataclasses import replace

    from wholetext.cli.tables.leaderboard import render
    from wholetext.errors import WholetextError
    from wholetext.scoring.evaluate import evaluate
    from wholetext.scoring.results import write_run
    from wholetext.significance.stored import stored

    refuse_early(how, shown, [output.system for output in loaded.outputs])
    try:
        with progress_bar(shown.quiet) as progress:
            results = evaluate(loaded.corpus, loaded.outputs, metrics, replace(options, progress=progress))
    except WholetextError:
        inputs.warn(loaded.warnings)  # what the reader noticed may be the cause
        raise
    comparisons = [how.compare(scores) for scores in results.scores.values()]
    results = replace(results, warnings=(*loaded.warnings, *results.warnings), comparison=stored(how, comparisons))
    if shown.out is not None:
        write_run(results, shown.out)
    render(results, comparisons, shown.format, shown.signatures)


def chosen(context: typer.Context, kept: Significance | None, given: Significance) -> Significance | None:
    """How to compare a run that was compared before: as then, except for flags given on this command line.

    None: exactly as then. A run that was never compared is compared as given.
    """
    from dataclasses import asdict, replace

    if kept is None:
        return given
    names = {"unit": "resample"}  # field → option, where they differ
    anew = {name: value for name, value in asdict(given).items()
            if (source := context.get_parameter_source(names.get(name, name))) and source.name == "COMMANDLINE"}
    return replace(kept, **anew) if anew else None


def refuse_other_run(out: Path, overwrite: bool) -> None:
    """Raise if --out contains a run and --overwrite is not given."""
    from wholetext.errors import RunError
    from wholetext.scoring.results import run_file

    if not overwrite and run_file(out, "run.json").exists():
        raise RunError("there is a run here already", where=str(out),
                       next="choose another --out, or replace it with --overwrite")


def refuse_early(how: Significance, shown: Presentation, systems: list[str]) -> None:
    """Validate before any work what would otherwise fail after hours of scoring."""
    from wholetext.errors import InputError, did_you_mean
    from wholetext.scoring.results import refuse_unwritable

    if how.baseline is not None and how.baseline not in systems:
        near = did_you_mean(how.baseline, systems) or f"the systems are {', '.join(systems)}"
        raise InputError(f"there is no system {how.baseline!r} to compare with", next=near)
    alpha = how.alpha
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}", next="give a level between 0 and 1, such as 0.05")
    if shown.out is not None:
        refuse_unwritable(shown.out)
        refuse_other_run(shown.out, shown.overwrite)


class progress_bar:
    """A progress bar on stderr where that is a terminal; silent otherwise."""

    def __init__(self, quiet: bool) -> None:
        import sys

        self.bar: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=terminal.console(stderr=True), transient=True)

    def __enter__(self) -> Progress | None:
        if self.bar is None:
            return None
        self.bar.start()
        tasks: dict[str, Any] = {}

        def progress(spec: str, done: int, total: int) -> None:
            if spec not in tasks:
                tasks[spec] = self.bar.add_task(spec.replace("[", r"\["), total=total)
            self.bar.update(tasks[spec], completed=done)

        return progress

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
