"""Metric scores of a field's systems: taken from ``metric-scores`` files, or computed where a spec string asks for
it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, WholetextError
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import ScoreLevel, metric_names, read_scores, split_label
from wholetext.io.text import is_folder
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.conventions import primary
from wholetext.meta.participants import Level, Participants
from wholetext.types import FloatArray, Judgments, Scores

_LEVELS: tuple[ScoreLevel, ...] = ("seg", "doc", "domain", "sys")


@dataclass(frozen=True, eq=False)
class MetricScores:
    """One metric: (systems, items) scores by level, higher is better, systems in the order of the field."""

    name: str
    refs: tuple[str, ...]
    levels: dict[str, FloatArray]
    source: str  # "file", or the signature of what was computed
    short: str = ""  # the short signature of what was computed
    resampled: Callable[[FloatArray], FloatArray] | None = None  # (draws, documents) weights → (draws, systems) scores

    def at(self, level: Level, where: Participants) -> FloatArray | None:
        """The scores at a level; where a coarser level is not given, means of the segments that people judged."""
        whole = self.source != "file" or not where.choice.partial
        if level in self.levels and (whole or level == "seg") and not self._wider(level, where):
            return self.levels[level]
        if "seg" not in self.levels:
            return self.levels.get(level) if whole else None
        judged = where.kept if where.seg is None or where.choice.all_segments else ~np.isnan(where.seg)
        return where.means(np.where(judged, self.levels["seg"], np.nan), level)

    def _wider(self, level: Level, where: Participants) -> bool:
        """Whether stored scores of documents are of more text than people judged, and there are scores of segments."""
        partial = level in ("doc", "domain") and self.source == "file" and where.partly_judged
        return partial and "seg" in self.levels and not where.choice.all_segments


@dataclass
class Gathered:
    """Metrics that can be compared on the same systems, and what had to be left out."""

    field: Participants
    metrics: list[MetricScores] = default(default_factory=list)
    notes: list[str] = default(default_factory=list)


@dataclass(frozen=True)
class StoredFile:
    """One score file: of the EvalSet, or from elsewhere."""

    label: str
    level: ScoreLevel
    path: Path


@dataclass(frozen=True)
class Wanted:
    """Which metrics take part: names, labels or spec strings; score files from elsewhere; only primary submissions."""

    names: tuple[str, ...] = ()
    stored: bool = False  # all stored metrics beside the named ones
    files: tuple[Path, ...] = ()
    primary: bool = False
    missing: Literal["error", "drop", "zero"] = "error"  # where a stored metric lacks a system or a score


def stored_files(where: Participants, elsewhere: Sequence[Path] = ()) -> list[StoredFile]:
    """Score files that may be used: those whose references are within those of the field."""
    inside = where.folder / "metric-scores" / where.langs
    found = [StoredFile(label, level, inside / f"{label}.{level}.score")
             for label, level in metric_names(where.folder, where.langs)]
    for one in (one for path in elsewhere for one in _outside(path, where)):
        if any((one.label, one.level) == (other.label, other.level) for other in found):
            raise InputError(f"two files contain {one.label}.{one.level}", where=str(one.path),
                             next="rename one of them")
        found.append(one)
    there = set(evalset.references(where.folder, where.langs))

    def usable(label: str) -> bool:
        refs = split_label(label)[1]
        used = there if refs == ("all",) else set(refs)
        return not where.refs or used <= set(where.refs)

    return [one for one in found if usable(one.label)]


def labels(where: Participants, files: Sequence[StoredFile] | None = None) -> dict[str, str]:
    """Display name → label of every stored metric that may be used.

    The display name is the metric's own name; where several labels share it, the one without a reference gets
    ``[noref]``, and several with references keep their labels.
    """
    every = dict.fromkeys(one.label for one in (stored_files(where) if files is None else files))
    by_name: dict[str, list[str]] = {}
    for label in every:
        by_name.setdefault(split_label(label)[0], []).append(label)
    shown: dict[str, str] = {}
    for name, many in by_name.items():
        with_refs = [label for label in many if split_label(label)[1]]
        for label in many:
            if label not in with_refs:
                shown[f"{name}[noref]" if with_refs else name] = label
            else:
                shown[name if len(with_refs) == 1 else label] = label
    return shown


def gather(
    where: Participants, wanted: Sequence[str] | Wanted = (), options: Any = None, allow_missing: bool = False
) -> Gathered:
    """Scores of every wanted metric: a stored one by name or label, else a spec string to compute; none = all stored.

    A name stands for all its labels. Strict: a system or score that is missing, or too many, is an error that names
    it. With ``missing="drop"`` (``allow_missing``) systems that some metric lacks are left out for all, scores that
    are no numbers count as not judged; with ``missing="zero"`` a missing system scores 0, as in mt-metrics-eval. The
    notes say so.
    """
    asked = wanted if isinstance(wanted, Wanted) else Wanted(tuple(wanted))
    asked = replace(asked, missing="drop") if allow_missing else asked
    made = Gathered(where, notes=list(where.notes))
    files = stored_files(where, asked.files)
    shown = labels(where, files)
    names = _names(made, asked, shown, files)
    computed = dict(zip(specs, _computed(made, specs, options))) if (specs := _specs(names, shown)) else {}
    for name in names:
        if name in computed:
            made.metrics.append(computed[name])
        else:
            _take_stored(made, name, [one for one in files if one.label == shown[name]], asked.missing)
    return _common(made)


def _specs(names: Sequence[str], shown: dict[str, str]) -> list[str]:
    return [name for name in names if name not in shown]


def _names(made: Gathered, asked: Wanted, shown: dict[str, str], files: Sequence[StoredFile]) -> list[str]:
    """Display names and spec strings in the order asked for; a metric's name or label stands for all it has."""
    by_label = {label: name for name, label in shown.items()}
    by_base: dict[str, list[str]] = {}
    for name, label in shown.items():
        by_base.setdefault(split_label(label)[0], []).append(name)
    names: list[str] = []
    for one in asked.names:
        names += [one] if one in shown else [by_label[one]] if one in by_label else by_base.get(one, [one])
    outside = {one.label for one in files if made.field.folder not in one.path.parents}
    names += [name for name, label in shown.items() if label in outside]
    if asked.stored or not names:
        names += _submitted(made, asked, shown)
    if not names:
        raise InputError("no stored metric scores, and no metric was requested", where=made.field.name,
                         next="name metrics, e.g. -m chrf -m bleu")
    return list(dict.fromkeys(names))


