"""Figures of a study: its grids, curves and dots."""

from __future__ import annotations

import re
from typing import Any

from wholetext.reporting.drawing import BLUE, INK, ORANGE, PALE, RAMP, SERIES, SOFT, across, altair_module
from wholetext.reporting.panels import Bars, Curves, Grid, Panel


def panel_chart(panel: Panel) -> Any:
    """A study's panel as a chart; tables have none."""
    if isinstance(panel, Grid):
        return _grid(panel)
    if isinstance(panel, Curves):
        return _curves(panel)
    return _bars(panel) if isinstance(panel, Bars) else None


def brief(name: str) -> str:
    """A metric's name without the folder its model lies in."""
    return re.sub(r"@[^@]*/(?=[^/]+$)", "@…/", name) if len(name) > 36 else name


def _grid(panel: Grid) -> Any:
    alt = altair_module()
    values = [value for row in panel.values for value in row if value is not None]
    cells = [{"row": row, "column": column, "value": panel.values[r][c]} for r, row in enumerate(panel.rows)
             for c, column in enumerate(panel.columns) if panel.values[r][c] is not None]
    reach, low, high = max(map(abs, values), default=1.0), min(values, default=0.0), max(values, default=1.0)
    scale = (alt.Scale(domain=[-reach, 0, reach], range=[ORANGE, PALE, BLUE]) if panel.centred
             else alt.Scale(range=list(RAMP)))
    above = alt.Axis(orient="top", labelAngle=0 if max(map(len, panel.columns), default=0) <= 6 else -45)
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("column:N", sort=list(panel.columns), title=panel.axes[1] or None, axis=above),
        y=alt.Y("row:N", sort=list(panel.rows), title=panel.axes[0] or None))
    dark = f"abs(datum.value) > {0.6 * reach}" if panel.centred else f"datum.value > {low + 0.55 * (high - low)}"
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".1f" if reach >= 2 else ".3f"),
        color=alt.condition(dark, alt.value("white"), alt.value(INK)))
    boxes = base.mark_rect().encode(color=alt.Color("value:Q", legend=None, scale=scale))
    return (boxes + text).properties(width=46 * len(panel.columns), height=28 * len(panel.rows), title=panel.title)


def _curves(panel: Curves) -> Any:
    alt = altair_module()
    rows = [{"x": x, "y": line.y[i], "line": brief(line.name), "control": line.control,
             "low": line.low[i] if line.low else None, "high": line.high[i] if line.high else None}
            for line in panel.lines for i, x in enumerate(panel.x) if line.y[i] is not None]
    names = [brief(line.name) for line in panel.lines]
    hues = [i if line.hue is None else line.hue for i, line in enumerate(panel.lines)]
    colors = [SERIES[hue % len(SERIES)] for hue in hues]
    color = alt.Color("line:N", sort=names, title=None,
                       scale=alt.Scale(domain=names, range=colors),
                       legend=alt.Legend(labelLimit=260, orient="right"))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=panel.axes[0], axis=alt.Axis(values=list(panel.x), format="~g")), color=color)
    y = alt.Y("y:Q", title=panel.axes[1], scale=alt.Scale(zero=False))
    dash = alt.StrokeDash("control:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]]))
    layers = base.mark_line(point=True).encode(y=y, strokeDash=dash)
    if any(row["low"] is not None for row in rows):
        layers = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q"), y2="high:Q") + layers
    return layers.properties(width=420, height=260, title=panel.title)


def _bars(panel: Bars) -> Any:
    alt = altair_module()
    rows = [{"group": bar.group, "name": brief(bar.name), "value": bar.value, "low": bar.low, "high": bar.high}
            for bar in panel.bars if bar.value is not None]
    base = alt.Chart().encode(y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=240)))
    dots = base.mark_circle(size=55, color=BLUE, opacity=1).encode(x=across("value", panel.axis))
    layers = [base.mark_rule(color=BLUE, strokeWidth=1.5).encode(x=across("low", panel.axis), x2="high:Q"), dots]
    if panel.chance is not None:
        layers.insert(0, alt.Chart().mark_rule(color=SOFT, strokeDash=[3, 4]).encode(x=alt.datum(panel.chance)))
    names = len({bar.name for bar in panel.bars})
    layered = alt.layer(*layers, data=alt.Data(values=rows)).properties(width=360, height=max(30, 20 * names))
    groups = list(dict.fromkeys(bar.group for bar in panel.bars))
    if groups == [""]:
        return layered.properties(title=panel.title)
    header = alt.Header(labelAngle=0, labelAlign="left", labelLimit=240, title=None)
    return layered.facet(row=alt.Row("group:N", sort=groups, header=header), spacing=8).properties(title=panel.title)
