"""The field of a meta-evaluation: which systems take part, which segments count, and the human scores at every level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import InputError, did_you_mean
from wholetext.io import evalset
from wholetext.io.scores import human_names, human_scores
from wholetext.io.segments import Run
from wholetext.meta.conventions import is_human, outliers, standard_gold, standard_reference
from wholetext.stats.accuracy import system_means
from wholetext.stats.correlation import BoolArray
from wholetext.types import FloatArray, IntArray

Level = Literal["sys", "domain", "doc", "seg"]


@dataclass(frozen=True)
class Choice:
    """Who and what takes part; the defaults are those of the WMT metrics tasks."""

    gold: str | None = None  # name of the human scores; MQM where there is MQM
    refs: tuple[str, ...] | None = None  # references of the metrics; the standard one of the set
    close_refs: tuple[str, ...] = ()  # references too near to those to be judged as systems
    human: bool = False  # judge human translations as systems too
    outliers: bool = False  # keep the systems that the metrics task leaves out
    domains: tuple[str, ...] = ()  # only segments of these domains
    systems: tuple[str, ...] = ()  # only these systems
    all_segments: bool = False  # system scores of metrics over all segments, not only over judged documents' ones


@dataclass(frozen=True, eq=False)
class Field:
    """Systems and items that count, and gold scores of them; NaN = not judged."""

    folder: Path
    langs: str
    gold_name: str
    refs: tuple[str, ...]
    systems: tuple[str, ...]
    left_out: dict[str, str]  # system → why it does not take part
    runs: tuple[Run, ...]  # documents as stretches of segments
    kept: BoolArray  # (segments,) those of the chosen domains
    seg: FloatArray | None  # (systems, segments), NaN outside the chosen domains
    other: dict[str, FloatArray] = field(default_factory=dict)  # level → scores, where no segment scores are given
    choice: Choice = field(default_factory=Choice)

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.langs}"

    @property
    def doc_of(self) -> IntArray:
        """(segments,) index of each segment's document."""
        return np.repeat(np.arange(len(self.runs)), [run.stop - run.start for run in self.runs])

    @property
    def domain_names(self) -> tuple[str, ...]:
        names = dict.fromkeys(run.meta.get("domain", "all") for run in self.runs)
        return tuple(name for name in names if not self.choice.domains or name in self.choice.domains)

    @property
    def judged(self) -> BoolArray:
        """(segments,) judged for at least one system."""
        return self.kept if self.seg is None else np.asarray(~np.isnan(self.seg).all(axis=0))

    def gold(self, level: Level) -> FloatArray:
        """(systems, items) at a level: as given, or means of the judged segments."""
        if level == "seg" and self.seg is not None:
            return self.seg
        if level in self.other:
            return self.other[level]
        if self.seg is None:
            raise InputError(f"there are no human scores {self.gold_name!r} at level {level}", where=self.name,
                             next=f"there are some at {', '.join(self.other)}")
        return self.means(self.seg, level)

    def means(self, seg: FloatArray, level: Level) -> FloatArray:
        """(systems, segments) → (systems, items) means of known scores by document, by domain or of all."""
        if level == "seg":
            return seg
        if level == "sys":
            return system_means(seg)[:, None]
        groups = [[run] for run in self.runs]
        if level == "domain":
            groups = [[r for r in self.runs if r.meta.get("domain", "all") == name] for name in self.domain_names]
        columns = [np.concatenate([seg[:, run.start : run.stop] for run in runs], axis=1) for runs in groups]
        return np.stack([system_means(column) for column in columns], axis=1)


