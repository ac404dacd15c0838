"""Time and memory of `score` from 10,000 rows on: JSONL in, chrF, BLEU and their comparison, run folder out.

python benchmarks/scaling.py [ROWS …] [--segments N …] [--log FILE] [--write]

Flags are left out. Processor seconds (user and system) and peak memory are those of
the whole process, by wait4. The largest take most of an hour: with ``--log`` each measurement is appended to a file,
and one that is there already is not repeated. ``--write`` puts the table, with all of the file, into
docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from machine import processor

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
SYSTEMS, METRICS = ("a", "b", "c"), ("chrf", "bleu")
WORDS = ["the", "a", "of", "to", "and", "in", "house", "river", "night", "street", "music", "winter", "letter", "table"]
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- benchmarks/scaling.py begins -->", "<!-- benchmarks/scaling.py ends -->"


@dataclass
class Run:
    rows: int  # of all systems under one metric
    segments: int  # of a document
    documents: int
    cpu: float
    peak: float  # GB
    load: float  # of the machine at the end

    @property
    def each(self) -> float:
        return 1e6 * self.cpu / self.rows


def write(path: Path, documents: int, segments: int) -> None:
    """Documents of distinct segments of ten to eighteen words; each system has another wrong word."""
    with path.open("w", encoding="utf-8") as out:
        for doc in range(documents):
            lines = [_segment(doc * segments + j) for j in range(segments)]
            outputs = {name: [" ".join(_changed(line, n)) for line in lines] for n, name in enumerate(SYSTEMS)}
            ref = [" ".join(line) for line in lines]
            out.write(json.dumps({"doc": f"d{doc}", "src": ref, "refs": {"ref": ref}, "outputs": outputs}) + "\n")


def _segment(i: int) -> list[str]:
    return [*(WORDS[(i * 7 + j * j * 3 + i // 18 * j) % len(WORDS)] for j in range(10 + i % 9)), str(i)]


def _changed(words: list[str], system: int) -> list[str]:
    at = (len(words) * 5 + system * 3) % len(words)
    return [*words[:at], *(["other", "word"][: 1 + system % 2]), *words[at + 1 :]]


def measured(rows: int, segments: int, folder: Path) -> Run:
    documents = rows // len(SYSTEMS) // segments
    path = folder / "corpus.jsonl"
    write(path, documents, segments)
    argv = [sys.executable, "-m", "wholetext.cli.main", "score", str(path), *(f"-m{name}" for name in METRICS),
            "-l", "en-en", "--no-cache", "--no-flags", "--out", str(folder / "run"), "-f", "json"]
    with (folder / "table.json").open("w") as table:
        child = subprocess.Popen(argv, stdout=table, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"score of {rows:,} rows failed: {status}")
    shutil.rmtree(folder / "run")
    path.unlink()
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6
    return Run(documents * segments * len(SYSTEMS), segments, documents, cpu, peak, os.getloadavg()[0])


def table(runs: list[Run]) -> list[str]:
    machine = f"{processor()}, {os.cpu_count()} processors, one thread, Python {platform.python_version()}"
    lines = [f"Written by `python benchmarks/scaling.py` on {date.today()} ({machine}; load after each",
             f"{min(one.load for one in runs):.0f} to {max(one.load for one in runs):.0f}):",
             f"`score -m {' -m '.join(METRICS)} --no-cache --no-flags` with intervals and p-values,",
             f"source, reference and {len(SYSTEMS)} systems, segments of about 70 characters.",
             "A row is a segment of a system. Growth: a row's time over the least in smaller corpora.", "",
             "| segments a document | documents | rows | CPU s | µs a row | growth | peak memory |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    for run in runs:
        smaller = [one.each for one in runs if one.segments == run.segments and one.rows < run.rows]
        growth = f"{run.each / min(smaller):.2f} ×" if smaller else ""
        lines.append(f"| {run.segments} | {run.documents:,} | {run.rows:,} | {run.cpu:.1f} | {run.each:.0f} | "
                     f"{growth} | {run.peak:.2f} GB |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("rows", nargs="*", type=int, default=SIZES)
    parser.add_argument("--segments", nargs="+", type=int, default=[10, 1], help="of a document")
    parser.add_argument("--log", type=Path, help="file of measurements, to go on with")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = parser.parse_args()
    there = given.log.read_text("utf-8").splitlines() if given.log and given.log.is_file() else []
    runs = [Run(**json.loads(line)) for line in there]
    for segments in given.segments:
        for rows in given.rows:
            if any(one.segments == segments and one.documents == rows // len(SYSTEMS) // segments for one in runs):
                continue
            with tempfile.TemporaryDirectory() as name:
                runs.append(measured(rows, segments, Path(name)))
            print(table(runs)[-1], flush=True)
            if given.log:
                with given.log.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(asdict(runs[-1])) + "\n")
    runs.sort(key=lambda one: (-one.segments, one.rows))
    if given.write:
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text("\n".join([before + BEGIN, *table(runs), END]) + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
