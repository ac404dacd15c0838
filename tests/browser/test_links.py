"""What the page names leads to it: popovers, flags, notes, documents, segments; what is in sight; what is printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.conftest import PHONE, Look, report_of, violations
from tests.reporting.report_material import full_run, texts
from wholetext.io import Loaded
from wholetext.reporting import analyse, write_report

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirteen systems on sixty documents, the last with an empty segment and a note that names it."""
    loaded = Loaded(*texts(documents=60, segments=4, systems=13))
    return report_of(loaded, tmp_path_factory.mktemp("many") / "report.html", "chrf", "ter")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    loaded = Loaded(*texts(documents=5, segments=4, systems=2))
    return report_of(loaded, tmp_path_factory.mktemp("pair") / "report.html", "chrf")


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def test_the_popover_of_a_metric_by_keyboard_alone(look: Look, report: Path) -> None:
    page = look(report)
    page.get_by_role("button", name="About ter").focus()
    page.keyboard.press("Enter")
    box = page.locator(".pop:popover-open")
    box.locator(".signature").wait_for()
    head = page.evaluate("head")
    ter = head["metrics"][3]
    for row, system in zip(box.locator("tbody tr").all(), ter["order"]):
        cells = row.locator("td").all_inner_texts()
        assert number(cells[0]) == ter["score"][system]
        assert [number(end) for end in cells[1].split("…")] == [ter["low"][system], ter["high"][system]]
        if system != ter["best"]:
            assert [number(end) for end in cells[3].split("…")] == ter["deltas"][ter["best"]][system]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Close"
    page.keyboard.press("Escape")
    page.wait_for_selector(".pop:popover-open", state="detached")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "About ter"


@pytest.mark.parametrize("width", [390, 1280])
def test_popovers_are_whole_in_sight(look: Look, many: Path, width: int) -> None:
    page = look(many, viewport={"width": width, "height": 844})
    for name in ("About ter", "⚠ 1 suspicious in system-M"):
        page.get_by_role("button", name=name).click()
        box = page.locator(".pop:popover-open")
        box.locator("li, .signature").first.wait_for()
        page.wait_for_function("document.querySelector('.pop:popover-open').style.top")
        place = box.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= width
        assert place["y"] >= 0 and place["y"] + place["height"] <= 844
        page.keyboard.press("Escape")


def test_the_line_is_the_interval_of_the_difference(look: Look, report: Path) -> None:
    """Right is better, zero is where the baseline stands; a marked system's line does not reach zero."""
    for base in (None, 2):
        page = look(report, "leaderboard" if base is None else f"leaderboard?base={base}")
        metrics = page.evaluate("head.metrics")
        read = """(cell) => { const at = (part, name) => +cell.querySelector(part).getAttribute(name);
            return [at('.zero', 'x1'), at('.reach', 'x1'), at('.reach', 'x2'), at('circle', 'cx')]; }"""
        for row in page.locator("#leaderboard tbody tr").all():
            system = int(row.get_attribute("data-system"))
            for metric, cell in zip(metrics, row.locator("td").all()):
                against = metric["best"] if base is None else base
                if system == against:
                    assert cell.locator(".reach").count() == 0
                    continue
                zero, start, end, dot = cell.evaluate(read)
                sign = 1 if metric["higher"] else -1
                low, high = sorted(sign * one for one in metric["deltas"][against][system])
                delta = sign * metric["delta"][against][system]
                assert (start - zero) * (high - low) == pytest.approx(low * (end - start), abs=0.6 * abs(high - low))
                assert (dot - zero) * (high - low) == pytest.approx(delta * (end - start), abs=0.6 * abs(high - low))
                mark = cell.locator(".mark").inner_text()
                if mark:
                    assert (mark == "▲") == (start > zero) and (mark == "▼") == (end < zero)


def test_a_cell_has_three_things_and_the_legend_names_them(look: Look, many: Path) -> None:
    page = look(many)
    cell = page.locator("#leaderboard tbody td").nth(5)
    shown = cell.evaluate("(cell) => [...cell.querySelectorAll('.value, .mark, .difference, .rank, .half, .ends')]"
                          ".filter((part) => part.getClientRects().length).map((part) => part.classList[0])")
    assert shown == ["value", "mark", "difference"]
    legend = page.locator(".legend").inner_text()
    for words in ("▲ ▼ better or worse than the best system of each metric", "no mark: no significant difference",
                  "95 % interval of the difference", "#n is the rank cluster by chrf"):
        assert words in legend
    phone = look(many, viewport=PHONE)
    assert phone.locator("#leaderboard tbody td .ends").first.is_visible()
    assert not phone.locator("#leaderboard tbody td .difference").first.is_visible()


def test_flags_lead_to_their_segment(look: Look, many: Path) -> None:
    page = look(many)
    page.get_by_role("button", name="suspicious in system-M").click()
    page.locator(".pop:popover-open").get_by_role("link", name="doc-1, segment 1").click()
    page.wait_for_selector("html[data-page=document]")
    assert page.locator("tr.chosen").get_attribute("data-segment") == "0"
    assert page.locator("#texts thead th.hyp").all_inner_texts() == ["system-A", "system-M"]
    page.keyboard.press("Escape")
    page.wait_for_selector("tr.detail", state="detached")
    page.locator("details.care summary").click()
    page.get_by_role("button", name="segment 1, empty").click()
    assert "system-M: empty" in page.locator("tr.detail .found").inner_text()
    page.keyboard.press("Escape")
    page.locator(".below .fault").click()  # the flag below the text
    page.wait_for_selector("tr.detail")