def read_field(folder: str | Path, langs: str | None, choice: Choice) -> Field:
    """Settle who takes part: outputs less references, human ones and outliers, with at least one human score."""
    root, lp = Path(folder), evalset.language_pair(folder, langs)
    gold = _gold_name(root, lp, choice.gold)
    there = evalset.references(root, lp)
    refs = choice.refs if choice.refs is not None else _default_refs(root.name, lp, there)
    unknown = [name for name in refs if there and name not in there]
    if unknown:
        raise InputError(f"there is no reference {unknown[0]!r}", where=f"{root} {lp}",
                         next=f"there are {', '.join(there)}")
    levels = {level: human_scores(root, lp, name, level) for name, level in human_names(root, lp) if name == gold}
    judged: dict[str, bool] = {}
    for found in levels.values():
        for i, system in enumerate(found.systems):
            judged[system] = judged.get(system, False) or bool((~np.isnan(found.values[i])).any())
    systems, left_out = _take_part(judged, there, refs, (root.name, lp), choice)
    runs = evalset.documents(root, lp)
    kept = _domains(runs, choice.domains, f"{root} {lp}")
    scores: dict[str, FloatArray] = {}
    for level, found in levels.items():
        place = {system: i for i, system in enumerate(found.systems)}
        empty = np.full(found.values.shape[1], np.nan)
        scores[level] = np.stack([found.values[place[s]] if s in place else empty for s in systems])
    seg = scores.pop("seg", None)
    if seg is not None:
        seg = np.where(kept, seg, np.nan)
        scores.pop("doc", None)  # the means of segments are exact, document files are rounded
        scores.pop("domain", None)
    if choice.domains or (seg is not None and np.isnan(scores.get("sys", np.zeros(1))).any()):
        scores.pop("sys", None)  # a score of all domains is not one of these
    return Field(root, lp, gold, tuple(refs), systems, left_out, runs, kept, seg, scores, choice)


def _gold_name(root: Path, lp: str, wanted: str | None) -> str:
    names = list(dict.fromkeys(name for name, _ in human_names(root, lp)))
    if wanted is None:
        chosen = standard_gold(names)
        if chosen is None:
            raise InputError(f"there are no human scores for {lp}", where=str(root / "human-scores"))
        return chosen
    if wanted not in names:
        raise InputError(f"there are no human scores {wanted!r} for {lp}", where=str(root),
                         next=did_you_mean(wanted, names) or f"there are {', '.join(names) or 'none'}")
    return wanted


def _default_refs(test_set: str, lp: str, there: tuple[str, ...]) -> tuple[str, ...]:
    chosen = standard_reference(test_set, lp, there)
    return () if chosen is None else (chosen,)


def _take_part(
    judged: dict[str, bool], references: tuple[str, ...], refs: tuple[str, ...], where: tuple[str, str], choice: Choice
) -> tuple[tuple[str, ...], dict[str, str]]:
    far = outliers(*where)
    left_out: dict[str, str] = {}
    for system, any_score in judged.items():
        if system in refs:
            left_out[system] = "the metrics' reference"
        elif system in choice.close_refs:
            left_out[system] = "close to the metrics' reference"
        elif not choice.human and is_human(system, references):
            left_out[system] = "human"
        elif not choice.outliers and system in far:
            left_out[system] = "outlier"
        elif not any_score:
            left_out[system] = "not judged"
        elif choice.systems and system not in choice.systems:
            left_out[system] = "not asked for"
    unknown = [system for system in choice.systems if system not in judged]
    if unknown:
        raise InputError(f"nobody judged a system {unknown[0]!r}", where=" ".join(where),
                         next=did_you_mean(unknown[0], list(judged)) or f"judged were {', '.join(judged)}")
    systems = tuple(sorted(system for system in judged if system not in left_out))
    if len(systems) < 2:
        raise InputError(f"{len(systems)} systems are left, two are needed", where=" ".join(where),
                         next="; ".join(f"{name}: {why}" for name, why in left_out.items()))
    return systems, left_out


def _domains(runs: tuple[Run, ...], wanted: tuple[str, ...], where: str) -> BoolArray:
    of_run = [run.meta.get("domain", "all") for run in runs]
    unknown = [name for name in wanted if name not in of_run]
    if unknown:
        raise InputError(f"there is no domain {unknown[0]!r}", where=where,
                         next=f"there are {', '.join(dict.fromkeys(of_run))}")
    kept = [not wanted or name in wanted for name in of_run]
    return np.repeat(kept, [run.stop - run.start for run in runs])
