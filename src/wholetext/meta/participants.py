"""What a meta-evaluation is about: its systems, segments and human scores at every level."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wholetext.errors import InputError, choices, count
from wholetext.io.assembly import DocumentRun
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta import conventions
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.agreement.measures import system_means
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray, Judgments

Level = Literal["sys", "domain", "doc", "seg"]


@dataclass(frozen=True)
class Selection:
    """Systems, segments and human scores to use; by default as in the WMT metrics tasks."""

    gold: str | None = None  # name of the human scores; MQM where there is MQM
    refs: tuple[str, ...] | None = None  # references of the metrics; the standard one of the set
    close_refs: tuple[str, ...] = ()  # near-duplicates of these references, not judged as systems
    human: bool = False  # judge human translations as systems too
    outliers: bool = False  # keep the systems that the metrics task leaves out
    domains: tuple[str, ...] = ()  # only segments of these domains
    systems: tuple[str, ...] = ()  # only these systems
    all_segments: bool = False  # metrics score all segments, not only judged ones
    test_set: str = ""  # whose conventions apply; by the folder's name where not given
    sample: int = 0  # size of a random sample of judged documents; 0: all of them
    seed: int | None = 12345  # of the sample

    @property
    def partial(self) -> bool:
        """Whether only a part of the set is used: stored scores of the whole set do not apply."""
        return bool(self.domains or self.sample)


@dataclass(frozen=True, eq=False)
class Participants:
    """Systems and items that count, and gold scores of them; NaN = not judged."""

    evalset: EvalSet
    gold_name: str
    refs: tuple[str, ...]
    systems: tuple[str, ...]
    left_out: dict[str, str]  # system → why it does not take part
    kept: BoolArray  # (segments,) those of the chosen domains and sampled documents
    seg: FloatArray | None  # (systems, segments), NaN where not judged or not kept
    other: dict[str, FloatArray] = field(
        default_factory=dict
    )  # level → scores that are not means of ``seg``
    choice: Selection = field(default_factory=Selection)
    test_set: str = ""  # the WMT test set whose conventions apply
    system_gold: str = ""  # name of the human scores of systems, where it is another
    system_seg: FloatArray | None = None  # (systems, segments) scores of that name
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.evalset.name

    @property
    def langs(self) -> str:
        return self.evalset.langs

    @property
    def runs(self) -> tuple[DocumentRun, ...]:
        """Documents as spans of segments."""
        return self.evalset.documents

    @property
    def doc_of(self) -> IntArray:
        """(segments,) index of each segment's document."""
        return np.repeat(np.arange(len(self.runs)), [run.stop - run.start for run in self.runs])

    @property
    def judged(self) -> BoolArray:
        """(segments,) judged for at least one system."""
        return self.kept if self.seg is None else np.asarray(~np.isnan(self.seg).all(axis=0))

    @property
    def partly_judged(self) -> bool:
        """Whether some document of some system was judged in part only."""
        if self.seg is None:
            return False
        known = ~np.isnan(self.seg)
        starts = [run.start for run in self.runs]
        count = np.add.reduceat(known, starts, axis=1, dtype=np.int64)  # (systems, documents)
        return bool(((count > 0) & (count < np.diff([*starts, known.shape[1]]))).any())

    def gold_at(self, level: Level) -> str:
        """The name of the human scores at a level."""
        return self.system_gold if level == "sys" and self.system_gold else self.gold_name

    def gold(self, level: Level) -> FloatArray:
        """(systems, items) at a level: as given, or means of the judged segments."""
        if level == "seg" and self.seg is not None:
            return self.seg
        if level in self.other:
            return self.other[level]
        if level == "sys" and self.system_seg is not None:
            return self.means(self.system_seg, level)
        if self.seg is None:
            raise InputError(
                f"there are no human scores {self.gold_name!r} at level {level}",
                where=self.name,
                next=f"there are some at {', '.join(self.other)}",
            )
        return self.means(self.seg, level)

    def means(self, seg: FloatArray, level: Level) -> FloatArray:
        """Average known scores (systems, segments) by document, by domain or over all."""
        if level == "seg":
            return seg
        if level == "sys":
            return system_means(seg)[:, None]
        groups = [[run] for run in self.runs]
        if level == "domain":
            groups = [
                [run for run in self.runs if run.meta.get("domain", "all") == name]
                for name in self.evalset.domains
                if name in (self.choice.domains or self.evalset.domains)
            ]
        columns = [
            np.concatenate([seg[:, run.start : run.stop] for run in runs], axis=1)
            for runs in groups
        ]
        return np.stack([system_means(column) for column in columns], axis=1)


