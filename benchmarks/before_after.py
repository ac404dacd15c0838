"""Commands of this version beside those of an earlier one: processor seconds of whole processes.

python benchmarks/before_after.py BEFORE [--only NAME …] [--rounds N] [--write]

BEFORE is a checkout of the earlier version, e.g. `git worktree add ../before 4c751a1` (0.1.0). Both run in this
environment, in turns, each with caches of its own that are empty at first and with compiled modules, as an installed
package has them; what counts is user and system time of the process and its children (wait4), the least of the rounds.
``--write`` puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import sacrebleu_peer
from machine import processor

HERE = Path(__file__).resolve().parents[1]
PAGE = HERE / "docs" / "benchmarks.md"
BEGIN, END = "<!-- benchmarks/before_after.py begins -->", "<!-- benchmarks/before_after.py ends -->"
TABLE = "import sys; sys.path.insert(0, 'benchmarks'); import meta_peer; meta_peer.whole_table('wmt24')"


def texts(folder: Path, systems: int, segments: int) -> list[str]:
    """Files of WMT21 zh-en in documents of ten segments, as options of `score`."""
    root = sacrebleu_peer.DATA / "evalsets" / "wmt21.news"
    outputs = sorted((root / "system-outputs" / "zh-en").glob("*.txt"))[:systems]
    if len(outputs) < systems:
        sys.exit(f"{len(outputs)} of {systems} outputs are at {root} (set WHOLETEXT_DATA)")
    sides = {"src": root / "sources" / "zh-en.txt", "ref": root / "references" / "zh-en.refA.txt",
             **{f"{path.stem}.sys": path for path in outputs}}  # fmt: skip
    for name, path in sides.items():
        (folder / name).write_text("\n".join([*path.read_text("utf-8").split("\n")[:segments], ""]), "utf-8")
    (folder / "docs").write_text("".join(f"d{i // 10}\n" for i in range(segments)), "utf-8")
    given = ["-s", f"{folder}/src", "-r", f"{folder}/ref", "-d", f"{folder}/docs", "-l", "zh-en"]
    return [*given, "-t", *(f"{folder}/{path.stem}.sys" for path in outputs)]


def score(*specs: str, systems: int = 13, segments: int = 1000) -> Callable[[Path], list[list[str]]]:
    """The command that is timed, last; those before it prepare."""
    return lambda folder: [["-m", "wholetext", "score", *texts(folder, systems, segments),
                            *(part for spec in specs for part in ("-m", spec)), "--out", f"{folder}/run"]]


def after(first: Callable[[Path], list[list[str]]], *then: str) -> Callable[[Path], list[list[str]]]:
    def commands(folder: Path) -> list[list[str]]:
        return [*first(folder), ["-m", "wholetext", *(word.replace("RUN", f"{folder}/run") for word in then)]]

    return commands


def features(folder: Path) -> list[list[str]]:
    return [["-m", "wholetext", "explain", "--features", *texts(folder, 3, 400)]]


COMMANDS: dict[str, tuple[str, Callable[[Path], list[list[str]]]]] = {
    "help": ("`wholetext --help`", lambda folder: [["-m", "wholetext", "--help"]]),
    "score": ("`score -m chrf -m bleu`, 13 systems × 1,000 segments, flags and intervals", score("chrf", "bleu")),
    "report": ("`report` of that", after(score("chrf", "bleu"), "report", "RUN", "-o", "RUN.html")),
    "ter": ("`score -m ter`, 3 systems × 200 segments", score("ter", systems=3, segments=200)),
    "compare": ("`compare --test bootstrap` of 25 systems × 1,000 segments, chrF",
                after(score("chrf", systems=25), "compare", "RUN", "--test", "bootstrap")),
    "spa": ("the six tasks of WMT24 (soft pairwise accuracy), 20 metrics, all pairs tested",
            lambda folder: [["-c", TABLE]]),
    "features": ("`explain --features`, 3 systems × 400 segments", features),
    "cold": ("`score -m bertscore@minilm`, one system × 10 segments: mostly the start",
             score("bertscore@minilm", systems=1, segments=10)),
}


def seconds(tree: Path, make: Callable[[Path], list[list[str]]]) -> float | None:
    """Processor seconds of the last command; None where it fails, as those that the earlier version does not have."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {"PYTHONPATH": str(tree / "src"), "WHOLETEXT_CACHE": f"{name}/cache.sqlite", "OMP_NUM_THREADS": "1"}
        for argv in make(folder):
            used = run([sys.executable, *argv], tree, {**os.environ, **paths})
    return used


def run(argv: Sequence[str], tree: Path, env: dict[str, str]) -> float | None:
    child = subprocess.Popen(argv, cwd=tree, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    return None if status else used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = parser.parse_args()
    rows, trees = [], (given.before.resolve(), HERE)
    for tree in trees:
        compileall.compile_dir(tree / "src", quiet=1)
    for name in given.only:
        label, make = COMMANDS[name]
        least: list[float | None] = [None, None]
        for _ in range(given.rounds):
            for side, tree in enumerate(trees):
                now, best = seconds(tree, make), least[side]
                least[side] = now if best is None or (now is not None and now < best) else best
        shown = ["fails" if one is None else f"{one:.2f}" for one in least]
        ratio = f"{least[0] / least[1]:.1f} ×" if least[0] and least[1] else ""
        rows.append(f"| {label} | {shown[0]} | {shown[1]} | {ratio} |")
        print(rows[-1], flush=True)
    if given.write:
        head = [f"Written by `python benchmarks/before_after.py BEFORE --write` on {date.today()} ({processor()}):",
                f"processor seconds of the whole process, the least of {given.rounds} runs in turns, modules",
                f"compiled; before is 0.1.0 (4c751a1). Load of the machine: {os.getloadavg()[1]:.0f}.", "",
                "| work | 0.1.0 s | now s | ratio |", "|---|---|---|---|"]
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text("\n".join([before + BEGIN, *head, *rows, END]) + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
