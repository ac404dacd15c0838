"""Holm's correction and rank clusters, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.scoring.significance.resample import cluster_ranks, holm, holm_levels

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_out_what_was_not_tested():
    found = holm(np.array([np.nan, 0.02, np.nan, 0.03]))
    assert found == pytest.approx([np.nan, 0.04, np.nan, 0.04], nan_ok=True)
    assert holm(np.array([])).shape == (0,)
    assert np.isnan(holm(np.array([np.nan]))).all()


def rejected_by_holm(p, alpha):
    """The procedure as Holm states it: reject from the smallest on until one fails α / (hypotheses left)."""
    out = set()
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[i] * (len(p) - step) > alpha:
            break
        out.add(i)
    return out


@given(probabilities, st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_what_the_procedure_rejects(p, alpha):
    adjusted = holm(np.array(p))
    assert {i for i, value in enumerate(adjusted) if value <= alpha} == rejected_by_holm(p, alpha)
    assert np.all(adjusted >= np.array(p)) and np.all(adjusted <= 1)


@given(probabilities, st.sampled_from([0.01, 0.05, 0.2]))
def test_levels_are_what_each_p_is_compared_with(p, alpha):
    levels = holm_levels(np.array(p), alpha)
    for value, level in zip(p, levels):
        assert level == pytest.approx(alpha / sum(other >= value for other in p))
    assert np.isnan(holm_levels(np.array([np.nan, 0.1]))[0]) and holm_levels(np.array([np.nan, 0.1]))[1] == 0.05


def test_cluster_ranks_of_the_reference():
    p = np.full((4, 4), np.nan)
    p[np.triu_indices(4, 1)] = 0.2, 0.01, 0.5, 0.3, 0.04, 0.2
    assert cluster_ranks(p) == [1, 1, 2, 2]


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.floats(0, 0.2), min_size=n * n, max_size=n * n)))
def test_cluster_ranks_are_the_walk_down_the_list(values):
    size = int(np.sqrt(len(values)))
    p = np.array(values).reshape(size, size)
    ranks = cluster_ranks(p)
    members = []  # of the current cluster, as the definition has it
    for i, rank in enumerate(ranks):
        opens = not members or any(p[j, i] <= 0.05 for j in members)
        members = [i] if opens else [*members, i]
        assert rank == (ranks[i - 1] + opens if i else 1)
    assert np.array_equal(ranks, cluster_ranks(np.where(np.tri(size, dtype=bool), -1, p)))  # only i < j is read
