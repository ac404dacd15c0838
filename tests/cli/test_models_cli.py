"""`wholetext models` and `wholetext score --sweep` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import demo_files
from tests.in_process import Capture, call
from wholetext.scoring.evaluate import open_run


def test_list_and_show(capsys: Capture) -> None:
    code, out, _ = call(capsys, "models", "list")
    assert code == 0 and "facebook/mbart-large-50" in out and "cc-by-nc-sa-4.0" in out and "gated" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = call(capsys, "models", "list", "--json")
    assert {"name", "licence", "gigabytes", "gated", "revision", "path"} <= set(json.loads(out)[0])
    code, out, _ = call(capsys, "models", "show", "doc-prism")
    assert code == 0 and "facebook/mbart-large-50" in out and "mit" in out


def test_show_verify_and_fetch_a_folder(capsys: Capture, oracle: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = str(oracle / "neural/models/tiny-mt5")
    code, out, _ = call(capsys, "models", "show", folder)
    assert code == 0 and folder in out and "revision" in out
    code, out, _ = call(capsys, "models", "verify", folder)
    assert code == 0 and "BAD" not in out and "tensors" in out
    code, out, _ = call(capsys, "models", "fetch", folder)
    assert code == 0 and "licence unknown" in out
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    code, out, _ = call(capsys, "models", "verify", str(tmp_path))
    assert code == 1 and "BAD" in out


def test_what_is_not_here_names_the_command(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code, _, err = call(capsys, "models", "fetch", "kiwi")
    assert code == 2 and "wholetext models fetch Unbabel/wmt22-cometkiwi-da" in err and "Traceback" not in err
    code, _, err = call(capsys, "models", "verify", "someone/nothing")
    assert code == 2 and "wholetext models fetch someone/nothing" in err
    code, _, err = call(capsys, "models", "show", "nothing")
    assert code == 2 and "models list" in err


def test_sweep_prints_and_keeps_a_grid(capsys: Capture, files: Path, tmp_path: Path) -> None:
    arguments = ["score", *demo_files(files)]
    code, out, _ = call(capsys, *arguments, "-m", "chrf", "--sweep", "window=3", "--out", str(tmp_path / "run"))
    assert code == 0 and "dropped" in out and "coherent" in out and len(out.splitlines()) >= 8
    grid = json.loads((tmp_path / "run/grid.json").read_text("utf-8"))
    assert [cell["size"] for cell in grid["cells"]] == [1, 2, 2, 3, 3, 3]
    again = open_run(tmp_path / "run")
    assert all(
        again.scores[cell["spec"]][system].score == pytest.approx(value)
        for cell in grid["cells"] for system, value in cell["scores"].items()
    )  # fmt: skip
    code, out, _ = call(capsys, *arguments, "-m", "chrf", "--sweep", "context=1", "source=same", "-f", "json")
    assert code == 0 and len(json.loads(out)["cells"]) == 3
    code, out, _ = call(capsys, *arguments, "-m", "chrf", "--sweep", "window=2", "step=1", "-f", "tsv")
    assert code == 0 and out.splitlines()[0].startswith("size\tstep\t") and len(out.splitlines()) == 3
