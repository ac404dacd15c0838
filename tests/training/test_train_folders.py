"""Folders that `train` writes: files of others stay, damage is noticed, a folder left aside is put back."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import numpy as np

from tests.training.training_data import make, recipe
from wholetext.errors import ModelError
from wholetext.models.hub.locate import folder_of
from wholetext.training.learned.folder import Config, read_config, write_folder
from wholetext.training.run import Session, TrainingCheckpoint, train

METRIC = Config("aligned", "minilm", "0123", settings={"n": 1})
TENSORS = {"head.x": np.ones(3, np.float32)}


def test_files_and_folders_of_others_survive_training(tmp_path: Path) -> None:
    chosen, out = recipe(make(tmp_path), epochs=1), tmp_path / "m"
    write_folder(out, METRIC, "card", TENSORS)  # an older metric
    (out / "thesis").mkdir()
    (out / ".train").mkdir()
    (out / "thesis" / "thesis.tex").write_text("years of work")
    (out / "notes.md").write_text("mine")
    (out / ".train" / "mine.txt").write_text("mine")
    train(chosen, Session(out, fresh=True))
    assert (out / "thesis" / "thesis.tex").read_text() == "years of work" and (out / "notes.md").read_text() == "mine"
    assert (out / ".train" / "mine.txt").exists() and read_config(out).form == "aligned"
    for path in (tmp_path / "other", tmp_path / "m2"):
        path.mkdir()
        (path / ("README.md" if path.name == "m2" else "data")).write_text("mine")
        with pytest.raises(ModelError, match="the folder holds"):  # before training
            TrainingCheckpoint(path, chosen, fresh=True)
    (out / "README.md").write_text("edited by hand")
    with pytest.raises(ModelError, match=r"README.md: .*changed since"):
        TrainingCheckpoint(out, chosen, fresh=False)
    assert (out / "README.md").read_text() == "edited by hand"


def test_a_folder_that_was_left_aside_is_put_back_when_the_metric_is_located(tmp_path: Path) -> None:
    write_folder(tmp_path / "m", METRIC, "card", TENSORS)
    (tmp_path / "m").rename(tmp_path / ".m.wholetext-old")
    assert folder_of(str(tmp_path / "m")) == tmp_path / "m" and read_config(tmp_path / "m").content == "0123"
