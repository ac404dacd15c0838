"""Metric scores of the participants: from ``metric-scores`` files, or computed where a spec string asks for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, WholetextError
from wholetext.io import Loaded
from wholetext.io.formats.scores import split_label
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.conventions import conventions
from wholetext.meta.judgments import rows_of
from wholetext.meta.participants import Level, Participants
from wholetext.meta.score_files import StoredFile, stored_files
from wholetext.registry import scorer
from wholetext.scoring.engine import trait
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import open_run
from wholetext.text import joiner
from wholetext.types import FloatArray, Scores


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of one metric."""

    name: str
    refs: tuple[str, ...]
    levels: dict[str, FloatArray]  # level → (systems, items), higher is better
    source: str  # "file", or the signature of what was computed
    resampled: Callable[[FloatArray], FloatArray] | None = (
        None  # (draws, documents) → (draws, systems)
    )

    def at(self, level: Level, where: Participants) -> FloatArray | None:
        """The scores at a level: as given, or means of the segments that people judged."""
        every = where.choice.all_segments
        usable = level in self.levels
        if self.source == "file" and level != "seg" and where.choice.partial:
            usable = False  # stored scores are of the whole set
        if self.source == "file" and level in ("doc", "domain") and "seg" in self.levels:
            usable = usable and (every or not where.partly_judged)  # or of more than was judged
        if usable or "seg" not in self.levels:
            return self.levels[level] if usable else None
        judged = where.kept if where.seg is None or every else ~np.isnan(where.seg)
        return where.means(np.where(judged, self.levels["seg"], np.nan), level)


@dataclass
class Gathered:
    """Metrics that can be compared on the same systems, and what had to be left out."""

    participants: Participants
    metrics: list[MetricScores] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # where a metric is a sum over the text: name and (segments,) scores of a length alone
    length: tuple[str, FloatArray] | None = None

    def at(self, level: Level) -> dict[str, FloatArray]:
        """Metric → (systems, items) scores, of the metrics that have scores at a level."""
        scores = {metric.name: metric.at(level, self.participants) for metric in self.metrics}
        return {name: values for name, values in scores.items() if values is not None}


@dataclass(frozen=True)
class MetricSelection:
    """Which metrics take part."""

    names: tuple[str, ...] = ()  # names, labels or spec strings
    stored: bool = False  # all stored metrics in addition to the named ones
    ensembles: tuple[str, ...] = ()  # "A + B": the mean of the scores of metrics A and B
    files: tuple[Path, ...] = ()  # score files from elsewhere
    primary: bool | None = None  # only primary submissions; None: with the tasks of a year
    missing: Literal["error", "drop", "zero"] = (
        "error"  # where a stored metric lacks a system or a score
    )


def gather(
    where: Participants,
    metrics: Sequence[str] | MetricSelection = (),
    options: Options | None = None,
) -> Gathered:
    """Scores of each requested metric: a stored one by name or label, else a spec string to compute; none = all stored.

    A system or score that is missing, or too many, is an error. With ``missing="drop"`` systems
    that some metric lacks are left out for all; with ``missing="zero"`` a missing system scores 0,
    as in mt-metrics-eval, with a note.
    """
    selection = metrics if isinstance(metrics, MetricSelection) else MetricSelection(tuple(metrics))
    gathered = Gathered(where, notes=list(where.notes))
    patterns = [str(path).replace("{langs}", where.langs) for path in selection.files]
    paths = [Path(pattern.replace("{set}", where.evalset.root.name)) for pattern in patterns]
    runs = [path for path in paths if (path / "run.json").is_file()]
    scored: dict[str, MetricScores] = {}
    for path in runs:
        scored |= _from_run(path, gathered)
    files = stored_files(where, [path for path in paths if path not in runs])
    shown = _display_names(files)
    ensembles = {text: re.split(r"\s+\+\s+", text.strip()) for text in selection.ensembles}
    selection = replace(selection, names=(*selection.names, *scored))
    named = _names(gathered, selection, shown, files)
    names = list(dict.fromkeys([*named, *chain.from_iterable(ensembles.values())]))
    new = [name for name in names if name not in shown and name not in scored]
    scored |= _computed(gathered, new, options)
    if any(_grows(name) for name in names if name in scored):
        gathered.length = _length(where)
    for name in names:
        if name not in scored:
            own = [file for file in files if file.label == shown[name]]
            if levels := _stored(own, gathered, selection.missing):
                scored[name] = MetricScores(name, split_label(shown[name])[1], levels, "file")
    gathered.metrics = [scored[name] for name in named if name in scored]
    gathered.metrics += [
        _mean(text, [scored[name] for name in part]) for text, part in ensembles.items()
    ]
    return _common(gathered)


