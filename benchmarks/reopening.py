"""Run folders of 10k to 10M rows: seconds and memory to open one and to show its stored comparison."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)  # rows of three systems, of chrF statistics
SYSTEMS, SEGMENTS = ("a", "b", "c"), 10  # segments of a document


def write(folder: Path, rows: int) -> None:
    """A run folder as `score -m chrf` writes it, of made-up texts and statistics."""
    from wholetext.metrics.surface import Chrf
    from wholetext.scoring.results import Results, write_run
    from wholetext.scoring.significance.compare import Significance
    from wholetext.types import Corpus, Document, Output, Rows, Scores, Signature

    def text(name: str, i: int) -> tuple[str, ...]:
        return tuple(f"{name} a segment of a document, {i} {j}" for j in range(SEGMENTS))

    rng, metric, documents = np.random.default_rng(0), Chrf(), range(rows // len(SYSTEMS) // SEGMENTS)
    corpus = Corpus("made up", ("de", "en"), tuple(
        Document(f"d{i}", text("src", i), {"ref": text("ref", i)}) for i in documents))
    doc = np.repeat(np.arange(len(corpus)), SEGMENTS)
    start = np.tile(np.arange(SEGMENTS), len(corpus))
    places = Rows(corpus.ids, corpus.sizes, doc, start, start + 1, np.ones(len(doc)))
    scores = {}
    for name in SYSTEMS:
        stats = np.repeat(rng.integers(10, 60, (len(doc), 6)), 3, axis=1).astype(float)
        stats[:, 2::3] = np.floor(stats[:, 2::3] * rng.random((len(doc), 6)))  # matches, at most all n-grams
        scores[name] = Scores("chrf", name, places, stats, metric.reduce, metric.reduce_rows, metric.outputs, True,
                              (0.0, 100.0), Signature({"metric": "chrf", "view": "sentence"}),
                              lost=np.zeros((len(doc), 2), dtype=np.int64))
    how = Significance(draws=20)  # its cost is not the matter here
    outputs = tuple(Output(name, {f"d{i}": text(name, i) for i in documents}) for name in SYSTEMS)
    compared = {"chrf": how.compare(scores)}
    write_run(Results(corpus, outputs, {"chrf": scores}, significance=how, comparisons=compared), folder)


def child(folder: str) -> None:
    from wholetext.scoring.comparison import compare
    from wholetext.scoring.evaluate import open_run

    began, busy = time.perf_counter(), time.process_time()
    results = open_run(folder)
    compare(results)
    opened, cpu = time.perf_counter() - began, time.process_time() - busy
    last = results.corpus.docs[-1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": opened, "cpu": cpu, "peak_gb": peak, "last": last.id}))


def main() -> None:
    print("run folders, chrF statistics of three systems: opened, with every check, and compared as stored")
    for size in SIZES if len(sys.argv) < 2 else map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "run"
            write(folder, size)
            disk = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            done = subprocess.run([sys.executable, __file__, "--open", str(folder)], check=True, capture_output=True,
                                  text=True)
            found = json.loads(done.stdout)
            print(f"  {size:>10,} rows  {found['seconds']:6.2f} s  {found['cpu']:6.2f} CPU s  "
                  f"{1e6 * found['cpu'] / size:6.2f} µs a row  peak {found['peak_gb']:.2f} GB  {disk:,.0f} MB on disk",
                  flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--open"]:
        child(sys.argv[2])
    else:
        main()
