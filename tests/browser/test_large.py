"""Twenty systems on two thousand segments: how long the page takes, measured inside the browser; sampling beyond."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_material import big_run

from wholetext.report import Choices, Significance, analyse, write_report

pytestmark = pytest.mark.browser
Look = Callable[..., Any]
TURN = """async (at) => {
    const began = performance.now();
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
    while (document.documentElement.dataset.doc !== String(at)) await new Promise((done) => setTimeout(done, 0));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));  // laid out and painted
    return performance.now() - began;
}"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "report.html"
    write_report(analyse(big_run(), testing=Significance(resamples=200)), [], path)
    return path


def test_it_opens_and_turns_quickly(look: Look, large: Path, artefacts: Path) -> None:
    page = look(large)
    opened = page.evaluate("performance.getEntriesByName('shown')[0].startTime")
    assert len(page.locator("#leaderboard tbody tr").all()) == 20
    page.locator("nav").get_by_role("link", name="Document view").click()
    page.wait_for_selector("html[data-page=document]")
    turns = []
    for at in range(1, 31):
        page.wait_for_timeout(60)  # a reader looks at a document before turning to the next
        turns.append(page.evaluate(TURN, at))
    middle, worst = statistics.median(turns), sorted(turns)[26]
    size = large.stat().st_size / 1e6
    figures = (f"20 systems x 2,000 segments: {size:.1f} MB, leaderboard after {opened:.0f} ms, "
               f"next document after {middle:.0f} ms (median of 30; 9 in 10 within {worst:.0f} ms)")  # fmt: skip
    print(figures)
    (artefacts / "timing.txt").write_text(figures + "\n", "utf-8")
    assert opened <= 1500
    assert middle <= 100


def test_the_heat_map_of_many_documents_is_drawn(look: Look, large: Path) -> None:
    page = look(large, "documents")
    paths = page.locator("#heatmap path")
    cells = sum(path.get_attribute("d").count("M") for path in paths.all())
    assert cells == 20 * 100 and paths.count() <= 25
    page.locator("#documents a").nth(3).click()
    page.wait_for_selector("html[data-page=document]")


def test_documents_that_are_not_in_the_file_say_so(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "sampled.html"
    run = big_run(documents=120, segments=4, systems=2)
    write_report(analyse(run, testing=Significance(resamples=50)), [], path, Choices(segments=100))
    page = look(path)
    assert "of 120 documents are in this file" in page.locator("#care").inner_text()
    absent = page.evaluate("head.docs.findIndex((doc) => doc[2] < 0)")
    other = look(path, f"document?d={absent}")
    assert "The text of this document is not in the file." in other.locator("main").inner_text()
    assert other.locator("nav a").count() == 4
    tables = look(path, "documents")
    assert len(tables.locator("#documents tbody tr").all()) == 50
    tables.get_by_role("button", name="Later documents").click()
    tables.wait_for_selector("text=51–100 of 120")


def test_a_long_document_is_drawn_as_one_reads(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    run = big_run(documents=1, segments=700, systems=2)
    write_report(analyse(run, testing=Significance(resamples=50)), [], path)
    page = look(path, "document")
    assert page.locator("tr.segment").count() < 300
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("document.querySelectorAll('tr.segment').length > 100")
    other = look(path, "document?s=650")
    assert other.locator("tr.chosen").get_attribute("data-segment") == "650"
