"""MBR of 64 candidates by chrF beside mbrs, on outputs of WMT21 de-en; ratios of processor seconds, equal choices.

python benchmarks/mbr.py --peer PYTHON [--segments N]

PYTHON is an interpreter with mbrs installed (0.1.8 needs transformers 4). mbrs scores with fastchrf, its implementation
in Rust; by default it uses sacrebleu in several processes, which takes far longer. It has no utility of
sentence vectors: for `sbert@minilm` (without --peer it is the only one) the peer is `score` of every pair, which
encodes each text once too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
CANDIDATES = 64
PEER = """
import json, sys, time
from mbrs.decoders import DecoderMBR
from mbrs.metrics import MetricChrF
rows = [json.loads(line)["candidates"] for line in open(sys.argv[1])]
decoder = DecoderMBR(DecoderMBR.Config(), MetricChrF(MetricChrF.Config(fastchrf=True)))
decoder.decode(rows[0], rows[0], nbest=1)
wall, processor = time.perf_counter(), time.process_time()
scores = [decoder.metric.expected_scores(row, row).tolist() for row in rows]
print(json.dumps([time.perf_counter() - wall, time.process_time() - processor, scores]))
"""


def candidates(segments: int) -> list[dict[str, list[str]]]:
    """Outputs of all systems, and copies with words left out or exchanged, until there are 64."""
    root = DATA / "evalsets" / "wmt21.news"
    files = sorted((root / "system-outputs" / "de-en").glob("*.txt"))
    if not files:
        sys.exit(f"there are no outputs at {root} (set WHOLETEXT_DATA)")
    outputs = [path.read_text("utf-8").splitlines() for path in files]
    chance = random.Random(1)
    rows = []
    for at in range(segments):
        texts = [output[at] for output in outputs]
        while len(texts) < CANDIDATES:
            words = chance.choice(texts[: len(files)]).split()
            if words:
                words.pop(chance.randrange(len(words)))
            chance.random() < 0.5 and len(words) > 1 and words.insert(0, words.pop())  # type: ignore[func-returns-value]
            texts.append(" ".join(words))
        rows.append({"candidates": texts})
    return rows


def vectors(segments: int) -> None:
    """Compare MBR by sentence vectors with the score of every pair."""
    import numpy as np

    import wholetext as wt
    from wholetext.pick import pick
    from wholetext.pick.utility import _scored

    options = wt.Options(cache=False)
    rows = [row["candidates"] for row in candidates(segments)]
    loaded = wt.from_texts({str(n): list(texts) for n, texts in enumerate(zip(*rows))}, langs="de-en")
    pick(loaded, "sbert@minilm", mbr=True, options=options)  # loads the model
    begin = time.process_time()
    picks = pick(loaded, "sbert@minilm", mbr=True, options=options)
    own, begin = time.process_time() - begin, time.process_time()
    pairs = _scored(loaded, "sbert@minilm", False, options)
    peer = time.process_time() - begin
    agreeing = int((pairs.argmax(axis=1) == picks.choices).sum())
    print(f"{segments} segments × {CANDIDATES} candidates, sbert@minilm")
    print(f"every pair {peer:.2f} CPU s, wholetext pick {own:.2f} CPU s: ratio {peer / own:.1f}")
    print(f"largest difference {np.abs(pairs - picks.values).max():.1e}; {agreeing} of {segments} choices equal")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer")
    parser.add_argument("--segments", type=int, default=50)
    arguments = parser.parse_args()
    from wholetext.pick import pick, read_candidates
    from wholetext.scoring.evaluate import Options

    vectors(min(arguments.segments, 4))
    if not arguments.peer:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidates.jsonl"
        path.write_text("\n".join(map(json.dumps, candidates(arguments.segments))), "utf-8")
        peer = subprocess.run(
            [arguments.peer, "-c", PEER, str(path)], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": ""},
        )  # fmt: skip
        wall, processor, scores = json.loads(peer.stdout)
        loaded = read_candidates(path, "de-en")
        pick(read_candidates(path, "de-en"), "chrf", mbr=True, options=Options(cache=False))
        begin, began = time.perf_counter(), time.process_time()
        picks = pick(loaded, "chrf", mbr=True, options=Options(cache=False))
        own_wall, own = time.perf_counter() - begin, time.process_time() - began
    largest = max(abs(a - b) for x, y in zip(picks.values.tolist(), scores) for a, b in zip(x, y))
    best = [max(row) for row in scores]
    agreeing = sum(abs(row[choice] - top) < 1e-3 for row, choice, top in zip(scores, picks.choices, best))
    print(f"{arguments.segments} segments × {CANDIDATES} candidates, chrF")
    print(f"mbrs {processor:.2f} CPU s ({wall:.2f} s), wholetext {own:.2f} CPU s ({own_wall:.2f} s)")
    print(f"ratio {processor / own:.1f} by CPU seconds, {wall / own_wall:.1f} by the clock")
    print(f"largest difference of utilities {largest:.1e}; {agreeing} of {len(best)} choices as good as mbrs's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
