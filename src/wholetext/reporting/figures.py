"""The report's figures for print: PDF, SVG and PNG through altair and vl-convert, without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from wholetext.errors import SpecError, WriteError, did_you_mean
from wholetext.files.output_folder import changing, shared_kind
from wholetext.files.storage import write_file
from wholetext.reporting.analysis import RunAnalysis
from wholetext.reporting.drawing import SOFT, altair_module
from wholetext.reporting.panels import Study
from wholetext.reporting.run_figures import categories, differences, distribution, documents, leaderboard, scatter
from wholetext.reporting.study_figures import panel_chart

Format = Literal["pdf", "svg", "png"]
PPI = 200
FIGURES = shared_kind("folder of figures", WriteError)


def write_figures(analysis: RunAnalysis | None, studies: Sequence[Study], folder: Path,
                  formats: Sequence[str] = get_args(Format)) -> list[Path]:
    """Write every figure in every format; returns the files."""
    wrong = [one for one in formats if one not in get_args(Format)]
    if wrong or not formats:
        known = list(get_args(Format))
        raise SpecError(f"there is no figure format {wrong[0]!r}" if wrong else "no figure format was named",
                        next=did_you_mean(wrong[0], known) if wrong else f"formats: {', '.join(known)}")
    written = []
    with changing(folder, FIGURES) as staged:
        for name, chart in figures(analysis, studies):
            spec = _spec(chart)
            for one in formats:
                write_file(staged / f"{name}.{one}", _convert(spec, one))
                written.append(folder / f"{name}.{one}")
    return written


def figures(analysis: RunAnalysis | None, studies: Sequence[Study]) -> Iterator[tuple[str, Any]]:
    """(file name, chart) of everything that can be drawn."""
    altair_module()
    if analysis is not None:
        yield from _run_figures(analysis)
    for study, kind in zip(studies, _kinds(studies)):
        for number, panel in enumerate(study.panels, 1):
            chart = panel_chart(panel)
            if chart is not None:
                yield f"{kind}-{number}-{_slug(panel.title)}", chart


def _kinds(studies: Sequence[Study]) -> list[str]:
    """What files of each study begin with: its kind, from the second of a kind on with a number."""
    found: list[str] = []
    for at, study in enumerate(studies):
        earlier = sum(one.kind == study.kind for one in studies[:at])
        found.append(f"{study.kind}{earlier + 1}" if earlier else study.kind)
    return found


def _run_figures(analysis: RunAnalysis) -> Iterator[tuple[str, Any]]:
    yield "leaderboard", leaderboard(analysis)
    several = len(analysis.systems) > 1
    if several:
        yield "compare", differences(analysis)
    for at, metric in enumerate(analysis.standings):
        name = _slug(metric["spec"])
        yield f"documents-{name}", documents(analysis, at)
        yield f"distribution-{name}", distribution(analysis, at)
        if several:
            yield f"scatter-{name}", scatter(analysis, at)
            if len(analysis.breakdowns[at]["categories"]) > 2:
                yield f"categories-{name}", categories(analysis, at)


# ---------------------------------------------------------------- vl-convert


def _spec(chart: Any) -> dict[str, Any]:
    """The chart as vega-lite, with the report's quiet style and all rows, however many."""
    alt = altair_module()
    axis = {"labelColor": SOFT, "titleColor": SOFT, "domainColor": SOFT, "tickColor": SOFT, "gridColor": "#eef0f3",
            "titleFontWeight": "normal", "labelFontSize": 11, "titleFontSize": 11}
    styled = chart.configure(background="white", font="Inter, Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif")
    styled = styled.configure_axis(**axis).configure_view(stroke=None).configure_title(fontSize=13, anchor="start")
    with alt.data_transformers.enable("default", max_rows=None):
        found: dict[str, Any] = styled.configure_legend(titleFontWeight="normal", titleColor=SOFT).to_dict()
    return found


def _convert(spec: dict[str, Any], format: str) -> bytes:
    import vl_convert

    if format == "svg":
        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode("utf-8")
    if format == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]))
    return bytes(vl_convert.vegalite_to_png(spec, ppi=PPI, allowed_base_urls=[]))


def _slug(text: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", text).strip("-").lower()[:60]
