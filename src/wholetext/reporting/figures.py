"""The report's figures for print: PDF, SVG and PNG by altair and vl-convert, without a browser.

Their data is that of the page: the analysis of a run, and the panels of studies. Importing this
module raises ``MissingExtra`` where altair or vl-convert is not installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from wholetext.errors import SpecError, WriteError, known, optional
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.reporting.analysis import RunAnalysis, analyse
from wholetext.reporting.panels import Bars, Curves, Grid, Study
from wholetext.reporting.studies import read_study
from wholetext.scoring.results import Results

if TYPE_CHECKING:
    import altair

alt = optional("altair", "report", "altair or vl-convert")
vl_convert = optional("vl_convert", "report", "altair or vl-convert")

Format = Literal["pdf", "svg", "png"]
PPI = 200
FIGURES = SharedFolder("folder of figures", WriteError)
COLUMNS = 4  # metrics side by side
LABELS = 40  # documents whose names are written below a heat-map
# muted colours that colour-blind readers can distinguish
BLUE, ORANGE, INK, SOFT, FAINT = "#0b5cad", "#a8480a", "#1a1e23", "#56606b", "#e1e5e9"
SERIES = ("#0072b2", "#a64c00", "#00795a", "#a3457a", "#6a5a00", "#3c5fb8", "#5a5f66", INK)
RAMP, PALE = ("#f0f5fa", "#0a427a"), "#f7f7f5"


def write_figures(
    analysis: RunAnalysis | None,
    studies: Sequence[Study],
    folder: Path,
    formats: Sequence[str] = get_args(Format),
) -> list[Path]:
    """Write every figure in every format; return the files."""
    for name in formats or ("",):
        known("figure format", name, get_args(Format), error=SpecError)
    written = []
    with changing(folder, FIGURES) as staged:
        for name, chart in figures(analysis, studies):
            with alt.data_transformers.enable("default", max_rows=None):
                spec = styled(chart).to_dict()
            for format in formats:
                write_file(staged / f"{name}.{format}", _convert(spec, format))
                written.append(folder / f"{name}.{format}")
    return written


def write_picture(file: Path) -> Path | None:
    """Draw the main charts of a study as SVG beside its file; None where it has none."""
    study = read_study(file)
    charts = [PANELS[type(study.panels[at])](study.panels[at]) for at in study.picture]
    if not charts:
        return None
    picture = styled(alt.vconcat(*charts).resolve_scale(color="independent", x="independent"))
    with (
        changing(file.parent, FIGURES) as staged,
        alt.data_transformers.enable("default", max_rows=None),
    ):
        write_file(staged / f"{file.stem}.svg", _convert(picture.to_dict(), "svg"))
    return file.with_suffix(".svg")


def figures(analysis: RunAnalysis | None, studies: Sequence[Study]) -> Iterator[tuple[str, Any]]:
    """Yield (file name, chart) of everything that can be drawn."""
    if analysis is not None:
        for kind, draw in _run_charts(analysis).items():
            yield kind, draw(analysis)
        for at, metric in enumerate(analysis.standings):
            for kind, draw_metric in _metric_charts(analysis, at).items():
                yield f"{kind}-{_slug(metric['spec'])}", draw_metric(analysis, at)
    for at, study in enumerate(studies):
        earlier = sum(other.kind == study.kind for other in studies[:at])
        kind = f"{study.kind}{earlier + 1}" if earlier else study.kind
        for number, panel in enumerate(study.panels, 1):
            for drawn, draw in PANELS.items():  # tables have no chart
                if isinstance(panel, drawn):
                    yield f"{kind}-{number}-{_slug(panel.title)}", draw(panel)


def plot(
    results: Results, kind: str = "leaderboard", metric: str | None = None
) -> altair.TopLevelMixin:
    """Draw an altair chart of a run, as in the report; of the first metric unless one is named.

    ``kind`` is ``leaderboard``, ``documents`` or ``distribution``; with two systems or more also
    ``compare``, ``scatter``, and ``categories`` for metrics that have them. The comparison stored
    with the run is used, if any.
    """
    analysis = analyse(results)
    at = 0 if metric is None else list(results.scores.values()).index(results[metric])
    whole, of_metric = _run_charts(analysis), _metric_charts(analysis, at)
    known("chart", kind, [*whole, *of_metric], error=SpecError)
    return styled(whole[kind](analysis) if kind in whole else of_metric[kind](analysis, at))


def _run_charts(analysis: RunAnalysis) -> dict[str, Callable[[RunAnalysis], Any]]:
    several = len(analysis.systems) > 1
    return {"leaderboard": leaderboard, **({"compare": differences} if several else {})}


def _metric_charts(analysis: RunAnalysis, at: int) -> dict[str, Callable[[RunAnalysis, int], Any]]:
    several = len(analysis.systems) > 1
    parts = several and len(analysis.breakdowns[at]["categories"]) > 2
    return {
        "documents": documents,
        "distribution": distribution,
        **({"scatter": scatter} if several else {}),
        **({"categories": categories} if parts else {}),
    }


def styled(chart: Any) -> Any:
    """Apply the report's style to a chart."""
    axis = {
        "labelColor": SOFT,
        "titleColor": SOFT,
        "domainColor": SOFT,
        "tickColor": SOFT,
        "gridColor": "#eef0f3",
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
    }
    return (
        chart.configure(
            background="white", font="Inter, Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif"
        )
        .configure_axis(**axis)
        .configure_view(stroke=None)
        .configure_title(fontSize=13, anchor="start")
        .configure_legend(titleFontWeight="normal", titleColor=SOFT)
    )


