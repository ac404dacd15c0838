"""The page of a stress test: heat-maps with intervals, examples with what differs marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.browser.conftest import Look, violations
from wholetext.demo import load
from wholetext.scoring.evaluate import Options

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def stressed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus, outputs = load("de-en")
    settings = wt.stress.StressOptions(("swap", "drop", "number", "resegment"), ("1", "all"), draws=20)
    folder = tmp_path_factory.mktemp("stress") / "run"
    wt.stress.write_stress(
        wt.stress.stress(corpus, outputs, ["chrf", "whole:chrf"], settings, Options(cache=False)), folder
    )
    return wt.report(folder)[0]


def test_heat_maps_and_examples(look: Look, stressed: Path) -> None:
    found = json.loads((stressed.parent / "stress.json").read_text("utf-8"))
    page = look(stressed)
    page.locator("nav a", has_text="Stress test").click()
    page.wait_for_selector("main h2:text-is('Stress test')")
    sections = page.locator("section", has=page.locator("svg.chart"))
    assert [one.locator("text.cell").count() for one in sections.all()] == [6, 2, 8]
    notes = page.locator(".care li").all_inner_texts()
    assert notes == found["notes"]
    rows = page.locator("table.examples tbody tr")
    assert rows.count() >= 8
    for row in rows.all():
        assert row.locator("mark").count() >= 2  # before and after
    gone = page.locator("table.examples tr", has=page.locator("bdi:text-is('drop')")).first.locator("td").last
    assert gone.inner_text() == "∅"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it(look: Look, stressed: Path, axe: str, scheme: str) -> None:
    page = look(stressed, color_scheme=scheme)
    page.locator("nav a", has_text="Stress test").click()
    page.wait_for_selector("main h2:text-is('Stress test')")
    assert violations(page, axe, scheme) == []
