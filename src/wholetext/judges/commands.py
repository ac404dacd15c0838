"""`wholetext meta judges`: check LLM judges for bias and consistency."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wholetext.cli import options, studies, terminal
from wholetext.cli.options import option, several
from wholetext.errors import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wholetext.judges.check import JudgeCheck, JudgeMeasure


def judge_check(
    files: options.Files = options.Files(),
    *,
    metric: Annotated[
        list[str],
        several(
            "-m",
            "--metric",
            "--metrics",
            help="`JUDGE` to check, e.g. judge-esa@MODEL; two or more are compared.",
        ),
    ],
    check: Annotated[
        list[str] | None,
        several(
            "--check",
            help="`CHECK` to make: position, length, consistency, wording, agreement (default: all).",
        ),
    ] = None,
    window: Annotated[
        list[int] | None,
        several("--window", low=1, help="Window size in segments (1, 2, 4 and 8)."),
    ] = None,
    answers: Annotated[
        int, option("--answers", low=2, help="Answers per question, for consistency.")
    ] = 5,
    temperature: Annotated[
        float, option("--temperature", low=0, help="`TEMPERATURE` of these answers.")
    ] = 0.7,
    prompt: Annotated[
        list[str] | None,
        several(
            "--prompt",
            help="`FILE` that words the task differently (default: built-in).",
        ),
    ] = None,
    chosen: options.Chosen = options.Chosen(),
    execution: options.Execution = options.Execution(),
    draws: options.Resamples = 1000,
    seed: options.Seed = 12345,
    out: Annotated[
        Path | None, option("-o", "--out", help="Output run `FOLDER`, with judge-check.json.")
    ] = None,
    format: options.TableJsonTsv = "table",
    quiet: options.Quiet = False,
) -> None:
    """Check LLM judges for bias and consistency.

    Position and length bias, consistency, wording of the prompt, agreement with each other.

    Examples:
        wholetext meta judges corpus.jsonl -m judge-esa@gpt-4.1-mini -o check
        wholetext meta judges corpus.jsonl -m judge-da@A judge-da@B --check agreement
    """
    from wholetext.judges.check import (
        CHECKS,
        JudgeCheckOptions,
        judge_check as run,
        write_judge_check,
    )

    windows = tuple(window or JudgeCheckOptions.windows)
    settings = JudgeCheckOptions(
        tuple(check or CHECKS), windows, answers, temperature, tuple(prompt or ()), draws, seed
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

    console, rows = terminal.console(80), list[list[str | Text]]()
    terminal.print_finding(_finding(check_results.measures), console)
    shown = [figure for figure in check_results.measures if figure.measure not in _DETAILS]
    for block, figures in groupby(shown, key=lambda figure: f"{figure.check} {figure.judge}"):
        rows.append([name(block), "", "", ""])
        for figure in figures:
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
        "documents; n: rows or pairs. Error rates of each window: -f json and the report.",
        console,
    )
    terminal.warn(notes, console)


_DETAILS = ("errors per 1,000 characters", "mean absolute difference")  # JSON and report have them
# what a figure would be without any fault of the judge
_IDEAL = {
    "flip rate": ("position", 0.0),
    "first of two chosen": ("position", 0.5),
    "ratio of error rates": ("length", 1.0),
}


def _finding(measures: Sequence[JudgeMeasure]) -> str:
    """Say which biases the judges show: figures whose interval does not hold the ideal value."""
    known = [m for m in measures if m.measure in _IDEAL and m.value == m.value and m.low == m.low]
    biased = [m for m in known if not m.low <= _IDEAL[m.measure][1] <= m.high]
    said = [
        f"{m.judge}: {m.measure} {terminal.number(m.value)} instead of {_IDEAL[m.measure][1]:g}"
        for m in biased
    ]
    checked = list(dict.fromkeys(_IDEAL[m.measure][0] for m in known))
    if said:
        return f"Bias shows in {terminal.listed(said)}."
    if checked:
        return f"No bias of {terminal.listed(checked)} shows on these documents."
    return f"{count(len(measures), 'figure')}; none of them tests position or length."
