"""The best of several candidates, by segment or document, and what the choice gains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from wholetext.errors import InputError, count
from wholetext.io import Loaded
from wholetext.notebook.display import brief
from wholetext.pick.utility import utilities
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.types import FloatArray, IntArray, Output

By = Literal["segment", "document"]


@dataclass(frozen=True)
class Gain:
    """Mean scores by a metric with references: of the choice, of a random one, of the best one."""

    metric: str
    chosen: float
    random: float  # the expectation, exactly
    oracle: float
    higher_is_better: bool


@dataclass(frozen=True, eq=False)
class Picks:
    """The candidate chosen for each segment or document."""

    metric: str
    mbr: bool
    by: By
    systems: tuple[str, ...]
    choices: IntArray  # (units,) index of the candidate
    values: FloatArray  # (units, candidates) scores or utilities; NaN where undefined
    output: Output  # the chosen texts
    gain: Gain | None
    notes: tuple[str, ...]
    __repr__ = brief

    def shares(self) -> dict[str, float]:
        """Return the share of units for which each candidate was chosen."""
        counts = Counter(self.choices.tolist())
        return {name: counts[i] / len(self.choices) for i, name in enumerate(self.systems)}

    def as_json(self) -> dict[str, Any]:
        """The choices with their values, and the gain."""
        return {
            "metric": self.metric,
            "mbr": self.mbr,
            "by": self.by,
            "candidates": list(self.systems),
            "choices": [self.systems[i] for i in self.choices],
            "values": [[None if v != v else v for v in row] for row in self.values.tolist()],
            "gain": self.gain and vars(self.gain),
            "notes": list(self.notes),
        }


def pick(
    loaded: Loaded,
    metric: str,
    *,
    mbr: bool = False,
    by: By = "segment",
    judge: str | None = None,
    options: Options | None = None,
) -> Picks:
    """Choose the best candidate of each segment or document.

    Args:
        loaded: A corpus whose systems are the candidates (``read``, ``read_candidates``).
        metric: A reference-free metric, by whose score to choose; with ``mbr`` the utility, a
            metric with references.
        mbr: Choose the candidate with the highest expected utility, every candidate being a
            reference (minimum Bayes risk decoding).
        by: The unit of choice.
        judge: A metric with references that judges the choice, where the corpus has some.
        options: How to compute.
    """
    options = options or Options()
    if len(loaded.outputs) < 2:
        raise InputError(
            "there is only one candidate",
            next="give several outputs (-t a.txt b.txt), or lines with "
            '{"src": …, "candidates": [ … ]}',
        )
    chosen = scorer(metric)
    if not mbr and "ref" in chosen.metric.needs:
        raise InputError(
            f"{chosen.spec} reads a reference, which a choice must not see",
            next="choose by MBR (--mbr, mbr=True), or by a metric without references: kiwi, "
            "comet-qe, metricx-qe, sbert(against=src) …",
        )
    _check_segments(loaded, by)
    if mbr:
        values, higher = (
            utilities(loaded, metric, by == "document", options),
            chosen.metric.higher_is_better,
        )
    else:
        values, higher = _scores(loaded, metric, by, options, keep_refs=False)
    sign = 1 if higher else -1
    ordered = np.where(np.isnan(values), -np.inf, sign * values)
    choices = ordered.argmax(axis=1)
    undefined = int(np.isnan(values).all(axis=1).sum())
    notes = list(loaded.warnings)
    if undefined:
        unit = count(undefined, by, "have")
        notes.append(f"{unit} no score for any candidate: the first candidate is chosen")
    return Picks(
        chosen.spec,
        mbr,
        by,
        tuple(output.system for output in loaded.outputs),
        choices,
        values,
        _chosen(loaded, choices, by),
        _gain(loaded, judge, choices, by, options) if judge else None,
        tuple(notes),
    )


def _check_segments(loaded: Loaded, by: By) -> None:
    for doc in loaded.corpus.docs:
        sizes = {output.system: len(output.docs[doc.id]) for output in loaded.outputs}
        if by == "segment" and len(set(sizes.values())) > 1:
            raise InputError(
                f"candidates of document {doc.id!r} have different numbers of segments: "
                + ", ".join(f"{name} {size}" for name, size in sizes.items()),
                next="choose by document (--by document), or align them first: wholetext align",
            )


def _scores(
    loaded: Loaded, metric: str, by: By, options: Options, *, keep_refs: bool
) -> tuple[FloatArray, bool]:
    """Return (units, candidates) scores of a metric, and whether higher is better."""
    if not keep_refs:
        loaded = loaded.keep(refs=[])
    results = score(loaded, [metric], options=replace(options, flags=False))
    (by_system,) = results.scores.values()
    scores = [by_system[output.system] for output in loaded.outputs]
    level: Literal["doc", "segment"] = "doc" if by == "document" else "segment"
    return np.stack([each.at(level) for each in scores], axis=1), scores[0].higher_is_better


def _gain(loaded: Loaded, judge: str, choices: IntArray, by: By, options: Options) -> Gain:
    values, higher = _scores(loaded, judge, by, options, keep_refs=True)
    known = ~np.isnan(values).any(axis=1)
    values = values[known]
    best = values.max(axis=1) if higher else values.min(axis=1)
    chosen = values[np.arange(len(values)), choices[known]]
    means = [float(np.mean(each)) for each in (chosen, values.mean(axis=1), best)]
    return Gain(scorer(judge).spec, means[0], means[1], means[2], higher)


def _chosen(loaded: Loaded, choices: Sequence[int] | IntArray, by: By) -> Output:
    docs, at = {}, 0
    for doc in loaded.corpus.docs:
        texts = [output.docs[doc.id] for output in loaded.outputs]
        if by == "document":
            docs[doc.id] = texts[choices[at]]
            at += 1
        else:
            docs[doc.id] = tuple(texts[choices[at + i]][i] for i in range(len(texts[0])))
            at += len(texts[0])
    return Output("picked", docs)
