"""Everyone can read it: accessibility checked by axe, keyboard alone, right-to-left and CJK."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wholetext.io import Loaded
from wholetext.reporting import analyse, write_report
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
Look = Callable[..., Any]
NAMED = "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()"
AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (npm install --no-save axe-core)")
    return AXE.read_text("utf-8")


def violations(page: Any, axe: str, scheme: str) -> list[str]:
    """What axe calls serious or critical. Dark pages are checked for contrast: nothing else differs."""
    page.evaluate(axe)
    only = "runOnly: ['color-contrast'], " if scheme == "dark" else ""
    found = page.evaluate(f"axe.run(document, {{ {only}resultTypes: ['violations'] }})")
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]
            if one["impact"] in ("serious", "critical")]  # fmt: skip


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
    run = score(Loaded(corpus, outputs), ["chrf"], options=Options(cache=False))
    write_report(analyse(run), [], tmp_path / "report.html")
    page = look(tmp_path / "report.html", "document")
    assert page.locator("td.ref .text").first.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("td.src .text").first.evaluate("node => getComputedStyle(node).direction") == "ltr"
    assert page.locator("td.src .text").first.get_attribute("lang") == "zh"
    assert page.locator("td.hyp .text").first.inner_text() == arabic[0]
    chip, text = (page.locator(f"td.hyp {one}").first.bounding_box() for one in (".chipscore", ".text"))
    assert chip["x"] + chip["width"] == pytest.approx(text["x"] + text["width"], abs=1)  # where the text begins
    page.screenshot(path=artefacts / "scripts.png", full_page=True)


def test_no_serious_violation_on_a_phone(look: Look, report: Path, axe: str) -> None:
    for where in ("leaderboard", "documents", "document?s=1&diff=2", "compare"):
        page = look(report, where, viewport={"width": 390, "height": 844})
        if page.locator("nav summary").count():
            page.locator("nav summary").click()
        assert violations(page, axe, "light") == [], where
