"""Writes studies/llm/judges.jsonl: do three judges with a model of 1.5 billion parameters agree with people?

    WHOLETEXT_QWEN=FOLDER/*.gguf WHOLETEXT_DATA=../shared/data python studies/llm_judges.py [--minutes 60]

Needs `tests/judges/requirements.txt`; the server runs in a child process, on one thread. A unit is a segment of WMT21
(zh-en, MQM) or WMT22 (de-en, direct assessment) with the outputs of two systems, all drawn at random; 76 units of each
pair are 304 judged outputs. Under `context` and `whole` the judge reads up to three or seven segments before it. A line
is a unit under a judge and a view; units are finished one after another, and the study resumes after the last line.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

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
FOUND = ROOT / "studies" / "llm" / "judges.jsonl"
SETS = {"zh-en": ("wmt21.news.mqm", "mqm"), "de-en": ("wmt22.da", "wmt-z")}
JUDGES = ("judge-da", "judge-esa(max_tokens=200)", "judge-coherence(max_tokens=300)")
VIEWS = ("sentence", "context(prev=3)", "whole")
UNITS, SYSTEMS, BEFORE = 76, 2, 7


def units(lp: str) -> list[tuple[Item, list[float], list[float]]]:
    """Segments in a random order with two outputs each, their scores, and the means of the text that `whole` shows."""
    name, human = SETS[lp]
    evalset = EvalSet.open(DATA / "evalsets" / name, lp)
    where = read_participants(evalset, Selection(), human)
    loaded, gold = evalset.load(), where.gold("seg")
    docs = {doc.id: doc for doc in loaded.corpus.docs}
    outputs = {output.system: output.docs for output in loaded.outputs}
    places = [(run, at) for run in where.runs for at in range(run.start, run.stop)]
    found, rng = [], random.Random(f"judges:{lp}")
    rng.shuffle(places)
    for run, at in places:
        begin, inside = max(run.start, at - BEFORE), slice(max(0, at - run.start - BEFORE), at - run.start + 1)
        judged = [row for row in range(len(where.systems)) if not np.isnan(gold[row, begin : at + 1]).any()]
        chosen = rng.sample(judged, min(SYSTEMS, len(judged)))
        texts = [outputs[where.systems[row]][run.doc][inside] for row in chosen]
        if len(set(texts)) == SYSTEMS and len(found) < UNITS:
            src = (docs[run.doc].src or ())[inside]
            candidates = tuple(Candidate(text[-1], text[:-1]) for text in texts)
            found.append((
                Item(f"{lp}:{at}", src[-1], src[:-1], candidates), [float(gold[row, at]) for row in chosen],
                [float(gold[row, begin : at + 1].mean()) for row in chosen],
            ))  # fmt: skip
    return found


def work(address: str, minutes: float) -> None:
    lines = FOUND.read_text("utf-8").splitlines() if FOUND.exists() else []
    done = {(row["unit"], row["judge"], row["view"]) for row in map(json.loads, lines)}
    begin, every = time.monotonic(), {lp: units(lp) for lp in SETS}
    for place in range(UNITS):
        for lp, (item, gold, whole) in ((lp, found[place]) for lp, found in every.items() if place < len(found)):
            for judge in JUDGES:
                for view in VIEWS:
                    if (item.id, judge, view) in done:
                        continue
                    if time.monotonic() - begin > 60 * minutes:
                        return
                    one = ContrastSet(lp, (lp[:2], lp[3:]), (item,))
                    row: dict[str, Any] = {"unit": item.id, "judge": judge, "view": view}
                    row["gold"] = whole if view == "whole" else gold
                    row |= asked(one, f"{view}:{judge}@{QWEN.name}", address)
                    with FOUND.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(time.strftime("%H:%M:%S"), *row.values(), flush=True)


def asked(items: ContrastSet, spec: str, address: str) -> dict[str, Any]:
    calls, begin = Calls(f"{address}/v1", parallel=1, timeout=3600), time.monotonic()
    decided = decide(items, spec, Options(cache=False, calls=calls))
    counts = {name: int(value) for name, value in calls.counts.items() if "tokens" in name or "calls" in name}
    scores = [None if np.isnan(score) else round(float(score), 2) for score in decided.scores[0]]
    return {"scores": scores, **counts, "wall": round(time.monotonic() - begin, 1)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1e6)
    arguments = parser.parse_args()
    with running(model=QWEN) as url:
        work(url, arguments.minutes)
