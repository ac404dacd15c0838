"""Scores as DataFrames: every level, every number, both libraries; without them, an error that names the extra."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import wholetext as wt
from wholetext import Corpus, Document, Options, Output, Results
from wholetext.types import Level

LEVELS = get_args(Level)


@pytest.fixture(scope="module")
def run() -> Results:
    docs = (Document("d1", None, {"r": ("the cat", "sat down", "on the mat")}),
            Document("d2", None, {"r": ("hello world", "")}))  # fmt: skip
    outputs = [Output("a", {"d1": ("the cat", "sat", "on mat"), "d2": ("hello", "")}),
               Output("b", {"d1": ("a cat", "sat down", "on the mat"), "d2": ("world", "x")})]  # fmt: skip
    return wt.score(
        wt.Loaded(Corpus("c", ("de", "en"), docs), outputs),
        ["slide(size=2,step=1):chrf", "rouge", "d-bleu"],
        options=Options(cache=False),
    )


@pytest.fixture(params=["pandas", "polars"])
def frame_of(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(request.param)
    return lambda value, *level: getattr(value, f"to_{request.param}")(*level)


@pytest.mark.parametrize("level", LEVELS)
def test_every_number_of_every_level_is_there(run: Results, frame_of: Any, level: Level) -> None:
    whole = frame_of(run, level)
    at = 0
    for spec, by_system in run.items():
        for system, scores in by_system.items():
            one, table = frame_of(scores, level), scores.table(level)
            assert [*one.columns][-len(scores.outputs):] == ["score", *scores.outputs[1:]]
            for j, name in enumerate(("score", *scores.outputs[1:])):
                np.testing.assert_array_equal(one[name].to_numpy(), table[:, j])
            part = whole[at : at + len(one)]
            assert {*part["metric"]} == {spec} and {*part["system"]} == {system}
            np.testing.assert_array_equal(part["score"].to_numpy(), table[:, 0])
            at += len(one)
    assert at == len(whole)


def test_places_are_columns(run: Results, frame_of: Any) -> None:
    scores = run["slide(size=2,step=1):chrf"]["a"]
    rows = frame_of(scores, "row")
    found = [wt.Row(*row) for row in zip(rows["doc"], rows["start"], rows["stop"], rows["weight"])]
    assert found == list(scores.rows)
    segments = frame_of(scores, "segment")
    assert list(zip(segments["doc"], segments["segment"])) == [("d1", 0), ("d1", 1), ("d1", 2), ("d2", 0), ("d2", 1)]
    assert list(frame_of(scores)["doc"]) == ["d1", "d2"] and "doc" not in frame_of(scores, "corpus").columns


def test_a_run_folder_gives_the_same_frames(run: Results, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    wt.scoring.write_run(run, tmp_path / "run")
    again = wt.open_run(tmp_path / "run")
    for level in LEVELS:
        pandas.testing.assert_frame_equal(run.to_pandas(level), again.to_pandas(level), check_exact=True)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library_the_extra_is_named(run: Results, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        wt.errors.MissingExtra, match=rf"{library} is not installed\n  → pip install 'wholetext\[{library}\]'"
    ):
        getattr(run, f"to_{library}")()