def read_participants(evalset: EvalSet, choice: Selection) -> Participants:
    """Select the outputs that have human scores, less references, human ones and outliers."""
    test_set, notes = _test_set(evalset, choice)
    names = evalset.human_names
    gold = _gold_name(evalset, choice.gold)
    agreed = conventions.conventions(test_set)
    refs = _references(choice, evalset.references, agreed.reference(evalset.langs), evalset.name)
    # WMT19-21 take direct assessments of systems standardised by rater, raw ones elsewhere
    standardised = test_set.startswith(("wmt19", "wmt20", "wmt21")) and ("wmt-z", "sys") in names
    of_systems = "wmt-z" if gold == "wmt-raw" and standardised and not choice.gold else gold
    levels = {
        level: evalset.human(name, level)
        for name, level in names
        if name == (of_systems if level == "sys" else gold)
    }
    judged: dict[str, bool] = {}  # system → whether it has any human score
    for scores in levels.values():
        for system, row in zip(scores.systems, scores.values):
            judged[system] = judged.get(system, False) or bool((~np.isnan(row)).any())
    outliers = agreed.outliers.get(evalset.langs, "").split()
    systems, left_out = _take_part(judged, choice, evalset, refs, outliers)
    values: dict[str, FloatArray] = {
        level: _rows(scores, systems) for level, scores in levels.items()
    }
    seg, system_seg = values.pop("seg", None), None
    other = (of_systems, "seg") in names and of_systems != gold
    kept, more = _kept(evalset, seg, choice)
    if other:
        system_seg = np.where(kept, _rows(evalset.human(of_systems, "seg"), systems), np.nan)
    if seg is not None:
        seg = np.where(kept, seg, np.nan)
        values.pop("doc", None)  # the means of segments are exact, document files are rounded
        values.pop("domain", None)
    if choice.partial or (seg is not None and np.isnan(values.get("sys", np.zeros(1))).any()):
        values.pop("sys", None)  # a stored score is of the whole set
        of_systems = of_systems if other else gold
    return Participants(
        evalset,
        gold,
        refs,
        systems,
        left_out,
        kept,
        seg,
        values,
        choice,
        test_set,
        of_systems,
        system_seg,
        (*notes, *more),
    )


def _test_set(evalset: EvalSet, choice: Selection) -> tuple[str, list[str]]:
    """The test set whose conventions apply: requested, or by the name of the folder."""
    if choice.test_set:
        return conventions.checked_set(choice.test_set), []
    if test_set := conventions.known_set(evalset.root.resolve().name):
        return test_set, []
    return "", [
        f"{evalset.root.name} is not the name of a WMT test set: no standard reference, outliers "
        "or primary submissions apply (--test-set names the set if the folder was renamed)"
    ]


def _gold_name(evalset: EvalSet, requested: str | None) -> str:
    names = [name for name, _ in evalset.human_names]
    gold = conventions.standard_gold(names) if requested is None else requested
    if gold is None or gold not in names:
        raise InputError(
            f"there are no human scores {requested or ''!r} for {evalset.langs}",
            where=str(evalset.root / "human-scores"),
            next=choices(gold or "", names),
        )
    return gold


def _references(
    choice: Selection, known: tuple[str, ...], standard: str, place: str
) -> tuple[str, ...]:
    """References by name, ``A`` for ``refA``; by default the standard one, else the first."""
    if choice.refs is None:  # where there are no texts, by name: metrics' labels have it
        return (standard,) if standard and (standard in known or not known) else known[:1]
    refs = tuple(
        f"ref{name}" if name not in known and f"ref{name}" in known else name
        for name in choice.refs
    )
    conventions.check_known("reference", refs if known else (), known, place)
    return refs


def _take_part(
    judged: dict[str, bool],
    choice: Selection,
    evalset: EvalSet,
    refs: tuple[str, ...],
    outliers: list[str],
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The systems that take part; and of the others, the first reason why not."""
    conventions.check_known("judged system", choice.systems, judged, evalset.name)
    left_out: dict[str, str] = {}
    for system, any_score in judged.items():
        reasons = {
            "the metrics' reference": system in refs,
            "close to the metrics' reference": system in choice.close_refs,
            "human": not choice.human and conventions.is_human(system, evalset.references),
            "outlier": not choice.outliers and system in outliers,
            "not judged": not any_score,
            "not selected": bool(choice.systems) and system not in choice.systems,
        }
        if any(reasons.values()):
            left_out[system] = next(why for why, holds in reasons.items() if holds)
    systems = tuple(sorted(system for system in judged if system not in left_out))
    if len(systems) < 2:
        raise InputError(
            f"{count(len(systems), 'system', 'are')} left, two are needed",
            where=evalset.name,
            next="; ".join(f"{name}: {why}" for name, why in left_out.items()),
        )
    return systems, left_out


def _rows(scores: Judgments, systems: tuple[str, ...]) -> FloatArray:
    rows = dict(zip(scores.systems, scores.values))
    empty = np.full(scores.values.shape[1], np.nan)
    return np.stack([rows.get(system, empty) for system in systems])


def _kept(
    evalset: EvalSet, seg: FloatArray | None, choice: Selection
) -> tuple[BoolArray, list[str]]:
    """(segments,) those of the chosen domains and of a random sample of the judged documents."""
    conventions.check_known("domain", choice.domains, evalset.domains, evalset.name)
    runs, domains = evalset.documents, choice.domains or evalset.domains
    chosen = np.array([run.meta.get("domain", "all") in domains for run in runs])
    sizes = [run.stop - run.start for run in runs]
    if not choice.sample:
        return np.repeat(chosen, sizes), []
    if seg is None:
        raise InputError(
            "documents can only be sampled where segments were judged", next="leave out --sample"
        )
    judged = [
        i
        for i, run in enumerate(runs)
        if chosen[i] and not np.isnan(seg[:, run.start : run.stop]).all()
    ]
    if choice.sample >= len(judged):
        return np.repeat(chosen, sizes), [
            f"there are {len(judged)} judged documents, so a sample of {choice.sample} "
            "is all of them"
        ]
    drawn = seeded(choice.seed).choice(judged, choice.sample, replace=False)
    return np.repeat(np.isin(np.arange(len(runs)), drawn), sizes), [
        f"a sample of {choice.sample} of {len(judged)} judged documents (seed {choice.seed})"
    ]
