"""COMET checkpoints are untrusted: what is not a tensor or a plain container is refused, and nothing is run."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext.errors import ModelError  # noqa: E402
from wholetext.metrics.comet.model import CometModel, read_checkpoint, sparsemax  # noqa: E402
from wholetext.models.device import Precision  # noqa: E402
from wholetext.models.hub.locate import locate  # noqa: E402

MODELS = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of a small COMET model with its encoder's configuration beside it."""
    for name in ("comet-reg-mix", "tiny-xlmr"):
        shutil.copytree(MODELS / name, tmp_path / name)
    return tmp_path / "comet-reg-mix"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def state(model: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(model / "checkpoints/model.ckpt", weights_only=True)
    return found


def save(model: Path, content: Any) -> Path:
    path = model / "checkpoints/model.ckpt"
    torch.save(content, path)
    return path


def load(model: Path) -> None:
    """Everything a metric would load."""
    found = CometModel(locate(str(model)), Precision("cpu"))
    found.encoder.model  # noqa: B018
    found.mix  # noqa: B018
    found.estimator  # noqa: B018


@pytest.mark.parametrize("key", ["estimator.ff.3.weight", "layerwise_attention.scalar_parameters.4",
                                 "layerwise_attention.gamma", "encoder.model.encoder.layer.2.output.dense.bias"])
def test_a_missing_or_misshapen_tensor_is_named(model: Path, key: str) -> None:
    content = state(model)
    kept = content["state_dict"].pop(key)
    save(model, content)
    with pytest.raises(ModelError, match=f"has no tensor for '{key}'"):
        load(model)
    content["state_dict"][key] = torch.zeros(*kept.shape, 2)
    save(model, content)
    with pytest.raises(ModelError, match=f"has the shape .* for '{key}'"):
        load(model)


def test_tensors_that_reach_outside_the_file_are_refused(model: Path) -> None:
    path = model / "checkpoints/model.ckpt"
    with zipfile.ZipFile(path) as archive:
        files = {item.filename: archive.read(item) for item in archive.infolist()}
    small = next(name for name in files if name.endswith("/data/0"))
    files[small] = files[small][:64]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(ModelError, match="damaged"):
        read_checkpoint(path)


@pytest.mark.parametrize(("key", "value"), [("class_identifier", "my_metric"), ("encoder_model", "GPT"),
                                            ("activations", "System"), ("pretrained_model", "../tiny-xlmr")])
@pytest.mark.usefixtures("offline")
def test_hyper_parameters_that_cannot_be_used(model: Path, key: str, value: str) -> None:
    path = model / "hparams.yaml"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith(key)]
    path.write_text("\n".join([*lines, f"{key}: {value}"]), "utf-8")
    with pytest.raises(ModelError):
        load(model)


def test_yaml_that_would_run_code_is_refused(model: Path, tmp_path: Path) -> None:
    path = model / "hparams.yaml"
    path.write_text(f"{path.read_text('utf-8')}\nx: !!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\n", "utf-8")
    with pytest.raises(ModelError, match=r"hparams\.yaml"):
        load(model)
    assert not (tmp_path / "made").exists()


def test_sparsemax_is_the_projection_on_the_simplex() -> None:
    assert sparsemax([0.0, 0.0]) == [0.5, 0.5]
    assert sparsemax([3.0, 0.0, 0.0]) == [1.0, 0.0, 0.0]
    assert sum(sparsemax([0.3, 0.1, -0.2, 0.25])) == pytest.approx(1.0)
