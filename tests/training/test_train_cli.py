"""`wholetext train` on the command line: options, a recipe, what it prints, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call
from tests.training.training_data import TINY, make
from wholetext.training.recipe import settings

pytest.importorskip("torch")
pytest.importorskip("transformers")


def test_options_train_a_metric_that_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, out = make(tmp_path), tmp_path / "metric"
    options = ["--gold", "wmt-z", "--base", str(TINY / "tiny-bert"), "--form", "aligned", "--runs", "2",
               "--k", "1..2", "--epochs", "2", "--set", "share=0.3", "--set", "head.hidden=[8]", "--out", str(out)]
    code, said, err = call(capsys, "train", "small", "-l", "de-en", "--data", tmp_path, *options)
    assert code == 0 and "validation loss" in err
    assert "acc_eq*" in said and " ± " in said and f"'paragraph(size=5):learned@{out}/run-2'" in said
    card = (out / "run-1" / "README.md").read_text()
    assert "small de-en wmt-z" in card and "Seed 1" in card and str(tmp_path) not in card
    metric = f"paragraph(size=5):learned@{out}/run-1"
    code, said, _ = call(capsys, "score", root, "-l", "de-en", "-m", metric, "--no-cache", "-q")
    assert code == 0 and "learned" in said


@pytest.mark.parametrize("words, wanted", [
    (["nowhere", "-l", "de-en"], "there is no EvalSet 'nowhere'"),
    (["none.toml"], "it cannot be read"),
    (["none.toml", "-l", "de-en"], "langs cannot be combined with a recipe"),
    (["none.toml", "more"], "EvalSets cannot be combined with a recipe"),
    (["x", "--set", "epochs"], "invalid setting 'epochs'"),
    (["x", "--form", "alinged"], "did you mean aligned"),
    (["x", "--k", "0"], "invalid paragraph lengths"),
])  # fmt: skip
def test_errors(words: list[str], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "train", *words, "--out", tmp_path / "out")
    assert code == 2 and wanted in err
    assert not (tmp_path / "out").exists()


def test_settings_are_toml_or_words() -> None:
    found = settings(["head.hidden=[8]", "sampling=uniform", "k=[1, 2]", 'version="a b"', "within=0.5"])
    assert found == {"head.hidden": [8], "sampling": "uniform", "k": [1, 2], "version": "a b", "within": 0.5}
