"""What consoles and notebooks show: short whatever is held, and no string of the data becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import wholetext as wt
from wholetext import Corpus, Document, Options, Output, Results
from wholetext.notebook.display import MOST, brief, printed, shortened, text_table

NASTY = '<script>alert("x")</script>&\'"'


def results(systems: int = 20, documents: int = 40, name: str = "system-{}") -> Results:
    docs = tuple(Document(f"d{i}", None, {"r": ("the cat sat on the mat",) * 50}) for i in range(documents))
    outputs = [Output(name.format(i), {doc.id: (f"the cat sat on {'a ' * i}mat",) * 50 for doc in docs})
               for i in range(systems)]  # fmt: skip
    return wt.score(
        wt.Loaded(Corpus("news", ("de", "en"), docs), outputs),
        ["chrf", "d-bleu", "ter"],
        options=Options(cache=False, flags=False),
    )


@pytest.fixture(scope="module")
def run() -> Results:
    return results()


def test_results_of_20_systems_and_2000_segments_print_within_2_kB(run: Results) -> None:
    text = repr(run)
    assert len(text.encode()) <= 2048
    assert text.startswith("Results of news, de-en: 20 systems, 3 metrics, 40 documents, 2000 segments\n")
    assert text.splitlines()[1].startswith("Differences were not tested: ")
    best = run["chrf"]["system-1"].score
    assert ["system-1", f"{best:.2f}"] in [line.split()[:2] for line in text.splitlines()]
    assert "… 8 more systems" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_long_names_of_systems_and_many_metrics_are_cut_too() -> None:
    run = results(20, 1, "a-system-whose-name-goes-on-and-on-and-on-number-{}")
    scores = {f"slide(size=3,step={i}):chrf(word_order=2)": run["chrf"] for i in range(9)}
    text = repr(Results(run.corpus, run.outputs, scores))
    assert len(text.encode()) <= 2048 and "\n… 8 more systems, 5 more metrics" in text


def test_scores_and_comparisons_print_what_they_are(run: Results) -> None:
    scores = run["d-bleu"]["system-1"]
    expected = f"Scores('whole:bleu', 'system-1', {scores.score:.2f}, <40 rows of 2000 segments, 40 documents>)"
    assert repr(scores) == expected
    comparison = wt.Significance(draws=100).compare({name: run["chrf"][name] for name in ("system-0", "system-1")})
    text = repr(comparison)
    assert text.startswith("Comparison by chrf: 2 systems against system-0\nsystem ") and "#1 baseline" in text
    assert len(text) < 400


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_the_leaderboard_in_html_has_every_system_and_escapes_every_string() -> None:
    run = results(3, 2, NASTY + "{}")
    comparison = wt.compare(run, wt.Significance(draws=100))["chrf"]
    for shown in (run._repr_html_(), comparison._repr_html_()):
        page = Tags()
        page.feed(shown)
        assert {*page.tags} <= {"div", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
                                "ul", "li"}  # fmt: skip
        assert {f"{NASTY}{i}" for i in range(3)} <= {*page.cells}
        assert page.tags.count("tr") == 4
        assert any(cell.startswith(f"{run['chrf'][f'{NASTY}1'].score:.2f}") for cell in page.cells)


def test_other_large_values_are_cut(run: Results) -> None:
    loaded = wt.Loaded(run.corpus, run.outputs, ("a warning " * 100,) * 50)
    judged = wt.Judgments("mqm", "seg", run.systems, run["chrf"]["system-0"].stats, tuple(map(str, range(5000))))
    for value in (loaded, judged, wt.alignment.align(run.corpus, run.outputs[:2])):
        assert len(repr(value)) <= MOST, type(value)
        assert repr(value) == brief(value)
    assert f"values=<{len(judged.values)} × {judged.values.shape[1]} float64>" in repr(judged)


def test_a_run_without_scores_prints_too() -> None:
    empty = Results(Corpus("c", ("", ""), ()), (), {})
    assert repr(empty).startswith("Results of c: 0 systems, 0 metrics") and "<table>" in empty._repr_html_()


def test_small_things() -> None:
    assert shortened("abcdefgh", 5) == "ab…gh" and shortened("abc", 5) == "abc"
    assert printed(-1.5, 1) == "−1.5" and printed(float("nan"), 2) == printed(None, 2) == "–"
    assert text_table(["a", "b"], [["x\ny", "1"]]) == "a    b\nx y  1"
