"""The page studies/context.md from the document scores of studies/context.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.files.storage import write_file
from wholetext.types import FloatArray

PAGE = Path(__file__).resolve().parent.parent / "studies" / "context.md"
BEGIN, END = "<!-- reading -->", "<!-- end of reading -->"
DRAWS, SEED = 1000, 4
Key = tuple[Any, ...]  # metric, then prev, hyp, source, or size and step


@dataclass(frozen=True)
class Set:
    """What was measured on one set of documents."""

    told: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.told["set"])

    @cached_property
    def gold(self) -> FloatArray:
        """(systems,)"""
        return np.array(self.told["gold"])

    @cached_property
    def cells(self) -> dict[Key, Mapping[str, Any]]:
        return {key_of(one): one for one in self.told["cells"]}

    @cached_property
    def weights(self) -> FloatArray:
        """(draws, documents) how often each document is drawn, the same for every cell."""
        many = len(self.told["documents"])
        return np.random.default_rng(SEED).multinomial(many, np.full(many, 1 / many), DRAWS).astype(float)

    def systems(self, key: Key, weights: FloatArray | None = None) -> FloatArray:
        """(systems,) scores of all documents, or (draws, systems) of resampled ones."""
        cell = self.cells[key]
        rows = np.array(cell["rows"], dtype=float)
        scores = np.nan_to_num(np.array(cell["scores"], dtype=float))  # (systems, documents); no rows: weight 0
        weights = np.ones(len(rows)) if weights is None else weights
        return np.asarray((weights * rows) @ scores.T / (weights @ rows)[..., None])

    def pearson(self, key: Key) -> float:
        return float(pearson(self.systems(key), self.gold))

    def drawn(self, key: Key) -> FloatArray:
        """(draws,) correlations of resampled documents."""
        return pearson(self.systems(key, self.weights), self.gold)

    def agreeing(self, key: Key) -> tuple[int, int]:
        return agreeing(self.systems(key), self.gold)


def key_of(cell: Mapping[str, Any]) -> Key:
    names = ("size", "step") if "size" in cell else ("prev", "hyp", "source")
    return (cell["metric"], *(cell[name] for name in names))


def pearson(metric: FloatArray, gold: FloatArray) -> FloatArray:
    """(..., systems) metric scores → (...) correlations with (systems,) gold."""
    centred, wanted = metric - metric.mean(axis=-1, keepdims=True), gold - gold.mean()
    return np.asarray((centred @ wanted) / np.sqrt((centred**2).sum(axis=-1) * (wanted**2).sum()))


def agreeing(metric: FloatArray, gold: FloatArray) -> tuple[int, int]:
    """How many pairs of systems are in the order people put them in, and how many pairs there are."""
    i, j = np.triu_indices(len(gold), 1)
    return int((np.sign(metric[i] - metric[j]) == np.sign(gold[i] - gold[j])).sum()), len(i)


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def change(values: FloatArray, base: float) -> str:
    """A difference with its 95 % interval over draws."""
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return f"{signed(base)} ({signed(float(low))} … {signed(float(high))})"


# ---------------------------------------------------------------- tables


def contexts(metric: str, sets: Sequence[Set]) -> list[str]:
    """Every setting on the sets that have it, beside no context on the same sets."""
    none = (metric, 0, "–", "–")
    keys = list(dict.fromkeys(key for one in sets for key in one.cells if key[0] == metric and len(key) == 4))
    lines = ["| previous | hypothesis's context | context from | sets | mean r | change (95 %) | pairs in order | "
             "without context | rows cut |", "|---:|---|---|---:|---:|---|---:|---:|---:|"]  # fmt: skip
    for key in sorted(keys, key=_place):
        having = [one for one in sets if key in one.cells and none in one.cells]
        if not having:
            continue
        found = [one.pearson(key) - one.pearson(none) for one in having]
        drawn = np.mean([one.drawn(key) - one.drawn(none) for one in having], axis=0)
        right, pairs = np.sum([one.agreeing(key) for one in having], axis=0)
        base = sum(one.agreeing(none)[0] for one in having)
        lost = np.mean([one.cells[key]["lost_context"] for one in having])
        told = change(drawn, float(np.mean(found))) if key != none else "–"
        mean = np.mean([one.pearson(key) for one in having])
        lines.append(f"| {key[1]} | {key[2]} | {key[3]} | {len(having)} | {mean:.3f} | {told} "
                     f"| {right}/{pairs} = {right / pairs:.3f} | {base} | {lost:.1%} |")
    return lines


def _place(key: Key) -> tuple[int, int, int]:
    return key[1], ("–", "ref", "own").index(key[2]), ("–", "same", "shuffled", "other").index(key[3])


def right_and_wrong(metric: str, sets: Sequence[Set]) -> list[str]:
    """Context where it belongs against context from elsewhere."""
    lines = ["| previous | hypothesis's context | same minus | sets | change of r (95 %) | pairs in order |",
             "|---:|---|---|---:|---|---|"]  # fmt: skip
    for prev in (1, 2, 3):
        for hyp in ("ref", "own"):
            for other in ("shuffled", "other"):
                keys = [(metric, prev, hyp, "same"), (metric, prev, hyp, other)]
                having = [one for one in sets if all(key in one.cells for key in keys)]
                if having:
                    found = np.mean([one.pearson(keys[0]) - one.pearson(keys[1]) for one in having])
                    drawn = np.mean([one.drawn(keys[0]) - one.drawn(keys[1]) for one in having], axis=0)
                    right = [sum(one.agreeing(key)[0] for one in having) for key in keys]
                    lines.append(f"| {prev} | {hyp} | {other} | {len(having)} | {change(drawn, float(found))} "
                                 f"| {right[0]} − {right[1]} |")
    return lines


def by_set(metric: str, sets: Sequence[Set]) -> list[str]:
    """Change of r of every set, for context that is where it belongs."""
    none = (metric, 0, "–", "–")
    keys = sorted({key for one in sets for key in one.cells if key[0] == metric and key[-1] == "same"}, key=_place)
    names = [f"{key[1]}, {key[2]}" for key in keys]
    lines = [f"| set | r without | {' | '.join(names)} |", "|---|---:|" + "---|" * len(names)]
    for one in sets:
        if none in one.cells:
            row = [change(one.drawn(key) - one.drawn(none), one.pearson(key) - one.pearson(none))
                   if key in one.cells else "" for key in keys]
            lines.append(f"| {one.name} | {one.pearson(none):.3f} | {' | '.join(row)} |")
    return lines


def windows(metric: str, one: Set) -> list[str]:
    """Two tables of windows × strides: agreement, and what is not scored."""
    single = (metric, 1, 1)
    keys = {key for key in one.cells if key[0] == metric and len(key) == 3}
    if single not in keys:
        return []

    def told(key: Key) -> str:
        change_of = one.pearson(key) - one.pearson(single)
        return f"{one.pearson(key):.3f}" + (f", {change(one.drawn(key) - one.drawn(single), change_of)}"
                                            if key != single else "")  # fmt: skip

    def rest(key: Key) -> str:
        right, pairs = one.agreeing(key)
        return f"{right}/{pairs}, {one.cells[key]['dropped']:.0%}, {one.cells[key]['lost_focus']:.0%}"

    sizes = sorted({key[1] for key in keys})
    lines = []
    for title, cell in (("r, and its change from single segments (95 %)", told),
                        ("pairs in order, segments in no window, windows cut", rest)):
        lines += [f"`{metric}` on {one.name}: {title}", "",
                  f"| window ↓ stride → | {' | '.join(map(str, sizes))} |", "|---|" + "---|" * len(sizes)]
        lines += [f"| {size} | " + " | ".join(cell((metric, size, step)) if (metric, size, step) in keys else ""
                                             for step in sizes) + " |" for size in sizes]  # fmt: skip
        lines.append("")
    return lines


# ---------------------------------------------------------------- what there is, and what it takes


def extent(sets: Sequence[Set], asked: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[str]:
    """What is measured, what is not, and the processor time of both."""
    by_name = {one.name: one for one in sets}
    missing = [(name, metric, settings) for name, metric, settings in asked
               if name not in by_name or (metric, *settings.values()) not in by_name[name].cells]
    spent = sum(float(cell["seconds"]) for one in sets for cell in one.cells.values())
    left = sum(_expected(by_name, *one) for one in missing)
    yield (f"Measured: {len(asked) - len(missing)} of {len(asked)} cells (a set under one setting), "
           f"in {spent / 60:.0f} minutes of processor time. ")
    if missing:
        kinds: dict[str, dict[str, int]] = {}
        for _, metric, settings in missing:
            name = _named(settings)
            kinds.setdefault(metric, {})[name] = kinds.get(metric, {}).get(name, 0) + 1
        said = "; ".join(f"`{metric}`: " + ", ".join(f"{name} ({many})" for name, many in of.items())
                         for metric, of in kinds.items())
        yield (f"Not measured yet, with the number of cells: {said}. At the rate of what was measured this takes about "
               f"{left / 3600:.1f} hours more on one processor; the command goes on where it stopped.")


def _named(settings: Mapping[str, Any]) -> str:
    return f"windows of {settings['size']}" if "size" in settings else f"context of {settings['prev']}"


def _length(settings: Mapping[str, Any]) -> float:
    """Segments that are read for one that is scored; the strides of a window share what is read."""
    return float(settings["prev"] + 1) if "prev" in settings else 1.0


def _expected(by_name: Mapping[str, Set], name: str, metric: str, settings: Mapping[str, Any]) -> float:
    """Seconds that a cell will take, from the same metric on other cells, or from whatever was measured."""
    def rate(cells: Sequence[tuple[Set, Mapping[str, Any]]]) -> float:
        size = sum(_length(cell) * sum(one.told["sizes"]) * len(one.gold) for one, cell in cells)
        return sum(float(cell["seconds"]) for _, cell in cells) / size if size else np.nan

    every = [(one, cell) for one in by_name.values() for cell in one.cells.values()]
    every = [pair for pair in every if ("size" in pair[1]) == ("size" in settings)] or every
    same = [pair for pair in every if pair[1]["metric"] == metric]
    one = by_name[name]  # every set has been measured without context
    factor = rate(same) if same else 2 * rate(every)  # sbert reads six layers, bertscore three
    return float(factor * _length(settings) * sum(one.told["sizes"]) * len(one.gold))


def reading() -> list[str]:
    """What was written about the numbers by hand stays as it is."""
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    return [BEGIN, old.partition(BEGIN)[2].partition(END)[0].strip(), END]


def write_page(told: Sequence[Mapping[str, Any]], asked: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
    sets = [Set(one) for one in told]
    page = [
        "# Does context help? A study with a small encoder", "",
        "Written by `python studies/context.py --page` from the document scores in `studies/context_parts`, with "
        "every number in it but those of the reading.", "", *reading(), "",
        "System-level agreement with people: Pearson's r between a metric's system scores and the official human ones "
        "(MQM, or standardised direct assessment), and how many pairs of systems are in the order people put them in. "
        "The encoder is the embedded MiniLM (`bertscore@minilm` with `align_scope=sentence`, "
        "`sbert@minilm`): six layers, English only. All "
        f"documents of each set, whole. Intervals are of {DRAWS:,} resamples of the documents, the same for every "
        "setting.", "", "".join(extent(sets, asked)), "",
        "| set | human scores | systems | documents | segments |", "|---|---|---:|---:|---:|",
        *(f"| {one.name} | {one.told['human']} | {len(one.gold)} | {len(one.told['documents'])} | "
          f"{sum(one.told['sizes']):,} |" for one in sets), "",
        "## Context before the segment", "",
        "`hypothesis's context`: the reference's sentences (as Doc-BERTScore has it) or the system's own. "
        "`context from`: where it belongs (same), the same document's other sentences in a wrong order "
        "(shuffled), another document (other). The last two are controls: if they do as well, it is not the "
        "context's content that helps. `change`: of the mean r, from no context on the same sets.", "",
    ]  # fmt: skip
    for metric in dict.fromkeys(metric for _, metric, _ in asked):
        mine = [one for one in sets if (metric, 0, "–", "–") in one.cells]
        if mine:
            page += [f"### {metric.partition('@')[0]}", "", *contexts(metric, mine), "",
                     "Right context against wrong context:", "", *right_and_wrong(metric, mine), "",
                     "By set, the change of r with the right context:", "", *by_set(metric, mine), ""]  # fmt: skip
    grids = [line for metric in dict.fromkeys(metric for _, metric, _ in asked) for one in sets
             for line in windows(metric, one)]  # fmt: skip
    write_file(PAGE, "\n".join([*page, *(["## Windows (SLIDE)", "", *grids] if grids else [])]).rstrip() + "\n")
