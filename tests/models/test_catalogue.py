"""The catalogue covers every default model; what a model is used with; files checked without running them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
import shutil
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.errors import ModelError
from wholetext.metrics.verify import verify
from wholetext.models import catalogue
from wholetext.registry import ALIASES, metric_class, metric_names
from wholetext.spec import parse


def test_every_default_model_is_listed() -> None:
    known = {one.name: one for one in catalogue.entries()}
    for name in metric_names():
        for field in dataclasses.fields(metric_class(name)):  # type: ignore[arg-type]
            if field.name == "model" and isinstance(field.default, str) and field.default:
                assert name in known[field.default].used_by
    for alias, spec in ALIASES.items():
        model = parse(spec).model
        if model is not None:
            assert alias in known[model].used_by
    names = {*metric_names(), *ALIASES}
    assert all(user in names for one in catalogue.entries() for user in one.used_by)
    assert all(one.licence and one.gigabytes > 0 for one in catalogue.entries())


def test_models_chosen_by_language_are_listed() -> None:
    from wholetext.metrics import bertscore, sbert

    known = {one.name: one for one in catalogue.entries()}
    for name in (bertscore.ENGLISH, bertscore.OTHERS, *bertscore.BY_LANGUAGE.values()):
        assert "bertscore" in known[name].used_by
    for name in (sbert.ENGLISH, sbert.OTHERS, sbert.ACROSS):
        assert "sbert" in known[name].used_by


def test_companions(tmp_path: Path) -> None:
    comet = tmp_path / "comet"
    comet.mkdir()
    (comet / "hparams.yaml").write_text("class_identifier: regression_metric\npretrained_model: xlm-roberta-large\n")
    assert catalogue.required(comet)[0][0] == "xlm-roberta-large"
    metricx = tmp_path / "metricx"
    metricx.mkdir()
    (metricx / "config.json").write_text('{"model_type": "mt5"}')
    assert catalogue.required(metricx)[0][0] == "google/mt5-xl"
    (metricx / "spiece.model").write_bytes(b"")
    assert catalogue.required(metricx) == []


@pytest.fixture
def model(tmp_path: Path, oracle: Path) -> Path:
    pytest.importorskip("transformers")
    shutil.copytree(oracle / "neural/models/tiny-mbart50", tmp_path / "m")
    return tmp_path / "m"


def bad(folder: Path) -> dict[str, str]:
    return {one.file: one.what for one in verify(folder) if not one.good}


def test_damage_is_found(model: Path) -> None:
    weights = model / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    assert "cut off" in bad(model)["model.safetensors"]
    weights.write_bytes(whole[:100])
    assert "cut off" in bad(model)["model.safetensors"]
    weights.write_bytes(b"PK, not really" * 10)
    assert bad(model)["model.safetensors"]
    weights.unlink()
    assert bad(model) == {"weights": "missing"}
    (model / "model.safetensors.index.json").write_text('{"weight_map": {"a": "model-1.safetensors"}}')
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({}))
    assert set(bad(model)) == {"model-1.safetensors", "pytorch_model.bin"}
    (model / "config.json").write_text('{"model_type": "bert", "auto_map": {"AutoModel": "evil.Model"}}')
    assert "never run" in bad(model)["config.json"]
    (model / "config.json").write_text("[")
    assert "config.json" in bad(model)


def test_the_hub_cache_is_checked_by_content(tmp_path: Path, model: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / ("c" * 40)
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    for path in model.iterdir():
        content = path.read_bytes()
        large = hashlib.sha256(content).hexdigest()
        small = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        name = large if path.suffix == ".safetensors" else small
        (blobs / name).write_bytes(content)
        (snapshot / path.name).symlink_to(blobs / name)
    assert bad(snapshot) == {}
    target = (snapshot / "model.safetensors").resolve()
    changed = bytearray(target.read_bytes())
    changed[-1] ^= 1
    target.write_bytes(bytes(changed))
    (snapshot / "config.json").resolve().write_text(json.dumps({"model_type": "mbart"}))
    assert bad(snapshot) == dict.fromkeys(["model.safetensors", "config.json"], "other content than the hub's")


@pytest.mark.parametrize("name", ["config.json", "pytorch_model.bin", "tokenizer.json", "other.safetensors"])
def test_an_endless_device_is_not_followed(model: Path, name: str) -> None:
    (model / name).unlink(missing_ok=True)
    (model / name).symlink_to("/dev/zero")
    with pytest.raises(ModelError, match="a device or a pipe"):
        wt.models.verify_model(str(model))
