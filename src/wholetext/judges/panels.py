"""Figures of `judge-check` as panels of the report."""

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


def judge_check(found: Mapping[str, Any]) -> Study:
    """Length bias as curves, the rest as dots with intervals, and a table of everything."""
    measures = found["measures"]
    facts = (
        ("corpus", f"{found['corpus']} {'-'.join(found['langs'])}"),
        ("systems", ", ".join(found["systems"])),
        ("documents", str(found["documents"])),
        ("judges", ", ".join(found["judges"])),
    )
    panels: list[Panel] = []
    for check in dict.fromkeys(one["check"] for one in measures):
        mine = [one for one in measures if one["check"] == check]
        panels += _length(mine) if check == "length" else _dots(mine)
    rows = tuple(
        (
            f"{one['judge']} · {one['setting']}" if one["setting"] else one["judge"],
            (one["measure"], one["value"], one["low"], one["high"], one["count"] or None),
        )
        for one in measures
    )
    panels.append(
        Table(
            "All figures",
            ("measure", "value", "low", "high", "n"),
            rows,
            of="judge and setting",
            note=f"95 % intervals over {count(found['settings']['draws'], 'resample')} of documents.",
        )
    )
    return Study(
        "judge-check", "Judge check", tuple(panels), facts, tuple(map(str, found.get("notes", ())))
    )


def _length(mine: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """Error rates over window sizes, a curve for each judge."""
    title, note = TITLES["length"]
    points = {
        (one["judge"], int(one["setting"].removeprefix("window "))): one
        for one in mine
        if one["setting"].removeprefix("window ").isdigit()
    }
    sizes = sorted({size for _, size in points})
    lines = []
    for judge in dict.fromkeys(judge for judge, _ in points):
        found = [points.get((judge, size), {}) for size in sizes]
        value, low, high = (
            tuple(one.get(key) for one in found) for key in ("value", "low", "high")
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


def _dots(mine: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """One chart for each measure of a check."""
    title, note = TITLES.get(mine[0]["check"], (mine[0]["check"], ""))
    panels: list[Panel] = []
    for measure in dict.fromkeys(one["measure"] for one in mine):
        bars = tuple(
            Bar(
                one["judge"],
                one["setting"] or measure,
                one["value"],
                one["low"],
                one["high"],
                one["count"],
            )
            for one in mine
            if one["measure"] == measure
        )
        panels.append(Bars(f"{title}: {measure}", bars, measure, note=note))
    return panels
