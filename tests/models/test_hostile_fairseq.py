"""A fairseq checkpoint from anybody: sizes that are not those of its weights are an error before modules are made."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import ModelError
from wholetext.models.fairseq import read_fairseq

torch = pytest.importorskip("torch")
SIZES = {"embed_dim": 8, "ffn_embed_dim": 16, "attention_heads": 2, "layers": 1}


class Call:
    """What unpickling it would call."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


def weights(width: int = 8, inner: int = 16) -> dict[str, Any]:
    tensors = {}
    for side, parts in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        layer = f"{side}.layers.0"
        tensors[f"{side}.embed_tokens.weight"] = torch.randn(10, width)
        dense = {f"{part}.{name}_proj": (width, width) for part in parts for name in ("q", "k", "v", "out")}
        dense |= {"fc1": (inner, width), "fc2": (width, inner)}
        for name, size in (dense | dict.fromkeys([*(f"{part}_layer_norm" for part in parts), "final_layer_norm"],
                                                 (width,))).items():  # fmt: skip
            tensors |= {f"{layer}.{name}.weight": torch.randn(size), f"{layer}.{name}.bias": torch.randn(size[:1])}
    return tensors


def written(folder: Path, content: Any) -> Path:
    torch.save(content, folder / "checkpoint.pt")
    return folder


def settings(**changes: Any) -> argparse.Namespace:
    sizes = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in SIZES.items()}
    return argparse.Namespace(**{**sizes, **changes})


def test_the_material_is_a_model(tmp_path: Path) -> None:
    assert read_fairseq(written(tmp_path, {"args": settings(), "model": weights()})).config.vocab_size == 10


@pytest.mark.parametrize(("name", "value"), [
    *(("encoder_layers", value) for value in (10**9, -1, 0, "x", None)), ("decoder_embed_dim", 10**9),
    ("encoder_ffn_embed_dim", 10**12), ("encoder_attention_heads", 0), ("decoder_attention_heads", -2),
    ("encoder_attention_heads", "x"), ("activation_fn", []), ("activation_fn", "__class__"),
])  # fmt: skip
def test_sizes_that_are_not_those_of_the_weights(tmp_path: Path, name: str, value: Any) -> None:
    begin = time.monotonic()
    with pytest.raises(ModelError, match=r"do not fit its settings|is not supported"):
        read_fairseq(written(tmp_path, {"args": settings(**{name: value}), "model": weights()}))
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("place", ["args", "model", "extra"])
def test_nothing_runs(tmp_path: Path, place: str) -> None:
    content = {"args": settings(), "model": weights(), place: Call(os.mkdir, (str(tmp_path / "made"),))}
    with pytest.raises(ModelError, match="nothing in it was executed"):
        read_fairseq(written(tmp_path, content))
    assert not (tmp_path / "made").exists()
