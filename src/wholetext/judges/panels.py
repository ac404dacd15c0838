"""Figures of `meta judges` as panels of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wholetext.errors import count
from wholetext.judges.check import ERROR_RATE
from wholetext.reporting.panels import Bar, Bars, Curves, Line, Number, Panel, Study, Table

TITLES = {
    "position": (
        "Position bias",
        "Both orders of each pair of translations were asked about. A flip is a pair whose "
        "verdict depends on the order. Without position bias the first is chosen as often as the second.",
    ),
    "length": (
        "Length bias",
        "The same texts in windows of several sizes: a judge that reads long texts as carefully "
        "as short ones finds as many errors in each thousand characters.",
    ),
    "consistency": (
        "Consistency",
        "The same question asked several times at a temperature above 0.",
    ),
    "wording": ("Wording of the prompt", "The same task in other words."),
    "agreement": ("Agreement between judges", "Two judges on the same rows."),
}


def judge_check(check_json: Mapping[str, Any]) -> Study:
    """Length bias as curves, the rest as dots with intervals, and a table of everything."""
    measures = check_json["measures"]
    facts = (
        ("corpus", f"{check_json['corpus']} {'-'.join(check_json['langs'])}"),
        ("systems", ", ".join(check_json["systems"])),
        ("documents", str(check_json["documents"])),
        ("judges", ", ".join(check_json["judges"])),
    )
    panels: list[Panel] = []
    for check in dict.fromkeys(figure["check"] for figure in measures):
        figures = [figure for figure in measures if figure["check"] == check]
        panels += _length(figures) if check == "length" else _dots(figures)
    rows = tuple(
        (
            f"{figure['judge']} · {figure['setting']}" if figure["setting"] else figure["judge"],
            (
                figure["measure"],
                figure["value"],
                figure["low"],
                figure["high"],
                figure["count"] or None,
            ),
        )
        for figure in measures
    )
    panels.append(
        Table(
            "All figures",
            ("measure", "value", "low", "high", "n"),
            rows,
            of="judge and setting",
            note=f"95 % intervals over {count(check_json['settings']['draws'], 'resample')} of documents.",
        )
    )
    return Study(
        "judge-check",
        "Judge check",
        tuple(panels),
        facts,
        tuple(map(str, check_json.get("notes", ()))),
        tuple(range(min(3, len(panels) - 1))),  # the last one is a table
    )


def _length(figures: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Error rates over window sizes, a curve for each judge."""
    title, note = TITLES["length"]
    points = {
        (figure["judge"], int(figure["setting"].removeprefix("window "))): figure
        for figure in figures
        if figure["measure"] == ERROR_RATE
    }
    sizes = sorted({size for _, size in points})

    def column(judge: str, key: str) -> tuple[Number, ...]:
        return tuple(points.get((judge, size), {}).get(key) for size in sizes)

    lines = [
        Line(judge, column(judge, "value"), column(judge, "low"), column(judge, "high"))
        for judge in dict.fromkeys(judge for judge, _ in points)
    ]
    axes = ("segments in a window", ERROR_RATE)
    return [Curves(title, tuple(sizes), tuple(lines), axes, note)]


def _dots(figures: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """One chart for each measure of a check."""
    title, note = TITLES[figures[0]["check"]]
    bars: dict[str, list[Bar]] = {}
    for figure in figures:
        name = figure["setting"] or figure["measure"]
        bounds = (figure[key] for key in ("value", "low", "high", "count"))
        bars.setdefault(figure["measure"], []).append(Bar(figure["judge"], name, *bounds))
    return [Bars(f"{title}: {name}", tuple(rows), name, note=note) for name, rows in bars.items()]