def test_notes_lead_to_what_they_name(look: Look, many: Path, tmp_path: Path) -> None:
    page = look(many)
    note = page.locator("#care li", has_text="system-M")
    note.get_by_role("link", name="doc-1, segment 1").click()
    page.wait_for_selector("tr.chosen[data-segment='0']")
    page.go_back()
    page.wait_for_selector("html[data-page=leaderboard]")
    run = replace(full_run(), warnings=("see document doc-2: odd", "document doc-77 is not here", "document doc-1x",
                                        "compare document doc-1, segment 99 with document doc-3, segment 2"))
    write_report(analyse(run), [], tmp_path / "report.html")
    page = look(tmp_path / "report.html")
    assert page.locator("#care a").all_inner_texts() == ["doc-2", "doc-1, segment 99", "doc-3, segment 2"]
    page.get_by_role("link", name="doc-3, segment 2").click()
    page.wait_for_selector("html[data-doc='2'] tr.chosen[data-segment='1']")


def test_cut_text_leads_to_the_first_cut(look: Look, report: Path) -> None:
    page = look(report)
    page.locator("#leaderboard td a.fault", has_text="cut").first.click()
    page.wait_for_selector("html[data-doc='0'] tr.chosen[data-segment='0']")
    assert "did not fit" in page.locator("tr.detail .found").first.inner_text()


def test_windows_lead_to_their_segments(look: Look, report: Path) -> None:
    page = look(report, "document?d=0&s=1")
    page.locator("tr.detail button.place", has_text="4").click()
    page.wait_for_selector("tr.chosen[data-segment='3']")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_sentence_is_in_sight(look: Look, many: Path, report: Path, width: int) -> None:
    for file in (many, report):
        page = look(file, "document?d=0", viewport={"width": width, "height": 844 if width == 390 else 900})
        place = page.locator("#segment1 td .text").first.bounding_box()
        assert place["y"] + place["height"] <= page.viewport_size["height"]
        legend = page.locator("#textlegend")
        assert legend.bounding_box()["y"] < place["y"] and "better" in legend.inner_text()
    for words in ("in output and reference", "only in the output", "only in the reference", "error",
                  "not read by the model"):
        assert words in legend.inner_text()


def test_many_systems_are_folded_and_stay_open(look: Look, many: Path) -> None:
    page = look(many, "document?d=0")
    summary = page.locator("summary", has_text="Systems: system-A, system-B (2 of 13)")
    assert not page.get_by_role("button", name="system-E").is_visible()
    summary.click()
    page.get_by_role("button", name="system-E").click()
    page.wait_for_selector("#texts thead bdi:text-is('system-E')")
    assert page.get_by_role("button", name="system-F").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_table_of_documents_says_that_it_scrolls(look: Look, many: Path, width: int) -> None:
    page = look(many, "documents", viewport={"width": width, "height": 900})
    frame = page.locator(".pinned")
    page.wait_for_selector(".pinned[data-scrolls][data-more]")
    assert "scrolls" in frame.evaluate("(node) => getComputedStyle(node, '::before').content")
    name = page.locator("#documents tbody th").first
    before = name.bounding_box()
    frame.evaluate("(node) => { node.scrollLeft = node.scrollWidth; }")
    page.wait_for_selector(".pinned[data-scrolls]:not([data-more])")  # nothing more at the right
    assert name.bounding_box()["x"] == pytest.approx(before["x"], abs=1)
    assert page.locator("#documents tbody td").last.is_visible()
    page.emulate_media(media="print")  # nothing fades and nothing scrolls on paper
    masks = page.locator(".scroller").evaluate_all("(all) => all.map((node) => getComputedStyle(node).maskImage)")
    assert set(masks) == {"none"}


def test_a_table_that_fits_says_nothing(look: Look, report: Path) -> None:
    page = look(report, "documents")
    page.wait_for_timeout(200)
    assert page.locator(".pinned[data-scrolls]").count() == 0


def test_two_systems_have_one_pair(look: Look, pair: Path) -> None:
    page = look(pair)
    for where in ("leaderboard", "leaderboard?base=1", "compare"):
        page.goto(f"{pair.as_uri()}#{where}")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        shown = page.locator("main").inner_text()
        assert "1 pair" not in shown and "1 comparison" not in shown and "corrected over" not in shown


def test_paper_has_the_signatures(look: Look, report: Path) -> None:
    page = look(report)
    assert not page.locator("#signatures").is_visible()
    page.emulate_media(media="print")
    shown = page.locator("#signatures").inner_text()
    for metric in page.evaluate("head.metrics"):
        assert metric["short"] in shown
        assert "|".join(f"{key}:{value}" for key, value in metric["signature"].items()) in shown
    assert not page.locator(".about").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_many_systems(look: Look, many: Path, axe: str, scheme: str) -> None:
    for where in ("leaderboard", "documents", "document?d=0&s=0&show=0,12"):
        for size in ({"width": 1280, "height": 900}, PHONE):
            page = look(many, where, color_scheme=scheme, viewport=size)
            if where == "leaderboard":
                page.get_by_role("button", name="suspicious in system-M").click()
                page.wait_for_selector(".pop:popover-open li")
            assert violations(page, axe, scheme) == [], where


def test_one_document_is_not_tested(look: Look, tmp_path: Path) -> None:
    path = report_of(Loaded(*texts(documents=1, segments=4, systems=3)), tmp_path / "report.html", "chrf", "ter")
    page = look(path)
    assert page.locator("#leaderboard .rank").count() == 0
    assert set(page.locator("#leaderboard .mark").all_inner_texts()) == {""}
    assert "Differences were not tested: no marks and no ranks." in page.locator(".legend").inner_text()
    page = look(path, "compare")
    assert page.locator("#compare .verdict").all_inner_texts() == ["not tested", "not tested"]
