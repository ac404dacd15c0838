"""The page of documents: heat-map, scatter plot, distribution, extremes, table; by mouse, by keyboard, by name."""

from __future__ import annotations

from collections.abc import Callable
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
