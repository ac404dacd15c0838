"""Resampling: the same numbers as sacreBLEU with segments as units, and the properties a test must have."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.scored import compare
from tests.scoring.build_scores import mean, scores_of
from wholetext.errors import MetricError
from wholetext.metrics.surface import Bleu, Chrf
from wholetext.scoring.significance import resample
from wholetext.scoring.significance.resample import (
    bootstrap_p,
    bootstrap_scores,
    interval,
    randomization_p,
)

WORDS = ["the", "a", "of", "to", "in", "house", "garden", "river", "went", "came", "said", "that", "old", "new", "town"]
REDUCE = {"BLEU": Bleu().reduce, "chrF2": Chrf().reduce}


def first(reduce):
    return lambda totals: reduce(totals)[..., 0]


def score(totals):
    return mean(totals)[..., 0]


def systems_on(rng, segments, noise):
    """References, and one output per noise level: words of the reference replaced at random."""
    refs = [list(rng.choice(WORDS, size=rng.integers(8, 25))) for _ in range(segments)]
    outputs = []
    for level in noise:
        swap = [[rng.choice(WORDS) if rng.random() < level else word for word in ref] for ref in refs]
        outputs.append([" ".join(words) for words in swap])
    return [" ".join(ref) for ref in refs], outputs


def sacrebleu_says(refs, outputs, test, draws, monkeypatch):
    """Per metric: sacreBLEU's own results and the segment statistics of each system."""
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    named = [(f"s{i}", lines) for i, lines in enumerate(outputs)]
    metrics = {"BLEU": BLEU(references=[refs]), "chrF2": CHRF(references=[refs])}
    _, results = PairedTest(named, metrics, None, test, draws)()
    stats = {
        name: [np.array(m._extract_corpus_statistics(lines, None), dtype=float) for lines in outputs]
        for name, m in metrics.items()
    }
    return results, stats


def check_against_sacrebleu(refs, outputs, monkeypatch, resamples=1000, trials=2000):
    pairs = [(0, i) for i in range(1, len(outputs))]
    results, stats = sacrebleu_says(refs, outputs, "bs", resamples, monkeypatch)
    for name, reduce in REDUCE.items():
        samples = bootstrap_scores(stats[name], first(reduce), resamples)
        observed = np.array([first(reduce)(t.sum(axis=0)) for t in stats[name]])
        expected = results[name]
        assert observed == pytest.approx([r.score for r in expected], abs=1e-9)
        ours = [interval(s) for s in samples]
        # sacreBLEU computes resampled scores in float32: about 1e-5 of a point at 50 points
        assert [i.mean for i in ours] == pytest.approx([r.mean for r in expected], abs=1e-4)
        assert [i.half_width for i in ours] == pytest.approx([r.ci for r in expected], abs=1e-4)
        assert bootstrap_p(samples, observed, pairs) == pytest.approx([r.p_value for r in expected[1:]], abs=1e-12)
    results, stats = sacrebleu_says(refs, outputs, "ar", trials, monkeypatch)
    for name, reduce in REDUCE.items():
        p = randomization_p(stats[name], first(reduce), pairs, trials)
        assert p == pytest.approx([r.p_value for r in results[name][1:]], abs=1e-12)


def test_p_values_and_intervals_are_sacrebleus_own(monkeypatch):
    refs, outputs = systems_on(np.random.default_rng(3), 120, (0.30, 0.31, 0.33, 0.5))
    check_against_sacrebleu(refs, outputs, monkeypatch)


def test_compare_by_segment_prints_sacrebleus_p_values(monkeypatch):
    refs, outputs = systems_on(np.random.default_rng(4), 60, (0.3, 0.33, 0.4))
    for test, short, draws in (("bootstrap", "bs", 300), ("randomization", "ar", 300)):
        results, stats = sacrebleu_says(refs, outputs, short, draws, monkeypatch)
        for name, reduce in REDUCE.items():
            scores = {f"s{i}": scores_of(table, [20] * 3, reduce) for i, table in enumerate(stats[name])}
            found = compare(scores, "s0", test=test, unit="segment", draws=draws)
            assert [found[f"s{i}"].p for i in (1, 2)] == [r.p_value for r in results[name][1:]]


