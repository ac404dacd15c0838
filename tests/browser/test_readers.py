"""Everyone can read it: accessibility checked by axe, keyboard alone, right-to-left and CJK."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import PHONE, Look, report_of, violations
from wholetext.io import Loaded
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
NAMED = "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation(look: Look, report: Path, axe: str, scheme: str) -> None:
    for where in ("leaderboard?base=1", "documents", "documents?raw=1", "document?s=1", "document?diff=1",
                  "compare?m=4"):  # fmt: skip
        page = look(report, where, color_scheme=scheme)
        if where.startswith("leaderboard"):
            page.get_by_role("button", name="About chrf").click()
            page.wait_for_selector(".pop:popover-open .signature")
        assert violations(page, axe, scheme) == [], where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation_in_studies(look: Look, studies: Path, axe: str, scheme: str) -> None:
    page = look(studies, color_scheme=scheme)
    for number in range(4):
        page.locator("nav a").nth(number).click()
        page.wait_for_selector(f"html[data-page=study{number}]")
        page.locator("summary").first.click()
        assert violations(page, axe, scheme) == [], number


def test_keyboard_alone_reaches_everything(look: Look, report: Path) -> None:
    page = look(report)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(NAMED))
    for wanted in ("Skip to content", "Leaderboard", "Compare", "Colours: automatic", "system-A", "About chrf"):
        assert wanted in seen
    page.keyboard.press("Shift+Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_right_to_left_and_unspaced_scripts(look: Look, tmp_path: Path, artefacts: Path) -> None:
    arabic = ("وصلت العبارة إلى الميناء صباحًا.", "قال 42 ABC ثم مضى.")
    chinese = ("渡轮早上到达港口。", "她说完就走了。")
    corpus = Corpus("scripts", ("zh", "ar"), (Document("d", chinese, {"human": arabic}),))
    outputs = [Output("s", {"d": arabic}), Output("t", {"d": arabic[::-1]})]
    page = look(report_of(Loaded(corpus, outputs), tmp_path / "report.html", "chrf"), "document")
    assert page.locator("td.ref .text").first.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("td.src .text").first.evaluate("node => getComputedStyle(node).direction") == "ltr"
    assert page.locator("td.src .text").first.get_attribute("lang") == "zh"
    assert page.locator("td.hyp .text").first.inner_text() == arabic[0]
    chip, text = (page.locator(f"td.hyp {one}").first.bounding_box() for one in (".chipscore", ".text"))
    assert chip["x"] + chip["width"] == pytest.approx(text["x"] + text["width"], abs=1)  # where the text begins
    page.screenshot(path=artefacts / "scripts.png", full_page=True)


@pytest.mark.parametrize("where", ["leaderboard", "documents", "document?s=1&diff=2", "compare"])
def test_phones_show_every_page_within_their_width_and_axe_agrees(
    where: str, look: Look, report: Path, request: pytest.FixtureRequest
) -> None:
    page = look(report, where, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if page.locator("nav summary").count():
        page.locator("nav summary").click()
    assert violations(page, request.getfixturevalue("axe"), "light") == []
