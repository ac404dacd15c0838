"""Writes studies/llm/judges.jsonl: do three judges with a model of 1.5 billion parameters agree with people?

    WHOLETEXT_QWEN=FOLDER/*.gguf WHOLETEXT_DATA=../shared/data python studies/llm_judges.py [--minutes 60]

Needs `tests/judges/requirements.txt`; the server runs in a child process, unless `--endpoint` names one that serves the
same file. A unit is a segment of WMT21 (zh-en, MQM) or WMT22 (de-en, direct assessment) with the outputs of two
systems, all drawn at random; 76 units of each pair are 304 judged outputs. Under `context` and `whole` the judge reads
up to three segments before it, and judges the segment alone or all that it reads. A line of the file is a part (19
units) under a judge and a view; parts are finished one after another, and the study resumes after the last line.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.judges.small_model import QWEN, running  # noqa: E402
from wholetext.io.formats.evalset import EvalSet  # noqa: E402
from wholetext.judges.chat import Calls  # noqa: E402
from wholetext.meta.contrastive.decisions import decide  # noqa: E402
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item  # noqa: E402
from wholetext.meta.participants import Selection, read_participants  # noqa: E402
from wholetext.scoring.evaluate import Options  # noqa: E402

DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
JUDGED = ROOT / "studies" / "llm" / "judges.jsonl"
SETS = {"zh-en": ("wmt21.news.mqm", "mqm"), "de-en": ("wmt22.da", "wmt-z")}
METRICS = {
    "judge-da": f"judge-da@{QWEN.name}",
    "judge-esa": f"judge-esa(max_tokens=200)@{QWEN.name}",
    "judge-coherence": f"judge-coherence(prompt={ROOT / 'studies/llm/coherence.toml'},max_tokens=96)@{QWEN.name}",
    "chrf": "chrf",  # with a reference, by sentence only: what words alone tell of the same outputs
}
UNITS, SYSTEMS, BEFORE, PART, TOGETHER = 76, 2, 3, 19, 16
VIEWS = ("sentence", f"context(prev={BEFORE})", "whole")
DRAWS = 10_000


class Unit(NamedTuple):
    """A segment with two outputs, and what people gave to each."""

    item: Item
    segment: list[float]
    shown: list[float]  # means over the text that `whole` shows


def units(lp: str) -> list[Unit]:
    """Return segments of a language pair in a random order."""
    name, human = SETS[lp]
    evalset = EvalSet.open(DATA / "evalsets" / name, lp)
    participants = read_participants(evalset, Selection(), human)
    loaded, gold = evalset.load(), participants.gold("seg")
    docs = {doc.id: doc for doc in loaded.corpus.docs}
    outputs = {output.system: output.docs for output in loaded.outputs}
    places = [(run, at) for run in participants.runs for at in range(run.start, run.stop)]
    drawn, rng = list[Unit](), random.Random(f"judges:{lp}")
    rng.shuffle(places)
    for run, at in places:
        begin, inside = max(run.start, at - BEFORE), slice(max(0, at - run.start - BEFORE), at - run.start + 1)
        judged = [row for row in range(len(participants.systems)) if not np.isnan(gold[row, begin : at + 1]).any()]
        chosen = rng.sample(judged, min(SYSTEMS, len(judged)))
        texts = [outputs[participants.systems[row]][run.doc][inside] for row in chosen]
        if len(set(texts)) == SYSTEMS and len(drawn) < UNITS:
            src = (docs[run.doc].src or ())[inside]
            ref = next(iter(docs[run.doc].refs.values()))[at - run.start]
            candidates = tuple(Candidate(text[-1], text[:-1]) for text in texts)
            item = Item(f"{lp}:{at}", src[-1], src[:-1], candidates, ref=ref)
            shown = gold[chosen, begin : at + 1].mean(axis=1)
            drawn.append(Unit(item, gold[chosen, at].tolist(), shown.tolist()))
    return drawn


def work(address: str, minutes: float) -> None:
    """Judge what is not judged yet, part by part."""
    done = {(row["lp"], row["part"], row["judge"], row["view"]) for row in read()}
    begin, drawn = time.monotonic(), {lp: units(lp) for lp in SETS}
    for part, judge, lp, view in product(range(UNITS // PART), METRICS, SETS, VIEWS):
        some = drawn[lp][part * PART : (part + 1) * PART]
        if not some or (lp, part, judge, view) in done or (judge == "chrf" and view != "sentence"):
            continue
        if time.monotonic() - begin > 60 * minutes:
            return
        row: dict[str, Any] = {"lp": lp, "part": part, "judge": judge, "view": view}
        row["units"] = [unit.item.id for unit in some]
        row["gold"] = [unit.shown if view == "whole" else unit.segment for unit in some]
        items = [bare(unit.item) if judge == "chrf" else unit.item for unit in some]
        row |= ask(ContrastSet(lp, (lp[:2], lp[3:]), tuple(items)), f"{view}:{METRICS[judge]}", address)
        with JUDGED.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(time.strftime("%H:%M:%S"), *row.values(), flush=True)


def bare(item: Item) -> Item:
    """Return an item without context: a set of decisions has references of single segments only."""
    return replace(item, src_context=(), candidates=tuple(Candidate(each.text) for each in item.candidates))


def ask(items: ContrastSet, spec: str, address: str) -> dict[str, Any]:
    """Return the scores of each unit's outputs (None: no readable answer), and the cost of the calls."""
    calls, begin = Calls(f"{address}/v1", parallel=TOGETHER, timeout=3600), time.monotonic()
    decided = decide(items, spec, Options(cache=False, calls=calls))
    counts = {name: int(value) for name, value in calls.counts.items() if "tokens" in name or "calls" in name}
    scores = [[None if np.isnan(score) else round(float(score), 2) for score in unit] for unit in decided.scores]
    return {"scores": scores, **counts, "wall": round(time.monotonic() - begin, 1)}


