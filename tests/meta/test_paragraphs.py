"""Paragraphs: windows of one rater, counts of the golden author, provenance, texts, what several raters mean."""

from __future__ import annotations

import json
from pathlib import Path

import evalset_folder
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholetext.errors import AlignmentError, InputError
from wholetext.io.formats import evalset
from wholetext.meta.judgments.ratings import Ratings, gather
from wholetext.meta.judgments.sources import find_ratings, raw_mqm
from wholetext.meta.paragraphs import Windows, paragraph_set, paragraphs, texts, write_jsonl


def rated(places: dict[str, list[int]], system: str = "A") -> Ratings:
    """Ratings 10·place + number of the rater, for rater → places."""
    rows = [(system, ("d", place), rater, 10.0 * place + i)
            for i, (rater, many) in enumerate(places.items()) for place in many]
    return gather("mqm", rows)


def test_windows_are_greedy_and_break_at_gaps() -> None:
    found = paragraphs(rated({"r": [0, 1, 2, 3, 4, 6, 7, 8]}), Windows(2))
    assert [p.start for p in found] == [0, 2, 6]
    assert [p.score for p in found] == [10.0, 50.0, 130.0]
    assert [p.score for p in paragraphs(rated({"r": [0, 1]}), Windows(2, total="mean"))] == [5.0]


def test_raters_are_never_mixed() -> None:
    ratings = rated({"r1": [0, 1, 2], "r2": [1, 2, 3]})
    each = paragraphs(ratings, Windows(2))
    assert [(p.rater, p.start) for p in each] == [("r1", 0), ("r2", 1)]
    first = paragraphs(ratings, Windows(2, "first"))
    assert [(p.rater, p.start) for p in first] == [("r1", 0), ("r2", 2)]
    mean = paragraphs(ratings, Windows(2, "mean"))
    assert [(p.start, p.score) for p in mean] == [(0, 0.0 + 10.5), (2, 20.5 + 31.0)]
    assert paragraphs(rated({"r1": [0], "r2": [1]}), Windows(2)) == []


@settings(deadline=None)
@given(st.sets(st.integers(0, 14)), st.integers(1, 5))
def test_equals_the_walk_of_the_paper(places: set[int], k: int) -> None:
    starts, at = [], 0
    while at + k <= 15:
        if all(at + i in places for i in range(k)):
            starts.append(at)
            at += k
        else:
            at += 1
    found = paragraphs(rated({"r": sorted(places)}), Windows(k)) if places else []
    assert [p.start for p in found] == starts
    if places:
        assert [p.start for p in paragraphs(rated({"r": sorted(places)}), Windows(k, "first"))] == starts


def test_a_length_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        Windows(0)


def test_items_line_up_over_systems() -> None:
    given = ("A", "r1", range(4)), ("B", "r2", range(4)), ("B", "r3", range(2)), ("C", "r1", range(1, 3))
    rows = [(system, ("d", i), rater, float(i)) for system, rater, many in given for i in many]
    found = paragraphs(gather("mqm", rows), Windows(2))
    chosen = paragraph_set(found, ["A", "B", "C"])
    assert chosen.items == (("d", 0), ("d", 2))
    assert chosen.alone == 1  # ("d", 1) of C
    np.testing.assert_array_equal(chosen.gold.values, [[1.0, 5.0], [1.0, 5.0], [np.nan, np.nan]])


def test_texts_and_provenance(tmp_path: Path) -> None:
    folder = evalset_folder.make(tmp_path)
    loaded = evalset.read(folder, "de-en")
    source = find_ratings(folder, "de-en", "mqm")
    found = paragraphs(source.ratings, Windows(2))
    chosen = paragraph_set(found, evalset_folder.SYSTEMS, [doc.id for doc in loaded.corpus.docs])
    made = texts(loaded, chosen)
    assert [doc.id for doc in made.corpus.docs[:2]] == ["doc0:1-2", "doc0:3-4"]
    assert made.corpus.docs[0].refs["refA"] == (" ".join(evalset_folder.REF[:2]),)
    assert made.corpus.docs[0].meta["k"] == "2"
    assert made.outputs[0].docs["doc0:1-2"] == (" ".join(evalset_folder.outputs()["alpha"][:2]),)
    write_jsonl(tmp_path / "p.jsonl", found, loaded)
    first = json.loads((tmp_path / "p.jsonl").read_text().splitlines()[0])
    assert (first["system"], first["doc"], first["start"], first["k"], first["rater"]) == ("alpha", "doc0", 0, 2, "ann")
    assert first["src"] == " ".join(evalset_folder.SOURCE[:2])
    elsewhere = [one for system in "AB" for one in paragraphs(rated({"r": [0, 1]}, system), Windows(2))]
    strange = paragraph_set(elsewhere, ["A", "B"])
    with pytest.raises(AlignmentError, match="no document 'd'"):
        texts(loaded, strange)


