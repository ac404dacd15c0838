"""Controls: nonsense beside the systems, and outside everything that compares them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import wholetext as wt
from tests.in_process import call
from wholetext.demo import load
from wholetext.reporting.page import report
from wholetext.reporting.studies import controls as control_pages
from wholetext.scoring.controls import CONTROLS, control_outputs
from wholetext.types import Corpus, Document, Output

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"
SPECS = ["chrf", "d-bleu", "ter"]


@pytest.fixture(scope="module")
def results() -> wt.Results:
    how = wt.Options(controls=CONTROLS, cache=False)
    with pytest.warns(wt.WholetextWarning, match="controls .* are not systems"):
        return wt.score(wt.Loaded(*load("de-en")), SPECS, options=how, significance=wt.Significance())


def test_scores_ranks_and_tests_of_systems_are_those_without_controls(results: wt.Results) -> None:
    how = wt.Options(cache=False)
    without = wt.score(wt.Loaded(*load("de-en")), SPECS, options=how, significance=wt.Significance())
    assert not without.controls and results.systems == without.systems
    for spec, comparison in without.comparisons.items():
        assert str(results.comparisons[spec].columns()) == str(comparison.columns())
        assert {str(own.signature) for own in results[spec].values()} == {
            str(own.signature) for own in without[spec].values()
        }


def test_controls_score_as_the_same_outputs_scored_as_systems(results: wt.Results) -> None:
    corpus, outputs = load("de-en")
    made = control_outputs(CONTROLS, corpus, outputs)
    alone = wt.score(wt.Loaded(corpus, [output for _, output in made.values()]), SPECS)
    for control in results.controls:
        assert control.scores == {spec: alone[spec][control.name].score for spec in alone}
    assert [control.text for control in results.controls] == [
        "copy of the source", "empty output", f"shuffled sentences of {outputs[0].system} (seed 12345)",
    ]


@given(st.lists(st.lists(st.text(max_size=3), min_size=1, max_size=5), min_size=1, max_size=5))
def test_shuffled_is_a_permutation_that_leaves_no_segment_in_place(documents: list[list[str]]) -> None:
    marked = [[f"{d}.{s} {text}" for s, text in enumerate(document)] for d, document in enumerate(documents)]
    output = Output("s", {str(d): tuple(document) for d, document in enumerate(marked)})
    corpus = Corpus("c", ("", ""), tuple(Document(str(d), tuple(document)) for d, document in enumerate(marked)))
    (_, shuffled), = control_outputs(["shuffled"], corpus, [output]).values()
    before, after = ([text for doc in corpus.docs for text in one.docs[doc.id]] for one in (output, shuffled))
    assert Counter(before) == Counter(after)
    assert [len(shuffled.docs[doc.id]) for doc in corpus.docs] == [len(doc) for doc in corpus.docs]
    assert len(before) == 1 or all(a != b for a, b in zip(before, after))
    assert control_outputs(["shuffled"], corpus, [output])["shuffled"][1].docs == shuffled.docs


def test_a_run_folder_keeps_controls_apart_from_systems(results: wt.Results, tmp_path: Path) -> None:
    results.save(tmp_path / "run")
    again = wt.open_run(tmp_path / "run")
    assert again.controls == results.controls and again.systems == results.systems
    assert any("neither ranked nor tested" in note for note in again.notes)
    (study,) = control_pages(again)
    (table,) = study.panels
    assert [name for name, _ in table.rows][-2:] == ["best system", "worst system"]  # type: ignore[union-attr]
    (page,) = report(tmp_path / "run")
    assert page.is_file()


def test_a_control_that_beats_a_system_is_a_note() -> None:
    refs = {"r": ["It rains .", "He sleeps ."]}
    texts = {"good": ["It rains .", "He sleeps ."], "bad": ["zzz qqq", "www vvv"]}
    how = wt.Options(controls=("copy",), cache=False)
    results = wt.score(texts, "chrf", refs=refs, srcs=["It rains .", "Er schläft ."], options=how)
    assert "chrf: the control copy scores at least as well as 1 of 2 systems (bad)" in results.notes


@pytest.mark.parametrize(("option", "message"), [
    ("copi", "there is no control 'copi'"), ("copy", "the control copy needs a source"),
    ("shuffled", "a single segment cannot be shuffled"),
])  # fmt: skip
def test_what_cannot_be_made_is_refused_before_scoring(option: str, message: str) -> None:
    with pytest.raises(wt.WholetextError, match=message):
        wt.score(["One ."], "chrf", refs=["One ."], options=wt.Options(controls=(option,)))


def test_the_command_prints_controls_below_the_systems(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["score", str(DEMO), "-m", "chrf", "--controls", "copy,empty", "--quiet"]
    code, out, _ = call(capsys, *argv)
    lines = out.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("control (no system)"))
    assert not code and head > next(at for at, line in enumerate(lines) if line.startswith("literal"))
    assert lines[head + 1].split() == ["copy", "of", "the", "source", "20.39"]
    code, out, _ = call(capsys, *argv, "-f", "json")
    assert [control["name"] for control in json.loads(out)["controls"]] == ["copy", "empty"]
    code, out, err = call(capsys, *argv, "-f", "tsv")
    assert "control" not in out and "control, copy of the source: chrf 20.39" in err
