"""The document view: texts, colours, marks, context, windows, cuts, keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Look

pytestmark = pytest.mark.browser


def chosen(page: Any) -> int:
    return int(page.locator("tr.chosen").get_attribute("data-segment"))


def detail(page: Any) -> dict[str, list[list[str]]]:
    """Metric → its lines in the open segment."""
    found: dict[str, list[list[str]]] = {}
    name = ""
    for row in page.locator("tr.detail tbody tr").all():
        name = row.locator("th").inner_text() or name
        found.setdefault(name, []).append([text.strip() for text in row.locator("td").all_inner_texts()])
    return found


def test_texts_stand_side_by_side(look: Look, report: Path, artefacts: Path) -> None:
    page = look(report, "document?d=0")
    heads = page.locator("#texts thead th").all_inner_texts()
    assert [head.split("\n")[-1] for head in heads] == ["#", "Source", "Reference", "system-A", "system-B"]
    block = page.evaluate("documentBlock(0)")
    for at, row in enumerate(page.locator("#texts tr.segment").all()):
        shown = [cell.locator(".text").inner_text() for cell in row.locator("td").all()]
        assert shown == [block["src"][at], block["refs"][0][at], block["out"][0][at], block["out"][1][at]]
    page.screenshot(path=artefacts / "document.png", full_page=True)


def test_colour_by_score_and_by_gain(look: Look, report: Path) -> None:
    page = look(report, "document?d=1")
    values = page.locator("td.hyp .chipscore .value").all_inner_texts()
    block = page.evaluate("documentBlock(1)")
    assert float(values[0]) == pytest.approx(block["rows"][0]["v"][0][0], abs=0.006)
    page.get_by_label("Colour by").select_option(label="gain by context: doc-bertscore")
    page.wait_for_function("document.querySelector('.chipscore .value').textContent.match(/^[+−]0/)")
    page.get_by_label("Colour by").select_option(label="nothing")
    page.wait_for_selector(".chipscore", state="detached")


def test_a_segment_opens_all_its_scores(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    page.get_by_role("button", name="Segment 2: scores").click()
    rows = detail(page)
    assert set(rows) == {"chrf", "bleu", "slide(size=3,step=1):chrf", "ter", "blonde", "bertscore", "doc-bertscore",
                         "comet@xcomet"}  # fmt: skip
    assert [line[0] for line in rows["slide(size=3,step=1):chrf"]] == ["segments 1–3", "segments 2–4"]
    assert page.locator("tr.detail .strip").count() == 2
    assert rows["blonde"][0][0] == "whole document"
    without, read, gain = rows["doc-bertscore"]
    assert [line[0] for line in (without, read, gain)] == ["without context", "with context", "gain"]
    assert without[1:] == rows["bertscore"][0][1:]
    shown = [float(cell.replace("−", "-")) for cell in (without[1], read[1], gain[1])]
    assert shown[1] - shown[0] == pytest.approx(shown[2], abs=2e-4)
    page.keyboard.press("Escape")
    page.wait_for_selector("tr.detail", state="detached")


def test_units_are_marked_by_category(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    block = page.evaluate("documentBlock(0)")
    units = [unit for system in (0, 1) for unit in block["marks"][4][system]["units"]]
    ours = [unit for unit in units if unit[0] == -1]
    assert page.locator("td.hyp .text .unit.matched").count() == sum(unit[6] for unit in ours)
    assert page.locator("td.hyp .text .unit.extra").count() == sum(1 - unit[6] for unit in ours)
    missing = [unit for unit in units if unit[0] == 0 and not unit[6]]
    assert page.locator("td.hyp .misses .missing").count() == len(missing) > 0
    assert page.locator("td.ref .unit.missing").count() == len({tuple(unit[1:5]) for unit in missing})
    assert "missing in" in page.locator("td.ref .unit.missing").first.get_attribute("title")
    page.get_by_role("button", name="pronoun").click()
    page.wait_for_function("!document.querySelector('.text .c1')")
    assert page.locator(".text .c0").count() > 0  # other categories stay
    page.get_by_role("button", name="pronoun").click()
    page.wait_for_selector(".text .c1")


def test_errors_and_what_was_cut(look: Look, report: Path) -> None:
    page = look(report, "document?d=0&s=1")
    error = page.locator("#segment2 td.hyp .error.major").first
    block = page.evaluate("documentBlock(0)")
    assert error.inner_text() == block["out"][0][1][4:11].strip()
    assert "major error, confidence 0.75" in page.locator("tr.detail .found").inner_text()
    gone = page.locator("#segment1 td.hyp s.gone").first
    assert "line-through" in gone.evaluate("node => getComputedStyle(node).textDecorationLine")
    struck = "".join(page.locator("#segment1 td.hyp").first.locator("s.gone").all_inner_texts())
    assert struck == block["out"][0][0][20:]
    page.get_by_role("button", name="Segment 1: scores").click()
    assert "7 scored tokens and 3 context tokens did not fit" in page.locator("tr.detail .found").inner_text()


def test_keyboard(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    page.keyboard.press("n")
    page.wait_for_selector("html[data-doc='1']")
    page.keyboard.press("p")
    page.wait_for_selector("html[data-doc='0']")
    page.keyboard.press("p")  # there is none before
    for key, want in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert chosen(page) == want
    assert "s=1" in page.url


def test_systems_can_be_shown_and_hidden(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    page.get_by_role("button", name="system-C").click()
    page.wait_for_selector("#texts thead bdi:text-is('system-C')")
    page.get_by_role("button", name="system-A").click()
    page.wait_for_selector("#texts thead bdi:text-is('system-A')", state="detached")
    assert "show=1,2" in page.url
    assert page.locator("td.hyp em.empty").count() == 1  # system-C left the first segment out
    assert "⚠ empty" in page.locator(".below .fault").all_inner_texts()


def test_jump_to_the_largest_difference(look: Look, report: Path) -> None:
    page = look(report, "document?d=2")
    rows = page.evaluate("documentBlock(2)")["rows"][0]["v"]
    order = sorted(range(5), key=lambda i: -abs(rows[0][i] - rows[1][i]))
    page.keyboard.press("d")
    assert chosen(page) == order[0]
    page.get_by_role("button", name="Largest difference").click()
    assert chosen(page) == order[1]


def test_steps_and_scores_of_the_document(look: Look, report: Path) -> None:
    page = look(report, "document?d=0")
    assert page.get_by_role("button", name="Previous document").is_disabled()
    page.get_by_role("button", name="Next document").click()
    page.wait_for_selector("html[data-doc='1']")
    page.get_by_label("Document", exact=True).select_option(label="doc-6")
    page.wait_for_selector("html[data-doc='5']")
    assert page.get_by_role("button", name="Next document").is_disabled()
    page.locator("text=Scores of this document").click()
    table = page.evaluate("load('metric0')")
    shown = page.locator(".docscores tbody tr").first.locator("td").all_inner_texts()
    assert [float(text) for text in shown] == pytest.approx([table["doc"][0][5], table["doc"][1][5]], abs=0.006)
