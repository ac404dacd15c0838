"""`wholetext meta EVALSET`: how well metrics agree with human judgment, and which are significantly better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli.scoring import score as options

if TYPE_CHECKING:
    from wholetext.meta.curves import Point
    from wholetext.meta.metric_scores import Gathered, Wanted
    from wholetext.meta.participants import Selection
    from wholetext.meta.presets import Averaging
    from wholetext.meta.tasks import MetricTests
    from wholetext.scoring.evaluate import Options

Langs = Annotated[list[str] | None, typer.Option("-l", "--langs", help="Language pair, e.g. zh-en (repeatable).")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("-m", "--metric", help="Name of a stored metric, or metric to compute: [view:]metric[@model]."),
]
Files = Annotated[
    list[Path] | None,
    typer.Option("--scores", help="Precomputed scores: a file NAME-REF.LEVEL.score or a folder (repeatable)."),
]
Primary = Annotated[
    bool | None,
    typer.Option("--primary/--no-primary", help="Only primary submissions of stored metrics (default with --tasks)."),
]
Gold = Annotated[str | None, typer.Option("--gold", help="Human scores to use, by name (default: MQM if available).")]
Refs = Annotated[
    list[str] | None,
    typer.Option("--ref", help="Reference used by the metrics (default: the standard one; repeatable)."),
]
Human = Annotated[
    bool | None,
    typer.Option("--human/--no-human", help="Include human translations as systems (--tasks: as in that year)."),
]
Outliers = Annotated[bool, typer.Option("--outliers", help="Include the outlier systems that WMT excludes.")]
Domains = Annotated[list[str] | None, typer.Option("--domain", help="Restrict to these domains (repeatable).")]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Restrict to these systems (repeatable).")]
TestSet = Annotated[
    str, typer.Option("--test-set", help="WMT test set whose conventions apply, if the folder was renamed.")
]
K = Annotated[str | None, typer.Option("--k", help="Paragraph lengths in segments, e.g. 1..10 or 1,5,10.")]
Block = Annotated[int, typer.Option("--block", min=0, help="Early-stopping interval, in draws; 0 = never stop early.")]
Low = Annotated[
    float, typer.Option("--stop-below", min=0, max=1, help="Early stopping: stop if the p-value is below this.")
]
High = Annotated[
    float, typer.Option("--stop-above", min=0, max=1, help="Early stopping: stop if the p-value is above this.")
]
Micro = Annotated[bool, typer.Option("--micro", help="Weight rows (items, systems) by their number of scores.")]
Nan = Annotated[
    Literal["skip", "zero"], typer.Option("--nan", help="Undefined correlations: skip them, or count them as 0.")
]
Weight = Annotated[
    list[str] | None, typer.Option("--weight", help="Weight of a task in the average, TASK=NUMBER (repeatable).")
]
WeighBy = Annotated[
    str, typer.Option("--weigh-by", help="Distribute the weights evenly over langs, level, statistic, in this order.")
]
Sample = Annotated[int, typer.Option("--sample", min=0, help="Number of documents to sample at random; 0 = all.")]


def meta(
    evalset: Annotated[Path, typer.Argument(help="EvalSet folder (mt-metrics-eval).")],
    langs: Langs = None,
    metric: Metrics = None,
    stored: Annotated[bool, typer.Option("--stored", help="Also evaluate all stored metrics.")] = False,
    scores: Files = None,
    primary: Primary = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="Level whose default tasks to run: sys, domain, doc, seg (repeatable)."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Task, LEVEL:STATISTIC[/AVERAGE], e.g. seg:kendall/item (repeatable)."),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option("--tasks", help="Official WMT task list: wmt21, wmt22, wmt23 or wmt24.")
    ] = None,
    k: K = None,
    raters: Annotated[
        Literal["each", "first", "mean"], typer.Option("--raters", help="How to combine several raters of a paragraph.")
    ] = "each",
    gold: Gold = None,
    ref: Refs = None,
    close_ref: Annotated[
        list[str] | None, typer.Option("--close-ref", help="Near-duplicate references to exclude.")
    ] = None,
    human: Human = None,
    outliers: Outliers = False,
    domain: Domains = None,
    system: Systems = None,
    sample: Sample = 0,
    test_set: TestSet = "",
    all_segments: Annotated[
        bool, typer.Option("--all-segments", help="Score all segments, not only those with human scores.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Exclude what is missing from score files, with a warning.")
    ] = False,
    interval: Annotated[
        Literal["documents", "systems", "both"] | None,
        typer.Option("--interval", help="Add 95 % bootstrap confidence intervals over these units."),
    ] = None,
    between: Annotated[bool, typer.Option("--between", help="Also report correlations between metrics.")] = False,
    draws: Annotated[
        int, typer.Option("--draws", min=0, help="Number of resamples per significance test; 0 = no tests.")
    ] = 1000,
    block: Block = 0,
    stop_below: Low = 0.02,
    stop_above: High = 0.5,
    micro: Micro = False,
    nan: Nan = "skip",
    weight: Weight = None,
    weigh_by: WeighBy = "",
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for meta.json and the computed scores.")] = None,
    format: options.Format = "table",
    json_: inputs.Json = False,
    latex: Annotated[bool, typer.Option("--latex", help="Same as -f latex.")] = False,
    no_cache: options.NoCache = False,
    device: options.Device = "auto",
    dtype: options.Dtype = "fp32",
    batch_tokens: options.BatchTokens = 1024,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate metrics against human judgments: agreement, significance clusters, chance levels, pair counts."""
    from wholetext.meta.metric_scores import Wanted
    from wholetext.meta.participants import Selection
    from wholetext.meta.presets import Averaging
    from wholetext.meta.tasks import MetricTests
    from wholetext.scoring.evaluate import Options

    choice = Selection(gold, tuple(ref) if ref else None, tuple(close_ref or ()), bool(human), outliers,
                    tuple(domain or ()), tuple(system or ()), all_segments, test_set, sample, seed)
    testing = MetricTests(draws, seed, alpha, block, interval, stop_below, stop_above)
    scoring = Options(cache=not no_cache, device=device, dtype=dtype, batch_tokens=batch_tokens)
    averaging = Averaging(micro, nan == "zero", read_weights(weight or ()), tuple(filter(None, weigh_by.split(","))))
    asked = Asked(tuple(level or ()), tuple(task or ()), tasks, between, human, primary, averaging)
    wanted = Wanted(tuple(metric or ()), stored, tuple(scores or ()), bool(primary),
                    "drop" if allow_missing else "error")
    windows = Lengths(read_lengths(k), raters) if k else None
    with options.progress_bar(quiet) as progress:
        run(evalset, langs or [], (asked, wanted), windows,
            Setting(choice, testing, replace(scoring, progress=progress), out,
                    "json" if json_ else "latex" if latex else format))


