"""Numbers and curves of studies/learned.md, put between the marks that the page has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from paragraphs import replace_part

PAGE = Path(__file__).resolve().parent.parent / "studies" / "learned.md"
TRAINED, PEERS = ("SENT-BASE", "PARA-UNIF", "PARA-STRAT"), ("bleu", "chrf", "bertscore")
BOX = "wt-mini-1"
STATISTICS = {"accuracy": "system accuracy", "acc_eq": "acc_eq*", "pearson": "Pearson"}


def write_page(found: Mapping[str, Any]) -> None:
    text = PAGE.read_text("utf-8")
    sets = [name for name in found if "points" in found[name]]
    text = replace_part(text, "segments", segments({name: found[name]["segments"] for name in sets}))
    for name in sets:
        lines = []
        for statistic, title in STATISTICS.items():
            lines += ["", f"**{title}**", "", *lengths(found[name]["points"], statistic)]
        text = replace_part(text, name, [*lines, ""])
    if "preferences" in found:
        text = replace_part(text, "preferences", preferences(found["preferences"]))
    PAGE.write_text(text, "utf-8")
    draw({name: found[name]["points"] for name in sets}, PAGE.parents[1] / "docs" / "studies" / "learned.svg")


def seeds_of(values: Mapping[str, Any], name: str) -> list[Any]:
    """The values of a metric: one, or one for each seed."""
    return [value for key, value in values.items() if of(key, name)]


def of(key: str, name: str) -> bool:
    """Whether a trained metric (name and seed), or another one, goes by this name."""
    return key == name or key.rpartition("-")[0] == name


def spread(values: Sequence[float]) -> str:
    many = len(values) > 1
    return f"{np.mean(values):.3f}" + (f" ±{np.std(values, ddof=1):.3f}" if many else "")


def segments(found: Mapping[str, Any]) -> list[str]:
    """One row per set and metric: single segments, and whether the metric in the box is better."""
    lines = ["", "| set | metric | acc_eq* | p | Pearson | p | systems in order |",
             "|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, told in found.items():
        for metric in (BOX, *PEERS, *TRAINED):
            cells = []
            for statistic in ("acc_eq", "pearson"):
                p = told[statistic]["p"].get(metric)
                chance = "" if p is None else f"{p:.3f}" if p >= 0.001 else "< 0.001"
                cells += [spread(seeds_of(told[statistic], metric)), chance]
            right = seeds_of(told["systems_right"], metric)
            cells.append(f"{np.mean([pair[0] for pair in right]):.0f} of {right[0][1]}")
            size = f"{told['judged']} judged outputs of {told['systems']} systems"
            lines.append(f"| {f'{name}, {size}' if metric == BOX else ''} | {metric} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def lengths(points: Sequence[Mapping[str, Any]], statistic: str) -> list[str]:
    """One row per metric, one column per length: scored whole; in brackets, sentences averaged."""
    shown = sorted({point["k"] for point in points})  # every length that was measured
    lines = ["| metric | " + " | ".join(f"k = {k}" for k in shown) + " |", "|---|" + "---:|" * len(shown)]
    for metric in (*PEERS, BOX, *TRAINED):
        cells = []
        for k in shown:
            two = [[p[statistic] for p in points if p["k"] == k and p["mode"] == mode
                    and of(p["metric"], metric)]
                   for mode in ("direct", "average")]  # fmt: skip
            cells.append(f"{np.mean(two[0]):.3f} ({np.mean(two[1]):.3f})")
        lines.append(f"| {metric} | " + " | ".join(cells) + " |")
    return lines


def preferences(found: Mapping[str, Any]) -> list[str]:
    lines = ["", "| metric | preferred as translators did |", "|---|---:|"]
    for metric in (*PEERS, BOX, *TRAINED):
        told = seeds_of(found, metric)
        right = ", ".join(str(one["right"]) for one in told)
        lines.append(f"| {metric} | {right} of {told[0]['pairs']} |")
    return [*lines, ""]


def draw(found: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """The curves as one SVG: mean over seeds, scored whole."""
    import altair as alt
    import vl_convert as vlc

    values = []
    for name, points in found.items():
        for statistic, title in STATISTICS.items():
            for metric in (*PEERS, *TRAINED):
                for k in sorted({p["k"] for p in points}):
                    mine = [p[statistic] for p in points if p["k"] == k and p["mode"] == "direct"
                            and of(p["metric"], metric)]  # fmt: skip
                    values.append({"set": name, "statistic": title, "metric": metric, "k": k,
                                   "value": float(np.mean(mine))})  # fmt: skip
    chart = (
        alt.Chart(alt.Data(values=values)).mark_line(point=alt.OverlayMarkDef(size=14))
        .encode(x=alt.X("k:O", title="segments per paragraph"),
                y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
                color=alt.Color("metric:N", title=None, sort=[*PEERS, *TRAINED]))
        .properties(width=190, height=120)
        .facet(row=alt.Row("set:N", title=None), column=alt.Column("statistic:N", title=None))
        .resolve_scale(y="independent")
    )  # fmt: skip
    path.write_text(vlc.vegalite_to_svg(chart.to_json()), "utf-8")
