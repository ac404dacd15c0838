"""Figures of a run: leaderboard, documents, distribution, two systems compared."""

from __future__ import annotations

import json
from typing import Any

from wholetext.reporting.analysis import RunAnalysis
from wholetext.reporting.drawing import BLUE, FAINT, INK, ORANGE, RAMP, SOFT, across, altair_module, title_of

COLUMNS = 4  # metrics side by side
LABELS = 40  # documents whose names are written below a heat-map


def pair_of(analysis: RunAnalysis) -> tuple[int, int]:
    """The two systems that figures compare: the best, and the baseline or the next best."""
    second = analysis.baseline if analysis.baseline not in (None, 0) else 1
    return 0, int(second or 1)


def leaderboard(analysis: RunAnalysis) -> Any:
    """Scores with 95 % intervals, one column per metric; the best cluster is filled."""
    alt = altair_module()
    columns = []
    for at, metric in enumerate(analysis.standings):
        rows = [
            {"system": name, "score": metric["score"][i], "low": metric["low"][i], "high": metric["high"][i],
             "best": metric["rank"][i] == 1}
            for i, name in enumerate(analysis.systems) if metric["score"][i] is not None
        ]
        names = alt.Axis(labels=at % COLUMNS == 0, labelLimit=220)
        y = alt.Y("system:N", sort=list(analysis.systems), title=None, axis=names)
        base = alt.Chart(alt.Data(values=rows)).encode(y=y)
        rule = base.mark_rule(color=SOFT, strokeWidth=1.5).encode(x=across("low", title_of(metric)), x2="high:Q")
        dots = base.mark_point(size=45, filled=True, opacity=1, stroke=BLUE, strokeWidth=1.5).encode(
            x=across("score", title_of(metric)), fill=alt.condition("datum.best", alt.value(BLUE), alt.value("white")))
        columns.append((rule + dots).properties(width=150, height=max(60, 22 * len(analysis.systems))))
    return alt.concat(*columns, columns=COLUMNS, spacing=14)


def documents(analysis: RunAnalysis, at: int) -> Any:
    """Heat-map: systems by documents."""
    alt = altair_module()
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    names = [doc.id for doc in analysis.results.corpus.docs]
    cells = [{"system": system, "document": str(d), "score": table[i][d]}
             for i, system in enumerate(analysis.systems) for d in range(len(names)) if table[i][d] is not None]
    few = len(names) <= LABELS
    label = "[" + ",".join(json.dumps(name) for name in names) + "][toNumber(datum.label)]" if few else "''"
    axis = alt.Axis(labelExpr=label, labelAngle=-45, labelLimit=120, ticks=few, domain=False)
    return alt.Chart(alt.Data(values=cells)).mark_rect().encode(
        x=alt.X("document:N", sort=[str(d) for d in range(len(names))], title=None if few else "documents", axis=axis),
        y=alt.Y("system:N", sort=list(analysis.systems), title=None, axis=alt.Axis(domain=False, ticks=False)),
        color=alt.Color("score:Q", title=title_of(metric), scale=alt.Scale(range=list(RAMP))),
    ).properties(width=max(160, min(900, 42 * len(names))), height=max(60, 22 * len(analysis.systems)))


def distribution(analysis: RunAnalysis, at: int) -> Any:
    """Document scores of each system: a box with every document as a dot."""
    alt = altair_module()
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    dots = [{"system": system, "score": value, "place": (d * 7) % 11}
            for i, system in enumerate(analysis.systems) for d, value in enumerate(table[i]) if value is not None]
    base = alt.Chart(alt.Data(values=dots)).encode(
        y=alt.Y("system:N", sort=list(analysis.systems), title=None), x=across("score", title_of(metric)))
    box = base.mark_boxplot(extent="min-max", color="#d5dbe1", size=14, median={"color": INK}, ticks=False)
    points = base.mark_circle(size=14, color=BLUE, opacity=0.6).encode(
        yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-2, 12])))
    return (box + points).properties(width=420, height=max(80, 30 * len(analysis.systems)))


