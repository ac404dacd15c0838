"""Every interaction of the report, clicked and looked at in a browser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Look

pytestmark = pytest.mark.browser


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
    rows = page.locator("#leaderboard tbody tr")
    assert rows.first.locator("th .rank").inner_text() == "#1"
    # the line below a score is the interval of the difference to the best: the best itself has zero only
    best = page.evaluate("head.metrics.map((metric) => metric.best)")
    assert page.locator("#leaderboard td .difference .zero").count() == 24
    assert page.locator("#leaderboard td .difference .reach").count() == 24 - len(best)
    care = page.locator("#care").inner_text()
    for said in ("6 documents only", "made by hand", "doc-bertscore: scored text was cut", "system-C: no text"):
        assert said in care
    page.screenshot(path=artefacts / "leaderboard.png", full_page=True)
    page.locator("text=notes to read").click()
    assert page.evaluate("document.activeElement.id") == "care"


def test_a_click_makes_a_system_the_baseline(look: Look, report: Path) -> None:
    page = look(report)
    assert "the best system of each metric" in page.locator(".legend").inner_text()
    page.get_by_role("button", name="system-C", exact=True).click()
    page.wait_for_selector("th.baseline")
    assert "better or worse than system-C" in page.locator(".legend").inner_text()
    assert "over the 2 comparisons with it" in page.locator(".legend").inner_text()
    row = page.locator("#leaderboard tr", has_text="system-C").locator("td .mark").all_inner_texts()
    assert set(row) == {"="}
    assert page.evaluate("document.activeElement.textContent") == "system-C"  # the focus stays
    page.get_by_role("button", name="system-C", exact=True).click()
    page.wait_for_selector("th.baseline", state="detached")


def test_baseline_marks_follow_the_p_values_in_the_file(look: Look, report: Path) -> None:
    page = look(report, "leaderboard?base=2")
    head = page.evaluate("load('head')")
    marks = page.locator("#leaderboard tbody tr").all()
    for row in marks:
        system = int(row.get_attribute("data-system"))
        for metric, cell in zip(head["metrics"], row.locator("td").all()):
            delta = metric["score"][system] - metric["score"][2]
            p = metric["holmBase"][2][system]
            mark = "▲" if (delta > 0) == metric["higher"] else "▼"
            want = "=" if system == 2 else mark if p is not None and p <= 0.05 else ""
            assert cell.locator(".mark").inner_text() == want


def test_metric_header_sorts_and_shows_its_signature(look: Look, report: Path) -> None:
    page = look(report)
    page.locator("#leaderboard th .sort").nth(3).click()
    page.wait_for_selector("th[aria-sort=ascending]")
    ter = [float(value) for value in texts(page, "#leaderboard tbody td:nth-child(5) .value")]
    assert ter == sorted(ter)
    page.get_by_role("button", name="About chrf").click()
    page.wait_for_selector(".pop:popover-open .signature")
    shown = page.locator(".pop:popover-open").inner_text()
    assert "char_order" in shown and "sacrebleu" in shown and "Test: test:randomization" in shown
    page.get_by_role("button", name="Close").click()
    page.wait_for_selector(".pop:popover-open", state="detached")


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


def test_heat_map_by_keyboard(look: Look, report: Path) -> None:
    page = look(report, "documents")
    page.locator("#heatmap").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#said").inner_text().startswith("doc-2, system-B")
    page.keyboard.press("Enter")
    drawn(page, "document")
    assert "doc-2" in page.locator("h2").inner_text()


def test_another_metric_and_another_pair(look: Look, report: Path) -> None:
    page = look(report, "documents")
    page.get_by_label("Metric").select_option(label="blonde")
    page.wait_for_selector("svg[aria-label='Heat-map of blonde: systems by documents']")
    page.get_by_label("Second").select_option(label="system-C")
    page.wait_for_selector("svg[aria-label^='Scatter plot: system-A across, system-C up']")
    page.get_by_role("button", name="Swap the two systems").click()
    page.wait_for_selector("svg[aria-label^='Scatter plot: system-C across, system-A up']")
    assert "Where system-C and system-A differ most by blonde." in page.locator("main").inner_text()


def test_scatter_and_distribution_open_documents(look: Look, report: Path) -> None:
    for chart in ("Scatter plot", "Distribution"):
        page = look(report, "documents", viewport={"width": 1280, "height": 2400})
        node = page.locator(f"svg[aria-label^='{chart}']")
        node.focus()
        page.keyboard.press("ArrowRight")
        name = page.locator("#said").inner_text().split(",")[0]
        dot = node.locator("circle.cursor").bounding_box()
        page.keyboard.press("Enter")
        drawn(page, "document")
        assert name in page.locator("h2").inner_text()
        page.go_back()
        drawn(page, "documents")
        page.evaluate("scrollTo(0, 0)")
        page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
        assert name in page.locator("#tip").inner_text()
        page.mouse.click(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
        drawn(page, "document")
        assert name in page.locator("h2").inner_text()


def test_best_and_worst_documents_and_the_table(look: Look, report: Path) -> None:
    page = look(report, "documents")
    deltas = [float(text.replace("−", "-")) for text in texts(page, "#extremes table:first-of-type td.strong")]
    assert len(deltas) == 5 and deltas == sorted(deltas, reverse=True) and deltas[-1] > 0
    assert "system-B wins no document." in page.locator("#extremes").inner_text()
    assert "The first 5 of 6 documents it wins." in page.locator("#extremes").inner_text()
    assert len(texts(page, "#documents tbody tr")) == 6
    page.get_by_label("Order").select_option(label="difference of the two")
    first = texts(page, "#extremes tbody th")[0]  # system-A is better everywhere: the largest difference is its best
    page.wait_for_function(f"document.querySelector('#documents tbody th').textContent === '{first}'")
    page.locator("#documents tbody a").first.click()
    drawn(page, "document")
    assert first in page.locator("h2").inner_text()
    page.go_back()
    drawn(page, "documents")
    page.locator("#extremes a").last.click()
    drawn(page, "document")


def test_the_table_of_documents_is_coloured_as_the_heat_map(look: Look, report: Path) -> None:
    page = look(report, "documents?m=3")  # TER, whose scores are better the lower they are
    read = """() => [...document.querySelectorAll("#documents tbody tr")].map((row) =>
        [...row.querySelectorAll(".tinted")].map((cell) =>
            [parseFloat(cell.textContent), ...cell.style.backgroundColor.match(/\\d+/g).map(Number)]))"""
    for row in page.evaluate(read):
        best, worst = min(row), max(row)
        assert best[0] == worst[0] or best[3] - best[1] > worst[3] - worst[1]  # blue less red
    before = page.evaluate(read)
    page.get_by_label("Colour", exact=True).select_option(label="raw scores")
    page.wait_for_function("document.querySelector('#heatmap text.cell').textContent.match(/^[0-9]/)")
    cells = sorted(cell for row in page.evaluate(read) for cell in row)
    assert page.evaluate(read) != before
    assert all(more[1] <= less[1] for less, more in pairwise(cells))  # one ramp: the higher, the darker


def test_every_page_by_its_tab_and_back(look: Look, report: Path) -> None:
    page = look(report)
    for name in ("Documents", "Document view", "Compare", "Leaderboard"):
        page.locator("nav").get_by_role("link", name=name, exact=True).click()
        page.wait_for_selector(f"nav a[aria-current=page]:text-is('{name}')")
        assert page.title().startswith(name)
    page.go_back()
    page.wait_for_selector("nav a[aria-current=page]:text-is('Compare')")


@pytest.mark.parametrize(("where", "shown"), [
    *((name, "#leaderboard") for name in ("nothing?m=99&d=-5", "constructor", "__proto__", "hasOwnProperty?m=1")),
    ("document?m=99&d=77&s=1000&show=9,0", "h2:has-text('doc-1')"), ("compare?a=1&b=1", "text=two different systems"),
])  # fmt: skip
def test_addresses_of_nonsense_show_a_page(where: str, shown: str, look: Look, report: Path) -> None:
    assert look(report, where).locator(shown).count() == 1
