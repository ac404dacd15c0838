"""Layout and navigation: tabs, addresses, phones, paper, long names, signs, and every study on its page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_readers import axe, violations  # noqa: F401 (fixture)
from tests.browser.test_report_parts import crowded, wordy  # noqa: F401 (fixtures)
from tests.browser.test_stress_page import stressed  # noqa: F401 (fixture)
from wholetext.io import Loaded
from wholetext.reporting import analyse, write_report
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
Look = Callable[..., Any]
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize(("where", "shown"), [
    *((name, "#leaderboard") for name in ("nothing?m=99&d=-5", "constructor", "__proto__", "hasOwnProperty?m=1")),
    ("document?m=99&d=77&s=1000&show=9,0", "h2:has-text('doc-1')"), ("compare?a=1&b=1", "text=two different systems"),
])  # fmt: skip
def test_addresses_of_nonsense_show_a_page(where: str, shown: str, look: Look, report: Path) -> None:
    assert look(report, where).locator(shown).count() == 1


@pytest.mark.parametrize("where", ["leaderboard", "documents", "document?s=1&diff=2", "compare"])
def test_phones_show_every_page_within_their_width_and_axe_agrees(
    where: str, look: Look, report: Path, request: pytest.FixtureRequest
) -> None:
    page = look(report, where, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    if page.locator("nav summary").count():
        page.locator("nav summary").click()
    assert violations(page, request.getfixturevalue("axe"), "light") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_the_stress_test(look: Look, stressed: Path, axe: str, scheme: str) -> None:  # noqa: F811
    page = look(stressed, color_scheme=scheme)
    page.locator("nav a", has_text="Stress test").click()
    page.wait_for_selector("main h2:text-is('Stress test')")
    assert violations(page, axe, scheme) == []


def test_names_stay_in_sight(look: Look, crowded: Path) -> None:  # noqa: F811
    page = look(crowded, "documents", viewport=PHONE)
    before = page.locator(".heat .names").bounding_box()
    page.evaluate("document.querySelector('.scroller.wide').scrollLeft = 500")
    assert page.locator(".heat .names").bounding_box()["x"] == pytest.approx(before["x"], abs=1)
    assert page.locator("#heatmap").bounding_box()["x"] < -200
    page = look(crowded, "document?d=0&show=0,1,2", viewport={"width": 1280, "height": 500})
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'; scrollTo(0, document.body.scrollHeight)")
    bar, name = page.locator(".top").bounding_box(), page.locator("#texts thead th.hyp").first.bounding_box()
    assert name["y"] == pytest.approx(bar["y"] + bar["height"], abs=1.5)
    assert page.locator("#segment1").bounding_box()["y"] < name["y"]  # scrolled away, the names are not


def test_every_table_can_be_saved_and_differences_have_real_minus_signs(look: Look, crowded: Path) -> None:  # noqa: F811
    negative = 0
    for where in ("leaderboard", "documents", "document?d=0&s=0", "compare?a=4&b=0", "study0", "study1", "study3"):
        page = look(crowded, where)
        tables = page.locator("#page table").count()
        assert tables and page.locator(".export button").count() == tables, where
        shown = page.locator("td.num, svg text.cell, svg .label").all_text_contents()
        assert not [text for text in shown if re.match(r"\s*-\d", text)], where
        negative += sum("−" in text for text in shown)
    assert negative > 10


def test_names_with_control_characters_are_shown_by_their_codes(look: Look, tmp_path: Path) -> None:
    evil = "\x1b[31m\u202elive\u2066\x9b"
    doc = Document(f"doc{evil}", ("a b c",), {f"ref{evil}": ("a b d",)})
    outputs = [Output(f"{kind}{evil}", {doc.id: (f"a {kind}",)}) for kind in ("one", "two")]
    run = score(Loaded(Corpus(f"set{evil}", ("de", "en"), (doc,)), outputs), ["chrf"],
                options=Options(cache=False, flags=False))  # fmt: skip
    write_report(analyse(run), [], tmp_path / "report.html")
    raw = (tmp_path / "report.html").read_text("utf-8")
    for where in ("leaderboard", "documents", "compare", "document"):
        page = look(tmp_path / "report.html", where)
        made = page.evaluate("document.title + document.body.outerHTML.replace(/<script.*?<.script>/gs, '')")
        assert not [sign for sign in evil if not sign.isprintable() and (sign in made or sign in raw)], where
        assert "U+202E" in made