def _submitted(made: Gathered, asked: Wanted, shown: dict[str, str]) -> list[str]:
    """All stored metrics, or those that were primary submissions or baselines."""
    if not asked.primary:
        return list(shown)
    known = primary(made.field.test_set)
    chosen = [name for name, label in shown.items() if split_label(label)[0] in known]
    if not known or not chosen:
        made.notes.append(f"which metrics of {made.field.name} were primary submissions is not known: all are shown")
        return list(shown)
    if len(chosen) < len(shown):
        made.notes.append(f"{made.field.name}: {len(shown) - len(chosen)} stored metrics that are not primary "
                          "submissions or baselines are not shown (--no-primary shows them)")
    return chosen


# ---------------------------------------------------------------- stored


def _take_stored(made: Gathered, name: str, files: Sequence[StoredFile], missing: str) -> None:
    where = made.field
    levels: dict[str, FloatArray] = {}
    for one in files:
        try:
            found = read_scores(one.path, one.label, one.level, items=_size(where, one.level), gaps=True)
            values = _lined_up(found, made, str(one.path), missing)
            if missing != "drop" and np.isnan(values).any() and not _spare(values, where, one.level):
                read_scores(one.path, one.label, one.level, gaps=False)  # names the line
            levels[one.level] = values
        except WholetextError as fault:
            if missing != "drop":
                raise
            made.notes.append(f"{one.label}.{one.level} was left out: {fault.what} ({fault.where})")
    if levels:
        refs = split_label(files[0].label)[1]
        made.metrics.append(MetricScores(name, refs, levels, "file"))


def _spare(values: FloatArray, where: Participants, level: ScoreLevel) -> bool:
    """Whether scores are missing only where human scores are (as in files that ``meta --out`` writes)."""
    if level not in ("seg", "doc") or where.seg is None:
        return False
    return not bool((np.isnan(values) & ~np.isnan(where.gold(level))).any())


def _size(where: Participants, level: ScoreLevel) -> list[str] | int:
    if level == "seg":
        return where.runs[-1].stop
    if level == "doc":
        return [run.doc for run in where.runs]
    return list(dict.fromkeys(run.meta.get("domain", "all") for run in where.runs)) if level == "domain" else 0