def _convert(spec: dict[str, Any], format: str) -> bytes:
    options = {"ppi": PPI} if format == "png" else {}
    image = getattr(vl_convert, f"vegalite_to_{format}")(spec, allowed_base_urls=[], **options)
    return image.encode("utf-8") if isinstance(image, str) else bytes(image)


def _slug(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-").lower()[:60]


def across(field: str, title: str) -> Any:
    """Make a horizontal axis of numbers that need not start at 0."""
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))


def title_of(metric: Mapping[str, Any]) -> str:
    """Title an axis; not every font has arrows, so "lower is better" is in words."""
    return str(metric["spec"]) if metric["higher"] else f"{metric['spec']} (lower is better)"


# ---------------------------------------------------------------- runs


def leaderboard(analysis: RunAnalysis) -> Any:
    """Draw scores with 95 % intervals, one column per metric; the best cluster is filled."""
    columns = []
    for at, metric in enumerate(analysis.standings):
        rows = [
            {
                "system": name,
                "score": metric["score"][i],
                "low": metric["low"][i],
                "high": metric["high"][i],
                "best": metric["rank"][i] == 1,
            }
            for i, name in enumerate(analysis.systems)
            if metric["score"][i] is not None
        ]
        names = alt.Axis(labels=at % COLUMNS == 0, labelLimit=220)
        y = alt.Y("system:N", sort=list(analysis.systems), title=None, axis=names)
        base = alt.Chart(alt.Data(values=rows)).encode(y=y)
        rule = base.mark_rule(color=SOFT, strokeWidth=1.5).encode(
            x=across("low", title_of(metric)), x2="high:Q"
        )
        dots = base.mark_point(
            size=45, filled=True, opacity=1, stroke=BLUE, strokeWidth=1.5
        ).encode(
            x=across("score", title_of(metric)),
            fill=alt.condition("datum.best", alt.value(BLUE), alt.value("white")),
        )
        columns.append(
            (rule + dots).properties(width=150, height=max(60, 22 * len(analysis.systems)))
        )
    return alt.concat(*columns, columns=COLUMNS, spacing=14)


def documents(analysis: RunAnalysis, at: int) -> Any:
    """Draw a heat-map of systems by documents."""
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    names = [doc.id for doc in analysis.results.corpus.docs]
    cells = [
        {"system": system, "document": str(d), "score": table[i][d]}
        for i, system in enumerate(analysis.systems)
        for d in range(len(names))
        if table[i][d] is not None
    ]
    few = len(names) <= LABELS
    label = (
        "[" + ",".join(json.dumps(name) for name in names) + "][toNumber(datum.label)]"
        if few
        else "''"
    )
    axis = alt.Axis(labelExpr=label, labelAngle=-45, labelLimit=120, ticks=few, domain=False)
    return (
        alt.Chart(alt.Data(values=cells))
        .mark_rect()
        .encode(
            x=alt.X(
                "document:N",
                sort=[str(d) for d in range(len(names))],
                title=None if few else "documents",
                axis=axis,
            ),
            y=alt.Y(
                "system:N",
                sort=list(analysis.systems),
                title=None,
                axis=alt.Axis(domain=False, ticks=False),
            ),
            color=alt.Color("score:Q", title=title_of(metric), scale=alt.Scale(range=list(RAMP))),
        )
        .properties(
            width=max(160, min(900, 42 * len(names))), height=max(60, 22 * len(analysis.systems))
        )
    )


def distribution(analysis: RunAnalysis, at: int) -> Any:
    """Draw document scores of each system as a box, with every document as a dot."""
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    dots = [
        {"system": system, "score": value, "place": (d * 7) % 11}
        for i, system in enumerate(analysis.systems)
        for d, value in enumerate(table[i])
        if value is not None
    ]
    base = alt.Chart(alt.Data(values=dots)).encode(
        y=alt.Y("system:N", sort=list(analysis.systems), title=None),
        x=across("score", title_of(metric)),
    )
    box = base.mark_boxplot(
        extent="min-max", color="#d5dbe1", size=14, median={"color": INK}, ticks=False
    )
    points = base.mark_circle(size=14, color=BLUE, opacity=0.6).encode(
        yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-2, 12]))
    )
    return (box + points).properties(width=420, height=max(80, 30 * len(analysis.systems)))


