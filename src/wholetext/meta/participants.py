"""Who takes part in a meta-evaluation: its systems, the segments that count, and the human scores at every level."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import InputError, choices, count
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import human_names, human_scores, metric_names, split_label
from wholetext.io.segments import DocumentRun
from wholetext.meta import conventions
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.agreement.measures import system_means
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray, Judgments

Level = Literal["sys", "domain", "doc", "seg"]


@dataclass(frozen=True)
class Selection:
    """Who and what takes part; the defaults are those of the WMT metrics tasks."""

    gold: str | None = None  # name of the human scores; MQM where there is MQM
    refs: tuple[str, ...] | None = None  # references of the metrics; the standard one of the set
    close_refs: tuple[str, ...] = ()  # near-duplicates of these references, not judged as systems
    human: bool = False  # judge human translations as systems too
    outliers: bool = False  # keep the systems that the metrics task leaves out
    domains: tuple[str, ...] = ()  # only segments of these domains
    systems: tuple[str, ...] = ()  # only these systems
    all_segments: bool = False  # metrics score all segments, not only judged ones
    test_set: str = ""  # whose conventions apply; by the folder's name or content where not given
    sample: int = 0  # size of a random sample of judged documents; 0: all of them
    seed: int | None = 12345  # of the sample

    @property
    def partial(self) -> bool:
        """Whether a part of the test set is judged, so that stored scores of the whole set do not apply."""
        return bool(self.domains or self.sample)


@dataclass(frozen=True, eq=False)
class Participants:
    """Systems and items that count, and gold scores of them; NaN = not judged."""

    folder: Path
    langs: str
    gold_name: str
    refs: tuple[str, ...]
    systems: tuple[str, ...]
    left_out: dict[str, str]  # system → why it does not take part
    runs: tuple[DocumentRun, ...]  # documents as stretches of segments
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
        return f"{self.folder.name} {self.langs}"

    @property
    def doc_of(self) -> IntArray:
        """(segments,) index of each segment's document."""
        return np.repeat(np.arange(len(self.runs)), [run.stop - run.start for run in self.runs])

    @property
    def domain_names(self) -> tuple[str, ...]:
        names = dict.fromkeys(run.meta.get("domain", "all") for run in self.runs)
        return tuple(
            name for name in names if not self.choice.domains or name in self.choice.domains
        )

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
        """(systems, segments) → (systems, items) means of known scores by document, by domain or of all."""
        if level == "seg":
            return seg
        if level == "sys":
            return system_means(seg)[:, None]
        groups = [[run] for run in self.runs]
        if level == "domain":
            groups = [
                [r for r in self.runs if r.meta.get("domain", "all") == name]
                for name in self.domain_names
            ]
        columns = [
            np.concatenate([seg[:, run.start : run.stop] for run in runs], axis=1)
            for runs in groups
        ]
        return np.stack([system_means(column) for column in columns], axis=1)


def read_participants(folder: str | Path, langs: str | None, choice: Selection) -> Participants:
    """Outputs less references, human ones and outliers, with at least one human score."""
    root, lp = Path(folder), evalset.language_pair(folder, langs)
    runs = evalset.documents(root, lp)
    test_set, notes = _test_set(root, lp, runs, choice)
    names = human_names(root, lp)
    gold = _gold_name(root, lp, [name for name, _ in names], choice.gold)
    there = evalset.references(root, lp)
    agreed = conventions.conventions(test_set)
    refs = _references(choice, there, agreed.reference(lp), f"{root} {lp}")
    # WMT19-21 take direct assessments of systems standardised by rater, raw ones elsewhere
    standardised = test_set.startswith(("wmt19", "wmt20", "wmt21")) and ("wmt-z", "sys") in names
    of_systems = "wmt-z" if gold == "wmt-raw" and standardised and not choice.gold else gold
    levels = {
        level: human_scores(root, lp, name, level)
        for name, level in names
        if name == (of_systems if level == "sys" else gold)
    }
    judged: dict[str, bool] = {}  # system → whether it has any human score
    for found in levels.values():
        for system, row in zip(found.systems, found.values):
            judged[system] = judged.get(system, False) or bool((~np.isnan(row)).any())
    far = agreed.outliers.get(lp, "").split()
    systems, left_out = _take_part(judged, choice, there, refs, far, f"{root.name} {lp}")
    scores: dict[str, FloatArray] = {
        level: _rows(found, systems) for level, found in levels.items()
    }
    seg, system_seg = scores.pop("seg", None), None
    other = (of_systems, "seg") in names and of_systems != gold
    kept, more = _kept(runs, seg, choice, f"{root} {lp}")
    if other:
        system_seg = np.where(
            kept, _rows(human_scores(root, lp, of_systems, "seg"), systems), np.nan
        )
    if seg is not None:
        seg = np.where(kept, seg, np.nan)
        scores.pop("doc", None)  # the means of segments are exact, document files are rounded
        scores.pop("domain", None)
    if choice.partial or (seg is not None and np.isnan(scores.get("sys", np.zeros(1))).any()):
        scores.pop("sys", None)  # a score of all domains is not one of these
        of_systems = of_systems if other else gold
    return Participants(
        root,
        lp,
        gold,
        refs,
        systems,
        left_out,
        runs,
        kept,
        seg,
        scores,
        choice,
        test_set,
        of_systems,
        system_seg,
        (*notes, *more),
    )


