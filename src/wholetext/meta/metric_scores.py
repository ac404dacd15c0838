"""Metric scores of the participants: from ``metric-scores`` files, or computed where a spec string
asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, WholetextError
from wholetext.io.formats.evalset import entries
from wholetext.io.formats.scores import ScoreLevel, read_scores, split_label
from wholetext.io.text import is_folder
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.conventions import conventions
from wholetext.meta.participants import Level, Participants
from wholetext.meta.published import gap_error, is_published, published_scores
from wholetext.types import FloatArray, Judgments, Scores


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of one metric."""

    name: str
    refs: tuple[str, ...]
    levels: dict[str, FloatArray]  # level → (systems, items), higher is better
    source: str  # "file", or the signature of what was computed
    short: str = ""  # the short signature of what was computed
    resampled: Callable[[FloatArray], FloatArray] | None = (
        None  # (draws, documents) → (draws, systems)
    )

    def at(self, level: Level, where: Participants) -> FloatArray | None:
        """The scores at a level: as given, or means of the segments that people judged."""
        every = where.choice.all_segments
        stored = level in self.levels
        if self.source == "file" and level != "seg" and where.choice.partial:
            stored = False  # stored scores are of the whole set
        if self.source == "file" and level in ("doc", "domain") and "seg" in self.levels:
            stored = stored and (
                every or not where.partly_judged
            )  # or of more text than people judged
        if stored or "seg" not in self.levels:
            return self.levels[level] if stored else None
        judged = where.kept if where.seg is None or every else ~np.isnan(where.seg)
        return where.means(np.where(judged, self.levels["seg"], np.nan), level)


@dataclass
class Gathered:
    """Metrics that can be compared on the same systems, and what had to be left out."""

    participants: Participants
    metrics: list[MetricScores] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class MetricSelection:
    """Which metrics take part."""

    names: tuple[str, ...] = ()  # names, labels or spec strings
    stored: bool = False  # all stored metrics in addition to the named ones
    files: tuple[Path, ...] = ()  # score files from elsewhere
    primary: bool = False  # only primary submissions
    missing: Literal["error", "drop", "zero"] = (
        "error"  # where a stored metric lacks a system or a score
    )


@dataclass(frozen=True)
class StoredFile:
    """One score file: of the EvalSet, or from elsewhere."""

    label: str
    level: ScoreLevel
    path: Path
    scores: Judgments | None = None  # what is in it, where a file has several metrics


def gather(
    where: Participants, metrics: Sequence[str] | MetricSelection = (), options: Any = None
) -> Gathered:
    """Scores of each requested metric: a stored one by name or label, else a spec string to
    compute; none = all stored.

    A system or score that is missing, or too many, is an error. With ``missing="drop"`` systems
    that some metric lacks are left out for all; with ``missing="zero"`` a missing system scores 0,
    as in mt-metrics-eval, with a note.
    """
    selection = metrics if isinstance(metrics, MetricSelection) else MetricSelection(tuple(metrics))
    gathered = Gathered(where, notes=list(where.notes))
    files = _stored_files(where, selection.files)
    shown = _display_names(files)
    names = _names(gathered, selection, shown, files)
    computed = _computed(gathered, [name for name in names if name not in shown], options)
    for name in names:
        if name in computed:
            gathered.metrics.append(computed[name])
        else:
            _take_stored(
                gathered,
                name,
                [file for file in files if file.label == shown[name]],
                selection.missing,
            )
    return _common(gathered)


def _stored_files(where: Participants, elsewhere: Sequence[Path]) -> list[StoredFile]:
    """Score files that may be used: those whose references are within those of the metrics."""
    evalset = where.evalset
    files = [
        StoredFile(label, level, evalset.metric_files[f"{label}.{level}.score"])
        for label, level in evalset.metric_names
    ]
    for file in (file for path in elsewhere for file in _outside(path, where)):
        if any((file.label, file.level) == (other.label, other.level) for other in files):
            raise InputError(
                f"two files contain {file.label}.{file.level}",
                where=str(file.path),
                next="rename one of them",
            )
        files.append(file)
    used = {file.label: split_label(file.label)[1] for file in files}
    return [
        file
        for file in files
        if not where.refs
        or set(evalset.references if used[file.label] == ("all",) else used[file.label])
        <= set(where.refs)
    ]


