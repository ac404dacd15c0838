"""`wholetext judge-check`: check LLM judges for bias and consistency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.judges.check import JudgeCheck


def judge_check(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        list[str],
        several(
            "-m", "--metric", help="Judge to check, e.g. judge-esa@MODEL; two or more are compared."
        ),
    ],
    check: Annotated[
        list[str] | None,
        several(
            "--check",
            help="position, length, consistency, wording, agreement (default: all).",
        ),
    ] = None,
    window: Annotated[
        list[int] | None,
        several("--window", low=1, help="Window size in segments (1, 2, 4 and 8)."),
    ] = None,
    samples: Annotated[
        int, option("--samples", low=2, help="Answers per question, for consistency.")
    ] = 5,
    temperature: Annotated[
        float, option("--temperature", low=0, help="Temperature of these answers.")
    ] = 0.7,
    prompt: Annotated[
        list[str] | None,
        several(
            "--prompt",
            help="JudgePrompt file that words the task differently (default: built-in).",
        ),
    ] = None,
    chosen: options.Chosen = options.Chosen(),
    execution: options.Execution = options.Execution(),
    draws: options.Resamples = 1000,
    seed: options.Seed = 12345,
    out: Annotated[
        Path | None, option("-o", "--out", help="Write a run folder with judge-check.json.")
    ] = None,
    format: options.TableJsonTsv = "table",
    quiet: options.Quiet = False,
) -> None:
    """Check LLM judges: position and length bias, consistency, wording of the prompt, agreement with each other."""
    from wholetext.judges.check import (
        CHECKS,
        JudgeCheckOptions,
        judge_check as run,
        write_judge_check,
    )

    windows = tuple(window or JudgeCheckOptions.windows)
    settings = JudgeCheckOptions(
        tuple(check or CHECKS), windows, samples, temperature, tuple(prompt or ()), draws, seed
    )
    loaded = options.load(files, chosen)
    with terminal.progress_bar(quiet) as progress:
        check_results = run(
            loaded.corpus, loaded.outputs, metric, settings, execution.options(progress=progress)
        )
    if out is not None:
        write_judge_check(check_results, out)
    notes = [*loaded.warnings, *check_results.notes]
    if format == "json":
        terminal.print_json({**check_results.as_json(), "notes": notes})
    elif format == "tsv":
        terminal.warn(notes)
        columns = ("check", "judge", "setting", "measure", "value", "low", "high", "count")
        measures = check_results.measures
        rows = [[getattr(measure, name) for name in columns] for measure in measures]
        terminal.print_tsv(columns, rows)
    else:
        _print_table(check_results, notes)
    studies.finish(out, "judge-check.json", format)


def _print_table(check_results: JudgeCheck, notes: list[str]) -> None:
    """Print the figures in blocks, one for each check of each judge."""
    from rich.text import Text

    def name(text: str) -> Text:
        return Text(terminal.wrapped(terminal.printable(text), 46, terminal.MARKS, "    "))

    console, rows, block = terminal.console(80), list[list[str | Text]](), ""
    for figure in check_results.measures:
        if block != f"{figure.check} {figure.judge}":
            block = f"{figure.check} {figure.judge}"
            rows.append([name(block), "", "", ""])
        label = ", ".join(filter(None, (figure.measure, figure.setting)))
        low, high = terminal.number(figure.low), terminal.number(figure.high)
        interval = "–" if figure.low != figure.low else f"[{low}, {high}]"
        number = f"{figure.count:,}" if figure.count else ""
        rows.append([name(f"  {label}"), terminal.number(figure.value), interval, number])
    terminal.print_blocks(["", "value", "95 %", "n"], rows, 1, console)
    corpus = check_results.results.corpus
    terminal.print_footer(
        f"{count(len(corpus), 'document')}, {count(len(check_results.results.systems), 'system')}, "
        f"{'-'.join(corpus.langs)}. 95 % intervals over {check_results.settings.draws:,} resamples of "
        "documents; n: rows or pairs.",
        console,
    )
    terminal.notes(notes, console)
