"""Folders that `train` writes: files of others stay, damage is noticed, a folder left aside is put back."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np

from tests.training.training_data import make, recipe
from wholetext.errors import ModelError, WholetextError
from wholetext.models.hub.locate import folder_of
from wholetext.training.checkpoint import Checkpoints
from wholetext.training.learned.config import Config, read_config
from wholetext.training.learned.folder import LIST, verify, write_folder
from wholetext.training.run import Session, train

ONE = Config("aligned", "minilm", "0123", settings={"n": 1})
TENSORS = {"head.x": np.ones(3, np.float32)}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_and_folders_of_others_survive_training(tmp_path: Path) -> None:
    one, out = recipe(make(tmp_path), form="aligned", adapter__kind="frozen", epochs=1), tmp_path / "m"
    write_folder(out, ONE, "card", TENSORS)  # an older metric
    (out / "thesis").mkdir()
    (out / ".train").mkdir()
    (out / "thesis" / "thesis.tex").write_text("years of work")
    (out / "notes.md").write_text("mine")
    (out / ".train" / "mine.txt").write_text("mine")
    train(one, Session(out, fresh=True))
    assert (out / "thesis" / "thesis.tex").read_text() == "years of work" and (out / "notes.md").read_text() == "mine"
    assert (out / ".train" / "mine.txt").exists() and read_config(out).form == "aligned"
    for path in (tmp_path / "other", tmp_path / "m2"):
        path.mkdir()
        (path / ("README.md" if path.name == "m2" else "data")).write_text("mine")
        with pytest.raises(ModelError, match="the folder holds"):  # before training
            Checkpoints(path).claim(one, fresh=True)
    (out / "README.md").write_text("edited by hand")
    with pytest.raises(ModelError, match=r"README.md: .*changed since"):
        Checkpoints(out).claim(one, fresh=False)
    assert (out / "README.md").read_text() == "edited by hand"


def test_a_folder_that_was_left_aside_is_put_back_when_the_metric_is_located(tmp_path: Path) -> None:
    write_folder(tmp_path / "m", ONE, "card", TENSORS)
    (tmp_path / "m").rename(tmp_path / ".m.wholetext-old")
    assert folder_of(str(tmp_path / "m")) == tmp_path / "m" and read_config(tmp_path / "m").content == "0123"


def test_changed_weights_are_noticed(tmp_path: Path) -> None:
    write_folder(tmp_path, ONE, "card", TENSORS)
    verify(tmp_path)
    path = tmp_path / "weights.safetensors"
    bad = bytearray(path.read_bytes())
    bad[-1] ^= 1
    path.write_bytes(bytes(bad))
    with pytest.raises(ModelError, match="changed since"):
        verify(tmp_path)
    for text in ("[]", "{", '{"a": 1}'):
        (tmp_path / LIST).write_text(text)
        with pytest.raises(ModelError):
            verify(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{}", "1", '{"recipe": 1}', "{", "[" * 9000])
def test_a_damaged_record_of_a_run_is_an_error(tmp_path: Path, text: str) -> None:
    one = recipe(make(tmp_path), form="aligned", adapter__kind="frozen", epochs=1)
    (tmp_path / "m" / ".train").mkdir(parents=True)
    (tmp_path / "m" / ".train" / "run.json").write_text(text)
    with pytest.raises(WholetextError, match=r"run\.json"):
        Checkpoints(tmp_path / "m").claim(one, fresh=False)
    Checkpoints(tmp_path / "m").claim(one, fresh=True)
    assert not (tmp_path / "m" / ".train" / "run.json").exists()
