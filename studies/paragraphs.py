"""Writes studies/paragraphs.md: sentence metrics on paragraphs of 1 to 10 segments, scored whole or averaged.

    WHOLETEXT_DATA=../shared/data python studies/paragraphs.py [news.zh-en] [news.en-de] [ted.zh-en] [ted.en-de] …

A part that ends in ``.each`` has windows of one rater; the others count a segment as rated whoever rated it, which
gives the windows of the paper. ``--tables`` measures nothing and writes tables and figure again from what was measured.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import find_ratings
from wholetext.meta.paragraphs import Point, Windows, curves
from wholetext.meta.participants import Selection, read_participants

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "studies" / "paragraphs.md"
POINTS = PAGE.with_suffix(".jsonl")
LENGTHS = range(1, 11)
SETS = {"news": "wmt21.news.mqm", "ted": "wmt21.tedtalks"}
# MiniLM is English
METRICS = {"zh-en": ("bleu", "chrf", "bertscore(align_scope=sentence)@minilm"), "en-de": ("bleu", "chrf")}


def measure(part: str, metrics: Sequence[str]) -> list[Point]:
    """Every metric at every length on one set and language pair."""
    name, lp = part.split(".")[:2]
    folder = DATA / "evalsets" / SETS[name]
    source = find_ratings(EvalSet.open(folder, lp), "mqm")
    windows = [Windows(k, "each" if part.endswith(".each") else "mean", source.total) for k in LENGTHS]
    return curves(read_participants(EvalSet.open(folder, lp), Selection()), source.ratings, metrics, windows)


def table(points: Sequence[Point], metric: str) -> list[str]:
    lines = ["| k | paragraphs | items | system accuracy | | acc_eq* | | chance | Pearson | | direct ~ average |",
             "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
             "| | | | direct | average | direct | average | | direct | average | r |"]
    for k in LENGTHS:
        one, two = (p for mode in ("direct", "average") for p in points if (p.k, p.metric, p.mode) == (k, metric, mode))
        cells = [f"{one.accuracy:.3f}", f"{two.accuracy:.3f}", f"{one.acc_eq:.3f}", f"{two.acc_eq:.3f}",
                 f"{one.chance['acc_eq']:.3f}", f"{one.pearson:.3f}", f"{two.pearson:.3f}", f"{one.direct_average:.3f}"]
        lines.append(f"| {k} | {one.paragraphs} | {one.items} | " + " | ".join(cells) + " |")
    return lines


def replace_part(text: str, part: str, lines: Sequence[str]) -> str:
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    before, _, rest = text.partition(begin)
    return "\n".join([before + begin, *lines, end]) + rest.partition(end)[2]


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """The curves as one SVG."""
    import altair as alt
    import vl_convert as vlc

    titles = {"accuracy": "system accuracy", "acc_eq": "acc_eq*", "pearson": "Pearson"}
    values = [{"k": row["k"], "metric": row["metric"], "scored": row["mode"], "set": row["part"], "value": row[key],
               "statistic": title} for row in rows for key, title in titles.items()]
    chart = (
        alt.Chart(alt.Data(values=values)).mark_line(point=alt.OverlayMarkDef(size=14))
        .encode(x=alt.X("k:O", title="segments per paragraph"),
                y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
                color=alt.Color("metric:N", title=None),
                strokeDash=alt.StrokeDash("scored:N", title=None, legend=alt.Legend(symbolType="stroke")))
        .properties(width=190, height=120)
        .facet(row=alt.Row("set:N", title=None), column=alt.Column("statistic:N", title=None))
        .resolve_scale(y="independent")
    )
    path.write_text(vlc.vegalite_to_svg(chart.to_json()), "utf-8")


def main(parts: Sequence[str]) -> None:
    for part in parts or [*(f"{name}.{lp}" for name in SETS for lp in METRICS), "news.en-de.each"]:
        if part == "--tables":
            continue
        start = time.time()
        points = measure(part, METRICS[part.split(".")[1]])
        print(f"{part}: {time.time() - start:.0f} s", file=sys.stderr)
        rows = [row for row in measured() if row["part"] != part] + [{"part": part, **asdict(p)} for p in points]
        POINTS.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    rows, text = measured(), PAGE.read_text("utf-8")
    for part in dict.fromkeys(row["part"] for row in rows):
        points = [Point(**{key: value for key, value in row.items() if key != "part"})
                  for row in rows if row["part"] == part]
        lines = [line for metric in dict.fromkeys(point.metric for point in points)
                 for line in ("", f"**{metric}**", "", *table(points, metric))]
        text = replace_part(text, part, [*lines, ""])
    PAGE.write_text(text, "utf-8")
    draw(rows, ROOT / "docs" / "studies" / "paragraphs.svg")


def measured() -> list[dict[str, Any]]:
    """The points so far, each with the part it belongs to."""
    return [json.loads(line) for line in POINTS.read_text("utf-8").splitlines()] if POINTS.exists() else []


if __name__ == "__main__":
    main(sys.argv[1:])
