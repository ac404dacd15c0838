"""Metric scores of a field's systems: taken from ``metric-scores`` files, or computed where a spec string asks for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as default
from typing import Any

import numpy as np

from wholetext.errors import AlignmentError, InputError, WholetextError
from wholetext.io import evalset
from wholetext.io.scores import ScoreLevel, metric_names, read_scores, split_label
from wholetext.meta.field import Field, Level
from wholetext.stats.correlation import BoolArray
from wholetext.types import FloatArray, Judgments, Scores

_LEVELS: tuple[ScoreLevel, ...] = ("seg", "doc", "domain", "sys")


@dataclass(frozen=True, eq=False)
class MetricScores:
    """One metric: (systems, items) scores by level, higher is better, systems in the order of the field."""

    name: str
    refs: tuple[str, ...]
    levels: dict[str, FloatArray]
    source: str  # "file", or the signature of what was computed
    resampled: Callable[[FloatArray], FloatArray] | None = None  # (draws, documents) weights → (draws, systems) scores

    def at(self, level: Level, where: Field) -> FloatArray | None:
        """The scores at a level; means of segments where a coarser level is not given."""
        if level in self.levels and not (level == "sys" and where.choice.domains and self.source == "file"):
            return self.levels[level]
        return where.means(np.where(where.kept, self.levels["seg"], np.nan), level) if "seg" in self.levels else None


@dataclass
class Gathered:
    """Metrics that can be compared on the same systems, and what had to be left out."""

    field: Field
    metrics: list[MetricScores] = default(default_factory=list)
    notes: list[str] = default(default_factory=list)


def labels(where: Field) -> dict[str, list[str]]:
    """Display name → labels of stored metrics that may be used: references within those of the field."""
    found: dict[str, list[str]] = {}
    for label in dict.fromkeys(label for label, _ in metric_names(where.folder, where.langs)):
        name, refs = split_label(label)
        if refs == ("all",) or not where.refs or set(refs) <= set(where.refs):
            found.setdefault(name, []).append(label)
    return found


def gather(where: Field, wanted: Sequence[str], options: Any = None, allow_missing: bool = False) -> Gathered:
    """Scores of every wanted metric: a stored one by name or label, else a spec string to compute; none = all stored.

    Strict: a system or score that is missing, or too many, is an error that names it. With ``allow_missing`` systems
    that some metric lacks are left out for all, scores that are no numbers count as not judged, and the notes say so.
    """
    stored = labels(where)
    by_label = {label: label for many in stored.values() for label in many}
    by_label |= {name: many[0] for name, many in stored.items()}
    made = Gathered(where)
    names = list(wanted) or list(stored)
    if not names:
        raise InputError("there are no metric scores here, and none were asked for", where=where.name,
                         next="name metrics, e.g. -m chrf -m bleu")
    specs = [name for name in names if name not in by_label]
    computed = dict(zip(specs, _computed(where, specs, options))) if specs else {}
    for name in names:
        if name in computed:
            made.metrics.append(computed[name])
        else:
            _take_stored(made, name, by_label[name], allow_missing)
    return _common(made)


# ---------------------------------------------------------------- stored


def _take_stored(made: Gathered, name: str, label: str, allow_missing: bool) -> None:
    where = made.field
    levels: dict[str, FloatArray] = {}
    for level in (level for known, level in metric_names(where.folder, where.langs) if known == label):
        path = where.folder / "metric-scores" / where.langs / f"{label}.{level}.score"
        try:
            found = read_scores(path, label, level, items=_size(where, level), gaps=allow_missing)
            levels[level] = _lined_up(found, made, str(path), allow_missing)
        except WholetextError as fault:
            if not allow_missing:
                raise
            made.notes.append(f"{label}.{level} was left out: {fault.what} ({fault.where})")
    if levels:
        made.metrics.append(MetricScores(name, split_label(label)[1], levels, "file"))


def _size(where: Field, level: ScoreLevel) -> list[str] | int:
    if level == "seg":
        return where.runs[-1].stop
    if level == "doc":
        return [run.doc for run in where.runs]
    return list(dict.fromkeys(run.meta.get("domain", "all") for run in where.runs)) if level == "domain" else 0


def _lined_up(found: Judgments, made: Gathered, path: str, allow_missing: bool) -> FloatArray:
    """(systems, items) in the order of the field; NaN rows for missing systems where that is allowed."""
    where = made.field
    outputs = evalset.systems(where.folder, where.langs)
    extra = [name for name in found.systems if outputs and name not in outputs]
    missing = [name for name in where.systems if name not in found.systems]
    for names, text, step in ((extra, "there are scores of {}, which has no output here", "remove them"),
                              (missing, "there are no scores of {}", "score every system")):
        if names and not allow_missing:
            raise AlignmentError(text.format(", ".join(map(repr, names))), where=path,
                                 next=f"{step}, or --allow-missing to go on without")
        if names:
            made.notes.append(f"{path}: {text.format(', '.join(names))}")
    empty = np.full(found.values.shape[1], np.nan)
    rows = [found.values[found.systems.index(s)] if s in found.systems else empty for s in where.systems]
    gaps = int(np.isnan(np.stack(rows)[[s in found.systems for s in where.systems]]).sum()) if allow_missing else 0
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
    made.notes.append(f"left out for all metrics, because some lack them: {', '.join(sorted(lacking))}")
    keep = [i for i, system in enumerate(made.field.systems) if system not in lacking]
    if len(keep) < 2:
        raise InputError("fewer than two systems have scores of every metric", where=made.field.name,
                         next="; ".join(made.notes))
    old = made.field
    smaller = replace(
        old, systems=tuple(old.systems[i] for i in keep), seg=None if old.seg is None else old.seg[keep],
        other={level: values[keep] for level, values in old.other.items()},
        left_out={**old.left_out, **dict.fromkeys(lacking, "not scored by every metric")})
    metrics = [replace(m, levels={level: values[keep] for level, values in m.levels.items()}) for m in made.metrics]
    return Gathered(smaller, metrics, made.notes)


# ---------------------------------------------------------------- computed


def _computed(where: Field, specs: Sequence[str], options: Any) -> list[MetricScores]:
    """Score the field's systems under every spec, against the field's references."""
    from wholetext.evaluate import Options, evaluate
    from wholetext.registry import scorer

    canonical = [scorer(spec).spec for spec in specs]  # a wrong spec fails before texts are read
    loaded = evalset.read(where.folder, where.langs)
    outputs = [output for output in loaded.outputs if output.system in where.systems]
    absent = [system for system in where.systems if system not in {output.system for output in outputs}]
    if absent:
        raise AlignmentError(f"system {absent[0]!r} was judged and has no output here", where=where.name,
                             next="name the systems that take part, or give scores of every metric")
    options = options or Options()
    results = evaluate(loaded.corpus, outputs, canonical, replace(options, refs=where.refs or None))
    return [from_scores(spec, name, [results.scores[name][system] for system in where.systems], where)
            for spec, name in zip(specs, canonical)]


def from_scores(label: str, spec: str, scores: Sequence[Scores], where: Field) -> MetricScores:
    """Scores of every system → levels, with a sign that makes higher better."""
    sign = 1.0 if scores[0].higher_is_better else -1.0
    judged = np.ones_like(where.kept) if where.choice.all_segments else where.judged
    levels = {
        "seg": np.stack([sign * one.at("segment") for one in scores]),
        "doc": np.stack([sign * one.at("doc") for one in scores]),
    }
    totals = [judged_totals(one, judged & where.kept) for one in scores]  # (documents, k) each

    def resampled(weights: FloatArray) -> FloatArray:
        return np.stack([sign * one.reduce(weights @ total)[..., 0] for one, total in zip(scores, totals)], axis=-1)

    levels["sys"] = resampled(np.ones((1, len(where.runs)))).T
    return MetricScores(label, where.refs, levels, str(scores[0].signature), resampled)


def judged_totals(scores: Scores, judged: BoolArray) -> FloatArray:
    """(documents, k) statistics of rows that touch a judged segment: metric and people look at the same text."""
    rows = scores.rows
    offset = np.concatenate([[0], np.cumsum(rows.sizes)])[rows.doc]
    before = np.concatenate([[0], np.cumsum(judged)])
    used = before[offset + rows.stop] > before[offset + rows.start]
    totals = np.zeros((len(rows.docs), scores.stats.shape[1]))
    np.add.at(totals, rows.doc[used], (scores.stats * rows.weight[:, None])[used])
    return totals