def _display_names(files: Sequence[StoredFile]) -> dict[str, str]:
    """Display name → label. The display name is the metric's own.

    Where several labels share it, the one without a reference gets ``[noref]``, and several with
    references keep their labels.
    """
    by_name: dict[str, dict[str, bool]] = {}  # name → label → whether it has a reference
    for file in files:
        name, refs = split_label(file.label)
        by_name.setdefault(name, {})[file.label] = bool(refs)
    shown: dict[str, str] = {}
    for name, labels in by_name.items():
        with_refs = sum(labels.values())
        for label, has_reference in labels.items():
            if has_reference:
                shown[name if with_refs == 1 else label] = label
            else:
                shown[f"{name}[noref]" if with_refs else name] = label
    return shown


def _names(
    gathered: Gathered,
    selection: MetricSelection,
    shown: dict[str, str],
    files: Sequence[StoredFile],
) -> list[str]:
    """Display names and spec strings in the given order; a metric's name selects all its labels."""
    where = gathered.participants
    names: list[str] = []
    for requested in selection.names:
        same = [name for name, label in shown.items() if label == requested] or [
            name for name, label in shown.items() if split_label(label)[0] == requested
        ]
        names += [requested] if requested in shown or not same else same
    outside = {
        file.label: file.scores is not None
        for file in files
        if where.evalset.root not in file.path.parents
    }
    chosen = any(
        shown.get(name) in outside and outside[shown[name]] for name in names
    )  # of published metrics
    names += [
        name
        for name, label in shown.items()
        if label in outside and not (chosen and outside[label])
    ]
    if selection.stored or not names:
        known = conventions(where.test_set).primary.split()
        primary = [name for name, label in shown.items() if split_label(label)[0] in known]
        if selection.primary and not primary:
            gathered.notes.append(
                f"which metrics of {where.name} were primary submissions is not known: all are "
                "shown"
            )
        elif selection.primary and len(primary) < len(shown):
            gathered.notes.append(
                f"{where.name}: {len(shown) - len(primary)} stored metrics that are not primary "
                "submissions or baselines are not shown (--no-primary shows them)"
            )
        names += primary if selection.primary and primary else shown
    if not names:
        raise InputError(
            "no stored metric scores, and no metric was requested",
            where=where.name,
            next="name metrics, e.g. -m chrf -m bleu",
        )
    return list(dict.fromkeys(names))


def _take_stored(gathered: Gathered, name: str, files: Sequence[StoredFile], missing: str) -> None:
    where = gathered.participants
    levels: dict[str, FloatArray] = {}
    for file in files:
        try:
            items = where.evalset.items(file.level)
            scores = file.scores or read_scores(
                file.path, file.label, file.level, items=items, gaps=True
            )
            values = _in_order(scores, gathered, str(file.path), missing)
            gaps = np.isnan(values)
            if file.level in ("seg", "doc") and where.seg is not None:
                gaps &= ~np.isnan(
                    where.gold(file.level)
                )  # `meta --out` writes gaps where there is no judgment
            if missing != "drop" and gaps.any():
                if file.scores is not None:
                    raise gap_error(name, gaps, where, file.path)
                read_scores(file.path, file.label, file.level, gaps=False)  # names the line
            levels[file.level] = values
        except WholetextError as fault:
            if missing != "drop":
                raise
            gathered.notes.append(
                f"{file.label}.{file.level} was left out: {fault.what} ({fault.where})"
            )
    if levels:
        gathered.metrics.append(MetricScores(name, split_label(files[0].label)[1], levels, "file"))


