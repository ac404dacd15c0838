"""The best of several candidates, by segment or document, and what the choice gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from wholetext.errors import InputError, count
from wholetext.io import Loaded
from wholetext.notebook.display import brief
from wholetext.pick.utility import scores, utilities
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options
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
        """How often each candidate was chosen."""
        counts = np.bincount(self.choices, minlength=len(self.systems))
        return dict(zip(self.systems, (counts / len(self.choices)).tolist()))

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
    values = (
        utilities(loaded, metric, by == "document", options)
        if mbr
        else scores(loaded.keep(refs=[]), metric, by == "document", options)
    )
    choices = _ranked(values, metric, loaded).argmax(axis=1)
    undefined = int(np.isnan(values).all(axis=1).sum())
    note = f"{count(undefined, by, 'have')} no score for any candidate: the first is chosen"
    return Picks(
        chosen.spec,
        mbr,
        by,
        tuple(output.system for output in loaded.outputs),
        choices,
        values,
        _chosen(loaded, choices, by),
        _gain(loaded, judge, choices, by, options) if judge else None,
        (*loaded.warnings, *([note] if undefined else [])),
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


def _ranked(values: FloatArray, metric: str, loaded: Loaded) -> FloatArray:
    """Scores of which the highest is the best; the lowest where a score is undefined."""
    return np.where(np.isnan(values), -np.inf, values if _higher(metric, loaded) else -values)


def _higher(metric: str, loaded: Loaded) -> bool:
    return scorer(metric).metric.resolve(loaded.corpus.langs).higher_is_better


def _gain(loaded: Loaded, judge: str, choices: IntArray, by: By, options: Options) -> Gain:
    values = scores(loaded, judge, by == "document", options)
    known = ~np.isnan(values).any(axis=1)
    ranked = _ranked(values[known], judge, loaded)
    judged, rows = values[known], np.arange(len(ranked))
    chosen, oracle = judged[rows, choices[known]], judged[rows, ranked.argmax(axis=1)]
    means = [float(each.mean()) for each in (chosen, judged, oracle)]
    return Gain(scorer(judge).spec, means[0], means[1], means[2], _higher(judge, loaded))


def _chosen(loaded: Loaded, choices: IntArray, by: By) -> Output:
    docs, following = {}, iter(choices)
    for doc in loaded.corpus.docs:
        texts = [output.docs[doc.id] for output in loaded.outputs]
        if by == "document":
            docs[doc.id] = texts[next(following)]
        else:
            docs[doc.id] = tuple(segments[next(following)] for segments in zip(*texts, strict=True))
    return Output("picked", docs)
