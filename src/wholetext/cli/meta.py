"""`wholetext meta EVALSET`: how well metrics agree with human judgment, and which are significantly better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import inputs
from wholetext.cli import score as options

if TYPE_CHECKING:
    from wholetext.evaluate import Options
    from wholetext.meta.agreement import Significance
    from wholetext.meta.curves import Point
    from wholetext.meta.field import Choice
    from wholetext.meta.scored import Gathered

Langs = Annotated[list[str] | None, typer.Option("-l", "--langs", help="Language pair, e.g. zh-en (repeatable).")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("-m", "--metric", help="A stored metric by name, or what to measure: [view:]metric[@model]."),
]
Gold = Annotated[str | None, typer.Option("--gold", help="Human scores by name (MQM where there is MQM).")]
Refs = Annotated[list[str] | None, typer.Option("--ref", help="References of the metrics (the set's standard one).")]
Human = Annotated[bool, typer.Option("--human", help="Judge human translations as systems too.")]
Outliers = Annotated[bool, typer.Option("--outliers", help="Keep the systems that WMT leaves out.")]
Domains = Annotated[list[str] | None, typer.Option("--domain", help="Only these domains (repeatable).")]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only these systems (repeatable).")]
K = Annotated[str | None, typer.Option("--k", help="Paragraph lengths, e.g. 1..10 or 1,5,10: agreement by length.")]


def meta(
    evalset: Annotated[Path, typer.Argument(help="An EvalSet folder.")],
    langs: Langs = None,
    metric: Metrics = None,
    stored: Annotated[bool, typer.Option("--stored", help="All stored metrics beside those of -m.")] = False,
    level: Annotated[
        list[str] | None, typer.Option("--level", help="sys, domain, doc, seg (repeatable): the usual tasks of it.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", help="LEVEL:STATISTIC[/AVERAGE], e.g. seg:kendall/item (repeatable).")
    ] = None,
    tasks: Annotated[str | None, typer.Option("--tasks", help="The tasks of wmt21, wmt22, wmt23 or wmt24.")] = None,
    k: K = None,
    raters: Annotated[
        Literal["each", "first", "mean"], typer.Option("--raters", help="What several raters mean for paragraphs.")
    ] = "each",
    gold: Gold = None,
    ref: Refs = None,
    close_ref: Annotated[list[str] | None, typer.Option("--close-ref", help="Too near to --ref to be judged.")] = None,
    human: Human = False,
    outliers: Outliers = False,
    domain: Domains = None,
    system: Systems = None,
    all_segments: Annotated[
        bool, typer.Option("--all-segments", help="System scores over all segments, not only over judged ones.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Go on without what score files lack, and say what.")
    ] = False,
    interval: Annotated[
        Literal["documents", "systems", "both"] | None, typer.Option("--interval", help="Add 95 % intervals.")
    ] = None,
    between: Annotated[bool, typer.Option("--between", help="Correlations between the metrics too.")] = False,
    draws: Annotated[int, typer.Option("--draws", min=0, help="Draws of the significance tests; 0 = none.")] = 1000,
    block: Annotated[int, typer.Option("--block", min=0, help="Settle clear pairs every so many draws; 0 = no.")] = 0,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    out: Annotated[Path | None, typer.Option("--out", help="Write meta.json and computed scores here.")] = None,
    format: options.Format = "table",
    json_: inputs.Json = False,
    latex: Annotated[bool, typer.Option("--latex", help="Short for -f latex.")] = False,
    no_cache: options.NoCache = False,
    device: options.Device = "auto",
    dtype: options.Dtype = "fp32",
    batch_tokens: options.BatchTokens = 1024,
    quiet: options.Quiet = False,
) -> None:
    """Agreement of metrics with human judgment: values, significance clusters, chance levels, numbers of pairs."""
    from wholetext.evaluate import Options
    from wholetext.meta.agreement import Significance
    from wholetext.meta.field import Choice

    choice = Choice(gold, tuple(ref) if ref else None, tuple(close_ref or ()), human, outliers, tuple(domain or ()),
                    tuple(system or ()), all_segments)
    testing = Significance(draws, seed, alpha, block, interval)
    scoring = Options(cache=not no_cache, device=device, dtype=dtype, batch_tokens=batch_tokens)
    wanted = Wanted(tuple(metric or ()), stored, tuple(level or ()), tuple(task or ()), tasks, between, allow_missing)
    windows = Lengths(read_lengths(k), raters) if k else None
    with options.progress_bar(quiet) as progress:
        run(evalset, langs or [], wanted, windows,
            Setting(choice, testing, replace(scoring, progress=progress), out,
                    "json" if json_ else "latex" if latex else format))


@dataclass(frozen=True)
class Wanted:
    """Which metrics and which tasks."""

    metrics: tuple[str, ...]
    stored: bool
    levels: tuple[str, ...]
    tasks: tuple[str, ...]
    preset: str | None
    between: bool
    allow_missing: bool


@dataclass(frozen=True)
class Setting:
    """Who takes part, how it is tested and scored, and where results go."""

    choice: Choice
    testing: Significance
    scoring: Options
    out: Path | None
    format: str


@dataclass(frozen=True)
class Lengths:
    """Paragraphs to judge: their lengths, and what several raters mean."""

    k: tuple[int, ...]
    raters: Literal["each", "first", "mean"]


def run(evalset: Path, langs: list[str], wanted: Wanted, lengths: Lengths | None, setting: Setting) -> None:
    """Read, score what is missing, judge, keep and print."""
    from wholetext.cli.meta_tables import render
    from wholetext.meta.field import read_field
    from wholetext.meta.presets import preset, run_tasks, tasks_for
    from wholetext.meta.ranking import inter_correlation
    from wholetext.meta.scored import gather, labels
    from wholetext.meta.store import Meta, notes_of, write_meta

    chosen = preset(wanted.preset) if wanted.preset else None
    tasks = tasks_for(wanted.levels, [*wanted.tasks, *(chosen.tasks if chosen else ())])
    tasks = tasks or tasks_for(("sys", "seg"), ())
    parts: list[Gathered] = []
    for name in langs or [""]:
        where = read_field(evalset, name or None, setting.choice)
        more = [label for label in labels(where) if wanted.stored and label not in wanted.metrics]
        parts.append(gather(where, [*wanted.metrics, *more], setting.scoring, wanted.allow_missing))
    pooled = chosen.pooled if chosen else "sys:accuracy" in map(str, tasks)
    table = run_tasks(parts, tasks, pooled, setting.testing)
    between = [(part.field.name, level, *inter_correlation(part, level)) for part in parts if wanted.between
               for level in dict.fromkeys(task.level for task in tasks)]
    curves = {part.field.name: _curves(part, wanted.metrics, lengths, setting) for part in parts} if lengths else {}
    found = Meta(tuple(parts), table, setting.testing.alpha, tuple(between), curves, notes_of(parts))
    if setting.out is not None:
        write_meta(setting.out, found)
    render(found, setting.format)


def _curves(part: Gathered, metrics: tuple[str, ...], lengths: Lengths, setting: Setting) -> list[Point]:
    from wholetext.errors import InputError
    from wholetext.meta.curves import curves
    from wholetext.meta.paragraphs import Windows
    from wholetext.meta.sources import find_ratings

    where = part.field
    computed = [name for name in metrics if any(m.name == name and m.source != "file" for m in part.metrics)]
    if not computed:
        raise InputError("paragraphs can only be scored by metrics that are computed here", where=where.name,
                         next="name one that is not stored, e.g. -m chrf")
    source = find_ratings(where.folder, where.langs, where.gold_name)
    if source.note:
        part.notes.append(f"paragraphs: {source.note}")
    windows = [Windows(k, lengths.raters, source.total) for k in lengths.k]
    return curves(where, source.ratings, computed, windows, setting.scoring)


def read_lengths(text: str) -> tuple[int, ...]:
    """``1..10``, ``1,5,10`` or ``3`` → lengths."""
    from wholetext.errors import InputError

    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        try:
            found += range(int(first), int(last) + 1) if dots else [int(first)]
        except ValueError:
            found.append(0)
    if not found or min(found) < 1:
        raise InputError(f"{text!r} are no paragraph lengths", next="write --k 1..10 or --k 1,5,10")
    return tuple(dict.fromkeys(found))
