"""Writes studies/contrast.md: does a translation model choose better with context, and is it the context?

    python studies/opus_model.py MODEL
    WHOLETEXT_DATA=../shared/data python studies/contrast.py MODEL [--parts 10]

The contrastive experiment of Vernikos et al. (2022) with opus-mt en-fr: DiscEvalMT whole, and ContraPro en-fr in parts
of 100 items of a random order. Margins of finished parts are in studies/contrast.json: an interrupted study
resumes there, and more parts are added to those that are done. All 14,000 items are ``--parts 140``: 8 processor hours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from wholetext.files.storage import write_file
from wholetext.meta.contrastive.decisions import decide, wilson
from wholetext.meta.contrastive.formats import ContrastSet, Item, read_contrast_set
from wholetext.scoring.evaluate import Options
from wholetext.types import FloatArray

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "studies" / "contrast.md"
FOUND = PAGE.with_suffix(".json")
SETS = {"anaphora": "discevalmt.anaphora.en-fr", "lexical choice": "discevalmt.lexical-choice.en-fr",
        "ContraPro": "contrapro-large.en-fr"}  # fmt: skip
PART, DRAWS = 100, 2000
SOURCES = ("same", "shuffled", "other")
Margins = dict[str, dict[str, list[list[float]]]]  # set → view → parts of margins


def views(name: str) -> list[str]:
    """The views of a set: as much context as it has, and both controls; one sentence cannot be shuffled."""
    if name != "ContraPro":
        return ["sentence", "context(prev=1)", "context(prev=1,source=other)"]
    found = ["sentence"]
    for prev in (1, 2, 3):
        found += [f"context(prev={prev}{'' if source == 'same' else f',source={source}'})" for source in SOURCES]
    return found


def load(name: str) -> ContrastSet:
    """The set; ContraPro in an order that looks random, so that every number of parts is a random sample."""
    found = read_contrast_set(DATA / "contrastive" / f"{SETS[name]}.jsonl")
    if name != "ContraPro":
        return found
    order = sorted(found.items, key=lambda item: hashlib.sha256(item.id.encode()).hexdigest())
    return replace(found, items=tuple(order))


def measure(model: str, name: str, items: ContrastSet, parts: int, found: Margins) -> None:
    """Decide what is not decided yet; every finished part is written at once."""
    size = PART if name == "ContraPro" else len(items)
    for part in range(min(parts, -(-len(items) // size))):
        for view in views(name):
            done = found.setdefault(name, {}).setdefault(view, [])
            if len(done) > part:
                continue
            # wrong context comes from the same part, so that parts do not depend on each other
            some = replace(items, items=items.items[part * size : (part + 1) * size])
            decided = decide(some, f"{view}:prism(direction=src-hyp)@{model}", Options(cache=False))
            done.append([round(float(margin), 5) for margin in decided.margin])
            write_file(FOUND, json.dumps(found, separators=(",", ":")))
            print(time.strftime("%H:%M:%S"), name, part, view, f"{np.mean(decided.margin > 0):.3f}", flush=True)


# ---------------------------------------------------------------- tables


def right(found: Margins, name: str, view: str, parts: int) -> FloatArray:
    return np.concatenate([np.array(part) > 0 for part in found[name][view][:parts]]).astype(float)


def share(correct: FloatArray) -> str:
    """Accuracy with Wilson's 95 % interval."""
    if not len(correct):
        return "–"
    low, high = wilson(int(correct.sum()), len(correct))
    return f"{100 * correct.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def gain(mine: FloatArray, other: FloatArray) -> str:
    """Difference of accuracies on the same items, with a 95 % percentile interval over items."""
    if not len(mine):
        return "–"
    drawn = np.random.default_rng(4).integers(0, len(mine), (DRAWS, len(mine)))
    low, high = np.percentile(100 * (mine - other)[drawn].mean(axis=1), [2.5, 97.5])
    return f"{100 * (mine.mean() - other.mean()):+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−")


