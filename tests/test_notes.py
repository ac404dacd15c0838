"""Notes on scores: for every system, on the first and on the cached run, in Python too."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext import Corpus, Document, Options, Output, Request
from wholetext.notes import Note, merged, without_kinds
from wholetext.registry import BUILTIN
from wholetext.types import Fit, FloatArray, Metric, Runtime, mean_stats

TEXT = ("one two three", "four five", "six seven eight nine", "ten", "eleven twelve")
CORPUS = Corpus("notes", ("de", "en"), tuple(Document(name, TEXT, {"ref": TEXT}) for name in ("a", "b")))
GOOD = Output("good", {"a": TEXT, "b": TEXT})
POOR = Output("poor", {"a": ("", *TEXT[1:]), "b": ("", "", *TEXT[2:])})


@dataclass(frozen=True)
class Talkative(Metric):
    """Says something in every way a metric can, and has a model that takes two words."""

    name = "talkative"
    summary = "a metric for these tests"

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return (f"knows nothing of {langs[1]}",)

    def fits(self, requests: list[Request], run: Runtime) -> list[Fit]:  # type: ignore[override]
        sizes = [len(request.hyp[0].text.split()) for request in requests]
        return [Fit(min(size, 2), lost_focus=max(0, size - 2)) for size in sizes]

    def measure(self, requests: list[Request], run: Runtime) -> FloatArray:  # type: ignore[override]
        run.warn("was in a hurry")
        scores = []
        for at, request in enumerate(requests):
            size = len(request.hyp[0].text)
            if size == 3:
                run.warn("a text of three letters", at)
            scores.append(float("nan") if not size else 1 / size)
        return mean_stats(scores)


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILTIN, "talkative", f"{__name__}:Talkative")  # type: ignore[arg-type]


def test_every_system_gets_its_notes_on_the_first_and_on_the_cached_run(talkative: None, tmp_path: Path) -> None:
    options = Options(cache=tmp_path / "cache.sqlite")
    first = wt.score(wt.Loaded(CORPUS, [GOOD, POOR]), ["talkative"], options=options)
    again = wt.score(wt.Loaded(CORPUS, [GOOD, POOR]), ["talkative"], options=options)
    assert again.counts.get("computed", 0) == 0 < first.counts["computed"]
    for results in (first, again):
        assert results["talkative"]["good"].notes == (
            "knows nothing of en", "was in a hurry", "a text of three letters (2 of 10 segments)",
            "scored text was cut to fit the model (4 of 10 segments)",
        )
        assert "the score is undefined and left out of the averages (3 of 10 segments)" in \
            results["talkative"]["poor"].notes
    assert first.warnings == again.warnings
    assert "talkative: scored text was cut to fit the model (good 4, poor 2 of 10 segments)" in first.warnings
    assert not any("×" in note for note in first.warnings)


def test_notes_survive_the_run_folder(talkative: None, tmp_path: Path) -> None:
    results = wt.score(wt.Loaded(CORPUS, [GOOD, POOR]), ["talkative"], options=Options(cache=False))
    wt.scoring.write_run(results, tmp_path / "run")
    back = wt.open_run(tmp_path / "run")
    assert back.warnings == results.warnings
    assert {s: one.notes for s, one in back["talkative"].items()} == \
        {s: one.notes for s, one in results["talkative"].items()}


@pytest.mark.parametrize(("spec", "said"), [
    ("slide(size=2,step=2):chrf",
     "text that fills no window is not scored; partial=include scores it (2 of 10 segments)"),
    ("context:chrf", "the metric reads no context: its scores are those of the sentence view"),
])  # fmt: skip
def test_what_a_view_drops_or_cannot_change_is_told(spec: str, said: str, tmp_path: Path) -> None:
    for _ in range(2):  # computed, and from the cache
        options = Options(cache=tmp_path / "cache.sqlite")
        results = wt.score(wt.Loaded(CORPUS, [POOR]), ["chrf", spec], options=options)
        assert results[spec]["poor"].notes == (said,) and f"{spec}: {said}" in results.warnings
        assert results["chrf"]["poor"].notes == ()
    if spec.startswith("context"):
        assert np.array_equal(results["chrf"]["poor"].stats, results[spec]["poor"].stats)


def test_python_users_are_warned_where_they_call(talkative: None) -> None:
    options = Options(cache=False)
    with pytest.warns(wt.WholetextWarning, match="talkative: knows nothing of en") as caught:
        wt.score(wt.Loaded(CORPUS, [GOOD]), ["talkative"], options=options)
        wt.score(wt.Loaded(CORPUS, [GOOD]), "talkative", options=options)
        wt.score(TEXT, "talkative", refs=TEXT, langs="de-en", options=options)
    hurry = [one for one in caught if "in a hurry" in str(one.message)]
    assert len(hurry) == 3 and {one.filename for one in hurry} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wt.score(["a good text"], "chrf", refs=["a better text"], langs="de-en", options=options)


def test_what_systems_share_is_said_once() -> None:
    def cut(rows: int, total: int, unit: str = "segments") -> Note:
        return Note("cut", "it was cut", "", rows, total, unit)

    both = {"a": [cut(3, 1000)], "b": [cut(3, 1000)]}
    assert merged({"x": both, "y": both}) == ["x, y: it was cut (3 of 1,000 segments)"]
    assert merged({"x": {"a": [cut(3, 10)], "b": []}}) == ["x: it was cut (a 3 of 10 segments)"]
    assert merged({"x": {"a": [Note("metric", "odd")], "b": []}}) == ["x: odd (a)"]
    assert merged({"x": {"a": [cut(1, 1, "documents")]}}) == ["x: it was cut (1 of 1 document)"]
    windows = {"a": [cut(3, 40, "windows")], "b": [cut(3, 41, "windows")]}
    assert merged({"x": windows}) == ["x: it was cut (a 3 of 40 windows, b 3 of 41 windows)"]


def test_a_note_is_a_string_with_a_kind() -> None:
    note = Note("cut", "it was cut", "chrf", 1, 1, "documents")
    again = pickle.loads(pickle.dumps(note))
    assert note == again == "chrf: it was cut (1 of 1 document)" and vars(again) == vars(note)
    assert json.dumps([note]) == '["chrf: it was cut (1 of 1 document)"]'
    assert without_kinds([note, "of an older run"], "cut", "dropped") == ["of an older run"]


def test_scores_that_are_all_undefined_are_told_plainly(talkative: None) -> None:
    empty = Output("empty", dict.fromkeys(("a", "b"), ("",) * len(TEXT)))
    options = Options(cache=False, flags=False)
    scores = wt.score(wt.Loaded(CORPUS, [empty]), "talkative", options=options)["talkative"]["empty"]
    assert scores.notes[-1] == "every score is undefined, so there is no average (10 of 10 segments)"
