"""Writes the README's table again: the bundled German–English documents under the demo's metrics."""

from __future__ import annotations

import sys
from pathlib import Path

from wholetext.cli.leaderboard import MARKS
from wholetext.cli.terminal import number
from wholetext.demo import load
from wholetext.io import Loaded
from wholetext.scoring.comparison import compare
from wholetext.scoring.evaluate import Options, demo_metrics, score

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- demo table: written by tools/readme_table.py -->\n", "<!-- end of demo table -->\n"


def table() -> str:
    corpus, outputs = load("de-en")
    results = score(Loaded(corpus, outputs), demo_metrics(), options=Options(flags=False))
    comparisons = list(compare(results).values())
    lines = ["| system | " + " | ".join(f"{c.metric} {'↑' if c.higher_is_better else '↓'}" for c in comparisons) + " |"]
    lines.append("|---" * (len(comparisons) + 1) + "|")
    for system in (standing.system for standing in comparisons[0].standings):
        cells = []
        for comparison in comparisons:
            standing, places = comparison[system], comparison.decimals
            value = number(standing.score, places)
            value = f"**{value}**" if standing.rank == 1 else value
            half = number(standing.interval.half_width, places)
            cells.append(f"{value} ±{half} {MARKS[standing.verdict].strip()} #{standing.rank}".replace("  ", " "))
        lines.append(f"| {system} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    text = README.read_text("utf-8")
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = table()
    if "--check" in sys.argv:
        return 0 if old == new else 1
    README.write_text(head + BEGIN + new + END + tail, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
