"""A meta-evaluation from an EvalSet folder to a table: read, score what is missing, test; `wholetext meta` is this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wholetext.errors import InputError
from wholetext.files.output_folder import check
from wholetext.io.formats.evalset import pairs
from wholetext.meta.conventions import conventions, known_set
from wholetext.meta.judgments.sources import find_ratings
from wholetext.meta.metric_scores import Gathered, MetricSelection, gather
from wholetext.meta.paragraphs import Point, Raters, Windows, curves
from wholetext.meta.participants import Selection, read_participants
from wholetext.meta.ranking import Averaging, inter_correlation, official_langs, preset, run_tasks, tasks_for
from wholetext.meta.store import FILE, META, Meta, notes_of, write_meta
from wholetext.meta.tasks import MetricTests
from wholetext.scoring.evaluate import Options


@dataclass(frozen=True)
class MetaTasks:
    """Which tasks are run, and how they are averaged; by default those of levels sys and seg.

    ``preset`` names an official task list (wmt22 …), with its language pairs unless others are given. ``human`` and
    ``primary`` say whether its human translations and only its primary submissions take part; None: as in that year.
    """

    levels: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    preset: str | None = None
    averaging: Averaging = field(default_factory=Averaging)
    between: bool = False  # also correlations between metrics
    human: bool | None = None
    primary: bool | None = None


def meta_evaluate(
    evalset: Path | str, langs: Sequence[str] = (), metrics: MetricSelection | Sequence[str] = (),
    tasks: MetaTasks | None = None, *, selection: Selection | None = None, tests: MetricTests | None = None,
    options: Options | None = None, lengths: Sequence[int] = (), raters: Raters = "each",
    out: Path | str | None = None,
) -> Meta:
    """Evaluate metrics against the human judgments of an EvalSet: agreement, significance clusters, chance levels.

    ``metrics`` are names of stored metrics or spec strings to compute. ``lengths`` adds agreement on paragraphs of so
    many segments. With ``out`` the results and computed scores are written to this folder.
    """
    evalset, what, tests = Path(evalset), tasks or MetaTasks(), tests or MetricTests()
    wanted = metrics if isinstance(metrics, MetricSelection) else MetricSelection(tuple(metrics))
    if out is not None:
        check(Path(out), META, (FILE,))
    chosen = preset(what.preset) if what.preset else None
    run = tasks_for(what.levels, [*what.tasks, *(chosen.tasks if chosen else ())], what.averaging)
    run = run or tasks_for(("sys", "seg"), (), what.averaging)
    parts = _gathered(evalset, list(langs), what, wanted, selection or Selection(), options)
    pooled = chosen.pooled if chosen else "sys:accuracy" in map(str, run)
    table = run_tasks(parts, run, pooled, tests, what.averaging)
    between = [(part.field.name, level, *inter_correlation(part, level)) for part in parts if what.between
               for level in dict.fromkeys(task.level for task in run)]
    points = {part.field.name: _curves(part, wanted.names, lengths, raters, options) for part in parts if lengths}
    found = Meta(tuple(parts), table, tests.alpha, tuple(between), points, notes_of(parts))
    if out is not None:
        write_meta(Path(out), found)
    return found


def _gathered(
    evalset: Path, langs: list[str], what: MetaTasks, wanted: MetricSelection, selection: Selection,
    options: Options | None,
) -> list[Gathered]:
    """Metrics and human scores of every language pair; with a year's tasks, what its official table is made of."""
    if what.preset:
        known = selection.test_set or known_set(evalset.resolve().name)
        langs = langs or official_langs(what.preset, known, pairs(evalset))
        wanted = replace(wanted, primary=what.primary is not False, stored=wanted.stored or bool(wanted.files),
                         missing="zero" if wanted.missing == "error" else wanted.missing)
    parts: list[Gathered] = []
    for name in langs or [""]:
        where = read_participants(evalset, name or None, selection)
        if what.preset and what.human is None and where.langs in conventions(where.test_set).human.split():
            where = read_participants(evalset, name, replace(selection, human=True))
        parts.append(gather(where, wanted, options))
    return parts


def _curves(
    part: Gathered, metrics: Sequence[str], lengths: Sequence[int], raters: Raters, options: Options | None
) -> list[Point]:
    where = part.field
    computed = [name for name in metrics if any(m.name == name and m.source != "file" for m in part.metrics)]
    if not computed:
        raise InputError("paragraphs can only be scored by metrics that are computed here", where=where.name,
                         next="name one that is not stored, e.g. -m chrf")
    source = find_ratings(where.folder, where.langs, where.gold_name)
    if source.note:
        part.notes.append(f"paragraphs: {source.note}")
    windows = [Windows(k, raters, source.total) for k in lengths]
    return curves(where, source.ratings, computed, windows, options, part.notes)
