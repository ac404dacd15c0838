"""The library as a person types it: every form of data is scored, compared and shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import wholetext as wt
from wholetext.scoring.significance import verdicts

pandas = pytest.importorskip("pandas")
QUIET = wt.Options(flags=False, cache=False)
ASSETS = Path(wt.__file__).parent / "reporting" / "assets"


def table(**more: list[str]) -> object:
    rows = range(24)
    return pandas.DataFrame({
        "doc": [f"d{i // 2}" for i in rows], "src": [f"der Satz {i}" for i in rows],
        "ref": [f"the sentence number {i}" for i in rows], **more,
    })  # fmt: skip


def good_and_bad() -> object:
    rows = range(24)
    return table(**{"hyp:good": [f"the sentence number {i}" for i in rows], "hyp:bad": [f"a phrase {i}" for i in rows]})


def test_score_returns_results_for_every_form_of_data() -> None:
    frame = good_and_bad()
    loaded = wt.read(frame, langs="de-en")
    texts = {output.system: list(output.docs.values()) for output in loaded.outputs}
    references = [doc.refs["ref"] for doc in loaded.corpus.docs]
    for results in (
        wt.score(loaded, "chrf", options=QUIET),
        wt.score(frame, ["chrf"], langs="de-en", options=QUIET),
        wt.score(texts, "chrf", refs={"ref": references}, langs="de-en", options=QUIET),
    ):
        assert type(results) is wt.Results and results["chrf"]["good"].score == 100
        compared = wt.compare(results)
        assert list(compared) == ["chrf"] and compared["chrf"]["bad"].verdict == "worse"
        assert {"metric", "system", "doc", "score"} <= set(results.to_pandas().columns)
        assert list(results.to_pandas("corpus")["system"]) == ["good", "bad"]


def test_a_frame_without_systems_is_an_error() -> None:
    for door in (wt.read, wt.score):
        with pytest.raises(wt.WholetextError, match="no column has the output of a system: doc, src, ref"):
            door(table())  # type: ignore[arg-type]


def test_the_leaderboard_has_intervals_before_and_after_a_comparison() -> None:
    results = wt.score(good_and_bad(), ["chrf", "ter"], options=QUIET)  # type: ignore[arg-type]
    assert re.search(r"^bad +\d+\.\d\d ±\d+\.\d\d +\d+\.\d\d ±\d+\.\d\d$", repr(results), re.M)
    assert results.finding == "Differences were not tested: good scores best on chrf and ter."
    tested = wt.score(good_and_bad(), ["chrf", "ter"], options=QUIET, significance=wt.Significance())  # type: ignore[arg-type]
    assert tested.finding == "good is significantly better than bad on chrf and ter."
    assert re.search(r"^bad +\d+\.\d\d ±\d+\.\d\d #2 ", repr(tested), re.M)
    assert f"± is a 95 % interval; # the rank cluster. {tested.finding}" in tested._repr_html_()
    for spec, comparison in tested.comparisons.items():
        assert results.standings[spec]["bad"].interval == comparison["bad"].interval
        difference = comparison["bad"].delta_interval  # to the best
        assert difference.low <= comparison["bad"].delta <= difference.high


def test_the_report_uses_the_words_of_the_library() -> None:
    """Scripts cannot import them: they have the same words."""
    words = (verdicts.BASELINE, verdicts.BETTER, verdicts.WORSE, verdicts.SAME, verdicts.UNTESTED)
    assert words == get_args(verdicts.Verdict) and set(verdicts.MARKS) == set(words)
    script = (ASSETS / "leaderboard.js").read_text("utf-8") + (ASSETS / "compare.js").read_text("utf-8")
    for word in (verdicts.SAME, verdicts.UNTESTED):
        assert script.count(word) >= 2
    assert "not settled" not in script
