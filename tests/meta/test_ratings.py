"""Ratings by rater: averages, standardisation that gives WMT's released z-scores, tables with faults in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import InputError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments import (
    find_ratings,
    gather,
    read_rater_table,
)

ROWS = [("A", ("d", 0), "r1", 1.0), ("A", ("d", 0), "r2", 3.0), ("B", ("d", 1), "r1", 5.0), ("A", ("e", 0), "r1", 3.0)]


def test_means_over_raters_and_gaps() -> None:
    ratings = gather("da", ROWS)
    assert ratings.segments == (("d", 0), ("d", 1), ("e", 0))
    values = ratings.judgments().values
    assert values[0, 0] == 2.0
    assert values[1, 1] == 5.0
    assert np.isnan(values[0, 1])
    assert np.isnan(values[1, 0])


def test_standardised_by_rater() -> None:
    z = gather("da", ROWS).standardised()
    mine = z.score[z.rater == 0]
    assert mine.mean() == pytest.approx(0.0)
    assert mine.std(ddof=1) == pytest.approx(1.0)
    assert z.score[z.rater == 1].tolist() == [0.0]  # one rating has no spread
    population = gather("da", ROWS).standardised(ddof=0)
    assert population.score[population.rater == 0].std() == pytest.approx(1.0)


def test_a_segment_outside_the_corpus_is_named() -> None:
    with pytest.raises(InputError, match="segment 2 of document 'd'"):
        gather("da", ROWS, [("d", 0), ("e", 0)])


@pytest.mark.parametrize(("text", "match"), [
    ("system\tseg\trater\nA\t0\tr\n", "no column 'score'"),
    ("system\tseg\trater\tscore\nA\t0\tr\n", "3 columns"),
    ("system\tseg\trater\tscore\nA\t9\tr\t1\n", "not a segment"),
    ("system\tseg\trater\tscore\nA\t-1\tr\t1\n", "not a segment"),
    ("system\tseg\trater\tscore\nA\t0\tr\tinf\n", "not a score"),
    ("system\tseg\trater\tscore\nA\t0\tr\tbad\n", "not a score")])
def test_faults_are_named(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "r.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        read_rater_table(path, [("d", 0)])


@pytest.mark.data
@pytest.mark.parametrize(("name", "lp"), [("wmt22.da", "cs-en"), ("wmt22.da", "zh-en"), ("wmt21.news", "cs-en")])
def test_released_da_scores(name: str, lp: str, data: Path) -> None:
    """Raw means exactly; z-scores to the six decimals of the file, from the raw scores alone."""
    opened = EvalSet.open(data / "evalsets" / name, lp)
    for gold, tolerance in (("wmt-raw", 1e-9), ("wmt-z", 5e-5)):
        mine, released = find_ratings(opened, gold).ratings.judgments(), opened.human(gold, "seg")
        shared = [system for system in mine.systems if system in released.systems]
        assert len(shared) >= 9
        one = mine.values[[mine.systems.index(s) for s in shared]]
        two = released.values[[released.systems.index(s) for s in shared]]
        np.testing.assert_array_equal(np.isnan(one), np.isnan(two))
        np.testing.assert_allclose(one, two, atol=tolerance)


@pytest.mark.data
def test_where_ratings_are_found(data: Path) -> None:
    sets = data / "evalsets"
    assert find_ratings(EvalSet.open(sets / "wmt21.tedtalks", "en-de"), "mqm").path.endswith("en-de.mqm.raters.tsv")
    news = find_ratings(EvalSet.open(sets / "wmt21.news.mqm", "en-de"), "mqm")
    released = EvalSet.open(sets / "wmt21.news.mqm", "en-de").human("mqm", "seg")
    mine = news.ratings.judgments()
    order = [mine.systems.index(system) for system in released.systems]
    known = ~np.isnan(mine.values[order]) & ~np.isnan(released.values)
    assert known.sum() > 8900
    np.testing.assert_allclose(mine.values[order][known], released.values[known])
    da = find_ratings(EvalSet.open(sets / "wmt22.da", "cs-en"), "wmt-z")
    assert (da.total, da.ratings.scheme) == ("mean", "da-z")
    zh = find_ratings(EvalSet.open(sets / "wmt21.news", "zh-en"), "wmt-raw")
    assert zh.note.startswith("the file has no rater ids")
    with pytest.raises(InputError, match="no ratings of segments"):
        find_ratings(EvalSet.open(sets / "wmt21.tedtalks", "en-de"), "nothing")
