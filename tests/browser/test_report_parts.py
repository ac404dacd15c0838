"""Many documents, long names, many columns, small screens, differences word by word, tables as files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reporting.report_material import texts
from tests.reporting.study_files import make as make_studies
from wholetext.io import Loaded
from wholetext.reporting import analyse, read_study, write_report
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytestmark = pytest.mark.browser
Look = Callable[..., Any]
PHONE = {"width": 390, "height": 844}
FORMULA = "=HYPERLINK(1)+system"


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
    path = tmp_path_factory.mktemp("wordy") / "report.html"
    ref = ("Die Donaudampfschifffahrtsgesellschaft kam gestern.", "Er ging dann weg.", "=1+1")
    long = " ".join(f"wort{i}" for i in range(2500))
    other = " ".join(f"word{i}" for i in range(2500))
    docs = (Document("a", ("x.", "y.", "z."), {"human": ref}), Document("b", ("x.", "w."), {"human": (ref[0], long)}))
    good, bad = (ref[0].replace("gestern", "heute"), "Dann ging er weg.", "-2"), ("Das Schiff kam.", "Weg.", "@x")
    outputs = [Output("one", {"a": good, "b": (bad[0], other)}), Output("two", {"a": bad, "b": (ref[0], other)})]
    run = score(Loaded(Corpus("words", ("en", "de"), docs), outputs), ["chrf", "ter"], options=Options(cache=False))
    write_report(analyse(run), [], path)
    return path


# ---------------------------------------------------------------- document view


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
        "leaderboard": (".leaderboard td .value", ".leaderboard td .rank", ".leaderboard thead .sort"),
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
