"""A ``config.json`` from anybody: sizes of no model are one error each, before anything of that size is made."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.errors import ModelError

MODEL = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models" / "tiny-bert"
SIZES = ("num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size", "vocab_size")
NAMES = ("model_type", "hidden_act", "dtype")


@pytest.mark.parametrize(("key", "value"), [
    *((key, value) for key in SIZES for value in (0, -1, 10**9, 10**400, True, 32.0, "x", [])),
    *((key, value) for key in NAMES for value in ([], {}, 5)),
    ("layer_norm_eps", 10**400), ("num_attention_heads", 7), ("num_hidden_layers", 999), ("pad_token_id", []),
    ("max_position_embeddings", 10**9),
], ids=lambda value: str(value)[:20])  # fmt: skip
def test_a_hostile_configuration_is_one_error(tmp_path: Path, key: str, value: Any) -> None:
    folder = Path(shutil.copytree(MODEL, tmp_path / "model"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, key: value}), "utf-8")
    begin = time.monotonic()
    with pytest.raises(ModelError):
        wt.score(["it is late"], f"bertscore@{folder}", refs=["it was late"], langs="de-en",
                 options=wt.Options(cache=False, flags=False))  # fmt: skip
    assert time.monotonic() - begin < 30
