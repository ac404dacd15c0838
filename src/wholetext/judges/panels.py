"""Figures of `meta judges` as panels of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wholetext.errors import count
from wholetext.reporting.panels import Bar, Bars, Curves, Line, Panel, Study, Table

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
        if figure["setting"].removeprefix("window ").isdigit()
    }
    sizes = sorted({size for _, size in points})
    lines = []
    for judge in dict.fromkeys(judge for judge, _ in points):
        row = [points.get((judge, size), {}) for size in sizes]
        value, low, high = (
            tuple(figure.get(key) for figure in row) for key in ("value", "low", "high")
        )
        lines.append(Line(judge, value, low, high))
    return [
        Curves(
            title,
            tuple(sizes),
            tuple(lines),
            ("segments in a window", "errors per 1,000 characters"),
            note,
        )
    ]


def _dots(figures: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """One chart for each measure of a check."""
    title, note = TITLES.get(figures[0]["check"], (figures[0]["check"], ""))
    panels: list[Panel] = []
    for measure in dict.fromkeys(figure["measure"] for figure in figures):
        bars = tuple(
            Bar(
                figure["judge"],
                figure["setting"] or measure,
                figure["value"],
                figure["low"],
                figure["high"],
                figure["count"],
            )
            for figure in figures
            if figure["measure"] == measure
        )
        panels.append(Bars(f"{title}: {measure}", bars, measure, note=note))
    return panels
