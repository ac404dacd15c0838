"""Accuracy on a contrastive set: overall, by group, and two metrics against each other.

``contrast.json``, which reports and other programs read, is described in docs/contrast.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import RunError
from wholetext.files.output_folder import SharedFolder, changing, check
from wholetext.files.storage import write_file
from wholetext.meta.contrastive.decisions import Decisions, decide, stored_decisions
from wholetext.meta.contrastive.formats import ContrastSet
from wholetext.notebook.display import brief
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import Options
from wholetext.types import FloatArray
from wholetext.version import __version__

FORMAT = 1
FILE = "contrast.json"
CONTRAST = SharedFolder("folder of contrastive results", RunError)
Split = Literal["distance", "flag"]
File = Path | str


@dataclass(frozen=True)
class ContrastAccuracy:
    """How many items of a group were decided correctly; ties and undefined scores are errors."""

    group: str
    total: int
    correct: int
    ties: int
    undefined: int
    low: float  # Wilson's 95 % interval of the accuracy
    high: float
    chance: float  # what random scores without ties are expected to reach

    @property
    def accuracy(self) -> float:
        return self.correct / self.total


@dataclass(frozen=True)
class ContrastComparison:
    """McNemar's exact test of two metrics on the same items."""

    first: str
    second: str
    only_first: int  # items that only the first metric decides correctly
    only_second: int
    p: float


def overall(decisions: Decisions) -> ContrastAccuracy:
    """Accuracy over all items."""
    return _accuracy("all", decisions.margin, decisions.chance)


def groups(decisions: Decisions, split: Split = "distance") -> dict[str, list[ContrastAccuracy]]:
    """Kind of grouping → accuracy of each group, and of whole blocks."""
    items = decisions.set.items
    distances = ["unknown" if item.distance is None else str(item.distance) for item in items]
    inside = [
        value if value == "unknown" else "intra" if value == "0" else "inter" for value in distances
    ]
    if split == "flag":
        inside = [{True: "intra", False: "inter", None: "unknown"}[item.intra] for item in items]
    kinds = {
        "sentence": inside,
        "type": [item.type for item in items],
        "distance": [
            ">3" if (item.distance or 0) > 3 else value for item, value in zip(items, distances)
        ],
        "category": [item.category for item in items],
    }
    by_kind = {}
    for kind, names in kinds.items():
        distinct = sorted(set(names), key=lambda name: (name == "unknown", name == ">3", name))
        if len(distinct) > 1 or (distinct and distinct[0] not in ("", "unknown")):
            chosen = {name: np.array([value == name for value in names]) for name in distinct}
            by_kind[kind] = [
                _accuracy(name or "unknown", decisions.margin[of], decisions.chance[of])
                for name, of in chosen.items()
            ]
    blocks = np.array([item.block for item in items])
    members = [blocks == name for name in dict.fromkeys(blocks.tolist()) if name]
    if members:  # a block is right where all of its items are
        right = np.array([1.0 if decisions.correct[of].all() else -1.0 for of in members])
        chance = np.array([decisions.chance[of].prod() for of in members])
        by_kind["block"] = [_accuracy("whole blocks", right, chance)]
    return by_kind


def compare(first: Decisions, second: Decisions) -> ContrastComparison:
    """Whether two metrics differ on the same items (McNemar 1947, exact two-sided)."""
    from scipy.stats import binomtest

    only_first = int((first.correct & ~second.correct).sum())
    only_second = int((second.correct & ~first.correct).sum())
    apart = only_first + only_second
    p = float(binomtest(only_first, apart).pvalue) if apart else 1.0
    return ContrastComparison(first.metric, second.metric, only_first, only_second, p)


def _accuracy(name: str, margin: FloatArray, chance: FloatArray) -> ContrastAccuracy:
    """Accuracy of the items with these margins and chances."""
    correct, ties, undefined = (
        int(which.sum()) for which in (margin > 0, margin == 0, np.isnan(margin))
    )
    low, high = wilson(correct, len(margin))
    luck = float(chance.mean())
    return ContrastAccuracy(name, len(margin), correct, ties, undefined, low, high, luck)


def wilson(correct: int, total: int) -> tuple[float, float]:
    """Wilson's (1927) 95 % interval of a proportion."""
    from scipy.stats import binomtest

    interval = binomtest(correct, total).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write ``contrast.json`` into a folder."""
    with changing(folder, CONTRAST) as staged:
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
        write_file(staged / FILE, text, RunError)


@dataclass(frozen=True, eq=False)
class ContrastResults:
    """What each metric decided, and McNemar's test of every two of them."""

    decisions: tuple[Decisions, ...]
    tests: tuple[ContrastComparison, ...]
    split: Split = "distance"  # what decides that an item is intra-sentential
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        """Plain values: numbers are numbers, undefined ones null."""
        items = self.decisions[0].set
        content: dict[str, Any] = plain(
            {
                "kind": "contrast",
                "format": FORMAT,
                "wholetext": __version__,
                "set": items.name,
                "langs": items.langs,
                "items": [item.id for item in items.items],
                "metrics": [
                    {
                        "metric": decisions.metric,
                        "all": _row(overall(decisions)),
                        "groups": {
                            kind: [_row(part) for part in parts]
                            for kind, parts in groups(decisions, self.split).items()
                        },
                        "margins": np.where(
                            np.isfinite(decisions.margin), decisions.margin, np.nan
                        ),
                    }
                    for decisions in self.decisions
                ],
                "mcnemar": [asdict(test) for test in self.tests],
                "notes": [*items.warnings, *(n for part in self.decisions for n in part.warnings)],
            }
        )
        return content


def _row(accuracy: ContrastAccuracy) -> dict[str, Any]:
    return {**asdict(accuracy), "accuracy": accuracy.accuracy}


def contrast(
    items: ContrastSet,
    metrics: Sequence[str] = (),
    scores: Sequence[File | tuple[str, File]] = (),
    *,
    higher_is_better: bool = True,
    split: Split = "distance",
    options: Options | None = None,
    out: File | None = None,
) -> ContrastResults:
    """Evaluate reference-free metrics on a contrastive set, and precomputed scores: files, or
    (name, file).

    ``higher_is_better`` applies to the files. With ``out`` contrast.json is written to this folder.
    """
    if out is not None:
        check(Path(out), CONTRAST, (FILE,))
    decisions = [decide(items, metric, options) for metric in metrics]
    for entry in scores:
        name, path = entry if isinstance(entry, tuple) else ("", entry)
        decisions.append(
            stored_decisions(items, path, higher_is_better=higher_is_better, name=name)
        )
    tests = [compare(first, second) for first, second in combinations(decisions, 2)]
    results = ContrastResults(tuple(decisions), tuple(tests), split)
    if out is not None:
        write(Path(out), results.as_json())
    return results
