"""From an EvalSet folder to agreement with its human scores, or to paragraphs: `wholetext meta` and
`paragraphs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from wholetext.errors import InputError, WriteError
from wholetext.files.output_folder import SharedFolder, changing, check
from wholetext.io.assembly import Loaded
from wholetext.io.formats.evalset import EvalSet, language_pairs, write
from wholetext.io.formats.scores import write_table
from wholetext.meta.agreement.measures import system_means
from wholetext.meta.conventions import conventions, known_set, paragraph_gold, standard_gold
from wholetext.meta.judgments.mqm import read_weights
from wholetext.meta.judgments.sources import Source, find_ratings, raw_mqm
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
from wholetext.meta.ranking import (
    Averaging,
    inter_correlation,
    official_langs,
    preset,
    run_tasks,
    tasks_for,
)
from wholetext.meta.store import FILE, META, Meta, write_meta
from wholetext.meta.tasks import MetricTests
from wholetext.notebook.display import brief
from wholetext.scoring.evaluate import Options
from wholetext.views import Joiner


@dataclass(frozen=True)
class MetaTasks:
    """Which tasks are run, and how they are averaged; by default those of levels sys and seg.

    ``preset`` names an official task list (wmt22 …), with its language pairs unless others are
    given. ``human`` and ``primary`` say whether its human translations and only its primary
    submissions take part; None: as in that year. ``golds`` are names of human scores: every task is
    run against each of them; none: that of the selection.
    """

    levels: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    preset: str | None = None
    averaging: Averaging = field(default_factory=Averaging)
    between: bool = False  # also correlations between metrics
    human: bool | None = None
    primary: bool | None = None
    golds: tuple[str, ...] = ()


def meta_evaluate(
    evalset: Path | str,
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
    out: Path | str | None = None,
) -> Meta:
    """Evaluate metrics against the human judgments of an EvalSet: agreement, significance clusters,
    chance levels.

    ``metrics`` are names of stored metrics or spec strings to compute. ``lengths`` adds agreement
    on paragraphs of so many segments joined by ``joiner``; direct assessments are then z-scores
    unless a gold is named. With ``out`` the results and computed scores are written to this folder.
    """
    evalset, what, tests = Path(evalset), tasks or MetaTasks(), tests or MetricTests()
    selected = metrics if isinstance(metrics, MetricSelection) else MetricSelection(tuple(metrics))
    if out is not None:
        check(Path(out), META, (FILE,))
    chosen = preset(what.preset) if what.preset else None
    run = tasks_for(what.levels, [*what.tasks, *(chosen.tasks if chosen else ())], what.averaging)
    run = run or tasks_for(("sys", "seg"), (), what.averaging)
    selection = selection or Selection()
    if what.preset and not langs:
        known = selection.test_set or known_set(evalset.resolve().name)
        langs = official_langs(what.preset, known, language_pairs(evalset))
    evalsets = [EvalSet.open(evalset, name or None) for name in langs or [""]]
    groups = [
        _gathered(
            evalsets,
            what,
            selected,
            replace(selection, gold=gold),
            options,
            bool(lengths),
        )
        for gold in dict.fromkeys(what.golds or [selection.gold])
    ]
    parts = [part for group in groups for part in group]
    pooled = chosen.pooled if chosen else "sys:accuracy" in map(str, run)
    table = run_tasks(groups, run, pooled, tests, what.averaging)
    between = [
        (_title(part, len(groups) > 1), level, *inter_correlation(part, level))
        for part in parts
        if what.between
        for level in dict.fromkeys(task.level for task in run)
    ]
    points: dict[str, list[Point]] = {}
    for part in parts if lengths else ():
        windows = [Windows(k, raters, joiner=joiner) for k in lengths]
        points.setdefault(part.participants.name, []).extend(
            _curves(part, selected.names, windows, options)
        )
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    results = Meta(tuple(parts), table, tests.alpha, tuple(between), points, tuple(notes))
    if out is not None:
        write_meta(Path(out), results)
    return results


def _title(part: Gathered, several: bool) -> str:
    """Where, and against which gold if there are several."""
    where = part.participants
    return f"{where.name} {where.gold_name}" if several else where.name


def _gathered(
    evalsets: Sequence[EvalSet],
    what: MetaTasks,
    selected: MetricSelection,
    selection: Selection,
    options: Options | None,
    averaged: bool,
) -> list[Gathered]:
    """Metrics and human scores of every language pair.

    With a year's tasks, what its official table is made of.
    """
    if what.preset:
        selected = replace(
            selected,
            primary=what.primary is not False,
            stored=selected.stored or bool(selected.files),
            missing="zero" if selected.missing == "error" else selected.missing,
        )
    parts: list[Gathered] = []
    for evalset in evalsets:
        where = read_participants(evalset, _with_gold(selection, what, evalset, averaged))
        if (
            what.preset
            and what.human is None
            and where.langs in conventions(where.test_set).human.split()
        ):
            where = read_participants(evalset, replace(where.choice, human=True))
        parts.append(gather(where, selected, options))
    return parts


def _with_gold(
    selection: Selection, what: MetaTasks, evalset: EvalSet, averaged: bool
) -> Selection:
    """Unless a gold is named: that of the year's tasks (ESA for WMT25), or z-scores of DA to
    average in paragraphs.
    """
    official = preset(what.preset).gold if what.preset else ""
    if selection.gold is not None or not (official or averaged):
        return selection
    levels = evalset.human_names
    names = list(dict.fromkeys(name for name, _ in levels))
    if official in names:
        return replace(selection, gold=official)
    averaged = averaged and paragraph_gold(levels) != standard_gold(names)
    return replace(selection, gold=paragraph_gold(levels)) if averaged else selection


def _curves(
    part: Gathered, metrics: Sequence[str], windows: Sequence[Windows], options: Options | None
) -> list[Point]:
    where = part.participants
    computed = [
        name for name in metrics if any(m.name == name and m.source != "file" for m in part.metrics)
    ]
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
    mqm_tsv: Path | str | None = None,
    mqm_weights: str = "standard",
    raters: Raters = "each",
    joiner: Joiner = "auto",
    out: Path | str | None = None,
    format: Literal["evalset", "jsonl"] = "evalset",
) -> ParagraphSets:
    """Split rated documents into paragraphs of given lengths, each scored by one rater (Deutsch et
    al. 2023).

    Direct assessments are averaged as z-scores unless ``gold`` names others. With ``out`` one
    EvalSet folder or JSONL file per length is written there.
    """
    opened = EvalSet.open(evalset, langs)
    name = gold or paragraph_gold(opened.human_names) or "mqm"
    source = raw_mqm(mqm_tsv, read_weights(mqm_weights)) if mqm_tsv else find_ratings(opened, name)
    loaded = None if out is None else opened.load()
    order = [doc.id for doc in loaded.corpus.docs] if loaded else []
    rated = tuple(
        paragraphs(source.ratings, Windows(length, raters, source.total)) for length in lengths
    )
    sets = tuple(
        paragraph_set(paragraphs_of_length, source.ratings.systems, order)
        for paragraphs_of_length in rated
    )
    result = ParagraphSets(name, source, rated, sets)
    if out is not None and loaded is not None:
        _write(result, loaded, Path(out), opened.langs, format, joiner)
    return result


def _write(
    sets: ParagraphSets, loaded: Loaded, out: Path, pair: str, format: str, joiner: Joiner
) -> None:
    for rated, chosen in zip(sets.rated, sets.sets):
        if not rated:
            continue
        name = f"{loaded.corpus.id}.k{chosen.k}"
        folder = out if format == "jsonl" else out / name
        with changing(folder, SharedFolder("folder of paragraphs", WriteError)) as staged:
            if format == "jsonl":
                write_jsonl(staged / f"{name}.{pair}.jsonl", rated, loaded, joiner)
                continue
            write(staged, texts(loaded, chosen.items, chosen.k, joiner))
            scores, values, systems = (
                staged / "human-scores",
                chosen.gold.values,
                chosen.gold.systems,
            )
            write_table(scores / f"{pair}.{sets.gold}.seg.score", systems, values, gaps=True)
            write_table(
                scores / f"{pair}.{sets.gold}.sys.score",
                systems,
                system_means(values)[:, None],
                gaps=True,
            )
            write_jsonl(scores / f"{pair}.{sets.gold}.paragraphs.jsonl", rated)
