"""The table of scores: whole numbers on every terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tests.scored import compare
from wholetext.cli.leaderboard import _scores
from wholetext.demo import load
from wholetext.io import Loaded
from wholetext.scoring.evaluate import score


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_number_is_cut_or_lost_on_a_narrow_terminal(width: int) -> None:
    corpus, outputs = load("de-en")
    outputs = (replace(outputs[0], system="a system with a very long name " * 3), *outputs[1:])
    results = score(Loaded(corpus, outputs), ["chrf", "slide(size=3,step=1):bleu", "ter", "whole:chrf", "bleu"])
    comparisons = [compare(scores, draws=100) for scores in results.scores.values()]
    out = io.StringIO()
    _scores(comparisons, Console(file=out, width=width, force_terminal=False))
    assert all(len(line) <= width for line in out.getvalue().splitlines())
    for comparison in comparisons:
        for standing in comparison.standings:
            assert f"{standing.score:.2f} ±" in out.getvalue()
