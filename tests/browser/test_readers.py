"""Everyone can read it: accessibility checked by axe, keyboard alone, right-to-left and CJK, pages of studies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import study_files

from wholetext.evaluate import Options, evaluate
from wholetext.report import analyse, read_study, write_report
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


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    found = study_files.make(folder)
    files = [found["meta"] / "meta.json", found["windows"] / "grid.json", found["contexts"] / "grid.json",
             found["contrast"] / "contrast.json"]  # fmt: skip
    write_report(None, [read_study(file) for file in files], folder / "report.html")
    return folder / "report.html"


def violations(page: Any, axe: str, rules: str = "") -> list[str]:
    page.evaluate(axe)
    only = f"runOnly: ['{rules}'], " if rules else ""
    found = page.evaluate(f"axe.run(document, {{ {only}resultTypes: ['violations'] }})")
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]
            if one["impact"] in ("serious", "critical")]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation(look: Look, report: Path, axe: str, scheme: str) -> None:
    for where in ("leaderboard?base=1", "documents", "document?s=1", "compare?m=4"):
        page = look(report, where, color_scheme=scheme)
        rules = "color-contrast" if scheme == "dark" else ""  # nothing else differs
        assert violations(page, axe, rules) == [], where


def test_no_serious_violation_in_studies(look: Look, studies: Path, axe: str) -> None:
    for number in range(4):
        assert violations(look(studies, f"study{number}"), axe) == []


def test_pages_of_studies(look: Look, studies: Path, artefacts: Path) -> None:
    page = look(studies)
    names = page.locator("nav a").all_inner_texts()
    assert names == ["Meta-evaluation", "Sweep of chrf", "Sweep of chrf", "Contrast: set"]
    for number, wanted in enumerate((".study .rank", "svg text.cell", "polyline.dashed", "line.reach")):
        page.locator("nav a").nth(number).click()
        page.wait_for_selector(f"html[data-page=study{number}]")
        page.wait_for_selector(wanted, state="attached")
        page.screenshot(path=artefacts / f"study-{number}.png", full_page=True)
        page.locator("summary").first.click()
        assert page.locator("details[open] table tbody tr").count() > 0
    page.locator("nav a").nth(2).click()
    page.wait_for_selector("html[data-page=study2]")
    curve = page.locator("svg[aria-roledescription=chart]").first
    curve.focus()
    page.keyboard.press("ArrowRight")
    assert "segments of context 0" in page.locator("#said").inner_text()


def test_keyboard_alone_reaches_everything(look: Look, report: Path) -> None:
    page = look(report)
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(NAMED))
    for wanted in ("Skip to content", "Leaderboard", "Compare", "Colours: automatic", "system-A", "Signature of chrf"):
        assert wanted in seen
    page.keyboard.press("Shift+Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_right_to_left_and_unspaced_scripts(look: Look, tmp_path: Path, artefacts: Path) -> None:
    arabic = ("وصلت العبارة إلى الميناء صباحًا.", "قال 42 ABC ثم مضى.")
    chinese = ("渡轮早上到达港口。", "她说完就走了。")
    corpus = Corpus("scripts", ("zh", "ar"), (Document("d", chinese, {"human": arabic}),))
    outputs = [Output("s", {"d": arabic}), Output("t", {"d": arabic[::-1]})]
    run = evaluate(corpus, outputs, ["chrf"], Options(cache=False))
    write_report(analyse(run), [], tmp_path / "report.html")
    page = look(tmp_path / "report.html", "document")
    assert page.locator("td.ref .text").first.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert page.locator("td.src .text").first.evaluate("node => getComputedStyle(node).direction") == "ltr"
    assert page.locator("td.src .text").first.get_attribute("lang") == "zh"
    assert page.locator("td.hyp .text").first.inner_text() == arabic[0]
    page.screenshot(path=artefacts / "scripts.png", full_page=True)
