"""`wholetext demo` with the metrics that are installed here ends with a report that is small and works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Look
from wholetext.cli.main import main
from wholetext.scoring.evaluate import demo_metrics

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def demo(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "run"
    try:
        main(["demo", "--out", str(folder)])
    except SystemExit as end:
        assert not end.code
    return folder / "report.html"


def test_the_demo_ends_with_a_report(demo: Path, look: Look, artefacts: Path) -> None:
    assert demo.stat().st_size <= 3e6
    page = look(demo)
    assert page.locator("#leaderboard thead .metric").count() == len(demo_metrics())
    assert page.locator("#leaderboard tbody tr").count() == 4
    assert "suspicious" in page.locator("#leaderboard tr", has_text="loopy").inner_text()
    page.screenshot(path=artefacts / "demo-leaderboard.png", full_page=True)


def test_a_document_of_the_demo(demo: Path, look: Look, artefacts: Path) -> None:
    page = look(demo, "document?d=0")
    assert page.locator("tr.segment").count() == 9
    if "blonde" in demo_metrics():
        for kind in ("matched", "extra", "missing"):
            assert page.locator(f"td .unit.{kind}").count() > 0
        assert re.search(r"pronoun\s*\d+ matched", page.locator("fieldset.chips").last.inner_text())
    page.keyboard.press("d")
    page.wait_for_selector("tr.detail")
    page.screenshot(path=artefacts / "demo-document.png", full_page=True)