def _lined_up(found: Judgments, made: Gathered, path: str, missing: str) -> FloatArray:
    """(systems, items) in the order of the field; rows of NaN or 0 for missing systems where that is allowed."""
    where = made.field
    outputs = evalset.systems(where.folder, where.langs)
    extra = [name for name in found.systems if outputs and name not in outputs]
    lacking = [name for name in where.systems if name not in found.systems]
    for names, text, step in ((extra, "there are scores of {}, which has no output here", "remove them"),
                              (lacking, "there are no scores of {}", "score every system")):
        if names and (missing == "error" or (missing == "zero" and names is extra)):
            raise AlignmentError(text.format(", ".join(map(repr, names))), where=path,
                                 next=f"{step}, or --allow-missing to exclude them")
        if names:
            zero = ": they count as 0, as in the official results" if missing == "zero" else ""
            made.notes.append(f"{path}: {text.format(', '.join(names))}{zero}")
    empty = np.full(found.values.shape[1], 0.0 if missing == "zero" else np.nan)
    rows = [found.values[found.systems.index(s)] if s in found.systems else empty for s in where.systems]
    gaps = int(np.isnan(np.stack(rows)[[s in found.systems for s in where.systems]]).sum()) if missing == "drop" else 0
    if gaps:
        made.notes.append(f"{path}: {gaps} scores are missing and count as not judged")
    return np.stack(rows)


def _common(made: Gathered) -> Gathered:
    """Only systems that every metric has scored, so that all metrics are compared on the same ones."""
    lacking = {
        system for i, system in enumerate(made.field.systems) for metric in made.metrics
        for values in metric.levels.values() if np.isnan(values[i]).all()
    }
    if not lacking:
        return made
    made.notes.append(f"excluded for all metrics, because some have no scores for them: {', '.join(sorted(lacking))}")
    keep = [i for i, system in enumerate(made.field.systems) if system not in lacking]
    if len(keep) < 2:
        raise InputError("fewer than two systems have scores of every metric", where=made.field.name,
                         next="; ".join(made.notes))
    old = made.field
    smaller = replace(
        old, systems=tuple(old.systems[i] for i in keep), seg=None if old.seg is None else old.seg[keep],
        system_seg=None if old.system_seg is None else old.system_seg[keep],
        other={level: values[keep] for level, values in old.other.items()},
        left_out={**old.left_out, **dict.fromkeys(lacking, "not scored by every metric")})
    metrics = [replace(m, levels={level: values[keep] for level, values in m.levels.items()}) for m in made.metrics]
    return Gathered(smaller, metrics, made.notes)


# ---------------------------------------------------------------- score files from elsewhere


def _outside(path: Path, where: Participants) -> list[StoredFile]:
    """A score file, or those of this language pair in a folder (itself, its ``LP/`` or its ``metric-scores/LP/``)."""
    path = Path(str(path).replace("{langs}", where.langs))
    if os.path.isfile(path):  # noqa: PTH113 - pathlib raises where a name is too long
        return [_outside_file(path, where)]
    if not is_folder(path):
        raise InputError("there is no such score file or folder", where=str(path), next="check the path")
    folder = next((one for one in (path / "metric-scores" / where.langs, path / where.langs) if one.is_dir()), path)
    names = sorted(one for one in evalset.entries(folder) if one.name.endswith(".score"))
    if not names:
        raise InputError(f"there are no score files (*.score) of {where.langs} here", where=str(folder))
    return [_outside_file(one, where, single=False) for one in names]


def _outside_file(path: Path, where: Participants, single: bool = True) -> StoredFile:
    """Label and level from ``NAME-REF.LEVEL.score``; else the file's name, and the level by the number of scores."""
    stem, _, level = path.name.removesuffix(".score").rpartition(".")
    known = next((one for one in _LEVELS if one == level), None)
    label = stem if known and stem else path.name.removesuffix(".score")
    references = {*evalset.references(where.folder, where.langs), *where.refs}
    used = set(split_label(label)[1]) if "-" in label else set()
    named = label.rpartition("-")[2] in ("src", "all") or (used and used <= references)
    if not named:
        label, used = f"{label}-src", set()
    if single and where.refs and used - {"all"} and not used <= set(where.refs):
        raise InputError(f"these scores use {', '.join(sorted(used))}, the metrics' reference is "
                         f"{', '.join(where.refs)}", where=str(path), next="name their references with --ref")
    return StoredFile(label, known or _level_of(path, where), path)