def _in_order(scores: Judgments, gathered: Gathered, path: str, missing: str) -> FloatArray:
    """(systems, items) in the participants' order; rows of NaN or 0 for missing systems."""
    where = gathered.participants
    outputs = where.evalset.systems
    extra = [name for name in scores.systems if outputs and name not in outputs]
    lacking = [name for name in where.systems if name not in scores.systems]
    for names, text, step in (
        (extra, "there are scores of {}, which has no output here", "remove them"),
        (lacking, "there are no scores of {}", "score every system"),
    ):
        if names and (missing == "error" or (missing == "zero" and names is extra)):
            raise AlignmentError(
                text.format(", ".join(map(repr, names))),
                where=path,
                next=f"{step}, or --allow-missing to exclude them",
            )
        if names:
            zero = ": they count as 0, as in the official results" if missing == "zero" else ""
            gathered.notes.append(f"{path}: {text.format(', '.join(names))}{zero}")
    rows = {
        system: row for system, row in zip(scores.systems, scores.values) if system in where.systems
    }
    gaps = sum(int(np.isnan(row).sum()) for row in rows.values())
    if gaps and missing == "drop":
        gathered.notes.append(f"{path}: {gaps} scores are missing and count as not judged")
    empty = np.full(scores.values.shape[1], 0.0 if missing == "zero" else np.nan)
    return np.stack([rows.get(system, empty) for system in where.systems])


def _common(gathered: Gathered) -> Gathered:
    """Keep the systems that every metric has scored, so that all are compared on the same."""
    old = gathered.participants
    lacking = {
        system
        for i, system in enumerate(old.systems)
        for metric in gathered.metrics
        for values in metric.levels.values()
        if np.isnan(values[i]).all()
    }
    if not lacking:
        return gathered
    gathered.notes.append(
        "excluded for all metrics, because some have no scores for them: "
        f"{', '.join(sorted(lacking))}"
    )
    keep = [i for i, system in enumerate(old.systems) if system not in lacking]
    if len(keep) < 2:
        raise InputError(
            "fewer than two systems have scores of every metric",
            where=old.name,
            next="; ".join(gathered.notes),
        )
    smaller = replace(
        old,
        systems=tuple(old.systems[i] for i in keep),
        seg=None if old.seg is None else old.seg[keep],
        system_seg=None if old.system_seg is None else old.system_seg[keep],
        other={level: values[keep] for level, values in old.other.items()},
        left_out={**old.left_out, **dict.fromkeys(lacking, "not scored by every metric")},
    )
    metrics = [
        replace(m, levels={level: values[keep] for level, values in m.levels.items()})
        for m in gathered.metrics
    ]
    return Gathered(smaller, metrics, gathered.notes)


# ---------------------------------------------------------------- score files from elsewhere


def _outside(path: Path, where: Participants) -> list[StoredFile]:
    """A score file, or those in a folder, its ``LP/`` or ``metric-scores/LP/``.

    Or scores as WMT25 published them.
    """
    path = Path(str(path).replace("{langs}", where.langs))
    if is_published(path):
        return [
            StoredFile(label, "seg", path, scores)
            for label, scores in published_scores(path, where)
        ]
    if os.path.isfile(path):  # noqa: PTH113 - pathlib raises where a name is too long
        return [_outside_file(path, where)]
    if not is_folder(path):
        raise InputError(
            "there is no such score file or folder", where=str(path), next="check the path"
        )
    folder = next(
        (
            entry
            for entry in (path / "metric-scores" / where.langs, path / where.langs)
            if entry.is_dir()
        ),
        path,
    )
    names = sorted(entry for entry in entries(folder) if entry.name.endswith(".score"))
    if not names:
        raise InputError(
            f"there are no score files (*.score) of {where.langs} here", where=str(folder)
        )
    return [_outside_file(entry, where, single=False) for entry in names]


def _outside_file(path: Path, where: Participants, single: bool = True) -> StoredFile:
    """Label and level from ``NAME-REF.LEVEL.score``.

    Else from its name and its number of scores.
    """
    stem, _, ending = path.name.removesuffix(".score").rpartition(".")
    levels: tuple[ScoreLevel, ...] = ("seg", "doc", "domain", "sys")
    level = next((known for known in levels if known == ending), None)
    label = stem if level and stem else path.name.removesuffix(".score")
    references = {*where.evalset.references, *where.refs}
    used = set(split_label(label)[1]) if "-" in label else set()
    named = label.rpartition("-")[2] in ("src", "all") or (used and used <= references)
    if not named:
        label, used = f"{label}-src", set()
    if single and where.refs and used - {"all"} and not used <= set(where.refs):
        raise InputError(
            f"these scores use {', '.join(sorted(used))}, the metrics' reference is "
            f"{', '.join(where.refs)}",
            where=str(path),
            next="name their references with --ref",
        )
    if level is None:
        count = read_scores(path, path.name, "seg", gaps=True).values.shape[1]
        segments, documents = where.runs[-1].stop, len(where.runs)
        sizes: dict[int, ScoreLevel] = {segments: "seg", documents: "doc", 1: "sys"}
        level = sizes.get(count)
        if level is None:
            raise AlignmentError(
                f"{count} scores per system are neither one, nor one per document ({documents}), "
                "nor "
                f"one per segment ({segments})",
                where=str(path),
                next="call the file NAME-REF.seg.score, .doc.score or .sys.score",
            )
    return StoredFile(label, level, path)


