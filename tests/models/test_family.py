"""Encoders read without transformers' models: the same states to the last bit, and no guess where a folder differs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from wholetext.errors import ModelError  # noqa: E402
from wholetext.models.encoder import can_stack, load_pretrained, read_pretrained, states  # noqa: E402
from wholetext.models.family import read_family  # noqa: E402

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "pad_token_id": 1,
         "intermediate_size": 40, "max_position_embeddings": 40, "type_vocab_size": 2,
         "layer_norm_eps": 1e-5}  # fmt: skip


def saved(folder: Path, kind: str, head: bool = False, **more: Any) -> Path:
    torch.manual_seed(3)
    config = transformers.AutoConfig.for_model(kind, **{**SIZES, **more})
    model = (transformers.AutoModelForMaskedLM if head else transformers.AutoModel).from_config(config)
    for parameter in model.parameters():  # biases and norms start as 0 and 1, where mistakes would not show
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    # as files of all versions of transformers have them: later ones leave out what equals their defaults
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {**SIZES, "hidden_act": "gelu", **more}))
    return folder


@torch.inference_mode()
@pytest.mark.parametrize("head", [False, True])
@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "camembert"])
def test_states_are_the_same_to_the_last_bit(tmp_path: Path, kind: str, head: bool) -> None:
    folder = saved(tmp_path, kind, head)
    mine, theirs = read_family(folder), load_pretrained(folder).eval()
    assert can_stack(mine) and not any(parameter.requires_grad for parameter in mine.parameters())
    mask = torch.arange(9)[None, :] < torch.tensor([9, 4, 7])[:, None]
    ids = torch.randint(3, 50, (3, 9)).masked_fill(~mask, 1)
    for types in (None, (torch.arange(9) > 4).long().expand(3, 9)):
        found, wanted = (states(model, ids, mask, types, None) for model in (mine, theirs))
        for one, other in zip(found, wanted, strict=True):
            assert torch.equal(one, other)


def test_whatever_differs_is_left_to_transformers(tmp_path: Path) -> None:
    for number, more in enumerate(({"hidden_act": "relu"}, {"is_decoder": True})):
        assert read_family(saved(tmp_path / f"{number}", "bert", **more)) is None
    assert read_family(saved(tmp_path / "electra", "electra")) is None
    folder = saved(tmp_path / "bert", "bert")
    path = folder / "model.safetensors"
    tensors = {name: value.clone() for name, value in load_file(path).items()}  # not mapped: the file is replaced below
    for name, change in (("encoder.layer.1.output.dense.bias", None), ("embeddings.LayerNorm.weight", torch.ones(7))):
        damaged = {key: value for key, value in tensors.items() if key != name}
        save_file(damaged if change is None else {**damaged, name: change}, path, {"format": "pt"})
        assert read_family(folder) is None
        with pytest.raises(ModelError, match=name.replace(".", r"\.")):
            read_pretrained(folder)
    path.write_bytes(b"no tensors")
    assert read_family(folder) is None
    save_file(tensors, path, {"format": "pt"})
    assert read_family(folder) is not None
    shutil.copy(path, folder / "model-00002.safetensors")
    assert read_family(folder) is None