def _stored(files: Sequence[StoredFile], gathered: Gathered, missing: str) -> dict[str, FloatArray]:
    """Read the levels of a metric from its files; with ``missing="drop"`` faulty ones are left out."""
    levels: dict[str, FloatArray] = {}
    for file in files:
        try:
            levels[file.level] = _in_order(file, gathered, missing)
        except WholetextError as fault:
            if missing != "drop":
                raise
            gathered.notes.append(
                f"{file.label}.{file.level} was left out: {fault.what} ({fault.where})"
            )
    return levels


def _grows(spec: str) -> bool:
    """Tell whether the score of a spec is a sum, so that longer text has a larger one."""
    metric = scorer(spec).metric
    return metric.outputs[0] in trait(metric, "sums")


def _length(where: Participants) -> tuple[str, FloatArray] | None:
    """Minus the length of the reference: what a penalty that sums errors owes to long text."""
    loaded = where.evalset.load()
    name = next((ref for ref in where.refs if ref in loaded.corpus.references), None)
    if name is None:
        return None
    blank = joiner(loaded.corpus.langs[1])
    texts = [text for doc in loaded.corpus.docs for text in doc.refs[name]]
    sizes = [len(text.split() if blank else text) for text in texts]
    noun = "words" if blank else "characters"
    return f"− reference {noun}", -np.array(sizes, dtype=float)


def _mean(name: str, members: Sequence[MetricScores]) -> MetricScores:
    """Average scores as they are, without scaling, as Zhao et al. 2023 do (Table 10)."""
    shared = set(members[0].levels).intersection(*(member.levels for member in members))
    levels = {
        level: np.mean([member.levels[level] for member in members], axis=0)
        for level in members[0].levels
        if level in shared
    }
    stored = any(member.source == "file" for member in members)
    source = "file" if stored else " + ".join(member.source for member in members)
    refs = dict.fromkeys(ref for member in members for ref in member.refs)
    return MetricScores(name, tuple(refs), levels, source)


def _display_names(files: Sequence[StoredFile]) -> dict[str, str]:
    """Display name → label. The display name is the metric's own.

    Where several labels share it, the one without a reference gets ``[noref]``, and several with
    references keep their labels.
    """
    labels = list(dict.fromkeys(file.label for file in files))
    names = [split_label(label)[0] for label in labels]
    with_refs = Counter(name for label, name in zip(labels, names) if split_label(label)[1])
    shown: dict[str, str] = {}
    for label, name in sorted(zip(labels, names), key=lambda pair: names.index(pair[1])):
        if split_label(label)[1]:
            shown[name if with_refs[name] == 1 else label] = label
        else:
            shown[f"{name}[noref]" if with_refs[name] else name] = label
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
        same = [name for name, label in shown.items() if label == requested]
        same = same or [name for name, label in shown.items() if split_label(label)[0] == requested]
        names += [requested] if requested in shown or not same else same
    # files from elsewhere were named, but of published metrics -m may choose some
    outside = {file.label for file in files if where.evalset.root not in file.path.parents}
    published = {file.label for file in files if file.published is not None}
    if any(shown.get(name) in published for name in names):
        outside -= published
    names += [name for name, label in shown.items() if label in outside]
    if selection.stored or not (names or selection.ensembles):
        known = conventions(where.test_set).primary.split() if selection.primary else ()
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
        names += primary or shown
    if not names and not selection.ensembles:
        raise InputError(
            "no stored metric scores, and no metric was requested",
            where=where.name,
            next="name metrics, e.g. -m chrf -m bleu",
        )
    return list(dict.fromkeys(names))


