"""Relative ranking of systems by people, with control items (Jiang et al. 2022, appendix D).

Raters order the outputs of all systems, ties allowed: of a sentence, or of blocks of sentences in
the order of a document. Systems are hidden behind letters, which stay the same within a document.
In control items one output is nonsense: its words (of documents its sentences) are shuffled, except
the first and last. Who ranks it as high as a translation did not read carefully.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import InputError
from wholetext.files.parsing import reading
from wholetext.io.formats.jsonl import objects
from wholetext.io.text import at, opened
from wholetext.notebook.display import brief
from wholetext.scoring.kappa import cohen_kappa
from wholetext.scoring.results import Results
from wholetext.scoring.significance.resample import SEED, seeded

RankingUnit = Literal["documents", "sentences"]
BLOCK = 5  # sentences of a document that are ranked at a time
_EXAMPLE = 'write {"item": "doc#0", "rater": "ann", "ranks": {"A": 1, "B": 2, "C": 2}}'


@dataclass(frozen=True)
class RankingItem:
    """What a rater sees, and what is hidden from them."""

    id: str
    src: tuple[str, ...] | None  # None: fluency, judged without the source
    options: Mapping[str, tuple[str, ...]]  # letter → segments
    systems: Mapping[str, str]  # letter → system
    control: str = ""  # the letter of the nonsense


def ranking_items(
    results: Results,
    documents: Sequence[str] | None = None,
    *,
    unit: RankingUnit = "documents",
    source: bool = True,
    controls: float = 0.1,
    seed: int | None = SEED,
) -> list[RankingItem]:
    """Make items in random order, blocks of a document in its own; ``controls`` is a share."""
    rng, items = seeded(seed), list[list[RankingItem]]()
    if not 2 <= len(results.systems) <= len(string.ascii_uppercase):
        raise InputError(
            f"{len(results.systems)} systems cannot be ranked", next="score 2 to 26 systems"
        )
    outputs = {output.system: output.docs for output in results.outputs}
    for doc in results.corpus.docs:
        if documents is not None and doc.id not in documents:
            continue
        order = [str(name) for name in rng.permutation(results.systems)]
        items.append([])
        step = BLOCK if unit == "documents" else 1
        for start in range(0, len(doc), step):
            if unit == "sentences":
                order = [str(name) for name in rng.permutation(results.systems)]
            systems = dict(zip(string.ascii_uppercase, order))
            cut = slice(start, start + step)
            options = {letter: outputs[name][doc.id][cut] for letter, name in systems.items()}
            src = doc.src[cut] if source and doc.src is not None else None
            items[-1].append(RankingItem(f"{doc.id}#{start}", src, options, systems))
    groups = items if unit == "documents" else [[item] for group in items for item in group]
    groups = [groups[at] for at in rng.permutation(len(groups))]
    every = [item for group in groups for item in group]
    able = [place for place, item in enumerate(every) if _shuffles(item, unit)]
    number = min(round(controls * len(every)), len(able))
    for place in rng.choice(able, number, replace=False).tolist() if number else ():
        every[place] = _control(every[place], unit, rng)
    return every


def _shuffles(item: RankingItem, unit: RankingUnit) -> bool:
    """Tell whether nonsense can be made of an item: at least two parts are free to move."""
    texts = item.options.values()
    return all((len(t) if unit == "documents" else len(t[0].split())) >= 4 for t in texts)


def _control(item: RankingItem, unit: RankingUnit, rng: np.random.Generator) -> RankingItem:
    letter = str(rng.choice(list(item.options)))
    parts = list(item.options[letter]) if unit == "documents" else item.options[letter][0].split()
    fixed = 1 if unit == "documents" else max(1, math.ceil(0.1 * len(parts)))
    middle = parts[fixed:-fixed]
    turned = [middle[at] for at in rng.permutation(len(middle))]
    if turned == middle:  # a permutation that changes nothing is no control
        turned = middle[1:] + middle[:1]
    parts = parts[:fixed] + turned + parts[-fixed:]
    text = tuple(parts) if unit == "documents" else (" ".join(parts),)
    options = {**item.options, letter: text}
    return RankingItem(item.id, item.src, options, item.systems, letter)


# ---------------------------------------------------------------- what raters answered


@dataclass(frozen=True)
class Rankings:
    """Verdicts on pairs of systems."""

    wins: dict[str, float]  # system → share of comparisons won, ties left out (Bojar et al. 2016)
    controls: dict[str, tuple[int, int]]  # rater → nonsense ranked last, control items
    kappa: dict[tuple[str, str], tuple[float, int]]  # two raters → kappa, pairs both compared
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        pairs = [{"raters": pair, "kappa": k, "pairs": n} for pair, (k, n) in self.kappa.items()]
        return {**asdict(self), "kappa": pairs}


def read_rankings(answers: Path, key: Path) -> Rankings:
    """Read answers (JSONL: item, rater, ranks by letter, 1 is best) with the key of their items."""
    hidden = {row["item"]: row for _, row in _rows(key, ("item", "systems", "control"))}
    verdicts: dict[str, dict[tuple[str, str, str], float]] = {}  # rater → (item, systems) → sign
    controls: dict[str, tuple[int, int]] = {}
    for where, row in _rows(answers, ("item", "rater", "ranks")):
        known = hidden.get(row["item"])
        if known is None or set(row["ranks"]) != set(known["systems"]):
            raise InputError(
                f"item {row['item']!r} is not in the key, or has other letters there",
                where=where,
                next=f"the key of these answers is needed, not {key}",
            )
        rater, bad = str(row["rater"]), known["control"]
        with reading(where, _EXAMPLE, what="the ranks cannot be read"):
            ranks = {letter: float(rank) for letter, rank in row["ranks"].items()}
        if bad:
            caught, seen = controls.get(rater, (0, 0))
            last = all(rank < ranks[bad] for letter, rank in ranks.items() if letter != bad)
            controls[rater] = caught + last, seen + 1
        letters = sorted(set(ranks) - {bad}, key=lambda letter: known["systems"][letter])
        for first, second in combinations(letters, 2):
            pair = row["item"], known["systems"][first], known["systems"][second]
            verdicts.setdefault(rater, {})[pair] = float(np.sign(ranks[second] - ranks[first]))
    wins: dict[str, list[float]] = {}
    for own in verdicts.values():
        for (_, first, second), verdict in own.items():
            for system, sign in ((first, verdict), (second, -verdict)):
                wins.setdefault(system, []).extend([float(sign > 0)] if sign else [])
    shares = {name: float(np.mean(own)) if own else float("nan") for name, own in wins.items()}
    return Rankings(shares, controls, _kappas(verdicts))


def _kappas(
    verdicts: Mapping[str, Mapping[tuple[str, str, str], float]],
) -> dict[tuple[str, str], tuple[float, int]]:
    kappas = {}
    for first, second in combinations(sorted(verdicts), 2):
        shared = [pair for pair in verdicts[first] if pair in verdicts[second]]
        x, y = (np.array([verdicts[rater][pair] for pair in shared]) for rater in (first, second))
        if shared:
            kappas[first, second] = cohen_kappa(x, y), len(shared)
    return kappas


def _rows(path: Path, fields: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    with opened(path) as file:
        rows = [(at(file.name, number), row) for number, row in objects(file)]
    for where, row in rows:
        if not row.keys() >= set(fields):
            raise InputError(f"a line needs {', '.join(fields)}", where=where, next=_EXAMPLE)
    return rows


def write_items(path: Path, items: Sequence[RankingItem]) -> tuple[Path, Path]:
    """Write what raters see, and beside it the key that they must not see."""
    from wholetext.files.storage import write_file

    key = path.with_suffix(".key.jsonl")
    shown = [
        {"item": item.id, **({"src": item.src} if item.src else {}), "options": item.options}
        for item in items
    ]
    hidden = [{"item": item.id, "systems": item.systems, "control": item.control} for item in items]
    for file, rows in ((path, shown), (key, hidden)):
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        write_file(file, "".join(f"{line}\n" for line in lines))
    return path, key
