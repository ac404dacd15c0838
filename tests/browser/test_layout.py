"""Layout and navigation: tabs, addresses, phones, paper, long names, signs, and every study on its page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_readers import axe, violations  # noqa: F401 (fixture)
from tests.browser.test_report_parts import crowded, wordy  # noqa: F401 (fixtures)
from tests.browser.test_stress_page import stressed  # noqa: F401 (fixture)
from tests.browser.test_study_pages import chart
from tests.reporting.report_material import texts
from wholetext.io import Loaded
from wholetext.reporting import analyse, write_report
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
Look = Callable[..., Any]
PHONE = {"width": 390, "height": 844}


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


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_the_navigation_is_never_clipped(look: Look, crowded: Path, width: int) -> None:  # noqa: F811
    page = look(crowded, viewport={"width": width, "height": 844})
    pages = page.evaluate("Object.keys(PAGES).length")
    assert page.locator("nav a").count() == pages
    for item in page.locator("nav > a, nav summary").all():
        box = item.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert item.evaluate("node => node.scrollWidth <= node.clientWidth + 1")  # no ellipsis
    if page.locator("nav summary").count():
        page.locator("nav summary").click()
        page.locator("nav .menu a").last.click()
        page.wait_for_selector("html[data-page=study3]")
        assert page.locator("nav summary").inner_text().startswith("Contrast")  # the menu says where one is
        assert not page.locator("nav .menu").is_visible()


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


def test_badges_name_metric_and_unit(look: Look, report: Path) -> None:
    page = look(report, "document?d=1")
    assert re.fullmatch(r"chrf ↑ \d+\.\d\d of 100", page.locator("td.hyp .chipscore").first.inner_text())
    page.get_by_label("Colour by").select_option(label="ter")
    page.wait_for_function("document.querySelector('.chipscore').textContent.startsWith('ter')")
    assert re.fullmatch(r"ter ↓ \d+\.\d\d points", page.locator("td.hyp .chipscore").first.inner_text())


def test_differences_of_scripts_without_blanks_and_of_long_segments(look: Look, wordy: Path) -> None:  # noqa: F811
    page = look(wordy, "document?d=1&diff=1")
    assert page.locator("#segment2 td.hyp >> text=too long to compare word by word").count() == 2
    found = page.evaluate("""apart("渡轮早上到达港口。", "渡轮晚上到港口。")
        .map((side) => side.map((word) => word.text).join(""))""")
    assert found == ["早达", "晚"]
    assert page.evaluate("apart('a b c', '').map((side) => side.length).join()") == "3,0"


def test_tables_of_many_systems_fit_a_sheet_of_paper(look: Look, tmp_path: Path) -> None:
    run = score(Loaded(*texts(documents=8, segments=3, systems=24)), ["chrf"], options=Options(cache=False))
    write_report(analyse(run), [], tmp_path / "report.html")
    page = look(tmp_path / "report.html", "documents")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("document.querySelector('.pinned > table').style.getPropertyValue('--fit')")
    page.set_viewport_size({"width": 794, "height": 1123})  # A4
    page.emulate_media(media="print")
    page.evaluate("document.querySelector('main').style.maxWidth = '688px'")  # its margins
    widths = "[...document.querySelectorAll('.scroller > table')].map((table) => table.getBoundingClientRect().width)"
    assert max(page.evaluate(widths)) <= 689


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


def test_every_study_has_its_page(look: Look, studies: Path) -> None:
    page = look(studies)
    names = page.locator("nav a").all_inner_texts()
    assert names == ["Meta-evaluation", "Windows: chrf", "Context: chrf", "Contrast: set"]
    for number, name in enumerate(names):
        page.locator("nav a").nth(number).click()
        page.wait_for_selector(f"html[data-page=study{number}]")
        assert page.locator("main h2").inner_text() == name
        assert all(table.locator("thead th").count() for table in page.locator("table").all())
        assert all(one.get_attribute("aria-label") for one in page.locator("svg.chart").all())


def test_windows_by_strides_with_what_is_dropped(look: Look, studies: Path) -> None:
    cells = json.loads((studies.parent / "windows" / "grid.json").read_text("utf-8"))["cells"]
    page = look(studies, "study1")
    grid = chart(page, "chrf by window and stride")
    assert grid.locator("text.cell").count() == len(cells) == 6
    shares = chart(page, "Share of segments in no window").locator("text.cell").all_text_contents()
    assert shares == [f"{100 * cell['dropped']:.2f}" for cell in cells]
    box = grid.locator("text.cell").last.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    tip = page.locator("#tip").inner_text()
    assert "window 3, stride 3" in tip and f"{100 * cells[-1]['dropped']:.1f} % segments in no window" in tip