def _test_set(
    root: Path, lp: str, runs: tuple[DocumentRun, ...], choice: Selection
) -> tuple[str, list[str]]:
    """The test set whose conventions apply: as requested, by folder name, or by content (with a note)."""
    if choice.test_set:
        return conventions.checked_set(choice.test_set), []
    if found := conventions.known_set(root.resolve().name):
        return found, []
    metrics = [split_label(label)[0] for label, _ in metric_names(root, lp)]
    judged = [
        name
        for one in human_names(root, lp)
        if one[1] == "sys"
        for name in human_scores(root, lp, *one).systems
    ]
    found = conventions.recognised(
        [*evalset.systems(root, lp), *judged], metrics, [run.doc for run in runs]
    )
    if found:
        return found, [
            f"{root.name} {lp} is taken for {found} by its systems and metrics (--test-set overrides it)"
        ]
    return "", [
        f"{root.name} is not the name of a WMT test set: no standard reference, outliers or primary "
        "submissions apply (--test-set names the set if the folder was renamed)"
    ]


def _gold_name(root: Path, lp: str, names: list[str], wanted: str | None) -> str:
    chosen = conventions.standard_gold(names) if wanted is None else wanted
    if chosen is None:
        raise InputError(f"there are no human scores for {lp}", where=str(root / "human-scores"))
    if chosen not in names:
        raise InputError(
            f"there are no human scores {wanted!r} for {lp}",
            where=str(root),
            next=choices(chosen, names),
        )
    return chosen


def _references(
    choice: Selection, there: tuple[str, ...], standard: str, place: str
) -> tuple[str, ...]:
    """References by name, ``A`` for ``refA``; by default the standard one, else the first."""
    if choice.refs is None:  # where there are no texts, by name: metrics' labels have it
        return (standard,) if standard and (standard in there or not there) else there[:1]
    refs = tuple(
        f"ref{name}" if name not in there and f"ref{name}" in there else name
        for name in choice.refs
    )
    unknown = [name for name in refs if there and name not in there]
    if unknown:
        raise InputError(
            f"there is no reference {unknown[0]!r}",
            where=place,
            next=f"there are {', '.join(there)}",
        )
    return refs


def _take_part(
    judged: dict[str, bool],
    choice: Selection,
    references: tuple[str, ...],
    refs: tuple[str, ...],
    far: list[str],
    place: str,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The systems that take part; and of the others, the first reason why not."""
    unknown = [system for system in choice.systems if system not in judged]
    if unknown:
        raise InputError(
            f"there are no human scores of a system {unknown[0]!r}",
            where=place,
            next=choices(unknown[0], judged),
        )
    left_out: dict[str, str] = {}
    for system, any_score in judged.items():
        reasons = {
            "the metrics' reference": system in refs,
            "close to the metrics' reference": system in choice.close_refs,
            "human": not choice.human and conventions.is_human(system, references),
            "outlier": not choice.outliers and system in far,
            "not judged": not any_score,
            "not selected": bool(choice.systems) and system not in choice.systems,
        }
        if any(reasons.values()):
            left_out[system] = next(why for why, holds in reasons.items() if holds)
    systems = tuple(sorted(system for system in judged if system not in left_out))
    if len(systems) < 2:
        raise InputError(
            f"{count(len(systems), 'system', 'are')} left, two are needed",
            where=place,
            next="; ".join(f"{name}: {why}" for name, why in left_out.items()),
        )
    return systems, left_out


def _rows(found: Judgments, systems: tuple[str, ...]) -> FloatArray:
    place = {system: i for i, system in enumerate(found.systems)}
    empty = np.full(found.values.shape[1], np.nan)
    return np.stack([found.values[place[s]] if s in place else empty for s in systems])


def _kept(
    runs: tuple[DocumentRun, ...], seg: FloatArray | None, choice: Selection, place: str
) -> tuple[BoolArray, list[str]]:
    """(segments,) those of the chosen domains and of a random sample of the judged documents."""
    of_run = [run.meta.get("domain", "all") for run in runs]
    unknown = [name for name in choice.domains if name not in of_run]
    if unknown:
        raise InputError(
            f"there is no domain {unknown[0]!r}",
            where=place,
            next=f"there are {', '.join(dict.fromkeys(of_run))}",
        )
    chosen = np.array([not choice.domains or name in choice.domains for name in of_run])
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
            f"there are {len(judged)} judged documents, so a sample of {choice.sample} is all of them"
        ]
    drawn = seeded(choice.seed).choice(judged, choice.sample, replace=False)
    return np.repeat(np.isin(np.arange(len(runs)), drawn), sizes), [
        f"a sample of {choice.sample} of {len(judged)} judged documents (seed {choice.seed})"
    ]