def scatter(analysis: RunAnalysis, at: int) -> Any:
    """Two systems document by document; the diagonal is where they are even."""
    alt = altair_module()
    a, b = pair_of(analysis)
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    dots = [{"a": x, "b": y, "side": "above" if y > x else "below"}
            for x, y in zip(table[a], table[b]) if x is not None and y is not None]
    values = [value for dot in dots for value in (dot["a"], dot["b"])] or [0, 1]
    room = (max(values) - min(values)) * 0.05 or 0.5
    ends = [min(values) - room, max(values) + room]
    scale = alt.Scale(domain=ends, nice=False)
    even = alt.Chart(alt.Data(values=[{"v": end} for end in ends])).mark_line(color=SOFT, strokeDash=[3, 4]).encode(
        x=alt.X("v:Q", scale=scale), y=alt.Y("v:Q", scale=scale))
    points = alt.Chart(alt.Data(values=dots)).mark_circle(size=40, opacity=0.7).encode(
        x=alt.X("a:Q", scale=scale, title=f"{analysis.systems[a]}, {title_of(metric)}"),
        y=alt.Y("b:Q", scale=scale, title=f"{analysis.systems[b]}, {title_of(metric)}"),
        color=alt.Color("side:N", legend=None, scale=alt.Scale(domain=["above", "below"], range=[BLUE, ORANGE])))
    return (even + points).properties(width=300, height=300)


def differences(analysis: RunAnalysis) -> Any:
    """Two systems under every metric: the difference with its interval, each on a scale of its own."""
    alt = altair_module()
    a, b = pair_of(analysis)
    rows = []
    for metric in analysis.standings:
        low, high = metric["deltas"][b][a]
        if metric["score"][a] is None or metric["score"][b] is None or low is None:
            continue
        sign = 1 if metric["higher"] else -1
        delta, ends = sign * metric["delta"][b][a], sorted((sign * low, sign * high))
        reach = max(map(abs, (delta, *ends))) or 1.0
        clear = (metric["holmBase"][b][a] or 1) <= analysis.testing.alpha
        rows.append({"metric": f"{title_of(metric)}  {sign * delta:+.{metric['digits']}f}", "delta": delta / reach,
                     "low": ends[0] / reach, "high": ends[1] / reach,
                     "verdict": "open" if not clear else "first" if delta > 0 else "second"})
    title = f"{analysis.systems[b]} better  |  {analysis.systems[a]} better"
    axis = alt.Axis(labels=False, ticks=False, grid=False, titleColor=SOFT)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(labelLimit=320)),
        color=alt.Color("verdict:N", legend=None,
                        scale=alt.Scale(domain=["first", "second", "open"], range=[BLUE, ORANGE, SOFT])))
    x = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(domain=[-1.05, 1.05]))
    zero = alt.Chart(alt.Data(values=[{"v": 0}])).mark_rule(color=SOFT).encode(x="v:Q")
    rule = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    return (zero + rule + base.mark_circle(size=60, opacity=1).encode(x="delta:Q")).properties(
        width=300, height=max(60, 24 * len(rows)))


def categories(analysis: RunAnalysis, at: int) -> Any:
    """Two systems by category of one metric."""
    alt = altair_module()
    a, b = pair_of(analysis)
    found = [one for one in analysis.breakdowns[at]["categories"] if "." not in one["name"]]
    rows = [{"category": one["name"], "system": analysis.systems[i], "score": one["score"][i]}
            for one in found for i in (a, b) if one["score"][i] is not None]
    y = alt.Y("category:N", sort=None, title=None)
    lines = alt.Chart(alt.Data(values=rows)).mark_line(color=FAINT, strokeWidth=3).encode(
        x=alt.X("score:Q"), y=y, detail="category:N")
    dots = alt.Chart(alt.Data(values=rows)).mark_circle(size=70, opacity=1).encode(
        x=across("score", title_of(analysis.standings[at])), y=y,
        color=alt.Color("system:N", title=None, scale=alt.Scale(domain=[analysis.systems[a], analysis.systems[b]],
                                                                range=[BLUE, ORANGE])))
    return (lines + dots).properties(width=320, height=max(60, 22 * len(found)))
