"""`wholetext train` on the command line: options, a recipe, what it prints, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.cli.main import main

pytest.importorskip("torch")
pytest.importorskip("transformers")


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
    with pytest.raises(SystemExit) as left:
        main(["train", *words, "--out", str(tmp_path / "out")])
    assert left.value.code == 2 and wanted in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