# ---------------------------------------------------------------- computed


def _computed(gathered: Gathered, specs: Sequence[str], options: Any) -> dict[str, MetricScores]:
    """Score the participants under every spec; rows without human scores are skipped."""
    if not specs:
        return {}
    from wholetext.io import Loaded
    from wholetext.registry import scorer
    from wholetext.scoring.evaluate import Options, score

    where = gathered.participants
    canonical = {
        spec: scorer(spec).spec for spec in specs
    }  # a wrong spec fails before texts are read
    loaded = where.evalset.load()
    outputs = [output for output in loaded.outputs if output.system in where.systems]
    absent = [
        system for system in where.systems if system not in {output.system for output in outputs}
    ]
    if absent:
        raise AlignmentError(
            f"system {absent[0]!r} has human scores but no output",
            where=where.name,
            next="name the systems that take part, or give scores of every metric",
        )
    refs = [name for name in where.refs if name in loaded.corpus.references]
    options = replace(options or Options(), refs=tuple(refs) or None, flags=False)
    if not where.choice.all_segments:
        judged = where.judged & where.kept
        options = replace(
            options, only={run.doc: judged[run.start : run.stop] for run in where.runs}
        )
    results = score(Loaded(loaded.corpus, outputs), list(canonical.values()), options=options)
    gathered.notes += results.warnings
    return {
        spec: _from_scores(spec, [results.scores[name][system] for system in where.systems], where)
        for spec, name in canonical.items()
    }


def _from_scores(label: str, scores: Sequence[Scores], where: Participants) -> MetricScores:
    """Scores of every system → levels, higher is better, of judged text only."""
    sign = 1.0 if scores[0].higher_is_better else -1.0
    judged = where.kept if where.choice.all_segments else where.judged & where.kept
    totals = [_totals(system, judged)[0] for system in scores]  # (documents, k) each

    def resampled(weights: FloatArray) -> FloatArray:
        return np.stack(
            [
                sign * system.reduce(weights @ total)[..., 0]
                for system, total in zip(scores, totals)
            ],
            axis=-1,
        )

    documents = []
    for i, system in enumerate(scores):  # a system's document is what was judged of it
        own = judged if where.seg is None or where.choice.all_segments else ~np.isnan(where.seg[i])
        total, defined = _totals(system, own)
        documents.append(np.where(defined, sign * system.reduce(total)[..., 0], np.nan))
    levels = {
        "seg": np.stack([sign * system.at("segment") for system in scores]),
        "doc": np.stack(documents),
        "sys": resampled(np.ones((1, len(where.runs)))).T,
    }
    return MetricScores(
        label, where.refs, levels, str(scores[0].signature), scores[0].signature.short, resampled
    )


def _totals(scores: Scores, judged: BoolArray) -> tuple[FloatArray, BoolArray]:
    """(documents, k) statistics of rows that touch a judged segment, and (documents,) which have
    such rows.
    """
    rows = scores.rows
    offset = np.concatenate([[0], np.cumsum(rows.sizes)])[rows.doc]
    before = np.concatenate([[0], np.cumsum(judged)])
    used = before[offset + rows.stop] > before[offset + rows.start]
    totals = np.zeros((len(rows.docs), scores.stats.shape[1]))
    np.add.at(totals, rows.doc[used], (scores.stats * rows.weight[:, None])[used])
    return totals, np.bincount(rows.doc[used], minlength=len(rows.docs)) > 0
