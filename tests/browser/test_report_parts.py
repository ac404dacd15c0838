"""Many documents, long names, many columns, small screens, differences word by word, tables as files."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import PHONE, Look, report_of
from tests.reporting.report_material import texts
from tests.reporting.study_files import make as make_studies
from wholetext.io import Loaded
from wholetext.reporting import analyse, read_study, write_report
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
FORMULA = "=HYPERLINK(1)+system"
MIDDLE = "cell => { const r = document.createRange(); r.selectNodeContents(cell); return r.getBoundingClientRect(); }"
BROKEN = """() => [...document.querySelectorAll("#texts .text")].flatMap((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const word of node.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
        }
    return found;
})"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seventy documents with long names, five systems of which one is called like a formula, and studies."""
    folder = tmp_path_factory.mktemp("crowded")
    corpus, outputs = texts(documents=70, segments=3, systems=5)
    names = {doc.id: f"newspaper.of.the.harbour.{doc.id[4:].zfill(4)}" for doc in corpus.docs}
    corpus = replace(corpus, docs=tuple(replace(doc, id=names[doc.id]) for doc in corpus.docs))
    renamed = [replace(one, docs={names[doc]: text for doc, text in one.docs.items()}) for one in outputs]
    renamed[2] = replace(renamed[2], system=FORMULA)
    run = score(Loaded(corpus, renamed), ["chrf", "ter", "paragraph(size=2):chrf"], options=Options(cache=False))
    found = make_studies(folder)
    studies = [read_study(file) for file in (found["meta"] / "meta.json", found["windows"] / "grid.json",
                                             found["contexts"] / "grid.json", found["contrast"] / "contrast.json")]
    write_report(analyse(run), studies, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems of which each wins a document, with long words, and a segment too long to compare."""
    ref = ("Die Donaudampfschifffahrtsgesellschaft kam gestern.", "Er ging dann weg.", "=1+1")
    long = " ".join(f"wort{i}" for i in range(2500))
    other = " ".join(f"word{i}" for i in range(2500))
    docs = (Document("a", ("x.", "y.", "z."), {"human": ref}), Document("b", ("x.", "w."), {"human": (ref[0], long)}))
    good, bad = (ref[0].replace("gestern", "heute"), "Dann ging er weg.", "-2"), ("Das Schiff kam.", "Weg.", "@x")
    outputs = [Output("one", {"a": good, "b": (bad[0], other)}), Output("two", {"a": bad, "b": (ref[0], other)})]
    loaded = Loaded(Corpus("words", ("en", "de"), docs), outputs)
    return report_of(loaded, tmp_path_factory.mktemp("wordy") / "report.html", "chrf", "ter")


def words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def in_common(first: list[str], second: list[str]) -> int:
    """The length of a longest common subsequence, by its definition."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def test_differences_word_by_word(look: Look, report: Path, artefacts: Path) -> None:
    for diff in (1, 2):
        page = look(report, f"document?d=1&show=0,2&diff={diff}")
        block = page.evaluate("documentBlock(1)")
        first, second, ref = block["out"][0], block["out"][2], block["refs"][0]
        for at, row in enumerate(page.locator("#texts tr.segment").all()):
            pairs = ((first[at], ref[at]), (second[at], ref[at])) if diff == 1 else (
                (first[at], second[at]), (second[at], first[at]))  # fmt: skip
            for cell, (text, other) in zip(row.locator("td.hyp").all(), pairs):
                marked = [word for piece in cell.locator(".diff").all_inner_texts() for word in words(piece)]
                assert len(marked) == len(words(text)) - in_common(words(text), words(other))
        assert page.locator("td.ref .diff").count() > 0 if diff == 1 else page.locator("td.ref .diff").count() == 0
        assert page.locator(".text .unit, .misses").count() == 0  # other marks are hidden meanwhile
    page.screenshot(path=artefacts / "differences.png", full_page=True)
    page.get_by_label("Differences").select_option(label="none")
    page.wait_for_selector(".text .unit")
    assert page.locator(".misses").count() > 0 and "diff" not in page.url


# ---------------------------------------------------------------- small screens


def inside(page: Any, selector: str) -> None:
    """Every element is shown whole within the width of the screen."""
    boxes = page.evaluate("""(selector) => [...document.querySelectorAll(selector)].map((node) => {
        const box = node.getBoundingClientRect();
        return [box.left, box.right, box.width];
    })""", selector)
    assert boxes and all(left >= -0.5 and right <= 390.5 and width > 0 for left, right, width in boxes), selector


def test_nothing_essential_is_off_a_phone(look: Look, crowded: Path, artefacts: Path) -> None:
    for where, parts in {
        "leaderboard": (".leaderboard td .value", ".leaderboard th .rank", ".leaderboard thead .sort"),
        "documents": ("#extremes td.strong", ".controls select", "input[type=search]", ".heat .names"),
        "document?d=0&s=0": ("#texts td", "tr.detail td.num", ".controls button"),
        "compare?a=0&b=1": ("#compare td", "#drivers td"),
    }.items():
        page = look(crowded, where, viewport=PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, where
        for part in parts:
            inside(page, part)
        page.screenshot(path=artefacts / f"phone-crowded-{where.split('?')[0]}.png", full_page=True)


# ---------------------------------------------------------------- numbers and files


def saved(page: Any, label: str) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {label} as TSV").first.click()
    assert waiting.value.suggested_filename.endswith(".tsv")
    text = Path(waiting.value.path()).read_text("utf-8-sig")
    return list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_saved_tables_hold_the_numbers_of_the_page(look: Look, crowded: Path) -> None:
    page = look(crowded)
    head = page.evaluate("head")
    rows = saved(page, "Leaderboard")
    assert len(rows) == 6 and rows[0][:4] == ["System", "chrf score", "chrf 95 % low", "chrf 95 % high"]
    scores = dict(zip(head["systems"], head["metrics"][0]["score"]))
    assert {row[0].lstrip("'"): float(row[1]) for row in rows[1:]} == scores
    assert f"'{FORMULA}" in [row[0] for row in rows[1:]]  # a spreadsheet must not compute it
    page = look(crowded, "documents")
    assert page.locator("#documents tbody tr").count() == 50
    rows = saved(page, "Documents")
    assert len(rows) == 71 and rows[70][0] == "newspaper.of.the.harbour.0070"  # all of them, not only this page
    table, order = page.evaluate("load('metric0')"), head["metrics"][0]["order"]
    assert [float(cell) for cell in rows[1][2:]] == [table["doc"][system][0] for system in order]
    page = look(crowded, "compare?a=4&b=0")
    rows = saved(page, "Difference by metric")
    assert rows[0][3:8] == ["Difference", "95 % low", "95 % high", "p", "p (Holm)"]
    assert float(rows[1][3]) < 0 and float(rows[1][4]) < float(rows[1][5]) < 0
    assert len({len(row) for row in rows}) == 1


def test_saved_texts_cannot_be_formulas(look: Look, wordy: Path) -> None:
    page = look(wordy, "document?d=0&s=0")
    rows = saved(page, "texts")
    assert rows[0] == ["Segment", "Source", "Reference", "two", "two score", "one", "one score"]
    assert rows[3][:4] == ["3", "z.", "'=1+1", "'@x"] and rows[3][5] == "'-2"
    assert float(rows[1][4]) < float(rows[1][6])
    assert [row[0] for row in saved(page, "Scores of segment 1")] == ["Metric", "chrf", "ter"]
    cells = page.evaluate("['+1', ' =x', '－1', 'a\\tb\\nc', null, -1.5, 'x-1'].map(tsvCell)")
    assert cells == ["'+1", "'=x", "'－1", "a b c", "", "-1.5", "x-1"]


def test_the_heat_map_is_centred_per_document(look: Look, report: Path) -> None:
    page = look(report, "documents")
    table, order = page.evaluate("load('metric0')"), page.evaluate("head.metrics[0].order")
    mean = [sum(row[doc] for row in table["doc"]) / 3 for doc in range(6)]
    cells = page.locator("#heatmap text.cell").all_text_contents()
    shown = [float(text.replace("−", "-")) for text in cells]
    wanted = [table["doc"][system][doc] - mean[doc] for system in order for doc in range(6)]
    assert shown == pytest.approx(wanted, abs=0.051)
    assert all(text[0] in "+−" or float(text) == 0 for text in cells)
    page.get_by_label("Colour", exact=True).select_option(label="raw scores")
    page.wait_for_function("!document.querySelector('#heatmap text.cell').textContent.startsWith('+')")
    raw = [float(text) for text in page.locator("#heatmap text.cell").all_text_contents()]
    assert raw == pytest.approx([table["doc"][system][doc] for system in order for doc in range(6)], abs=0.051)
    assert "raw=1" in page.url


def test_better_is_blue_also_where_lower_is_better(look: Look, report: Path) -> None:
    page = look(report, "documents?m=3")
    assert page.evaluate("head.metrics[3].spec") == "ter"
    fills = page.evaluate("""() => [...document.querySelectorAll("#heatmap path")].map((path) => [
        path.getAttribute("fill").match(/\\d+/g).map(Number),
        path.getAttribute("d").match(/M[\\d.]+ ([\\d.]+)/)[1],
    ])""")
    top = min(float(y) for _, y in fills)
    first = [color for color, y in fills if float(y) == top]  # colours that begin in the row of the best system
    assert any(blue > red + 20 for red, _, blue in first)
    assert page.locator(".scale").inner_text().startswith("≥ +")  # worse at the left


def test_names_of_documents_break_after_marks_on_a_phone(look: Look, crowded: Path) -> None:
    page = look(crowded, "documents", viewport=PHONE)
    lines = page.evaluate("""() => [...document.querySelectorAll("#documents .name")[0].childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return [node.textContent, new Set([...range.getClientRects()].map((box) => box.top)).size];
        })""")
    assert lines == [["newspaper.", 1], ["of.", 1], ["the.", 1], ["harbour.", 1], ["0001", 1]]
    assert page.locator("#documents .name").first.bounding_box()["height"] > 24  # in two lines, that is


def test_labels_of_seventy_documents_are_legible(look: Look, crowded: Path, artefacts: Path) -> None:
    page = look(crowded, "documents")
    labels = page.evaluate("""() => [...document.querySelectorAll("#heatmap .column")].map((label) => {
        const box = label.getBoundingClientRect(), chart = label.ownerSVGElement.getBoundingClientRect();
        return {size: parseFloat(getComputedStyle(label).fontSize), inside: box.top >= chart.top - 0.5, left: box.left,
                width: box.width, title: label.querySelector("title").textContent, text: label.lastChild.textContent};
    })""")
    assert len(labels) == 70
    assert all(label["size"] >= 10 and label["inside"] for label in labels)
    assert all(after["left"] >= before["left"] + before["width"] - 3 for before, after in pairwise(labels))
    assert labels[6]["title"] == "newspaper.of.the.harbour.0007"
    assert labels[6]["text"].startswith("newsp") and labels[6]["text"].endswith("0007") and "…" in labels[6]["text"]
    assert len({label["text"] for label in labels}) == 70  # shortened, and still apart
    page.screenshot(path=artefacts / "crowded-documents.png", full_page=True)


def test_documents_are_found_by_name(look: Look, crowded: Path) -> None:
    page = look(crowded, "documents")
    box = page.get_by_label("Find document")
    box.press_sequentially("HARBOUR.006")
    page.wait_for_function("document.querySelectorAll('#heatmap .column').length === 10")
    assert page.locator("#documents tbody tr").count() == 10
    assert box.input_value() == "HARBOUR.006" and page.evaluate("document.activeElement.type") == "search"
    assert page.locator("#said").inner_text() == "10 documents found"
    page.locator("#heatmap").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-doc='59']")
    page.go_back()
    page.wait_for_selector("html[data-page=documents]")
    page.get_by_label("Find document").fill("nowhere")
    page.wait_for_selector("text=No document has this in its name.")
    assert page.locator("#documents tbody tr").count() == 0


def test_names_stay_in_sight(look: Look, crowded: Path) -> None:
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


def test_each_list_has_only_documents_that_its_system_wins(look: Look, wordy: Path) -> None:
    for metric, sign in ((0, 1), (1, -1)):
        page = look(wordy, f"documents?m={metric}&a=1&b=0")
        assert page.evaluate("head.systems") == ["two", "one"]
        lists = page.locator("#extremes > div").all()
        found = [one.locator("td.strong").all_inner_texts() for one in lists]
        assert [len(deltas) for deltas in found] == [1, 1]
        first, second = (sign * float(deltas[0].replace("−", "-")) for deltas in found)
        assert first > 0 > second
        assert [one.locator("tbody th").inner_text() for one in lists] == ["a", "b"]


def test_badges_name_metric_and_unit(look: Look, report: Path) -> None:
    page = look(report, "document?d=1")
    assert re.fullmatch(r"chrf ↑ \d+\.\d\d of 100", page.locator("td.hyp .chipscore").first.inner_text())
    page.get_by_label("Colour by").select_option(label="ter")
    page.wait_for_function("document.querySelector('.chipscore').textContent.startsWith('ter')")
    assert re.fullmatch(r"ter ↓ \d+\.\d\d points", page.locator("td.hyp .chipscore").first.inner_text())
    page.get_by_label("Colour by").select_option(label="slide(size=3,step=1):chrf")
    page.wait_for_function("document.querySelector('.chipscore').textContent.startsWith('slide(size=3,step=1):chrf ↑')")


def test_words_are_whole_while_there_is_room(look: Look, wordy: Path, crowded: Path) -> None:
    for width in (1440, 1280, 800):
        page = look(wordy, "document?d=0", viewport={"width": width, "height": 900})
        filled = width == 1280 and page.locator("#texts").bounding_box()["width"] > width - 60  # by wide fonts (DejaVu)
        assert filled or page.evaluate(BROKEN) == [], width
    page.set_viewport_size({"width": 1024, "height": 900})  # a word of 34 letters is broken where no margin is left
    page.wait_for_selector("#texts:not(.stacked)")
    assert page.locator("#texts").bounding_box()["width"] > 1024 - 60
    wide = look(crowded, "document?d=0&show=0,1,2,3,4", viewport={"width": 1800, "height": 900})
    assert wide.evaluate(BROKEN) == []
    box = wide.locator("#texts").bounding_box()
    assert box["width"] > 1500 and box["x"] > 0 and box["x"] + box["width"] <= 1800  # into the margins, evenly
    assert box["x"] == pytest.approx(1800 - box["x"] - box["width"], abs=16)
    narrow = look(crowded, "document?d=0&show=0,1,2,3,4", viewport={"width": 900, "height": 900})
    assert narrow.locator("#texts.stacked").count() == 1 and narrow.evaluate(BROKEN) == []
    narrow.set_viewport_size({"width": 1800, "height": 900})
    narrow.wait_for_selector("#texts:not(.stacked)")


def test_differences_of_scripts_without_blanks_and_of_long_segments(look: Look, wordy: Path) -> None:
    page = look(wordy, "document?d=1&diff=1")
    assert page.locator("#segment2 td.hyp >> text=too long to compare word by word").count() == 2
    found = page.evaluate("""apart("渡轮早上到达港口。", "渡轮晚上到港口。")
        .map((side) => side.map((word) => word.text).join(""))""")
    assert found == ["早达", "晚"]
    cut = page.evaluate("wordsOf(\"Grün's 12,5 كتاب।\").map((word) => word.text).join('|')")
    assert cut == "Grün|'|s|12|,|5|كتاب|।"
    assert page.evaluate("apart('a b c', '').map((side) => side.length).join()") == "3,0"


def test_tables_of_many_systems_fit_a_sheet_of_paper(look: Look, tmp_path: Path) -> None:
    many = Loaded(*texts(documents=8, segments=3, systems=24))
    page = look(report_of(many, tmp_path / "report.html", "chrf"), "documents")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function("document.querySelector('.pinned > table').style.getPropertyValue('--fit')")
    page.set_viewport_size({"width": 794, "height": 1123})  # A4
    page.emulate_media(media="print")
    page.evaluate("document.querySelector('main').style.maxWidth = '688px'")  # its margins
    widths = "[...document.querySelectorAll('.scroller > table')].map((table) => table.getBoundingClientRect().width)"
    assert max(page.evaluate(widths)) <= 689
    assert page.locator(".pinned > table").evaluate("(table) => getComputedStyle(table).zoom < 0.9")


def test_what_belongs_together_stands_on_one_line(look: Look, crowded: Path) -> None:
    page = look(crowded, "document?d=1", viewport=PHONE)
    before, after = (page.get_by_label(f"{way} document").bounding_box() for way in ("Previous", "Next"))
    assert before["y"] == after["y"]  # the arrows, with the name between them
    page = look(crowded, "compare")
    for row in page.locator("#compare tbody tr").all():
        middles = {round(box["y"] + box["height"] / 2) for cell in ("th", "td.num")
                   if (box := row.locator(cell).first.evaluate(MIDDLE))}
        assert max(middles) - min(middles) <= 2, middles


@pytest.mark.parametrize("width", [390, 700, 1000, 1280])
def test_the_navigation_is_never_clipped(look: Look, crowded: Path, width: int) -> None:
    page = look(crowded, viewport={"width": width, "height": 844})
    named = page.evaluate("Object.keys(PAGES).length")
    assert page.locator("nav a").count() == named == 8
    for item in page.locator("nav > a, nav summary").all():
        box = item.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        assert item.evaluate("node => node.scrollWidth <= node.clientWidth + 1")  # no ellipsis
    if not page.locator("nav summary").count():
        assert page.locator("nav > a").count() == named
        return
    page.locator("nav summary").click()
    for item in page.locator("nav .menu a").all():
        box = item.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.keyboard.press("Escape")
    assert not page.locator("nav .menu").is_visible()
    page.locator("nav summary").click()
    page.locator("nav .menu a").last.click()
    page.wait_for_selector("html[data-page=study3]")
    assert page.locator("nav summary").inner_text().startswith("Contrast")  # the menu says where one is
    assert not page.locator("nav .menu").is_visible()


def test_every_table_can_be_saved_and_differences_have_real_minus_signs(look: Look, crowded: Path) -> None:
    negative = 0
    for where in ("leaderboard", "documents", "document?d=0&s=0", "compare?a=4&b=0", "study0", "study1", "study3"):
        page = look(crowded, where)
        tables = page.locator("#page table").count()
        assert tables and page.locator(".export button").count() == tables, where
        shown = page.locator("td.num, svg text.cell, svg .label").all_text_contents()
        assert not [text for text in shown if re.match(r"\s*-\d", text)], where
        negative += sum("−" in text for text in shown)
        page.emulate_media(media="print")
        assert not page.locator(".export").first.is_visible()
    assert negative > 10
    written = page.evaluate("[signed(-0.004, 2), signed(0, 2), signed(-1.5, 1), signed(2, 1)]")
    assert written == ["0.00", "0.00", "−1.5", "+2.0"]