@dataclass(frozen=True)
class Asked:
    """Which tasks, and what was said of what they otherwise decide themselves."""

    levels: tuple[str, ...]
    tasks: tuple[str, ...]
    preset: str | None
    between: bool
    human: bool | None
    primary: bool | None
    averaging: Averaging


@dataclass(frozen=True)
class Setting:
    """Who takes part, how it is tested and scored, and where results go."""

    choice: Selection
    testing: MetricTests
    scoring: Options
    out: Path | None
    format: str


@dataclass(frozen=True)
class Lengths:
    """Paragraphs to judge: their lengths, and what several raters mean."""

    k: tuple[int, ...]
    raters: Literal["each", "first", "mean"]


def run(
    evalset: Path, langs: list[str], asked: tuple[Asked, Wanted], lengths: Lengths | None, setting: Setting
) -> None:
    """Read, score what is missing, judge, keep and print."""
    from wholetext.cli.tables.meta_tables import render
    from wholetext.files.output_folder import check
    from wholetext.meta.presets import preset, run_tasks, tasks_for
    from wholetext.meta.ranking import inter_correlation
    from wholetext.meta.store import FILE, META, Meta, notes_of, write_meta

    if setting.out is not None:
        check(setting.out, META, (FILE,))
    what, wanted = asked
    chosen = preset(what.preset) if what.preset else None
    tasks = tasks_for(what.levels, [*what.tasks, *(chosen.tasks if chosen else ())], what.averaging)
    tasks = tasks or tasks_for(("sys", "seg"), (), what.averaging)
    parts = gathered(evalset, langs, what, wanted, setting)
    pooled = chosen.pooled if chosen else "sys:accuracy" in map(str, tasks)
    table = run_tasks(parts, tasks, pooled, setting.testing, what.averaging)
    between = [(part.field.name, level, *inter_correlation(part, level)) for part in parts if what.between
               for level in dict.fromkeys(task.level for task in tasks)]
    curves = {part.field.name: _curves(part, wanted.names, lengths, setting) for part in parts} if lengths else {}
    found = Meta(tuple(parts), table, setting.testing.alpha, tuple(between), curves, notes_of(parts))
    if setting.out is not None:
        write_meta(setting.out, found)
    render(found, setting.format)


