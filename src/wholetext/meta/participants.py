"""What a meta-evaluation is about: its systems, segments and human scores at every level."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wholetext.errors import InputError, choices, count, known
from wholetext.io.assembly import DocumentRun
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta import conventions
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.agreement.measures import system_means
from wholetext.meta.judgments import rows_of
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray, Judgments

Level = Literal["sys", "domain", "doc", "seg"]


@dataclass(frozen=True)
class Selection:
    """Systems, segments and human scores to use; by default as in the WMT metrics tasks."""

    golds: tuple[str, ...] = ()  # names of human scores, each used; none: MQM where there is MQM
    refs: tuple[str, ...] | None = None  # references of the metrics; the standard one of the set
    close_refs: tuple[str, ...] = ()  # near-duplicates of these references, not judged as systems
    human: bool | None = None  # judge human translations too; None: where the official tasks do
    outliers: bool = False  # keep the systems that the metrics task leaves out
    domains: tuple[str, ...] = ()  # only segments of these domains
    systems: tuple[str, ...] = ()  # only these systems
    all_segments: bool = False  # metrics score all segments, not only judged ones
    test_set: str = ""  # whose conventions apply; by the folder's name where not given
    sample: int = 0  # size of a random sample of judged documents; 0: all of them
    seed: int | None = 12345  # of the sample

    @property
    def partial(self) -> bool:
        """Tell whether only a part of the set is used: stored scores of the whole set do not apply."""
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
    levels: dict[str, FloatArray]  # level → (systems, items) given scores; others are means of seg
    choice: Selection
    test_set: str  # the WMT test set whose conventions apply
    system_gold: str  # name of the human scores of systems
    system_seg: FloatArray | None  # (systems, segments) scores of that name, where it is another
    notes: tuple[str, ...]

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
    def seg(self) -> FloatArray | None:
        """Return (systems, segments) human scores, NaN where not judged or not kept."""
        return self.levels.get("seg")

    @property
    def doc_of(self) -> IntArray:
        """Return (segments,) the index of each segment's document."""
        return np.repeat(np.arange(len(self.runs)), [run.stop - run.start for run in self.runs])

    @property
    def judged(self) -> BoolArray:
        """Return (segments,) which are judged for at least one system."""
        return self.kept if self.seg is None else np.asarray(~np.isnan(self.seg).all(axis=0))

    @property
    def partly_judged(self) -> bool:
        """Tell whether some document of some system was judged in part only."""
        if self.seg is None:
            return False
        judged = self.means((~np.isnan(self.seg)).astype(np.float64), "doc")  # shares
        return bool(((judged > 0) & (judged < 1)).any())

    def gold_at(self, level: Level) -> str:
        """The name of the human scores at a level."""
        return self.system_gold if level == "sys" else self.gold_name

    def gold(self, level: Level) -> FloatArray:
        """Return (systems, items) at a level: as stored, or means of the judged segments."""
        if level in self.levels:
            return self.levels[level]
        seg = self.system_seg if level == "sys" and self.system_seg is not None else self.seg
        if seg is None:
            raise InputError(
                f"there are no human scores {self.gold_name!r} at level {level}",
                where=self.name,
                next=f"there are some at {', '.join(self.levels)}",
            )
        return self.means(seg, level)

    def means(self, seg: FloatArray, level: Level) -> FloatArray:
        """Average known scores (systems, segments) by document, by domain or over all."""
        if level == "seg":
            return seg
        if level == "sys":
            return system_means(seg)[:, None]
        if level == "doc":
            groups = [self.doc_of == i for i in range(len(self.runs))]
        else:
            chosen = self.choice.domains or self.evalset.domains
            domain = np.array([run.meta.get("domain", "all") for run in self.runs])[self.doc_of]
            groups = [domain == name for name in self.evalset.domains if name in chosen]
        return np.stack([system_means(np.compress(of, seg, axis=1)) for of in groups], axis=1)


