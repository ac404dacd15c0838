"""Pages of studies, from files that the commands wrote: what they show is what the files say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.browser.conftest import Look, violations
from wholetext.demo import load
from wholetext.scoring.evaluate import Options

pytestmark = pytest.mark.browser


def chart(page: Any, title: str) -> Any:
    return page.locator("section", has=page.locator("h3", has_text=title)).locator("svg.chart")


def numbers(page: Any, title: str) -> list[list[str]]:
    """The table behind a chart, opened."""
    section = page.locator("section", has=page.locator("h3", has_text=title))
    section.locator("summary").click()
    section.locator("details[open]").wait_for()
    return [row.locator("th, td").all_inner_texts() for row in section.locator("details tbody tr").all()]


def test_meta_agreement_with_clusters_curves_and_correlations(look: Look, studies: Path) -> None:
    found = json.loads((studies.parent / "meta" / "meta.json").read_text("utf-8"))
    page = look(studies, "study0")
    rows = page.locator("table.study").first.locator("tbody tr")
    assert rows.count() == len(found["average"]["metrics"])
    best = found["average"]["metrics"][0]
    cell = rows.first.locator("td").first
    assert rows.first.locator("th").inner_text() == best["name"]
    assert cell.inner_text() == f"{best['value']:.4f} #{best['rank']}" and "strong" in cell.get_attribute("class")
    assert chart(page, "Agreement by accuracy").locator("circle.dot").count() == 3
    assert chart(page, "Agreement by accuracy").locator("line.reach").count() == 3
    curve = chart(page, "Pearson's r").first
    assert curve.locator("polyline").count() == 2 and curve.locator("polyline.dashed").count() == 1
    assert [one for one in curve.locator("text.label").all_text_contents() if one in ("1", "2")] == ["1", "2"]
    matrix = chart(page, "Correlation between metrics, wmt22.small de-en, level sys")
    assert matrix.locator("text.cell").count() == 9
    written = numbers(page, "Correlation between metrics, wmt22.small de-en, level sys")
    want = found["between_metrics"][0]["pearson"]
    assert [[float(cell.replace("−", "-")) for cell in row[1:]] for row in written] == [
        pytest.approx(row, abs=6e-5) for row in want
    ]


def test_context_curves_with_controls(look: Look, studies: Path) -> None:
    page = look(studies, "study2")
    curve = chart(page, "chrf by size of context")
    assert curve.locator("polyline").count() == 6 and curve.locator("polyline.dashed").count() == 4
    assert len(numbers(page, "chrf by size of context")) == 3
    curve.focus()
    page.keyboard.press("ArrowRight")
    assert "segments of context 0" in page.locator("#said").inner_text()
    page.keyboard.press("ArrowRight")
    assert "segments of context 1" in page.locator("#said").inner_text()


def test_contrast_by_type_and_distance(look: Look, studies: Path) -> None:
    found = json.loads((studies.parent / "contrast" / "contrast.json").read_text("utf-8"))
    page = look(studies, "study3")
    for kind in ("type", "distance"):
        groups = {row["group"]: row for one in found["metrics"][:1] for row in one["groups"][kind]}
        drawn = chart(page, f"By {kind}")
        assert drawn.locator("text.heading").all_text_contents() == list(map(str, groups))
        assert drawn.locator("circle.dot").count() == drawn.locator("line.reach").count() == 2 * len(groups)
        written = {row[0]: row[1:] for row in numbers(page, f"By {kind}")}
        for name, row in groups.items():
            *shares, items = written[f"{name} · one"]
            want = [100 * row[key] for key in ("accuracy", "low", "high")]
            assert list(map(float, shares)) == pytest.approx(want, abs=0.006) and int(items) == row["total"]
    assert "one against two" in page.locator("table.study tbody").inner_text()


def test_every_study_has_its_page(look: Look, studies: Path, artefacts: Path) -> None:
    page = look(studies)
    names = page.locator("nav a").all_inner_texts()
    assert names == ["Meta-evaluation", "Windows: chrf", "Context: chrf", "Contrast: set"]
    for number, name in enumerate(names):
        page.locator("nav a").nth(number).click()
        page.wait_for_selector(f"html[data-page=study{number}]")
        assert page.locator("main h2").inner_text() == name
        page.screenshot(path=artefacts / f"study-{number}.png", full_page=True)
        tables = page.locator("table").all()
        assert tables and all(table.locator("thead th").count() for table in tables)
        for one in page.locator("svg.chart").all():
            assert one.get_attribute("aria-label")


def test_windows_by_strides_with_what_is_dropped(look: Look, studies: Path) -> None:
    cells = json.loads((studies.parent / "windows" / "grid.json").read_text("utf-8"))["cells"]
    page = look(studies, "study1")
    grid = chart(page, "chrf by window and stride")
    assert grid.locator("text.cell").count() == len(cells) == 6
    shares = chart(page, "Share of segments in no window")
    assert shares.locator("text.cell").all_text_contents() == [f"{100 * cell['dropped']:.2f}" for cell in cells]
    box = grid.locator("text.cell").last.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    tip = page.locator("#tip").inner_text()
    assert "window 3, stride 3" in tip and f"{100 * cells[-1]['dropped']:.1f} % segments in no window" in tip
    table = page.locator("table.study").locator("tbody tr")
    assert table.count() == 6 and page.locator("table.study thead").inner_text().count("cut %") == 2


@pytest.fixture(scope="module")
def stressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus, outputs = load("de-en")
    settings = wt.stress.StressOptions(("swap", "drop", "number", "resegment"), ("1", "all"), draws=20)
    folder = tmp_path_factory.mktemp("stress") / "run"
    study = wt.stress.stress(corpus, outputs, ["chrf", "whole:chrf"], settings, Options(cache=False))
    wt.stress.write_stress(study, folder)
    return wt.report(folder)[0]


def test_heat_maps_and_examples_of_a_stress_test(look: Look, stressed: Path) -> None:
    found = json.loads((stressed.parent / "stress.json").read_text("utf-8"))
    page = look(stressed)
    page.locator("nav a", has_text="Stress test").click()
    page.wait_for_selector("main h2:text-is('Stress test')")
    sections = page.locator("section", has=page.locator("svg.chart"))
    assert [one.locator("text.cell").count() for one in sections.all()] == [6, 2, 8]
    notes = page.locator(".care li").all_inner_texts()
    assert notes == found["notes"]
    rows = page.locator("table.examples tbody tr")
    assert rows.count() >= 8
    for row in rows.all():
        assert row.locator("mark").count() >= 2  # before and after
    gone = page.locator("table.examples tr", has=page.locator("bdi:text-is('drop')")).first.locator("td").last
    assert gone.inner_text() == "∅"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_a_stress_test(look: Look, stressed: Path, axe: str, scheme: str) -> None:
    page = look(stressed, color_scheme=scheme)
    page.locator("nav a", has_text="Stress test").click()
    page.wait_for_selector("main h2:text-is('Stress test')")
    assert violations(page, axe, scheme) == []