def news(data, *names):
    """References and outputs of wmt21.news de-en."""
    folder = data / "evalsets/wmt21.news"
    files = [folder / "references/de-en.refA.txt", *(folder / f"system-outputs/de-en/{name}.txt" for name in names)]
    refs, *outputs = [file.read_text(encoding="utf-8").split("\n")[:-1] for file in files]
    return refs, outputs


@pytest.mark.data
@pytest.mark.slow
def test_p_values_are_sacrebleus_own_on_news_with_every_system(data, monkeypatch):
    names = sorted(file.stem for file in (data / "evalsets/wmt21.news/system-outputs/de-en").glob("*.txt"))
    refs, outputs = news(data, *(name for name in names if not name.startswith("ref")))
    check_against_sacrebleu(refs, outputs, monkeypatch, resamples=1000, trials=10_000)


def test_blocks_of_draws_continue_one_stream(monkeypatch):
    rng = np.random.default_rng(0)
    systems = [rng.random((37, 2)) + 1 for _ in range(3)]
    pairs = [(0, 1), (1, 2)]
    whole = bootstrap_scores(systems, score, 200), randomization_p(systems, score, pairs, 200)
    monkeypatch.setattr(resample, "_BLOCK", 100)  # 2 resamples, 32 trials and 3 units at a time
    blocks = bootstrap_scores(systems, score, 200), randomization_p(systems, score, pairs, 200)
    assert np.array_equal(whole[0], blocks[0])
    assert np.array_equal(whole[1], blocks[1])


def test_memory_does_not_grow_with_units_times_draws():
    import tracemalloc

    systems = [np.ones((100_000, 18)) for _ in range(2)]  # 14 MB each; units x draws x k would be 1.4 GB for 100 draws
    tracemalloc.start()
    try:
        bootstrap_scores(systems, lambda t: t[..., 0], 100)
        randomization_p(systems, lambda t: t[..., 0], [(0, 1)], 100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6


def test_seed_decides_and_zero_is_a_seed():
    systems = [np.random.default_rng(5).random((30, 2)) + 1]
    assert np.array_equal(bootstrap_scores(systems, score, 50, 0), bootstrap_scores(systems, score, 50, 0))
    assert not np.array_equal(bootstrap_scores(systems, score, 50, 0), bootstrap_scores(systems, score, 50, 1))
    assert not np.array_equal(bootstrap_scores(systems, score, 50, None), bootstrap_scores(systems, score, 50, None))


totals = st.integers(2, 12).flatmap(
    lambda units: st.lists(
        st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=units, max_size=units),
        min_size=2,
        max_size=3,
    )
)


@given(totals)
@settings(max_examples=50, deadline=None)
def test_a_system_against_its_copy_has_p_1(tables):
    a = np.array(tables[0], dtype=float)
    assert randomization_p([a, a.copy()], score, [(0, 1)], 64)[0] == 1
    samples, observed = bootstrap_scores([a, a.copy()], score, 64), np.array([score(a.sum(0))] * 2)
    assert bootstrap_p(samples, observed, [(0, 1)])[0] == 1
    assert bootstrap_p(samples, observed, [(0, 1)], centred=True)[0] == 1


def exact_p(a, b):
    """Every one of the 2ⁿ ways of swapping, one by one."""
    n, observed, above = len(a), abs(score(a.sum(0)) - score(b.sum(0))), 0
    for code in range(2**n):
        swap = np.array([code >> i & 1 for i in range(n)], dtype=bool)[:, None]
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        above += abs(score(first.sum(0)) - score(second.sum(0))) >= observed - 1e-9
    return above / 2**n


@given(totals, st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_randomisation_is_the_exact_permutation_test_in_any_order_of_units(tables, random):
    a, b = (np.array(t, dtype=float)[:8] for t in tables[:2])
    exact = exact_p(a, b)
    order = list(range(len(a)))
    random.shuffle(order)
    for first, second in ((a, b), (a[order], b[order])):
        p = randomization_p([first, second], score, [(0, 1)], 4000)[0]
        assert p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-3)