def test_unspaced_languages_are_joined_without_a_space() -> None:
    from wholetext.io import from_texts
    from wholetext.meta.paragraphs import ParagraphSet
    from wholetext.types import Judgments

    texts_of = {"refs": ["a。", "b。"], "srcs": ["Hello.", "Bye."], "docs": ["d", "d"]}
    loaded = from_texts(["你好。", "再见。"], **texts_of, langs="en-zh")  # type: ignore[arg-type]
    made = texts(loaded, ParagraphSet(2, (("d", 0),), Judgments("x", "doc", (), np.zeros((0, 1))), 0))
    assert made.corpus.docs[0].src == ("Hello. Bye.",)
    assert made.outputs[0].docs["d:1-2"] == ("你好。再见。",)


COUNTS = {"mqm_ted_ende.tsv": [7406, 3605, 2348, 1706, 1339, 1082, 896, 750, 633, 567],
          "mqm_ted_zhen.tsv": [7935, 3853, 2499, 1818, 1426, 1128, 943, 800, 665, 590]}


@pytest.mark.data
@pytest.mark.parametrize("name", COUNTS)
def test_paragraph_counts_of_ted(name: str, data: Path, golden: Path) -> None:
    source = raw_mqm(data / "evalsets" / "wmt21.tedtalks" / "human-scores" / "raw" / name)
    assert [len(paragraphs(source.ratings, Windows(k))) for k in range(1, 11)] == COUNTS[name]
    if name == "mqm_ted_ende.tsv":
        expected = json.loads((golden / "mqm" / "mqm_ted_ende.json").read_text())
        mine = [[p.system, p.doc, p.start + 1, p.k, p.rater, p.score] for p in paragraphs(source.ratings, Windows(3))]
        assert mine[:20] == expected["paragraphs_k3_first_20"]
        total = sum(p.score for p in paragraphs(source.ratings, Windows(10)))
        assert total == pytest.approx(expected["paragraphs_k10_all_sum"], abs=1e-9)


@pytest.mark.data
def test_paragraph_counts_from_a_ratings_table(data: Path, golden: Path) -> None:
    expected = json.loads((golden / "mqm" / "paragraph_counts_wmt21.tedtalks.en-ru.json").read_text())
    source = find_ratings(data / "evalsets" / "wmt21.tedtalks", "en-ru", "mqm-sev")
    assert [len(paragraphs(source.ratings, Windows(k))) for k in range(1, 11)] == expected["counts_k1_10"]
    four = paragraphs(source.ratings, Windows(4))
    assert [[p.system, p.doc, p.start, p.k, p.rater, p.score] for p in four[:10]] == expected["first_10_k4"]
    assert sum(p.score for p in four) == pytest.approx(expected["sum_k4"], abs=1e-9)


@pytest.mark.data
def test_paragraph_counts_that_the_paper_printed(data: Path) -> None:
    """WMT21 news en-de, table 3: 15 outputs, each with the windows that a segment rated by anybody gives."""
    published = [7905, 3825, 2460, 1800, 1395, 1140, 870, 765, 660, 585]
    ratings = find_ratings(data / "evalsets" / "wmt21.news.mqm", "en-de", "mqm").ratings
    counts = [[p.system for p in paragraphs(ratings, Windows(k, "mean"))] for k in range(1, 11)]
    whole = [system for system in ratings.systems if counts[0].count(system) == 527]
    assert len(whole) == 6  # the others lack one to three ratings in the release
    for system in whole:
        assert [15 * names.count(system) for names in counts] == published
