"""What intervals and tests promise, counted on simulated corpora (the code that prints the tables of the docs)."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(scope="module")
def simulate():
    script = Path(__file__).parents[2] / "benchmarks" / "coverage.py"
    return SimpleNamespace(**runpy.run_path(str(script), run_name="coverage"))


def test_document_intervals_cover_where_segment_intervals_do_not(simulate):
    by_document, by_segment = simulate.coverage(1500, 60, np.random.default_rng(0))
    assert 0.92 <= by_document <= 0.98
    assert by_segment < 0.90


@pytest.mark.long
def test_paired_tests_by_document_keep_their_level(simulate):
    rates = simulate.false_alarms(1500, 40, np.random.default_rng(1))
    # three standard errors of a share of .05 in 1,500: .017
    assert 0.033 <= rates["randomization"] <= 0.067
    assert 0.033 <= rates["bootstrap-centred"] <= 0.075  # a bootstrap of 50 documents is a little too narrow
    assert 0.08 <= rates["bootstrap"] <= 0.15  # sacreBLEU's convention rejects at about twice its level, as documented
    assert rates["randomization, segments"] > 0.2


def test_randomisation_keeps_its_level_with_few_documents(simulate):
    rates = simulate.false_alarms(1500, 8, np.random.default_rng(2))
    assert 0.02 <= rates["randomization"] <= 0.067
    assert rates["bootstrap"] > 0.12


def test_equal_systems_are_rarely_told_apart_after_correction(simulate):
    rates = simulate.false_claims(300, 6, np.random.default_rng(3))
    assert rates["clusters, Holm"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert rates["clusters, uncorrected"] > 0.2


def test_the_documents_asked_for_give_the_power_promised(simulate):
    needed, share = simulate.achieved_power(1000, 0.4, np.random.default_rng(4))
    assert 30 <= needed <= 60
    assert share == pytest.approx(0.8, abs=0.06)  # 3 standard errors, and the pilot's own