def gathered(evalset: Path, langs: list[str], what: Asked, wanted: Wanted, setting: Setting) -> list[Gathered]:
    """Metrics and human scores of every language pair; with a year's tasks, what its official table is made of."""
    from wholetext.io.formats.evalset import pairs
    from wholetext.meta.conventions import judges_humans, known_set
    from wholetext.meta.metric_scores import gather
    from wholetext.meta.participants import read_participants
    from wholetext.meta.presets import official_langs

    choice = setting.choice
    if what.preset:
        known = choice.test_set or known_set(evalset.resolve().name)
        langs = langs or official_langs(what.preset, known, pairs(evalset))
        everything = wanted.stored or bool(wanted.files)
        wanted = replace(wanted, primary=what.primary is not False, stored=everything,
                         missing="zero" if wanted.missing == "error" else wanted.missing)
    parts: list[Gathered] = []
    for name in langs or [""]:
        where = read_participants(evalset, name or None, choice)
        if what.preset and what.human is None and judges_humans(where.test_set, where.langs):
            where = read_participants(evalset, name, replace(choice, human=True))
        parts.append(gather(where, wanted, setting.scoring))
    return parts


def _curves(part: Gathered, metrics: tuple[str, ...], lengths: Lengths, setting: Setting) -> list[Point]:
    from wholetext.errors import InputError
    from wholetext.meta.curves import curves
    from wholetext.meta.judgments.sources import find_ratings
    from wholetext.meta.paragraphs import Windows

    where = part.field
    computed = [name for name in metrics if any(m.name == name and m.source != "file" for m in part.metrics)]
    if not computed:
        raise InputError("paragraphs can only be scored by metrics that are computed here", where=where.name,
                         next="name one that is not stored, e.g. -m chrf")
    source = find_ratings(where.folder, where.langs, where.gold_name)
    if source.note:
        part.notes.append(f"paragraphs: {source.note}")
    windows = [Windows(k, lengths.raters, source.total) for k in lengths.k]
    return curves(where, source.ratings, computed, windows, setting.scoring, part.notes)


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
        raise InputError(f"invalid paragraph lengths {text!r}", next="write --k 1..10 or --k 1,5,10")
    return tuple(dict.fromkeys(found))


def read_weights(given: Sequence[str]) -> dict[str, float]:
    """``seg:acc_eq=2`` … → task → weight."""
    from wholetext.errors import InputError

    found: dict[str, float] = {}
    for text in given:
        task, equals, number = text.rpartition("=")
        try:
            found[task] = float(number)
        except ValueError:
            equals = ""
        if not equals or not 0 <= found[task] < float("inf"):
            raise InputError(f"invalid weight {text!r}", next="write --weight seg:acc_eq=2")
    return found