def scatter(analysis: RunAnalysis, at: int) -> Any:
    """Draw two systems document by document; they are even on the diagonal."""
    a, b = 0, analysis.baseline or 1  # the best, and the baseline or the next best
    metric, table = analysis.standings[at], analysis.breakdowns[at]["doc"]
    dots = [
        {"a": x, "b": y, "side": "above" if y > x else "below"}
        for x, y in zip(table[a], table[b])
        if x is not None and y is not None
    ]
    values = [value for dot in dots for value in (dot["a"], dot["b"])] or [0, 1]
    room = (max(values) - min(values)) * 0.05 or 0.5
    ends = [min(values) - room, max(values) + room]
    scale = alt.Scale(domain=ends, nice=False)
    even = (
        alt.Chart(alt.Data(values=[{"v": end} for end in ends]))
        .mark_line(color=SOFT, strokeDash=[3, 4])
        .encode(x=alt.X("v:Q", scale=scale), y=alt.Y("v:Q", scale=scale))
    )
    points = (
        alt.Chart(alt.Data(values=dots))
        .mark_circle(size=40, opacity=0.7)
        .encode(
            x=alt.X("a:Q", scale=scale, title=f"{analysis.systems[a]}, {title_of(metric)}"),
            y=alt.Y("b:Q", scale=scale, title=f"{analysis.systems[b]}, {title_of(metric)}"),
            color=alt.Color(
                "side:N",
                legend=None,
                scale=alt.Scale(domain=["above", "below"], range=[BLUE, ORANGE]),
            ),
        )
    )
    return (even + points).properties(width=300, height=300)


def differences(analysis: RunAnalysis) -> Any:
    """Draw the difference of two systems with its interval, each metric on its own scale."""
    a, b = 0, analysis.baseline or 1  # the best, and the baseline or the next best
    rows = []
    for metric in analysis.standings:
        low, high = metric["deltas"][b][a]
        if metric["score"][a] is None or metric["score"][b] is None or low is None:
            continue
        sign = 1 if metric["higher"] else -1
        delta, ends = sign * metric["delta"][b][a], sorted((sign * low, sign * high))
        reach = max(map(abs, (delta, *ends))) or 1.0
        clear = (metric["holmBase"][b][a] or 1) <= analysis.testing.alpha
        rows.append(
            {
                "metric": f"{title_of(metric)}  {sign * delta:+.{metric['digits']}f}",
                "delta": delta / reach,
                "low": ends[0] / reach,
                "high": ends[1] / reach,
                "verdict": "open" if not clear else "first" if delta > 0 else "second",
            }
        )
    title = f"{analysis.systems[b]} better  |  {analysis.systems[a]} better"
    axis = alt.Axis(labels=False, ticks=False, grid=False, titleColor=SOFT)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(labelLimit=320)),
        color=alt.Color(
            "verdict:N",
            legend=None,
            scale=alt.Scale(domain=["first", "second", "open"], range=[BLUE, ORANGE, SOFT]),
        ),
    )
    x = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(domain=[-1.05, 1.05]))
    zero = alt.Chart(alt.Data(values=[{"v": 0}])).mark_rule(color=SOFT).encode(x="v:Q")
    rule = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    return (zero + rule + base.mark_circle(size=60, opacity=1).encode(x="delta:Q")).properties(
        width=300, height=max(60, 24 * len(rows))
    )


def categories(analysis: RunAnalysis, at: int) -> Any:
    """Draw two systems by category of one metric."""
    a, b = 0, analysis.baseline or 1  # the best, and the baseline or the next best
    shown = [c for c in analysis.breakdowns[at]["categories"] if "." not in c["name"]]
    rows = [
        {"category": category["name"], "system": analysis.systems[i], "score": category["score"][i]}
        for category in shown
        for i in (a, b)
        if category["score"][i] is not None
    ]
    y = alt.Y("category:N", sort=None, title=None)
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(color=FAINT, strokeWidth=3)
        .encode(x=alt.X("score:Q"), y=y, detail="category:N")
    )
    dots = (
        alt.Chart(alt.Data(values=rows))
        .mark_circle(size=70, opacity=1)
        .encode(
            x=across("score", title_of(analysis.standings[at])),
            y=y,
            color=alt.Color(
                "system:N",
                title=None,
                scale=alt.Scale(
                    domain=[analysis.systems[a], analysis.systems[b]], range=[BLUE, ORANGE]
                ),
            ),
        )
    )
    return (lines + dots).properties(width=320, height=max(60, 22 * len(shown)))


