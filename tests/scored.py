"""Scores and comparisons under one metric, as many tests need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.significance.compare import Comparison, Significance
from wholetext.types import Corpus, Output, Scores


def scored(
    corpus: Corpus, outputs: Sequence[Output], metric: str, options: Options | None = None
) -> Mapping[str, Scores]:
    """System → scores under the metric."""
    return score(Loaded(corpus, outputs), metric, options=options)[metric]


def compare(
    scores: Mapping[str, Scores], baseline: str | None = None, output: str | None = None, **how: Any
) -> Comparison:
    """Compare systems with the arguments of Significance."""
    return Significance(baseline=baseline, **how).compare(scores, output)