def test_undefined_scores_stay_with_their_system():
    rng = np.random.default_rng(7)
    good = [rng.random((20, 2)) + 1 for _ in range(2)]
    undefined = np.zeros((20, 2))
    rare = np.zeros((20, 2))
    rare[3] = (5, 1)  # defined only in resamples that draw this unit
    broken = np.full((20, 2), np.nan)
    systems = [*good, undefined, rare, broken]
    pairs = [(0, 1), (0, 2), (0, 3), (0, 4)]
    p = randomization_p(systems, score, pairs, 500)
    assert p[0] == randomization_p(good, score, [(0, 1)], 500)[0]
    assert np.isfinite(p[2]) and np.isnan(p[[1, 3]]).all()
    samples = bootstrap_scores(systems, score, 500)
    assert np.array_equal(samples[:2], bootstrap_scores(good, score, 500))
    assert np.isnan(samples[[2, 4]]).all()
    assert 0.25 < np.isnan(samples[3]).mean() < 0.5  # (19/20)^20 = .36
    assert interval(samples[3]).low == interval(samples[3]).high == 5
    assert np.isnan([*vars(interval(samples[2])).values()]).all()
    observed = np.array([score(t.sum(0)) for t in systems])
    assert np.isnan(bootstrap_p(samples, observed, pairs)[[1, 3]]).all()


def test_unequal_systems_are_refused():
    with pytest.raises(MetricError, match="cannot draw 1000 resamples"):
        bootstrap_scores([np.ones((3, 2)), np.ones((4, 2))], score)
    with pytest.raises(MetricError, match="cannot draw"):
        bootstrap_scores([np.ones((0, 2))], score)
    with pytest.raises(MetricError, match="cannot draw"):
        randomization_p([np.ones((3, 2))] * 2, score, [(0, 1)], 0)


def first_total(totals):
    return totals[..., 0]


@pytest.mark.parametrize("units, k", [(20, 1), (37, 3), (400, 1), (400, 7)])
def test_no_bit_depends_on_the_other_systems(units, k, monkeypatch):
    """A product of matrices rounds by its shape, which company changes: sums here are exact, so nothing is rounded."""
    rng = np.random.default_rng(units + k)
    systems = [rng.standard_normal((units, k)) * 10.0**i for i in range(-3, 3)]
    together = bootstrap_scores(systems, first_total, 200)
    p = randomization_p(systems, first_total, [(0, 1)], 320)
    for n in (1, 2, 5):
        assert np.array_equal(bootstrap_scores(systems[:n], first_total, 200), together[:n])
    assert randomization_p(systems[:2], first_total, [(0, 1)], 320) == p
    monkeypatch.setattr(resample, "_BLOCK", 32 * units)  # nor on how much is held at once
    assert np.array_equal(bootstrap_scores(systems, first_total, 200), together)
    assert randomization_p(systems, first_total, [(0, 1)], 320) == p


@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e290, 1e-318])
def test_sums_are_the_exact_ones(scale):
    """Next to rational arithmetic, also where large values cancel and where floats end."""
    rng = np.random.default_rng(3)
    totals = rng.standard_normal((30, 2)) * scale
    totals[::3] *= 1e6
    totals[1::3] = -totals[::3] + rng.standard_normal((10, 2)) * scale  # almost cancels
    (found,) = bootstrap_scores([totals], first_total, 50)
    draws = np.random.default_rng(resample.SEED).integers(0, 30, size=(50, 30))
    wanted = [float(sum(Fraction(totals[unit, 0]) for unit in draw)) for draw in draws]
    np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=5e-324)


@given(totals, st.floats(-3, 3), st.floats(0.5, 4))
@settings(max_examples=40, deadline=None)
def test_shifting_and_scaling_the_score_moves_intervals_and_leaves_p(tables, shift, scale):
    a, b = (np.array(t, dtype=float) for t in tables[:2])

    def moved(t):
        return shift + scale * score(t)

    plain, other = bootstrap_scores([a, b], score, 80), bootstrap_scores([a, b], moved, 80)
    assert np.allclose(other, shift + scale * plain, atol=1e-9)
    p, q = (randomization_p([a, b], f, [(0, 1)], 96)[0] for f in (score, moved))
    assert q == p
    there, back = randomization_p([a, b], score, [(0, 1), (1, 0)], 96)
    assert there == back == randomization_p([a, b], lambda t: -score(t), [(0, 1)], 96)[0]
