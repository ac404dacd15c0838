"""Span ratings, preferences, aspects, and agreement between raters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.meta.judgments.aspects import read_aspects
from wholetext.meta.judgments.preferences import (
    Preference,
    agreement,
    expected_wins,
    preferences_of_ranking,
    read_preferences,
    read_rankings,
)
from wholetext.meta.judgments.raters import cohen_kappa, krippendorff_alpha, rater_pairs, reliability
from wholetext.meta.judgments.ratings import gather
from wholetext.meta.judgments.spans import read_span_ratings, span_ratings

SEGMENTS = [("d", 0), ("d", 1)]
nan = float("nan")


def spans_file(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_span_ratings(tmp_path: Path) -> None:
    one = json.dumps({"errors": [{"start": 0, "end": 3, "severity": "major", "category": "accuracy"},
                                 {"start": 4, "end": 6, "severity": "minor", "category": "fluency/punctuation",
                                  "is_source_error": True}], "score": 71})
    two = json.dumps({"errors": [{"start": 0, "end": 1, "severity": "minor", "score": -2.5}], "score": 88.5})
    path = spans_file(tmp_path / "x.seg.rating", f"A\t{one}\tr1", "A\tNone", f"B\t{two}", f"B\t{two}")
    found = read_span_ratings(path, SEGMENTS)
    assert [(r.system, r.segment, r.rater) for r in found] == [
        ("A", ("d", 0), "r1"), ("B", ("d", 0), "unknown"), ("B", ("d", 1), "unknown")]
    assert found[0].spans[1].source
    assert span_ratings(found, "mqm", SEGMENTS).score.tolist() == pytest.approx([-5.1, -2.5, -2.5])
    assert span_ratings(found, "esa", SEGMENTS).score.tolist() == [71.0, 88.5, 88.5]


@pytest.mark.parametrize(("lines", "kind", "match"), [
    (["A\t{}"], InputError, "cannot be read"), (["A\t[1"], InputError, "cannot be read|not JSON"),
    (["A"], InputError, "1 columns"), (["A\tNone"], AlignmentError, "1 ratings, expected 2"),
    (["A\tNone"] * 3, AlignmentError, "more ratings"),
    (['A\t{"errors": [{"start": 0, "end": 1, "severity": "x", "score": "nan"}]}'], InputError, "cannot be read")])
def test_faulty_span_ratings(tmp_path: Path, lines: list[str], kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        read_span_ratings(spans_file(tmp_path / "x", *lines), SEGMENTS)


def test_esa_needs_an_overall_score(tmp_path: Path) -> None:
    found = read_span_ratings(spans_file(tmp_path / "x", 'A\t{"errors": []}', "A\tNone"), SEGMENTS)
    with pytest.raises(InputError, match="no overall score"):
        span_ratings(found, "esa", SEGMENTS)


def test_rankings_become_preferences(tmp_path: Path) -> None:
    path = tmp_path / "rr.csv"
    path.write_text("srclang,trglang,srcIndex,segmentId,judgeId,system1Id,system1rank,system2Id,system2rank,system3Id,system3rank\n"
                    "cze,eng,1,1,j1,A,1,B,2,C,2\ncze,eng,2,2,j1,A,3,B,1,C,-1\n")
    found = read_rankings(path)
    assert [(p.item, p.first, p.second, p.sign) for p in found] == [
        ("1", "A", "B", 1), ("1", "A", "C", 1), ("1", "B", "C", 0), ("2", "A", "B", -1)]
    names, wins = expected_wins(found)
    assert names == ("A", "B", "C")
    assert wins.tolist() == pytest.approx([0.75, 0.5, 0.0])
    bad = tmp_path / "bad.csv"
    bad.write_text("segmentId,judgeId,system1Id,system1rank,system2Id,system2rank\n1,j,A,x,B,2\n")
    with pytest.raises(InputError, match="rank"):
        read_rankings(bad)
    bad.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="relative rankings"):
        read_rankings(bad)


def test_agreement_on_preferences() -> None:
    ranked = list(preferences_of_ranking("1", [("A", 1), ("B", 2), ("C", 2)]))
    scores = {"A": 0.9, "B": 0.9, "C": 0.1}
    found = agreement(ranked, lambda p: (scores[p.first], scores[p.second]))
    assert (found.right, found.pairs, found.metric_ties, found.human_ties) == (1, 2, 1, 1)
    assert (found.accuracy, found.tau, found.chance) == (0.5, 0.0, 0.5)
    with pytest.raises(InputError, match="no system"):
        expected_wins([Preference("1", "A", "Z", 1)], ["A", "B"])


@pytest.mark.data
def test_literary_preferences(data: Path) -> None:
    found = read_preferences(data / "pairwise" / "literary-translation.jsonl")
    assert len(found) == 540
    longer = agreement([one.preference for one in found],
                       lambda p: tuple(len(text) for text in found[int(p.item)].texts))  # type: ignore[arg-type, return-value]
    assert longer.pairs == 540
    wins = dict(zip(*expected_wins(one.preference for one in found)))
    assert wins["para"] > wins["sent"]


def test_faulty_preferences(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    row = dict.fromkeys(("source", "target", "text1", "text2", "text1_tag", "text2_tag"), "x")
    faulty = [row, {**row, "choice": "both"}, {**row, "choice": "text1", "text1": 3}]
    for bad in ("{", *map(json.dumps, faulty)):
        path.write_text(f"{bad}\n")
        with pytest.raises(InputError):
            read_preferences(path)


@pytest.mark.data
def test_summeval_and_ner18(data: Path) -> None:
    found = read_aspects(data / "summarization" / "summeval.summaries.jsonl")
    assert found.aspects("expert") == ("coherence", "consistency", "fluency", "relevance")
    values = found.judgments("coherence", "expert")
    assert values.values.shape == (12, 100)
    assert not np.isnan(values.values).any()
    assert len(found.groups["turker"]["coherence"].raters) == 5
    assert 0.4 < reliability(found.groups["expert"]["coherence"]) < 0.7
    news = read_aspects(data / "summarization" / "ner18.newsroom.summaries.jsonl")
    assert news.judgments("coherence", "scores").values.shape == (7, 60)


def test_faulty_aspects(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for bad, match in (("{", "JSON"), ('{"id": 1}', "no id and system"), ('{"id": 1, "system": "A"}', "no ratings"),
                       ('{"id": 1, "system": "A", "scores": {"x": "high"}}', "not a number")):
        path.write_text(bad + "\n")
        with pytest.raises(InputError, match=match):
            read_aspects(path)
    good = '{"id": 1, "system": "A", "scores": {"x": 2}}\n'
    path.write_text(good + good)
    with pytest.raises(InputError, match="two texts"):
        read_aspects(path)
    path.write_text(good)
    found = read_aspects(path)
    with pytest.raises(InputError, match="no aspect"):
        found.judgments("y", "scores")
    with pytest.raises(InputError, match="no raters"):
        found.judgments("x", "experts")


def test_cohen_kappa() -> None:
    """Cohen 1960's kind of table: 20 yes-yes, 5 and 10 disagreements, 15 no-no."""
    one = np.array([1] * 25 + [0] * 25, dtype=float)
    two = np.array([1] * 20 + [0] * 5 + [1] * 10 + [0] * 15, dtype=float)
    assert cohen_kappa(one, two) == pytest.approx(0.4)
    assert cohen_kappa(one, one) == 1.0
    assert cohen_kappa(np.array([1.0, 2, 3]), np.array([1.0, 2, 2]), "quadratic") == pytest.approx(2 / 3)
    assert np.isnan(cohen_kappa(np.ones(3), np.ones(3)))
    assert np.isnan(cohen_kappa(np.array([nan]), np.array([1.0])))


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)])
def test_krippendorff_alpha(scale: str, alpha: float) -> None:
    """The example of Krippendorff 2011: four observers, twelve units, gaps."""
    data = np.array([[1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
                     [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]])
    assert krippendorff_alpha(data, scale) == pytest.approx(alpha, abs=5e-4)  # type: ignore[arg-type]
    assert np.isnan(krippendorff_alpha(np.ones((2, 3))))


def test_pairs_of_raters() -> None:
    rows = [(system, ("d", i), rater, float(score)) for rater, table in (
        ("r1", {"A": [1, 2, 3], "B": [2, 2, 1]}), ("r2", {"A": [1, 2, 2], "B": [3, 1, 1]}), ("r3", {"A": [1]}))
        for system, scores in table.items() for i, score in enumerate(scores)]
    found = rater_pairs(gather("da", rows))
    assert [(p.one, p.two) for p in found] == [("r1", "r2")]
    assert (found[0].items, found[0].pairs) == (6, 3)
    assert found[0].pair_agreement == pytest.approx(2 / 3)  # B > A, tie against A > B, A > B
