"""Writes studies/llm/contrast.jsonl: does a language model choose the right translation more often with context?

    python studies/qwen_model.py FOLDER
    WHOLETEXT_DATA=../shared/data python studies/llm_contrast.py FOLDER/*.gguf [--minutes 60]

`llm-prob` (English to French) with Qwen2.5-Coder-1.5B-Instruct through llama.cpp: DiscEvalMT whole, and 1,000 random
items of ContraPro. A line of the file is a part (10 items) under a view; the study resumes after the last line. Parts
of the two sets of DiscEvalMT alternate, then comes ContraPro, in a random order of blocks or items, so that whatever
was reached of a set is a random sample.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from contrast import share
from llama import Llama

from wholetext.meta.contrastive.decisions import decide, with_controls
from wholetext.meta.contrastive.formats import ContrastSet, read_contrast_set
from wholetext.metrics.llm_prob import LlmProb
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options
from wholetext.types import Runtime

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
DECIDED = ROOT / "studies" / "llm" / "contrast.jsonl"
SETS = {"anaphora": "discevalmt.anaphora.en-fr", "lexical choice": "discevalmt.lexical-choice.en-fr",
        "ContraPro": "contrapro-large.en-fr"}  # fmt: skip
SHORT = ("sentence", "context(prev=1)", "context(prev=1,source=other)")
VIEWS = {"anaphora": SHORT, "lexical choice": SHORT, "ContraPro": (
    "sentence", "context(prev=1)", "context(prev=3)", "context(prev=3,source=shuffled)", "context(prev=3,source=other)"
)}  # fmt: skip
PART, MOST, DRAWS = 10, 1000, 10_000
BACKENDS: dict[str, Llama] = {}


@dataclass(frozen=True)
class LlamaProb(LlmProb):
    """The metric with another engine under it."""

    def resolve(self, langs: tuple[str, str]) -> LlmProb:
        return self

    def facts(self) -> Mapping[str, str]:
        return {}

    def backend(self, run: Runtime) -> Any:
        if self.model not in BACKENDS:
            BACKENDS[self.model] = Llama(Path(self.model), ("English", "French"))
        return BACKENDS[self.model]


def load(name: str) -> ContrastSet:
    """The set in a random order; items with the same sentence stay together, as pairs are balanced."""
    items = read_contrast_set(DATA / "contrastive" / f"{SETS[name]}.jsonl")

    def key(place: int) -> tuple[str, int]:
        item = items.items[place]
        return hashlib.sha256((item.block or item.id).encode()).hexdigest(), place

    chosen = sorted(range(len(items)), key=key)[:MOST]
    return replace(items, items=tuple(items.items[place] for place in chosen))


def work(model: str, minutes: float) -> None:
    """Decide what is not decided yet, part by part."""
    done = {(row["set"], row["part"], row["view"]) for row in read()}
    sets = {name: load(name) for name in SETS}
    # wrong context is drawn from the whole set: from another block, not from the same one
    controlled = {
        (name, view): with_controls(sets[name], scorer(f"{view}:chrf"))
        for name in SETS
        for view in VIEWS[name]
    }
    begin = time.monotonic()
    # DiscEvalMT first: its pairs are balanced, and an item of ContraPro costs five times as much
    order = [(part, *place) for part in range(MOST // PART) for place in controlled]
    for part, name, view in sorted(order, key=lambda place: place[1] == "ContraPro"):
        items, bound = controlled[name, view]
        some = replace(items, items=items.items[part * PART : (part + 1) * PART])
        if not some.items or (name, part, view) in done:
            continue
        if time.monotonic() - begin > 60 * minutes:
            return
        row = {"set": name, "part": part, "view": view} | measured(some, bound, model)
        with DECIDED.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(time.strftime("%H:%M:%S"), *row.values(), flush=True)


def measured(items: ContrastSet, bound: Scorer, model: str) -> dict[str, Any]:
    cpu, wall, read = (
        time.process_time(),
        time.monotonic(),
        BACKENDS[model].read if model in BACKENDS else 0,
    )
    metric = LlamaProb(model=model, src_lang="en", tgt_lang="fr")
    decided = decide(
        items, replace(bound, metric=metric), Options(cache=False, batch_tokens=1 << 20)
    )
    return {
        "margins": [round(float(margin), 4) for margin in decided.margin],
        "tokens": BACKENDS[model].read - read,
        "cpu": round(time.process_time() - cpu, 1),
        "wall": round(time.monotonic() - wall, 1),
        "gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
    }


def read() -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in DECIDED.read_text("utf-8").splitlines()]
        if DECIDED.exists()
        else []
    )


def gain(own: np.ndarray, other: np.ndarray, blocks: list[str]) -> str:
    """Difference of accuracies on the same items, with a 95 % percentile interval over blocks of items."""
    names, where = np.unique(blocks, return_inverse=True)
    sums, sizes = np.bincount(where, weights=own - other), np.bincount(where)
    drawn = np.random.default_rng(4).integers(0, len(names), (DRAWS, len(names)))
    low, high = np.percentile(100 * sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [2.5, 97.5])
    return f"{100 * (own - other).mean():+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−")


def table() -> list[str]:
    """What was reached, as Markdown: accuracies with Wilson's intervals, differences with intervals over blocks."""
    rows = read()
    margins = {(row["set"], row["part"], row["view"]): row["margins"] for row in rows}
    lines = []
    for name, views in VIEWS.items():
        # whole parts only: the same items in every column
        parts = [part for part in range(MOST // PART) if all((name, part, view) in margins for view in views)]
        items = load(name).items
        blocks = [item.block or item.id for part in parts for item in items[part * PART : (part + 1) * PART]]
        if not blocks:
            continue
        right = {view: np.concatenate([margins[name, part, view] for part in parts]) > 0 for view in views}
        right = {view: correct.astype(float) for view, correct in right.items()}
        lines += [f"{name}: {len(blocks)} items, {len(set(blocks))} blocks", ""]
        lines += [f"- {view}: {share(correct)}" for view, correct in right.items()]
        own = "context(prev=3)" if name == "ContraPro" else "context(prev=1)"
        lines += [f"- {own} − {view}: {gain(right[own], right[view], blocks)}" for view in views if view != own] + [""]
    tokens, cpu, wall = (sum(row[key] for row in rows) for key in ("tokens", "cpu", "wall"))
    lines.append(f"{tokens} tokens, {cpu:.0f} s of a processor ({tokens / cpu:.1f} a second), {wall / 60:.0f} minutes; "
                 f"{max(row['gb'] for row in rows)} GB")  # fmt: skip
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="the GGUF file")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--table", action="store_true", help="print what was reached")
    args = parser.parse_args()
    if not args.table:
        work(args.model, args.minutes)
    print("\n".join(table()))
