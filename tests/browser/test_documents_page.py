"""The page of documents: heat-map, scatter plot, distribution, extremes, table; by mouse, by keyboard, by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_report_parts import crowded, wordy  # noqa: F401 (fixtures)

pytestmark = pytest.mark.browser
Look = Callable[..., Any]


def drawn(page: Any, name: str) -> None:
    page.wait_for_selector(f"html[data-page={name}]")


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_the_heat_map_is_centred_per_document_or_raw(look: Look, report: Path) -> None:
    page = look(report, "documents")
    table, order = page.evaluate("load('metric0')")["doc"], page.evaluate("head.metrics[0].order")
    mean = [sum(row[doc] for row in table) / 3 for doc in range(6)]
    cells = page.locator("#heatmap text.cell").all_text_contents()
    wanted = [table[system][doc] - mean[doc] for system in order for doc in range(6)]
    assert [number(text) for text in cells] == pytest.approx(wanted, abs=0.051)
    assert all(text[0] in "+−" or float(text) == 0 for text in cells)
    page.get_by_label("Colour", exact=True).select_option(label="raw scores")
    page.wait_for_function("!document.querySelector('#heatmap text.cell').textContent.startsWith('+')")
    raw = [float(text) for text in page.locator("#heatmap text.cell").all_text_contents()]
    assert raw == pytest.approx([table[system][doc] for system in order for doc in range(6)], abs=0.051)
    assert "raw=1" in page.url


def test_better_is_blue_also_where_lower_is_better(look: Look, report: Path) -> None:
    page = look(report, "documents?m=3")
    assert page.evaluate("head.metrics[3].spec") == "ter" and page.locator(".scale").inner_text().startswith("≥ +")
    read = """() => [...document.querySelectorAll("#documents tbody tr")].map((row) =>
        [...row.querySelectorAll(".tinted")].map((cell) =>
            [parseFloat(cell.textContent), ...cell.style.backgroundColor.match(/\\d+/g).map(Number)]))"""
    for row in page.evaluate(read):
        best, worst = min(row), max(row)
        assert best[0] == worst[0] or best[3] - best[1] > worst[3] - worst[1]  # blue less red
    page.get_by_label("Colour", exact=True).select_option(label="raw scores")
    page.wait_for_function("document.querySelector('#heatmap text.cell').textContent.match(/^[0-9]/)")
    cells = sorted(cell for row in page.evaluate(read) for cell in row)
    assert all(more[1] <= less[1] for less, more in pairwise(cells))  # one ramp: the higher, the darker


@pytest.mark.parametrize("chart", ["Heat-map", "Scatter plot", "Distribution"])
def test_charts_open_documents_by_keyboard_and_mouse(chart: str, look: Look, report: Path) -> None:
    page = look(report, "documents", viewport={"width": 1280, "height": 2400})
    node = page.locator(f"svg[aria-label^='{chart}']")
    node.focus()
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    name = page.locator("#said").inner_text().split(",")[0]
    dot = None if chart == "Heat-map" else node.locator("circle.cursor").bounding_box()
    page.keyboard.press("Enter")
    drawn(page, "document")
    assert name in page.locator("h2").inner_text()
    page.go_back()
    drawn(page, "documents")
    if dot:
        page.evaluate("scrollTo(0, 0)")
        page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
        assert name in page.locator("#tip").inner_text()


def test_another_metric_and_another_pair(look: Look, report: Path) -> None:
    page = look(report, "documents")
    page.get_by_label("Metric").select_option(label="blonde")
    page.wait_for_selector("svg[aria-label='Heat-map of blonde: systems by documents']")
    page.get_by_label("Second").select_option(label="system-C")
    page.wait_for_selector("svg[aria-label^='Scatter plot: system-A across, system-C up']")
    page.get_by_role("button", name="Swap the two systems").click()
    page.wait_for_selector("svg[aria-label^='Scatter plot: system-C across, system-A up']")
    assert "Where system-C and system-A differ most by blonde." in page.locator("main").inner_text()


def test_each_list_has_only_documents_that_its_system_wins(look: Look, report: Path, wordy: Path) -> None:  # noqa: F811
    for metric, sign in ((0, 1), (1, -1)):
        page = look(wordy, f"documents?m={metric}&a=1&b=0")
        lists = page.locator("#extremes > div").all()
        deltas = [[sign * number(text) for text in part.locator("td.strong").all_inner_texts()] for part in lists]
        assert [len(values) for values in deltas] == [1, 1] and deltas[0][0] > 0 > deltas[1][0]
        assert [part.locator("tbody th").inner_text() for part in lists] == ["a", "b"]
    page = look(report, "documents")
    values = [number(text) for text in page.locator("#extremes table:first-of-type td.strong").all_inner_texts()]
    assert len(values) == 5 and values == sorted(values, reverse=True) and values[-1] > 0
    assert "system-B wins no document." in page.locator("#extremes").inner_text()
    page.get_by_label("Order").select_option(label="difference of the two")
    first = page.locator("#extremes tbody th").first.inner_text()
    page.wait_for_function(f"document.querySelector('#documents tbody th').textContent === '{first}'")
    page.locator("#documents tbody a").first.click()
    drawn(page, "document")
    assert first in page.locator("h2").inner_text()


def test_documents_are_found_by_name_and_their_labels_are_legible(look: Look, crowded: Path) -> None:  # noqa: F811
    page = look(crowded, "documents")
    labels = page.evaluate("""() => [...document.querySelectorAll("#heatmap .column")].map((label) =>
        ({size: parseFloat(getComputedStyle(label).fontSize), text: label.lastChild.textContent}))""")
    assert len(labels) == 70 and all(label["size"] >= 10 for label in labels)
    assert len({label["text"] for label in labels}) == 70  # shortened, and still apart
    box = page.get_by_label("Find document")
    box.press_sequentially("HARBOUR.006")
    page.wait_for_function("document.querySelectorAll('#heatmap .column').length === 10")
    assert page.locator("#documents tbody tr").count() == 10
    assert page.locator("#said").inner_text() == "10 documents found"
    page.locator("#heatmap").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-doc='59']")
    page.go_back()
    drawn(page, "documents")
    page.get_by_label("Find document").fill("nowhere")
    page.wait_for_selector("text=No document has this in its name.")


def test_steps_and_scores_of_a_document(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    assert page.get_by_role("button", name="Previous document").is_disabled()
    page.get_by_role("button", name="Next document").click()
    page.wait_for_selector("html[data-doc='1']")
    page.get_by_label("Document", exact=True).select_option(label="doc-6")
    page.wait_for_selector("html[data-doc='5']")
    assert page.get_by_role("button", name="Next document").is_disabled()
    page.locator("text=Scores of this document").click()
    table = page.evaluate("load('metric0')")["doc"]
    shown = page.locator(".docscores tbody tr").first.locator("td").all_inner_texts()
    assert [float(text) for text in shown] == pytest.approx([table[0][5], table[1][5]], abs=0.006)
    page.get_by_role("button", name="system-C").click()
    page.wait_for_selector("#texts thead bdi:text-is('system-C')")
    page.get_by_role("button", name="system-A").click()
    page.wait_for_selector("#texts thead bdi:text-is('system-A')", state="detached")
    assert "show=1,2" in page.url
