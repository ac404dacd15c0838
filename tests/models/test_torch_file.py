"""Files of torch.save: both formats, what training tools leave in them, and what is refused without being executed."""

from __future__ import annotations

import argparse
import pickle
import sys
import types
import zipfile
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.models.test_hostile_fairseq import Call  # noqa: E402
from wholetext.errors import ModelError  # noqa: E402
from wholetext.metrics.comet.model import read_checkpoint  # noqa: E402
from wholetext.models.hub.torch_file import count_tensors, read_torch_file  # noqa: E402

KEY = "estimator.ff.0.weight"
WEIGHTS = {KEY: torch.arange(15.0).reshape(3, 5), "estimator.ff.0.bias": torch.arange(4.0).half().bfloat16(),
           "layerwise_attention.gamma": torch.ones(1, dtype=torch.float64)}  # fmt: skip
FORMATS = pytest.mark.parametrize("archive", [True, False], ids=["archive", "before 1.6"])


def save(path: Path, content: Any, archive: bool) -> Path:
    torch.save(content, path, _use_new_zipfile_serialization=archive)
    return path


@FORMATS
def test_tensors_of_both_formats(archive: bool, tmp_path: Path) -> None:
    path = save(tmp_path / "x.ckpt", {"state_dict": OrderedDict(WEIGHTS), "epoch": 3, "losses": [1.0, None]}, archive)
    found = read_checkpoint(path)
    assert all(torch.equal(found[key], WEIGHTS[key]) and found[key].dtype == WEIGHTS[key].dtype for key in WEIGHTS)
    assert count_tensors(read_torch_file(path)) == 3


@FORMATS
def test_a_namespace_of_fairseq(archive: bool, tmp_path: Path) -> None:
    """Settings of training as old tools stored them, beside the weights."""
    settings = argparse.Namespace(arch="transformer", lr=[1e-3], extra=defaultdict(dict, a={"b": 1}))
    path = save(tmp_path / "x.pt", {"args": settings, "state_dict": WEIGHTS}, archive)
    assert torch.equal(read_checkpoint(path)[KEY], WEIGHTS[KEY])


def test_leftovers_of_lightning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callbacks with attributes, settings in a kind of dictionary, numbers of numpy; the package is not imported."""
    package = types.ModuleType("pytorch_lightning")
    for name, bases in (("ModelCheckpoint", ()), ("AttributeDict", (dict,))):
        setattr(package, name, type(name, bases, {"__module__": "pytorch_lightning"}))
    monkeypatch.setitem(sys.modules, "pytorch_lightning", package)
    callback = package.ModelCheckpoint()
    callback.best_model_path = Path("best.ckpt")
    content = {"callbacks": {package.ModelCheckpoint: callback}, "hyper_parameters": package.AttributeDict(pool="avg"),
               "best": np.float64(0.5), "state_dict": WEIGHTS}  # fmt: skip
    path = save(tmp_path / "x.ckpt", content, True)
    monkeypatch.delitem(sys.modules, "pytorch_lightning")
    assert read_checkpoint(path).keys() == WEIGHTS.keys()
    assert "pytorch_lightning" not in sys.modules


def test_all_published_kinds_of_comet(golden: Path) -> None:
    paths = sorted(golden.glob("models/*/checkpoints/*.ckpt"))
    assert len(paths) == 12
    for path in paths:
        wanted = torch.load(path, weights_only=True)["state_dict"]
        found = read_checkpoint(path)
        assert found and all(torch.equal(found[key], wanted[key]) for key in found)


@pytest.mark.parametrize("name", ["os.system", "builtins.eval", "builtins.getattr", "torch.load", "subprocess.Popen",
                                  "this.s"])  # fmt: skip
def test_names_are_refused_before_they_are_looked_up(name: str, tmp_path: Path) -> None:
    module, _, attribute = name.rpartition(".")
    path = tmp_path / "x.ckpt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", f"\x80\x02c{module}\n{attribute}\n(S'true'\ntR.".encode("latin-1"))
        archive.writestr("archive/version", "3\n")
    with pytest.raises(ModelError, match=r"x\.ckpt"):
        read_torch_file(path)
    assert "this" not in sys.modules


@FORMATS
@pytest.mark.parametrize("place", ["state_dict", "hyper_parameters"])
def test_nothing_is_executed(archive: bool, place: str, tmp_path: Path) -> None:
    content = {"state_dict": dict(WEIGHTS), "hyper_parameters": {}}
    content[place][KEY] = Call(open, (str(tmp_path / "owned"), "w"))
    path = save(tmp_path / "x.ckpt", content, archive)
    with pytest.raises(ModelError, match="nothing in it was executed") as caught:
        read_checkpoint(path)
    assert not (tmp_path / "owned").exists() and "weights_only" not in str(caught.value)


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"not a checkpoint", pickle.dumps({"state_dict": {}})])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.ckpt").write_bytes(content)
    with pytest.raises(ModelError, match=r"x\.ckpt"):
        read_checkpoint(tmp_path / "x.ckpt")


@FORMATS
@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.98])
def test_a_truncated_file(archive: bool, share: float, tmp_path: Path) -> None:
    path = save(tmp_path / "x.ckpt", {"state_dict": {KEY: torch.randn(50, 50)}}, archive)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ModelError, match=r"x\.ckpt.*damaged"):
        read_checkpoint(path)
