"""From an EvalSet folder to agreement with its human scores, or to paragraphs: `wholetext meta` and `paragraphs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from wholetext.errors import InputError, WriteError
from wholetext.files.output_folder import SharedFolder, changing, check
from wholetext.io.columns import Columns
from wholetext.io.formats.evalset import EvalSet, language_pairs, write
from wholetext.io.formats.scores import write_table
from wholetext.io.formats.summaries import open_judged
from wholetext.meta.agreement.measures import system_means
from wholetext.meta.conventions import Conventions, paragraph_gold, standard_gold
from wholetext.meta.grid import GridAxes, contests, drawn, grid_cells
from wholetext.meta.judgments import Source, find_ratings, published_ratings, read_weights
from wholetext.meta.metric_scores import Gathered, MetricSelection, gather
from wholetext.meta.paragraphs import (
    ParagraphSet,
    Point,
    RatedParagraph,
    Raters,
    Windows,
    curves,
    paragraph_set,
    paragraphs,
    texts,
    write_jsonl,
)
from wholetext.meta.participants import Selection, read_participants
from wholetext.meta.store import FILE, META, Meta, write_meta
from wholetext.meta.tasks import (
    MetricTests,
    gold_correlation,
    inter_correlation,
    official_langs,
    paired_t_tests,
    preset,
    run_tasks,
    set_means,
    tasks_for,
    williams_tests,
)
from wholetext.notebook.display import brief
from wholetext.scoring.evaluate import Options
from wholetext.views import Joiner

GRID_TASKS = ("sys:accuracy", "sys:pearson")  # windows that are dropped have no scores of segments


@dataclass(frozen=True)
class MetaTasks:
    """Which tasks are run, and how they are averaged; by default those of levels sys and seg.

    ``preset`` names an official task list (wmt22 …), with its language pairs unless others are
    given.
    """

    levels: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    preset: str | None = None
    micro: bool = False  # weight rows by their number of scores
    nan_as_zero: bool = False  # undefined rows count as 0 instead of being left out
    even_by: tuple[str, ...] = ()  # weights split evenly over langs, level, statistic, in order
    between: bool = False  # also correlations between metrics, and between several golds
    paired_t: bool = False  # also t-tests between metrics, paired over the tasks
    williams: bool = False  # also Williams' test of the difference between correlations


def meta_evaluate(
    evalset: Path | str | EvalSet | Sequence[Path | str],
    langs: Sequence[str] = (),
    metrics: MetricSelection | Sequence[str] = (),
    tasks: MetaTasks | None = None,
    *,
    selection: Selection | None = None,
    tests: MetricTests | None = None,
    options: Options | None = None,
    lengths: Sequence[int] = (),
    raters: Raters = "each",
    joiner: Joiner = "auto",
    grid: GridAxes | None = None,
    out: Path | str | None = None,
    columns: Columns | None = None,
) -> Meta:
    """Evaluate metrics against the human judgments of one or several EvalSets.

    The result has agreement, significance clusters and chance levels.

    A file with human scores stands for an EvalSet: rated summaries, or a table whose ``columns``
    are guessed or named.

    ``metrics`` are names of stored metrics or spec strings to compute, under every view of ``grid``.
    Of several EvalSets the language pairs that each has are used. ``lengths`` adds agreement
    on paragraphs of so many segments joined by ``joiner``; direct assessments are then z-scores
    unless a gold is named. With ``out`` the results and computed scores are written to this folder.
    """
    what, tests, selection = tasks or MetaTasks(), tests or MetricTests(), selection or Selection()
    selected = metrics if isinstance(metrics, MetricSelection) else MetricSelection(tuple(metrics))
    if out is not None:
        check(Path(out), META, (FILE,))
    official = preset(what.preset)
    task_levels, names = what.levels, (*what.tasks, *official.tasks)
    if not task_levels and not names:
        task_levels, names = ((), GRID_TASKS) if grid else (("sys", "seg"), ())
    run = tasks_for(task_levels, names, what.micro, what.nan_as_zero)
    if grid:
        selected = replace(selected, names=tuple(grid.specs(selected.names)))
    sources = [evalset] if isinstance(evalset, EvalSet | str | Path) else list(evalset)
    if what.preset:
        root = _root(sources[0])
        test_set = selection.test_set or root.resolve().name
        langs = langs or official_langs(what.preset, test_set, language_pairs(root))
        selected = replace(
            selected,
            primary=selected.primary is not False,
            stored=selected.stored or bool(selected.files),
            missing="zero" if selected.missing == "error" else selected.missing,
        )
    evalsets = _opened(sources, langs, columns)

    def gathered(opened: EvalSet, gold: str | None) -> Gathered:
        gold = gold or _usual_gold(opened, official, bool(lengths))
        where = read_participants(opened, selection, gold, official=bool(what.preset))
        return gather(where, selected, options)

    groups = [
        [gathered(opened, gold) for opened in evalsets]
        for gold in dict.fromkeys(selection.golds or [None])
    ]
    parts = [part for group in groups for part in group]
    pooled = official.pooled if what.preset else "sys:accuracy" in map(str, run)
    results, average = run_tasks(groups, run, pooled, tests, what.even_by)
    several = len(groups) > 1  # kinds of human scores
    levels = dict.fromkeys(task.level for task in run)
    between = [
        (
            part.participants.name + several * f" {part.participants.gold_name}",
            level,
            *inter_correlation(part, level),
        )
        for part, level in product(parts, levels if what.between else ())
    ]
    golds = [
        (same[0].participants.name, level, *gold_correlation(same, level))
        for same, level in product(zip(*groups), levels if what.between and several else ())
    ]
    points: dict[str, list[Point]] = {}
    for part in parts if lengths else ():
        windows = [Windows(k, raters, joiner=joiner) for k in lengths]
        points.setdefault(part.participants.name, []).extend(
            _curves(part, selected.names, windows, options)
        )
    cells = grid_cells([metric.name for metric in parts[0].metrics if metric.source != "file"])
    wide = len(evalsets) > 1 or len(drawn(cells)) > 0  # tables of one set have no column of means
    meta = Meta(
        parts=tuple(parts),
        results=results,
        average=average,
        alpha=tests.alpha,
        between=tuple(between),
        curves=points,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        means=tuple(mean for group in groups if wide for mean in set_means(group, results, tests)),
        grid=cells,
        contests=contests(cells, [result for result in results if result.pooled == 1]),
        golds=tuple(golds),
        paired_t=paired_t_tests(results) if what.paired_t else None,
        williams=tuple(williams_tests(part, n) for part in parts for n in levels if what.williams),
        named=bool(what.tasks),
    )
    if out is not None:
        write_meta(Path(out), meta)
    return meta


def _root(source: Path | str | EvalSet) -> Path:
    return source.root if isinstance(source, EvalSet) else Path(source)


def _opened(
    sources: Sequence[Path | str | EvalSet], langs: Sequence[str], columns: Columns | None = None
) -> list[EvalSet]:
    """Open every set for every language pair; of several sets, for those pairs that each has."""
    if len(sources) == 1:
        return [open_judged(sources[0], name or None, columns) for name in langs or [""]]
    opened = []
    for root in map(_root, sources):
        pairs = [pair for pair in language_pairs(root) if not langs or pair in langs]
        opened += [EvalSet.open(root, pair) for pair in pairs or langs]  # or an error by name
    return opened


def _usual_gold(evalset: EvalSet, official: Conventions, averaged: bool) -> str | None:
    """The gold of a year's tasks (ESA for WMT25), or z-scores of DA to average in paragraphs.

    None: whatever is the standard one.
    """
    names = [name for name, _ in evalset.human_names]
    if official.gold in names:
        return official.gold
    gold = paragraph_gold(evalset.human_names)
    return gold if averaged and gold != standard_gold(names) else None


def _curves(
    part: Gathered, metrics: Sequence[str], windows: Sequence[Windows], options: Options | None
) -> list[Point]:
    where = part.participants
    made_here = {metric.name for metric in part.metrics if metric.source != "file"}
    computed = [name for name in metrics if name in made_here]
    if not computed:
        raise InputError(
            "paragraphs can only be scored by metrics that are computed here",
            where=where.name,
            next="name one that is not stored, e.g. -m chrf",
        )
    source = find_ratings(where.evalset, where.gold_name)
    if source.note:
        part.notes.append(f"paragraphs: {source.note}")
    windows = [replace(window, total=source.total) for window in windows]
    return curves(where, source.ratings, computed, windows, options, part.notes)


# ---------------------------------------------------------------- paragraphs


@dataclass(frozen=True, eq=False)
class ParagraphSets:
    """Paragraphs of each length, from the ratings of one kind of human scores."""

    gold: str
    source: Source
    rated: tuple[Sequence[RatedParagraph], ...]  # per length
    sets: tuple[ParagraphSet, ...]
    __repr__ = brief


def paragraph_sets(
    evalset: Path | str,
    langs: str | None = None,
    lengths: Sequence[int] = range(1, 11),
    *,
    gold: str | None = None,
    ratings: Path | str | None = None,
    mqm_weights: str = "standard",
    raters: Raters = "each",
    joiner: Joiner = "auto",
    out: Path | str | None = None,
) -> ParagraphSets:
    """Split rated documents into paragraphs of given lengths, each scored by one rater (Deutsch et al. 2023).

    Direct assessments are averaged as z-scores unless ``gold`` names others. ``ratings`` is a file
    that WMT published, of MQM annotations or direct assessments, or a folder of the latter. With
    ``out`` one EvalSet folder per length is written there.
    """
    opened = EvalSet.open(evalset, langs)
    name = gold or paragraph_gold(opened.human_names) or "mqm"
    if ratings:
        source = published_ratings(ratings, opened, gold or "", read_weights(mqm_weights))
        name = gold or source.ratings.scheme
    else:
        source = find_ratings(opened, name)
    loaded = None if out is None else opened.load()
    order = [doc.id for doc in loaded.corpus.docs] if loaded else []
    rated = tuple(paragraphs(source.ratings, Windows(k, raters, source.total)) for k in lengths)
    sets = tuple(paragraph_set(parts, source.ratings.systems, order) for parts in rated)
    for parts, chosen in zip(rated, sets):
        if parts and loaded and out is not None:
            joined = texts(loaded, chosen.items, chosen.k, joiner)
            kind = SharedFolder("folder of paragraphs", WriteError)
            with changing(Path(out) / joined.corpus.id, kind) as staged:
                write(staged, joined)
                scores = f"{staged}/human-scores/{opened.langs}.{name}"
                values, systems = chosen.gold.values, chosen.gold.systems
                means = system_means(values)[:, None]
                write_table(f"{scores}.seg.score", systems, values, gaps=True)
                write_table(f"{scores}.sys.score", systems, means, gaps=True)
                write_jsonl(f"{scores}.paragraphs.jsonl", parts)
    return ParagraphSets(name, source, rated, sets)