def read_participants(
    evalset: EvalSet, choice: Selection, gold: str | None = None, official: bool = False
) -> Participants:
    """Select the outputs that have human scores, less references, human ones and outliers.

    ``gold`` names the human scores; ``official`` is for the tasks of a year, which judge some human
    translations.
    """
    notes = [*evalset.notes]
    test_set = conventions.known_set(choice.test_set or evalset.set_name)
    if not test_set:
        if choice.test_set:
            known("test set", choice.test_set, conventions.SETS)
        notes.append(
            f"{evalset.root.name} is not the name of a WMT test set: no standard reference, "
            "outliers or primary submissions apply (--conventions names the set if the folder was "
            "renamed)"
        )
    agreed, names = conventions.conventions(test_set), evalset.human_names
    golds = [each for each, _ in names]
    name = gold if gold is not None else conventions.standard_gold(golds) or ""
    if name not in golds:
        raise InputError(
            f"there are no human scores {name!r} for {evalset.langs}",
            where=str(evalset.root / ("human-scores" if evalset.root.is_dir() else "")),
            next=choices(name, golds),
        )
    refs = _references(choice, evalset, test_set)
    # WMT19-21 take direct assessments of systems standardised by rater, raw ones elsewhere
    standardised = test_set.startswith(("wmt19", "wmt20", "wmt21")) and ("wmt-z", "sys") in names
    of_systems = "wmt-z" if name == "wmt-raw" and standardised and not gold else name
    scores = {
        level: evalset.human(each, level)
        for each, level in names
        if each == (of_systems if level == "sys" else name)
    }
    if choice.human is None:
        choice = replace(choice, human=official and evalset.langs in agreed.human.split())
    outliers = agreed.outliers.get(evalset.langs, "").split()
    systems, left_out = _take_part(scores.values(), choice, evalset, refs, outliers)
    levels: dict[str, FloatArray] = {
        level: rows_of(judgments, systems) for level, judgments in scores.items()
    }
    kept = _kept(evalset, levels.get("seg"), choice, notes)
    system_seg = None
    if of_systems != name and (of_systems, "seg") in names:
        system_seg = np.where(kept, rows_of(evalset.human(of_systems, "seg"), systems), np.nan)
    if "seg" in levels:  # means of segments are exact, document files are rounded
        levels["seg"] = np.where(kept, levels["seg"], np.nan)
        levels = {level: values for level, values in levels.items() if level in ("seg", "sys")}
    gaps = "seg" in levels and np.isnan(levels.get("sys", np.zeros(1))).any()
    if choice.partial or gaps:  # a stored score is of the whole set
        levels.pop("sys", None)
        of_systems = of_systems if system_seg is not None else name
    return Participants(
        evalset,
        name,
        refs,
        systems,
        left_out,
        kept,
        levels,
        choice,
        test_set,
        of_systems,
        system_seg,
        tuple(notes),
    )


def _references(choice: Selection, evalset: EvalSet, test_set: str) -> tuple[str, ...]:
    """References by name, ``A`` for ``refA``; by default the standard ones, else the first.

    Where there are no texts, the name of the standard one is in the labels of metrics.
    """
    names = evalset.references
    if choice.refs is None:
        standard = conventions.conventions(test_set).reference(evalset.langs)
        named = names or (standard,) * (standard not in ("", conventions.ALL))
        return conventions.standard_references(test_set, evalset.langs, named)
    refs = tuple(
        f"ref{ref}" if ref not in names and f"ref{ref}" in names else ref for ref in choice.refs
    )
    for ref in refs if names else ():
        known("reference", ref, names, where=evalset.name)
    return refs


def _take_part(
    scores: Iterable[Judgments],
    choice: Selection,
    evalset: EvalSet,
    refs: tuple[str, ...],
    outliers: list[str],
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The systems that take part; and of the others, the first reason why not."""
    judged: dict[str, bool] = {}  # system → whether it has any human score
    for judgments in scores:
        for system, row in zip(judgments.systems, judgments.values):
            judged[system] = judged.get(system, False) or not np.isnan(row).all()
    for system in choice.systems:
        known("judged system", system, judged, where=evalset.name)
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


def _kept(
    evalset: EvalSet, seg: FloatArray | None, choice: Selection, notes: list[str]
) -> BoolArray:
    """Select the segments of the chosen domains and of a random sample of the judged documents."""
    for domain in choice.domains:
        known("domain", domain, evalset.domains, where=evalset.name)
    runs, domains = evalset.documents, choice.domains or evalset.domains
    chosen = np.array([run.meta.get("domain", "all") in domains for run in runs])
    if choice.sample:
        if seg is None:
            raise InputError(
                "documents can only be sampled where segments were judged",
                where=evalset.name,
                next="leave out --sample",
            )
        rated = [not np.isnan(seg[:, run.start : run.stop]).all() for run in runs]
        judged = np.flatnonzero(chosen & rated)
        drawn, part = judged, f"all {len(judged)}"
        if choice.sample < len(judged):
            drawn = seeded(choice.seed).choice(judged, choice.sample, replace=False)
            part = f"a sample of {choice.sample} of {len(judged)}"
        chosen = np.isin(np.arange(len(runs)), drawn)
        notes.append(f"{evalset.name}: {part} judged documents (seed {choice.seed})")
    return np.repeat(chosen, [run.stop - run.start for run in runs])
