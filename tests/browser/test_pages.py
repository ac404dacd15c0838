"""Every interaction of the report, clicked and looked at in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser
Look = Callable[..., Any]


def texts(page: Any, selector: str) -> list[str]:
    found: list[str] = page.locator(selector).all_inner_texts()
    return found


def drawn(page: Any, name: str) -> None:
    page.wait_for_selector(f"html[data-page={name}]")


# ---------------------------------------------------------------- leaderboard


def test_leaderboard_shows_systems_metrics_and_cautions(look: Look, report: Path, artefacts: Path) -> None:
    page = look(report)
    assert texts(page, "#leaderboard tbody th .system") == ["system-A", "system-B", "system-C"]
    heads = texts(page, "#leaderboard thead th .metric")
    assert len(heads) == 8 and heads[0].endswith("↑") and heads[3] == "ter ↓"
    assert page.locator("#leaderboard td .whisker circle").count() == 24
    first = page.locator("#leaderboard tbody tr").first.locator("td").first.inner_text()
    assert "±" in first and "#1" in first
    care = page.locator("#care").inner_text()
    for said in ("6 documents only", "made by hand", "context:bertscore: scored text was cut", "system-C: no text"):
        assert said in care
    page.screenshot(path=artefacts / "leaderboard.png", full_page=True)
    page.locator("text=notes to read").click()
    assert page.evaluate("document.activeElement.id") == "care"


def test_a_click_makes_a_system_the_baseline(look: Look, report: Path) -> None:
    page = look(report)
    assert "the best system of each metric" in page.locator(".legend").inner_text()
    page.get_by_role("button", name="system-C").click()
    page.wait_for_selector("th.baseline")
    assert "better or worse than system-C" in page.locator(".legend").inner_text()
    assert "over the 2 comparisons with it" in page.locator(".legend").inner_text()
    row = page.locator("#leaderboard tr", has_text="system-C").locator("td .mark").all_inner_texts()
    assert set(row) == {"="}
    assert page.evaluate("document.activeElement.textContent") == "system-C"  # the focus stays
    page.get_by_role("button", name="system-C").click()
    page.wait_for_selector("th.baseline", state="detached")


def test_metric_header_sorts_and_shows_its_signature(look: Look, report: Path) -> None:
    page = look(report)
    page.locator("#leaderboard th .sort").nth(3).click()
    page.wait_for_selector("th[aria-sort=ascending]")
    ter = [float(value) for value in texts(page, "#leaderboard tbody td:nth-child(5) .value")]
    assert ter == sorted(ter)
    page.get_by_role("button", name="Signature of chrf").click()
    page.wait_for_selector("#signature .panel")
    shown = page.locator("#signature").inner_text()
    assert "char_order" in shown and "sacrebleu" in shown and "Test: test:randomization" in shown
    page.get_by_role("button", name="Signature of chrf").click()
    page.wait_for_selector("#signature .panel", state="detached")


# ---------------------------------------------------------------- documents


def test_heat_map_opens_the_document_of_a_cell(look: Look, report: Path, artefacts: Path) -> None:
    page = look(report, "documents")
    page.screenshot(path=artefacts / "documents.png", full_page=True)
    chart = page.locator("#heatmap")
    assert chart.locator("text.cell").count() == 18
    box = chart.bounding_box()
    cell = chart.locator("text.cell").nth(9).bounding_box()  # second system, fourth document
    page.mouse.move(cell["x"] + 5, cell["y"] + 5)
    assert "doc-4" in page.locator("#tip").inner_text() and box is not None
    page.mouse.click(cell["x"] + 5, cell["y"] + 5)
    drawn(page, "document")
    assert "doc-4" in page.locator("h2").inner_text()


# ---------------------------------------------------------------- compare


def test_compare_two_systems(look: Look, report: Path, artefacts: Path) -> None:
    page = look(report, "compare?a=0&b=2&m=4")
    page.screenshot(path=artefacts / "compare.png", full_page=True)
    head = page.evaluate("load('head')")
    rows = page.locator("#compare tbody tr").all()
    assert len(rows) == len(head["metrics"])
    for metric, row in zip(head["metrics"], rows):
        cells = row.locator("td").all_inner_texts()
        low, high = metric["deltas"][2][0]
        shown = [float(part.replace("−", "-").replace("+", "")) for part in cells[3].split("…")]
        assert shown == pytest.approx([low, high], abs=10 ** -metric["digits"])
        p = metric["holmBase"][2][0]
        assert ("better" in cells[7]) == (p is not None and p <= 0.05)
    names = texts(page, "#categories tbody th")
    assert {"tense", "pronoun", "marker", "ngram1"} <= set(names)
    page.get_by_role("button", name="Features").click()
    page.wait_for_selector("#categories tr.sub")
    assert len(texts(page, "#drivers tbody tr")) == 6
    delta = rows[4].locator("td").all_inner_texts()[2]  # of the metric m=4: the same number in both places
    assert f"the difference of {delta}, to first order" in page.locator("main").inner_text()
    page.locator("#drivers a").first.click()
    drawn(page, "document")
    assert texts(page, "#texts thead th.hyp") == ["system-A", "system-C"]


# ---------------------------------------------------------------- the page as a whole


def test_light_dark_and_print(look: Look, report: Path, artefacts: Path) -> None:
    page = look(report, "documents", color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == "rgb(20, 23, 26)"
    page.screenshot(path=artefacts / "documents-dark.png", full_page=True)
    page.locator("#theme").click()
    page.wait_for_function(f"{background} === 'rgb(255, 255, 255)'")
    assert page.locator("#theme").get_attribute("aria-label") == "Colours: light"
    page.locator("#theme").click()
    page.wait_for_function(f"{background} === 'rgb(20, 23, 26)'")
    pdf = page.pdf(path=artefacts / "documents-print.pdf", print_background=True)
    assert pdf.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