# ---------------------------------------------------------------- studies


def brief(name: str) -> str:
    """Shorten a metric's name by the folder of its model."""
    return re.sub(r"@[^@]*/(?=[^/]+$)", "@…/", name) if len(name) > 36 else name


def _grid(panel: Grid) -> Any:
    values = [value for row in panel.values for value in row if value is not None]
    cells = [
        {"row": row, "column": column, "value": panel.values[r][c]}
        for r, row in enumerate(panel.rows)
        for c, column in enumerate(panel.columns)
        if panel.values[r][c] is not None
    ]
    reach = max(map(abs, values), default=1.0)
    low, high = panel.ends or (min(values, default=0.0), max(values, default=1.0))
    scale = (
        alt.Scale(domain=[-reach, 0, reach], range=[ORANGE, PALE, BLUE])
        if panel.centred
        else alt.Scale(domain=[low, high], range=list(RAMP))
        if panel.ends
        else alt.Scale(range=list(RAMP))
    )
    above = alt.Axis(
        orient="top", labelAngle=0 if max(map(len, panel.columns), default=0) <= 6 else -45
    )
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("column:N", sort=list(panel.columns), title=panel.axes[1] or None, axis=above),
        y=alt.Y("row:N", sort=list(panel.rows), title=panel.axes[0] or None),
    )
    dark = (
        f"abs(datum.value) > {0.6 * reach}"
        if panel.centred
        else f"datum.value > {low + 0.55 * (high - low)}"
    )
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".1f" if reach >= 2 else ".3f"),
        color=alt.condition(dark, alt.value("white"), alt.value(INK)),
    )
    boxes = base.mark_rect().encode(color=alt.Color("value:Q", legend=None, scale=scale))
    return (boxes + text).properties(
        width=46 * len(panel.columns), height=28 * len(panel.rows), title=panel.title
    )


def _curves(panel: Curves) -> Any:
    rows = [
        {
            "x": x,
            "y": line.y[i],
            "line": brief(line.name),
            "control": line.control,
            "low": line.low[i] if line.low else None,
            "high": line.high[i] if line.high else None,
        }
        for line in panel.lines
        for i, x in enumerate(panel.x)
        if line.y[i] is not None
    ]
    names = [brief(line.name) for line in panel.lines]
    hues = [i if line.hue is None else line.hue for i, line in enumerate(panel.lines)]
    colors = [SERIES[hue % len(SERIES)] for hue in hues]
    color = alt.Color(
        "line:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=colors),
        legend=alt.Legend(labelLimit=260, orient="right"),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=panel.axes[0], axis=alt.Axis(values=list(panel.x), format="~g")),
        color=color,
    )
    y = alt.Y("y:Q", title=panel.axes[1], scale=alt.Scale(zero=False))
    dash = alt.StrokeDash(
        "control:N", legend=None, scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]])
    )
    layers = base.mark_line(point=True).encode(y=y, strokeDash=dash)
    if any(row["low"] is not None for row in rows):
        layers = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q"), y2="high:Q") + layers
    return layers.properties(width=420, height=260, title=panel.title)


def _bars(panel: Bars) -> Any:
    rows = [
        {
            "group": bar.group,
            "name": brief(bar.name),
            "value": bar.value,
            "low": bar.low,
            "high": bar.high,
        }
        for bar in panel.bars
        if bar.value is not None
    ]
    base = alt.Chart().encode(
        y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=240))
    )
    dots = base.mark_circle(size=55, color=BLUE, opacity=1).encode(x=across("value", panel.axis))
    rule = base.mark_rule(color=BLUE, strokeWidth=1.5)
    layers = [rule.encode(x=across("low", panel.axis), x2="high:Q"), dots]
    if panel.chance is not None:
        chance = alt.Chart().mark_rule(color=SOFT, strokeDash=[3, 4])
        layers.insert(0, chance.encode(x=alt.datum(panel.chance)))
    layered = alt.layer(*layers, data=alt.Data(values=rows)).properties(
        width=360, height=max(30, 20 * len({bar.name for bar in panel.bars}))
    )
    groups = list(dict.fromkeys(bar.group for bar in panel.bars))
    if groups == [""]:
        return layered.properties(title=panel.title)
    header = alt.Header(labelAngle=0, labelAlign="left", labelLimit=240, title=None)
    return layered.facet(row=alt.Row("group:N", sort=groups, header=header), spacing=8).properties(
        title=panel.title
    )


PANELS: Mapping[type, Callable[[Any], Any]] = {Grid: _grid, Curves: _curves, Bars: _bars}