def _level_of(path: Path, where: Participants) -> ScoreLevel:
    """The level at which there is one score per system and item."""
    found = read_scores(path, path.name, "seg", gaps=True)
    sizes: dict[int, ScoreLevel] = {where.runs[-1].stop: "seg", len(where.runs): "doc", 1: "sys"}
    level = sizes.get(found.values.shape[1])
    if level is None:
        raise AlignmentError(f"{found.values.shape[1]} scores per system are neither one, nor one per document "
                             f"({len(where.runs)}), nor one per segment ({where.runs[-1].stop})", where=str(path),
                             next="call the file NAME-REF.seg.score, .doc.score or .sys.score")
    return level


# ---------------------------------------------------------------- computed


def _computed(made: Gathered, specs: Sequence[str], options: Any) -> list[MetricScores]:
    """Score the participants under every spec, against their references; rows without human scores are skipped."""
    from wholetext.registry import scorer
    from wholetext.scoring.evaluate import Options, evaluate

    where = made.field
    canonical = [scorer(spec).spec for spec in specs]  # a wrong spec fails before texts are read
    loaded = evalset.read(where.folder, where.langs)
    outputs = [output for output in loaded.outputs if output.system in where.systems]
    absent = [system for system in where.systems if system not in {output.system for output in outputs}]
    if absent:
        raise AlignmentError(f"system {absent[0]!r} has human scores but no output", where=where.name,
                             next="name the systems that take part, or give scores of every metric")
    there = [name for name in where.refs if name in loaded.corpus.references]
    options = replace(options or Options(), refs=tuple(there) or None, flags=False)
    if not where.choice.all_segments:
        judged = where.judged & where.kept
        options = replace(options, only={run.doc: judged[run.start : run.stop] for run in where.runs})
    results = evaluate(loaded.corpus, outputs, canonical, options)
    made.notes += [note for note in results.warnings if note not in made.notes]
    return [from_scores(spec, [results.scores[name][system] for system in where.systems], where)
            for spec, name in zip(specs, canonical)]


def from_scores(label: str, scores: Sequence[Scores], where: Participants) -> MetricScores:
    """Scores of every system → levels, with a sign that makes higher better; all of them of judged text only."""
    sign = 1.0 if scores[0].higher_is_better else -1.0
    judged = where.kept if where.choice.all_segments else where.judged & where.kept
    totals = [judged_totals(one, judged) for one in scores]  # (documents, k) each

    def resampled(weights: FloatArray) -> FloatArray:
        return np.stack([sign * one.reduce(weights @ total)[..., 0] for one, total in zip(scores, totals)], axis=-1)

    own = np.broadcast_to(judged, (len(scores), len(judged)))
    if where.seg is not None and not where.choice.all_segments:
        own = ~np.isnan(where.seg)  # a system's document is what was judged of it
    levels = {
        "seg": np.stack([sign * one.at("segment") for one in scores]),
        "doc": np.stack([sign * _documents(one, mask) for one, mask in zip(scores, own)]),
        "sys": resampled(np.ones((1, len(where.runs)))).T,
    }
    return MetricScores(label, where.refs, levels, str(scores[0].signature), scores[0].signature.short, resampled)


def _documents(scores: Scores, judged: BoolArray) -> FloatArray:
    """(documents,) scores of each document's rows that touch a judged segment; NaN where there is none."""
    used = _touching(scores, judged)
    table = scores.reduce(judged_totals(scores, judged))[..., 0]
    return np.where(np.bincount(scores.rows.doc[used], minlength=len(scores.rows.docs)) > 0, table, np.nan)


def judged_totals(scores: Scores, judged: BoolArray) -> FloatArray:
    """(documents, k) statistics of rows that touch a judged segment: metric and people look at the same text."""
    rows, used = scores.rows, _touching(scores, judged)
    totals = np.zeros((len(rows.docs), scores.stats.shape[1]))
    np.add.at(totals, rows.doc[used], (scores.stats * rows.weight[:, None])[used])
    return totals


def _touching(scores: Scores, judged: BoolArray) -> BoolArray:
    """(rows,) which rows touch a judged segment."""
    rows = scores.rows
    offset = np.concatenate([[0], np.cumsum(rows.sizes)])[rows.doc]
    before = np.concatenate([[0], np.cumsum(judged)])
    return np.asarray(before[offset + rows.stop] > before[offset + rows.start])
