"""compare(): from Scores to standings, with direction, correction, clusters, units and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.scored import compare
from tests.scoring.build_scores import rows_of, scores_of
from wholetext.errors import AlignmentError, InputError, MetricError
from wholetext.scoring.significance.compare import interval_table
from wholetext.scoring.significance.resample import (
    bootstrap_scores,
    holm,
    interval,
    randomization_p,
)

SIZES = [7, 3, 12, 5, 9, 4] * 5  # 30 documents, 200 segments


def toy(shifts, *, seed=0, sizes=SIZES, **kept):
    """Systems that differ by a shift, with a document effect they share and one of their own."""
    rng = np.random.default_rng(seed)
    doc = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(size=len(sizes))[doc] + rng.normal(size=len(doc))
    return {
        name: scores_of(
            shared + shift + rng.normal(0, 0.5, size=len(sizes))[doc] + rng.normal(0, 0.5, size=len(doc)),
            sizes,
            system=name,
            **kept,
        )
        for name, shift in shifts.items()
    }


def test_standings_best_first_with_clusters_and_verdicts():
    found = compare(toy({"weak": -3.0, "twin": 0.0, "good": 0.05, "lost": -6.0}))
    assert found.baseline == found.standings[0].system
    assert {s.system for s in found.standings[:2]} == {"good", "twin"}
    assert [s.rank for s in found.standings] == [1, 1, 2, 3]
    assert [s.verdict for s in found.standings] == ["baseline", "no significant difference", "worse", "worse"]
    assert [s.score for s in found.standings] == sorted((s.score for s in found.standings), reverse=True)
    assert found["weak"].delta == pytest.approx(found["weak"].score - found.standings[0].score)
    assert found["weak"].delta_interval.low < found["weak"].delta < found["weak"].delta_interval.high < 0
    assert found["weak"].power.needed < 30 < found.standings[1].power.needed
    assert np.isnan(found.standings[0].p) and found.standings[0].power is None and found.standings[0].delta == 0
    assert found.warnings == ()
    with pytest.raises(KeyError):
        found["nobody"]


def test_numbers_are_those_of_the_parts():
    scores = toy({"a": 0.0, "b": -0.2, "c": -0.3})
    found = compare(scores, draws=500, seed=7)
    names = [s.system for s in found.standings]
    totals = [scores[name].totals() for name in names]

    def score(t):
        return t[..., 0] / t[..., 1]

    p = randomization_p(totals, score, [(0, 1), (0, 2), (1, 2)], 500, 7)
    assert [found.p[0, 1], found.p[0, 2], found.p[1, 2], found.p[2, 1]] == [*p, p[2]]
    assert [s.p_holm for s in found.standings[1:]] == pytest.approx(holm(p)[:2])
    samples = bootstrap_scores(totals, score, 1000, 7)
    assert [s.interval for s in found.standings] == [interval(s) for s in samples]
    named = compare(scores, names[0], draws=500, seed=7)  # a baseline named beforehand: two comparisons, not three
    assert [s.p_holm for s in named.standings[1:]] == pytest.approx(holm(p[:2]))
    assert str(found.signature) == (
        "test:randomization|unit:doc|units:30|draws:500|resamples:1000|seed:7|alpha:0.05|correction:holm"
    )


def test_lower_is_better_turns_the_order_and_nothing_else():
    shifts = {"a": 0.0, "b": -0.4, "c": -3.0}
    up, down = compare(toy(shifts)), compare(toy(shifts, higher_is_better=False))
    assert [s.system for s in down.standings] == [s.system for s in reversed(up.standings)]
    assert np.array_equal(down.p, up.p[::-1, ::-1], equal_nan=True)
    assert compare(toy(shifts), "c")["a"].verdict == "better"
    assert compare(toy(shifts, higher_is_better=False), "c")["a"].verdict == "worse"


def test_segments_are_units_on_request_and_are_warned_about():
    scores = toy({"a": 0.0, "b": -0.2})
    by_doc, by_segment = compare(scores), compare(scores, unit="segment")
    assert by_segment.signature["units"] == "200"
    assert by_segment["a"].interval.half_width < by_doc["a"].interval.half_width
    assert by_segment["b"].power == by_doc["b"].power  # documents are counted either way
    assert len(by_segment.warnings) == 1 and "times as large" in by_segment.warnings[0]


def test_weights_and_documents_without_rows_count_as_they_should():
    rows = rows_of([2, 0, 3], weight=np.array([1.0, 0.5, 1.0, 2.0, 1.0]))
    stats = np.stack([np.arange(5.0), np.ones(5)], axis=1)
    other = stats + np.array([1, 0])
    scores = {"a": scores_of(stats, [2, 0, 3], rows=rows), "b": scores_of(other, [2, 0, 3], rows=rows)}
    assert compare(scores).signature["units"] == "2"
    by_segment = compare(scores, unit="segment", draws=64)
    assert by_segment["a"].score == pytest.approx((0 + 0.5 + 2 + 6 + 4) / 5.5)
    assert by_segment["a"].interval.low <= by_segment["a"].score <= by_segment["a"].interval.high


def test_a_system_without_score_is_last_unranked_and_named():
    scores = toy({"a": 0.0, "b": -2.0})
    scores["void"] = scores_of(np.full(200, np.nan), SIZES)
    scores["abyss"] = scores_of(np.full(200, np.nan), SIZES)
    found = compare(scores)
    assert [s.system for s in found.standings] == ["a", "b", "abyss", "void"]
    assert found["void"].rank is None and np.isnan(found["void"].p) and found["void"].verdict == "not tested"
    assert found["b"].p_holm == found["b"].p  # one comparison could be made
    assert [w for w in found.warnings if "void" in w] == ["toy: void has no defined score and is not ranked"]


def test_undefined_resamples_are_counted():
    values = np.full(200, np.nan)
    values[:7] = 1.0
    found = compare({"a": scores_of(values, SIZES), **toy({"b": 0.0})})
    assert any("resampled scores of a are undefined" in w for w in found.warnings)


def test_further_outputs_can_be_compared():
    def both(totals):
        return np.concatenate([totals[..., :1] / totals[..., 1:2], totals[..., 1:2]], axis=-1)

    scores = toy({"a": 0.0, "b": -2.0}, reduce=both, outputs=("score", "count"))
    found = compare(scores, output="count")
    assert found.output == "count" and [s.score for s in found.standings] == [200, 200]
    with pytest.raises(MetricError, match="no output"):
        compare(scores, output="recall")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"baseline": "aa"}, "did you mean a"),
        ({"baseline": "zzzz"}, "choose one of b, a"),
        ({"test": "wilcoxon"}, "there is no test .wilcoxon.\n.* one of randomization"),
        ({"unit": "paragraph"}, "there is no unit .paragraph.\n.* one of doc, segment"),
        ({"alpha": 5}, "between 0 and 1"),
        ({"alpha": 1}, "between 0 and 1"),
        ({"draws": -1}, "cannot draw"),
    ],
)
def test_wrong_arguments_are_answered(arguments, match):
    with pytest.raises((InputError, MetricError), match=match):
        compare(toy({"a": 0.0, "b": 1.0}), **arguments)


def test_systems_that_do_not_line_up_are_refused():
    one = toy({"a": 0.0})["a"]
    with pytest.raises(AlignmentError, match="'b' was not scored with toy on the same documents"):
        compare({"a": one, "b": toy({"b": 0.0}, sizes=[5, 5])["b"]})
    swapped = toy({"b": 0.0}, sizes=[3, 7, *SIZES[2:]])["b"]
    assert compare({"a": one, "b": swapped}).signature["units"] == "30"  # other segments, same documents: fine
    with pytest.raises(AlignmentError, match="same segments"):
        compare({"a": one, "b": swapped}, unit="segment")
    with pytest.raises(AlignmentError, match="not scored with toy"):
        compare({"a": one, "b": replace(one, metric="other")})
    with pytest.raises(MetricError, match="nothing to compare"):
        compare({})


@given(st.integers(0, 10_000), st.integers(2, 5))
@settings(max_examples=20, deadline=None)
def test_the_order_systems_are_given_in_changes_nothing(seed, count):
    rng = np.random.default_rng(seed)
    scores = toy({f"s{i}": float(rng.normal(0, 0.3)) for i in range(count)}, seed=seed)
    names = list(scores)
    rng.shuffle(names)
    one, two = compare(scores, draws=64), compare({name: scores[name] for name in names}, draws=64)
    assert [s.system for s in one.standings] == [s.system for s in two.standings]
    assert np.array_equal(one.p, two.p, equal_nan=True)
    ranks = [s.rank for s in one.standings]
    assert ranks[0] == 1 and set(np.diff(ranks)) <= {0, 1}


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_power_is_at_the_level_that_the_correction_leaves(alpha: float) -> None:
    rng = np.random.default_rng(4)
    scores = {f"s{i}": scores_of(rng.random(8), [2] * 4, system=f"s{i}") for i in range(3)}
    levels = [one.power.alpha for one in compare(scores, alpha=alpha, draws=60).standings if one.power]
    assert len(levels) == 2 and all(alpha / 3 - 1e-12 <= level <= alpha + 1e-12 for level in levels)
    assert min(levels) < alpha


def test_a_p_value_of_exactly_alpha_is_significant() -> None:
    """As the tables say: p ≤ alpha."""
    scores = toy({"a": 0.0, "b": 0.3})
    (p,) = [one.p_holm for one in compare(scores, draws=99).standings if one.verdict != "baseline"]
    assert 0 < p < 1
    verdicts = [one.verdict for one in compare(scores, draws=99, alpha=p).standings]
    assert sorted(verdicts) == ["baseline", "worse"]


@pytest.mark.parametrize(("by", "marked", "verdict"), [
    ((0.55, 0.0), "s0 differs from", "better"), ((0.0, -0.55), "s1 differs from", "worse"),
])
def test_a_marked_system_in_the_baselines_cluster_is_explained(
    by: tuple[float, float], marked: str, verdict: str
) -> None:
    """Marks are corrected for the comparisons with the baseline, clusters for all pairs: p between the two levels."""
    base, other = ("s1", "s0") if verdict == "better" else ("s0", "s1")
    values = np.random.default_rng(5).normal(size=(6, 40))
    values += np.array([*by, *[-0.2] * 4])[:, None] - values.mean(axis=1, keepdims=True)  # of exactly these means
    scores = {f"s{i}": scores_of(row, [1] * 40, system=f"s{i}") for i, row in enumerate(values)}
    alpha = compare(scores, base, draws=2000)[other].p_holm  # just significant against the baseline
    found = compare(scores, base, draws=2000, alpha=alpha)
    one = found[other]
    assert one.p < alpha and one.verdict == verdict and one.rank == found[base].rank
    (said,) = [note for note in found.warnings if "in its rank cluster" in note]
    assert marked in said and f"is in its rank cluster #{one.rank}" in said
    assert f"corrected for the 5 comparisons with {base}, clusters for all 15 pairs" in said


def test_intervals_of_all_differences_are_those_of_each() -> None:
    samples = np.random.default_rng(0).normal(size=(5, 1000)).round(2)  # rounded: some differences are 0
    gaps = samples.copy()
    gaps[2, :30], gaps[4] = np.nan, np.nan
    for some in (samples, gaps):
        each = [[interval(other - base) for other in some] for base in some]
        assert np.array_equal(interval_table(some), [[(one.low, one.high) for one in row] for row in each],
                              equal_nan=True)  # fmt: skip
        assert not np.signbit(interval_table(some)).diagonal().any()


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "bootstrap-centred"])
def test_every_test_separates_what_is_far_and_not_what_is_equal(test):
    scores = toy({"a": 0.0, "far": -3.0})
    scores["copy"] = replace(scores["a"], system="copy")
    found = compare(scores, "a", test=test)
    assert found["copy"].p == 1 and found["copy"].verdict == "no significant difference" and found["copy"].rank == 1
    assert found["far"].p < 0.002 and found["far"].rank == 2
    assert found.signature["draws"] == ("10000" if test == "randomization" else "1000")