def _in_order(file: StoredFile, gathered: Gathered, missing: str) -> FloatArray:
    """Order (systems, items) scores as the participants; missing systems have rows of NaN or 0."""
    where, path = gathered.participants, str(file.path)
    scores, outputs = file.read(where), where.evalset.systems
    extra = [name for name in scores.systems if outputs and name not in outputs]
    lacking = [name for name in where.systems if name not in scores.systems]
    for names, text, allowed in (
        (extra, "there are scores of {}, which has no output here", missing == "drop"),
        (lacking, "there are no scores of {}", missing != "error"),
    ):
        if names and not allowed:
            raise AlignmentError(
                text.format(", ".join(map(repr, names))),
                where=path,
                next="score exactly the systems that have outputs, or --allow-missing",
            )
        if names:
            zero = ": they count as 0, as in the official results" if missing == "zero" else ""
            gathered.notes.append(f"{path}: {text.format(', '.join(names))}{zero}")
    values = rows_of(scores, where.systems, missing=0.0 if missing == "zero" else np.nan)
    gaps = np.isnan(values)
    if missing == "drop":
        count = int(gaps[[system not in lacking for system in where.systems]].sum())
        if count:
            gathered.notes.append(f"{path}: {count} scores are missing and count as not judged")
        return values
    if file.level in ("seg", "doc") and where.seg is not None:
        gaps &= ~np.isnan(where.gold(file.level))  # `meta --out` writes gaps where nobody judged
    if gaps.any():
        row, item = map(int, np.argwhere(gaps)[0])
        raise InputError(
            f"{file.label}.{file.level} has {int(gaps.sum())} gaps in what people judged (first: "
            f"system {where.systems[row]}, item {item + 1})",
            where=path,
            next="--allow-missing counts them as not judged",
        )
    return values


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

    def kept(levels: dict[str, FloatArray]) -> dict[str, FloatArray]:
        return {level: values[keep] for level, values in levels.items()}

    smaller = replace(
        old,
        systems=tuple(old.systems[i] for i in keep),
        levels=kept(old.levels),
        system_seg=None if old.system_seg is None else old.system_seg[keep],
        left_out={**old.left_out, **dict.fromkeys(lacking, "not scored by every metric")},
    )
    metrics = [replace(metric, levels=kept(metric.levels)) for metric in gathered.metrics]
    return Gathered(smaller, metrics, gathered.notes, gathered.length)


# ---------------------------------------------------------------- computed


def _from_run(path: Path, gathered: Gathered) -> dict[str, MetricScores]:
    """Scores of a run folder, such as `score --out` writes, by spec."""
    where, results = gathered.participants, open_run(path)
    absent = [system for system in where.systems if system not in results.systems]
    documents = {doc.id: len(doc) for doc in results.corpus.docs}
    expected = {run.doc: run.stop - run.start for run in where.runs}
    if absent or list(documents.items()) != list(expected.items()):
        what = f"it lacks {', '.join(absent)}" if absent else "its documents are others"
        raise AlignmentError(
            f"this run is not of {where.name}: {what}",
            where=str(path),
            next=f"score the whole set: wholetext score {where.evalset.root} -l {where.langs}",
        )
    gathered.notes += results.warnings
    used = {own.signature.get("refs", "") for by in results.scores.values() for own in by.values()}
    for refs in sorted(used - {"", ",".join(where.refs)}):
        gathered.notes.append(f"{path} was scored against {refs}, not {', '.join(where.refs)}")
    return {
        spec: _from_scores(spec, [scores[system] for system in where.systems], where)
        for spec, scores in results.scores.items()
    }


def _computed(
    gathered: Gathered, specs: Sequence[str], options: Options | None
) -> dict[str, MetricScores]:
    """Score the participants under every spec; rows without human scores are skipped."""
    if not specs:
        return {}
    where = gathered.participants
    canonical = {spec: scorer(spec).spec for spec in specs}  # wrong ones fail before texts are read
    loaded = where.evalset.load()
    outputs = [output for output in loaded.outputs if output.system in where.systems]
    absent = set(where.systems).difference(output.system for output in outputs)
    if absent:
        raise AlignmentError(
            f"system {min(absent)!r} has human scores but no output",
            where=where.name,
            next="name the systems that take part, or give scores of every metric",
        )
    refs = tuple(name for name in where.refs if name in loaded.corpus.references)
    options = replace(options or Options(), refs=refs or None, flags=False)
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
    return MetricScores(label, where.refs, levels, str(scores[0].signature), resampled)


def _totals(scores: Scores, judged: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Sum the statistics of rows that touch a judged segment by document; tell which have any."""
    rows = scores.rows
    offset = np.concatenate([[0], np.cumsum(rows.sizes)])[rows.doc]
    before = np.concatenate([[0], np.cumsum(judged)])
    used = before[offset + rows.stop] > before[offset + rows.start]
    totals = np.zeros((len(rows.docs), scores.stats.shape[1]))
    np.add.at(totals, rows.doc[used], (scores.stats * rows.weight[:, None])[used])
    return totals, np.bincount(rows.doc[used], minlength=len(rows.docs)) > 0