def read() -> list[dict[str, Any]]:
    """Read the lines that were written."""
    return [json.loads(line) for line in JUDGED.read_text("utf-8").splitlines()] if JUDGED.exists() else []


def agreement(gold: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Correlation over outputs, and agreement on the better output of a segment: (units, 2) of people and of a judge.

    Ties of the judge count half, which is chance.
    """
    known = ~np.isnan(scores)
    lead, preferred = gold[:, 0] - gold[:, 1], scores[:, 0] - scores[:, 1]
    decided = known.all(axis=1) & (lead != 0)
    varied = known.sum() > 2 and np.ptp(scores[known]) > 0 and np.ptp(gold[known]) > 0
    return {
        "pearson": float(np.corrcoef(gold[known], scores[known])[0, 1]) if varied else float("nan"),
        "better": float(((np.sign(lead * preferred) + 1) / 2)[decided].mean()) if decided.any() else float("nan"),
    }


def table() -> list[str]:
    """Return the results as Markdown, with 95 % percentile intervals over units."""
    parts = read()
    lines = [
        "| pair | judge | view | outputs | unreadable | r with people | better output, % | tied, % |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    rng = np.random.default_rng(4)
    for cell in product(SETS, METRICS, VIEWS):
        rows = [row for row in parts if (row["lp"], row["judge"], row["view"]) == cell]
        if not rows:
            continue
        gold = np.array([unit for row in rows for unit in row["gold"]])
        scores = np.array([unit for row in rows for unit in row["scores"]], dtype=float)
        point = agreement(gold, scores)
        drawn = [agreement(gold[pick], scores[pick]) for pick in rng.integers(0, len(gold), (DRAWS, len(gold)))]
        shown = [*cell, str(scores.size), str(int(np.isnan(scores).sum()))]
        for name, factor, form in (("pearson", 1, ".2f"), ("better", 100, ".0f")):
            values = [factor * sample[name] for sample in drawn if not np.isnan(sample[name])]
            low, high = np.percentile(values, [2.5, 97.5]) if values else (float("nan"), float("nan"))
            shown.append(f"{factor * point[name]:{form}} [{low:{form}}, {high:{form}}]".replace("-", "−"))
        both = ~np.isnan(scores).any(axis=1)
        shown.append(f"{100 * float((scores[both, 0] == scores[both, 1]).mean()):.0f}")
        lines.append(f"| {' | '.join(shown)} |".replace("nan [nan, nan]", "constant"))
    names = ("judge_calls", "judge_tokens_in", "judge_tokens_out", "wall")
    calls, asked, answered, wall = (sum(row.get(name, 0) for row in parts) for name in names)
    return [*lines, "", f"{calls:,} calls, {asked:,} tokens in, {answered:,} out, {wall / 60:.0f} minutes"]


@contextmanager
def server(endpoint: str) -> Iterator[str]:
    """The address of a server: the one named, or one that runs as long as the context."""
    if endpoint:
        yield endpoint
    else:
        with running(slots=TOGETHER, model=QWEN) as address:
            yield address


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--endpoint", default="", help="a server of the model, such as http://127.0.0.1:8080")
    parser.add_argument("--table", action="store_true", help="print what was reached")
    arguments = parser.parse_args()
    if not arguments.table:
        with server(arguments.endpoint) as url:
            work(url, arguments.minutes)
    print("\n".join(table()))
