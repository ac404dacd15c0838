"""Twenty systems on two thousand segments: how long the page takes, measured inside the browser; sampling beyond."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Look
from tests.reporting.report_material import big_run
from wholetext.reporting import Significance, analyse, write_report

pytestmark = pytest.mark.browser
ROUNDS = 4  # the best counts: a busy machine delays a page, it never speeds it up
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
    write_report(analyse(big_run(), testing=Significance("bootstrap", draws=200)), [], path)
    return path


def turns(page: Any, first: int) -> list[float]:
    """How long each of the next twenty documents took."""
    found = []
    for at in range(first, first + 20):
        page.wait_for_timeout(60)  # a reader looks at a document before turning to the next
        found.append(page.evaluate(TURN, at))
    return found


def crowding() -> float:
    """How many times longer than its own work a task takes now: 1 where nothing else runs."""
    began, worked = time.perf_counter(), time.process_time()
    while time.process_time() - worked < 0.3:
        pass
    return (time.perf_counter() - began) / 0.3


def test_it_opens_and_turns_quickly(look: Look, large: Path, artefacts: Path) -> None:
    opened: list[float] = []
    while not opened or (min(opened) > 1500 and len(opened) < ROUNDS):
        page = look(large)
        opened.append(page.evaluate("performance.getEntriesByName('shown')[0].startTime"))
    assert page.locator("#leaderboard tbody tr").count() == 20
    page.locator("nav").get_by_role("link", name="Document view").click()
    page.wait_for_selector("html[data-page=document]")
    rounds: list[list[float]] = []
    while not rounds or (statistics.median(rounds[-1]) > 100 and len(rounds) < ROUNDS):
        rounds.append(turns(page, 1 + 20 * len(rounds)))
    best = min(rounds, key=statistics.median)
    figures = (f"20 systems x 2,000 segments: {large.stat().st_size / 1e6:.1f} MB; leaderboard shown after "
               f"{min(opened):.0f} ms (limit 1,500); next document after {statistics.median(best):.0f} ms "
               f"(median of 20; 9 in 10 within {sorted(best)[17]:.0f} ms; limit 100)")  # fmt: skip
    print(figures)
    (artefacts / "timing.txt").write_text(figures + "\n", "utf-8")
    if min(opened) > 1500 or statistics.median(best) > 100:
        if (crowd := crowding()) > 1.5:
            pytest.skip(f"other work makes this machine {crowd:.1f} times slower, times are not judged: {figures}")
        pytest.fail(figures)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten thousand segments: more than go into a file unless asked for."""
    path = tmp_path_factory.mktemp("sampled") / "report.html"
    run = big_run(documents=500, segments=20, systems=2)
    write_report(analyse(run, testing=Significance("bootstrap", draws=50)), [], path)
    return path


def test_ten_thousand_segments_are_sampled_and_the_page_says_so(look: Look, sampled: Path) -> None:
    assert sampled.stat().st_size < 3e6
    page = look(sampled)
    care = page.locator("#care").inner_text()
    assert "Texts of 250 of 500 documents are in this file (5,000 of 10,000 segments)" in care
    assert "Scores, charts and tests use all documents." in care
    held = page.evaluate("head.docs.filter((doc) => doc[2] >= 0).length")
    assert held == 250
    absent = page.evaluate("head.docs.findIndex((doc) => doc[2] < 0)")
    other = look(sampled, f"document?d={absent}")
    assert "The text of this document is not in the file." in other.locator("main").inner_text()
    assert other.locator("nav a").count() == 4
    other.keyboard.press("j")  # there is no segment to go to, and no error either
    other.keyboard.press("d")
    other.keyboard.press("n")
    other.wait_for_selector(f"html[data-doc='{absent + 1}']")


def test_a_long_document_is_drawn_as_one_reads(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    run = big_run(documents=1, segments=700, systems=2)
    write_report(analyse(run, testing=Significance("bootstrap", draws=50)), [], path)
    page = look(path, "document")
    assert page.locator("tr.segment").count() < 300
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("document.querySelectorAll('tr.segment').length > 100")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # paper has no end to scroll to: it gets all of them
    page.wait_for_function("document.querySelectorAll('tr.segment').length === 700")
    other = look(path, "document?s=650")
    assert other.locator("tr.chosen").get_attribute("data-segment") == "650"


def test_the_heat_map_of_many_documents_is_drawn(look: Look, large: Path, artefacts: Path) -> None:
    page = look(large, "documents")
    paths = page.locator("#heatmap path")
    cells = sum(path.get_attribute("d").count("M") for path in paths.all())
    assert cells == 20 * 100 and paths.count() <= 49  # one per shade
    page.screenshot(path=artefacts / "large-documents.png", full_page=True)
    page.locator("#documents a").nth(3).click()
    page.wait_for_selector("html[data-page=document]")


def test_many_documents_are_listed_page_by_page(look: Look, sampled: Path) -> None:
    tables = look(sampled, "documents")
    assert tables.locator("#documents tbody tr").count() == 50
    assert tables.get_by_role("button", name="Earlier documents").is_disabled()
    tables.get_by_role("button", name="Later documents").click()
    tables.wait_for_selector("text=51–100 of 500")
    tables.get_by_role("button", name="Earlier documents").click()
    tables.wait_for_selector("text=1–50 of 500")
