"""Writes docs/studies/context.md: does document context help, and is it the context that helps?

    WHOLETEXT_DATA=../shared/data python tools/study_context.py [--segments 40] [--windows 40]

Finished rows are kept in the score cache, so an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholetext.io import read
from wholetext.io.formats.scores import human_scores
from wholetext.scoring.sweep import Axes, Cell, Sweep, sweep
from wholetext.types import Corpus, Document, FloatArray, Output, Scores

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "docs" / "studies" / "context.md"
DRAWS, SEED = 1000, 4
LONGEST = 20  # segments of a document: talks are long, and a sample needs several of them
# evaluation set, language pair, human score, reference
MQM = (("wmt21.news.mqm", "zh-en", "mqm", "refB"), ("wmt21.tedtalks", "zh-en", "mqm", "refB"))
DA = tuple(("wmt21.news", f"{lang}-en", "wmt-z", "refA") for lang in ("cs", "de", "ha", "is", "ja", "ru"))


@dataclass(frozen=True)
class Set:
    """Some documents of an evaluation set, the outputs for them, and what people thought of the systems."""

    name: str
    corpus: Corpus
    outputs: tuple[Output, ...]
    gold: FloatArray  # (systems,) official system scores, from all that was judged

    @property
    def segments(self) -> int:
        return sum(map(len, self.corpus.docs))


def load(source: tuple[str, str, str, str], segments: int) -> Set:
    """Documents drawn at random, of each at most its beginning, until there are ``segments`` segments."""
    name, pair, kind, ref = source
    folder = str(DATA / "evalsets" / name)
    human = human_scores(folder, pair, kind, "sys")
    known = {system for system, value in zip(human.systems, human.values[:, 0]) if np.isfinite(value)}
    judged = [system for system in human.systems if system in known and not system.startswith("ref")]
    loaded = read(folder, langs=pair, systems=judged, refs=[ref])
    docs = list(loaded.corpus.docs)
    random.Random(SEED).shuffle(docs)
    chosen: list[Document] = []
    for doc in docs:
        if sum(map(len, chosen)) < segments:
            refs = {name: text[:LONGEST] for name, text in doc.refs.items()}
            chosen.append(Document(doc.id, doc.src[:LONGEST] if doc.src else None, refs))
    order = {output.system: Output(output.system, {doc.id: output.docs[doc.id][:LONGEST] for doc in chosen})
             for output in loaded.outputs}  # fmt: skip
    gold = np.array([human.values[human.systems.index(system), 0] for system in judged])
    corpus = Corpus(name, loaded.corpus.langs, tuple(chosen))
    return Set(f"{name} {pair}", corpus, tuple(order[system] for system in judged), gold)


# ---------------------------------------------------------------- agreement


def pearson(metric: FloatArray, gold: FloatArray) -> FloatArray:
    """(..., systems) metric scores → (...) correlations with (systems,) gold."""
    centred, wanted = metric - metric.mean(axis=-1, keepdims=True), gold - gold.mean()
    return (centred @ wanted) / np.sqrt((centred**2).sum(axis=-1) * (wanted**2).sum())


def agreeing(metric: FloatArray, gold: FloatArray) -> tuple[int, int]:
    """How many pairs of systems are in the order people put them in, and how many pairs there are."""
    i, j = np.triu_indices(len(gold), 1)
    return int((np.sign(metric[i] - metric[j]) == np.sign(gold[i] - gold[j])).sum()), len(i)


def resampled(scores: Sequence[Scores], weights: FloatArray) -> FloatArray:
    """(draws, systems) system scores of resampled documents."""
    return np.stack([one.reduce(weights @ one.totals())[:, 0] for one in scores], axis=1)


def of(cell: Cell, data: Set) -> list[Scores]:
    return [cell.scores[output.system] for output in data.outputs]


def plain(cell: Cell, data: Set) -> FloatArray:
    return np.array([one.score for one in of(cell, data)])


# ---------------------------------------------------------------- context


def contexts(metric: str, sets: Sequence[Set]) -> list[str]:
    grids = []
    for data in sets:
        grids.append(sweep(data.corpus, data.outputs, metric, Axes(context=3)))
        print(time.strftime("%H:%M:%S"), metric, data.name, grids[-1].results.counts, flush=True)
    rng = np.random.default_rng(SEED)
    counts = [len(data.corpus.docs) for data in sets]
    draws = [rng.multinomial(many, np.full(many, 1 / many), DRAWS).astype(float) for many in counts]  # (draws, docs)
    drawn = [[pearson(resampled(of(cell, data), weights), data.gold) for cell in grid.cells]
             for grid, data, weights in zip(grids, sets, draws)]  # fmt: skip
    lines = ["| previous | hypothesis's context | context from | mean r | change (95 %) | pairs in order | rows cut |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for at, cell in enumerate(grids[0].cells):
        found = [float(pearson(plain(grid.cells[at], data), data.gold)) for grid, data in zip(grids, sets)]
        change = np.mean([mine[at] - mine[0] for mine in drawn], axis=0)
        low, high = np.nanpercentile(change, [2.5, 97.5])
        right, pairs = np.sum([agreeing(plain(g.cells[at], d), d.gold) for g, d in zip(grids, sets)], axis=0)
        base = np.mean([float(pearson(plain(g.cells[0], d), d.gold)) for g, d in zip(grids, sets)])
        told = f"{np.mean(found) - base:+.3f} ({low:+.3f} … {high:+.3f})" if at else "–"
        lost = np.mean([grid.cells[at].lost_context for grid in grids])
        s = cell.settings
        lines.append(f"| {s['prev']} | {s['hyp']} | {s['source']} | {np.mean(found):.3f} | {told} "
                     f"| {right}/{pairs} = {right / pairs:.3f} | {lost:.1%} |")
    return [*lines, "", *by_set(grids, sets)]


def by_set(grids: Sequence[Sweep], sets: Sequence[Set]) -> list[str]:
    """Pearson of every set, for context that is where it belongs."""
    picked = [at for at, cell in enumerate(grids[0].cells) if cell.settings["source"] in ("–", "same")]
    names = [f"{s['prev']}, {s['hyp']}" if s["prev"] else "0" for s in (grids[0].cells[at].settings for at in picked)]
    lines = [f"| r | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for grid, data in zip(grids, sets):
        row = [f"{float(pearson(plain(grid.cells[at], data), data.gold)):.3f}" for at in picked]
        lines.append(f"| {data.name} | {' | '.join(row)} |")
    return lines


# ---------------------------------------------------------------- windows


def windows(metric: str, data: Set) -> list[str]:
    grid = sweep(data.corpus, data.outputs, metric, Axes(window=6))
    print(time.strftime("%H:%M:%S"), "slide", metric, data.name, grid.results.counts, flush=True)
    cells = {(cell.settings["size"], cell.settings["step"]): cell for cell in grid.cells if cell.scores}
    lines = [f"`{metric}` on {data.name}: r, pairs in order, share of segments in no window, share of windows cut", "",
             "| window ↓ stride → | 1 | 2 | 3 | 4 | 5 | 6 |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for size in range(1, 7):
        row = []
        for step in range(1, 7):
            cell = cells.get((size, step))
            if cell is None:
                row.append("")
                continue
            right, pairs = agreeing(plain(cell, data), data.gold)
            r = float(pearson(plain(cell, data), data.gold))
            row.append(f"{r:.3f}, {right / pairs:.3f}, {cell.dropped:.0%}, {cell.lost_focus:.0%}")
        lines.append(f"| {size} | {' | '.join(row)} |")
    return [*lines, ""]


# ---------------------------------------------------------------- the page

BEGIN, END = "<!-- reading -->", "<!-- end of reading -->"


def reading() -> list[str]:
    """What was written about the numbers by hand stays as it is."""
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    return [BEGIN, old.partition(BEGIN)[2].partition(END)[0].strip(), END]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=40, help="segments per set for the context tables")
    parser.add_argument("--windows", type=int, default=40, help="segments per set for the window grids")
    parser.add_argument("--sets", type=int, default=8, help="only the first so many sets: MQM news, TED, then DA")
    parser.add_argument("--sbert", action="store_true", help="sbert under context too, on the MQM sets")
    args = parser.parse_args()
    sets = [load(source, args.segments) for source in (*MQM, *DA)[: args.sets]]
    larger = [load(source, args.windows) for source in MQM if args.windows]
    page = [
        "# Does context help? A study with a small encoder", "",
        "Written by `python tools/study_context.py` "
        f"(`--segments {args.segments} --windows {args.windows} --sets {args.sets}`), with every number in it.",
        "", *reading(), "",
        "System-level agreement with people: Pearson's r between a metric's system scores and the official human ones "
        "(MQM, or standardised direct assessment), and how many pairs of systems are in the order people put them in. "
        "The encoder is the embedded MiniLM (`bertscore@minilm`, `sbert@minilm`): six layers, English only.", "",
        "**A sample.** Documents drawn at random with a fixed seed from each set, of each at most the first "
        f"{LONGEST} segments; the human scores are of the whole set. Intervals come from drawing the sampled documents "
        f"again, {DRAWS} times.", "",
        "| set | systems | documents | segments | of them for windows |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for at, data in enumerate(sets):
        more = larger[at].segments if at < len(larger) else "–"
        page.append(f"| {data.name} | {len(data.outputs)} | {len(data.corpus.docs)} | {data.segments} | {more} |")
    page += ["", "## Context before the segment", "",
             "`hypothesis's context`: the reference's sentences (as Doc-BERTScore has it) or the system's own. "
             "`context from`: where it belongs (same), the same document's other sentences in a wrong order "
             "(shuffled), another document (other). The last two are controls: if they do as well, it is not the "
             "context's content that helps.", ""]  # fmt: skip
    page += ["### bertscore, all sets", "", *contexts("bertscore@minilm", sets), ""]
    if args.sbert:
        page += ["### sbert, the two MQM sets", "", *contexts("sbert@minilm", sets[:2]), ""]
    page += ["## Windows (SLIDE)", ""] if larger else []
    for metric in ("sbert@minilm", "bertscore@minilm"):
        for data in larger:
            page += windows(metric, data)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(page).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