def discevalmt(found: Margins, sets: Mapping[str, ContrastSet]) -> list[str]:
    lines = ["| set | items | no context | one sentence | one sentence of another item | own − none | own − another |",
             "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name in ("anaphora", "lexical choice"):
        none, own, other = (right(found, name, view, 1) for view in views(name))
        cells = (share(none), share(own), share(other), gain(own, none), gain(own, other))
        lines.append(f"| {name} | {len(sets[name])} | {' | '.join(cells)} |")
    return lines


def contrapro(found: Margins, items: Sequence[Item], parts: int) -> list[str]:
    groups: dict[str, Callable[[Item], bool]] = {
        "all": lambda item: True, "same sentence": lambda item: item.distance == 0,
        "1 back": lambda item: item.distance == 1, "2 back": lambda item: item.distance == 2,
        "3 back": lambda item: item.distance == 3, "1 to 3 back": lambda item: (item.distance or 0) > 0,
        "unknown or farther": lambda item: item.distance is None}  # fmt: skip
    lines = []
    none = right(found, "ContraPro", "sentence", parts)
    for title, cell in (
        ("Accuracy, in %", lambda view, chosen: share(right(found, "ContraPro", view, parts)[chosen])),
        ("Difference from no context, in points",
         lambda view, chosen: gain(right(found, "ContraPro", view, parts)[chosen], none[chosen])),
    ):
        lines += [f"**{title}**", "", f"| context | {' | '.join(groups)} |", "|---|" + "---:|" * len(groups)]
        chosen = {name: np.array([test(item) for item in items]) for name, test in groups.items()}
        if title.startswith("Accuracy"):
            lines.append(f"| items | {' | '.join(str(int(some.sum())) for some in chosen.values())} |")
        for view in views("ContraPro")[0 if title.startswith("Accuracy") else 1 :]:
            lines.append(f"| {described(view)} | {' | '.join(cell(view, some) for some in chosen.values())} |")
        lines.append("")
    return lines


def described(view: str) -> str:
    if view == "sentence":
        return "none"
    source = next((name for name in SOURCES if f"source={name}" in view), "same")
    number = view.partition("prev=")[2][0]
    return number + {"same": "", "shuffled": ", shuffled", "other": ", of another item"}[source]


BEGIN, END = "<!-- reading -->", "<!-- end of reading -->"


def page(found: Margins, sets: Mapping[str, ContrastSet], parts: int, old: str) -> str:
    """The page; what was written about the numbers by hand stays as it is in the old one."""
    reading = old.partition(BEGIN)[2].partition(END)[0].strip()
    items = sets["ContraPro"].items[: parts * PART]
    lines = [
        "# Contrastive sets with a real translation model", "",
        f"Written by `python studies/contrast.py MODEL --parts {parts}`, with every number in it; the model is "
        "opus-mt en-fr (`python studies/opus_model.py MODEL`), the metric `prism(direction=src-hyp)@MODEL`: the mean "
        "log-probability of a candidate's tokens. With context, previous source sentences and the correct previous "
        "target sentences are read, and only the current sentence is scored.", "", BEGIN, reading, END, "",
        "## DiscEvalMT", "",
        "Bawden et al. (2018), all items. The set is balanced (but for one block): a metric that ignores context gets "
        "50 %. In brackets 95 % intervals: Wilson's for accuracies, over resampled items for differences.", "",
        *discevalmt(found, sets), "", "## ContraPro, English–French", "",
        f"Lopes et al. (2020): {len(items)} of {len(sets['ContraPro'])} items in a random order, by the distance of "
        "the antecedent as translators marked it. Context is that of the item, the same sentences in a random order "
        "(shuffled), or that of another item.", "", *contrapro(found, items, parts),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder of opus-mt en-fr")
    parser.add_argument("--parts", type=int, default=10, help="parts of 100 items of ContraPro")
    args = parser.parse_args()
    found: Margins = json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}
    sets = {name: load(name) for name in SETS}
    for name, items in sets.items():
        measure(args.model, name, items, args.parts, found)
    write_file(PAGE, page(found, sets, args.parts, PAGE.read_text("utf-8") if PAGE.exists() else ""))


if __name__ == "__main__":
    main()
