"""Encoders on numpy: the states and scores of torch, the same in any company, and clear errors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import MissingExtra, ModelError
from wholetext.models.array_encoder import ArrayEncoder, _gelu, is_small
from wholetext.models.device import Precision
from wholetext.models.encoder import load_pretrained, on_arrays, open_encoder, read_pretrained
from wholetext.models.hub import locate as hub
from wholetext.models.tokenizer import FileTokenizer, load_tokenizer
from wholetext.scoring.engine import Engine

CPU = Precision("cpu")
TINY = Path(__file__).parents[1] / "oracle" / "neural" / "models" / "tiny-bert"
SIZES = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "pad_token_id": 1,
         "intermediate_size": 40, "max_position_embeddings": 40, "type_vocab_size": 2,
         "layer_norm_eps": 1e-5}  # fmt: skip
METRICS = ["bertscore@minilm", "doc-bertscore@minilm", "sbert@minilm", "mover@minilm", "wt-mini", "ds-focus@minilm",
           "ds-sent@minilm"]  # fmt: skip


def saved(folder: Path, kind: str, head: bool = False, **more: Any) -> Path:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
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


@pytest.mark.parametrize("head", [False, True])
@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "camembert"])
def test_states_are_those_of_transformers(tmp_path: Path, kind: str, head: bool) -> None:
    folder = saved(tmp_path, kind, head)
    model, torch = read_pretrained(folder, CPU), pytest.importorskip("torch")
    theirs = load_pretrained(folder).eval()
    assert isinstance(model, ArrayEncoder)
    sequences = [(0, 5, 7, 1, 9, 2), (0, 2), tuple(range(3, 40))]  # a padding id inside a text is text
    layers, places = [0, 2, -1], [[0, 4], [], [36, 1, 2]]
    for ids, keep, rows in zip(sequences, places, model.vectors(sequences, layers, places), strict=True):
        with torch.inference_mode():
            states = theirs(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        for row, layer in zip(rows, layers, strict=True):
            assert row == pytest.approx(states[layer][0][keep].numpy(), abs=2e-6)


def test_whatever_differs_is_left_to_torch(tmp_path: Path) -> None:
    folder = saved(tmp_path / "bert", "bert")
    config = json.loads((folder / "config.json").read_text())
    assert is_small(config) and on_arrays(config, CPU) and on_arrays(config, Precision())
    assert not on_arrays(config, Precision("cuda")) and not on_arrays(config, Precision("auto", "fp16"))
    for more in ({"hidden_act": "relu"}, {"is_decoder": True}, {"model_type": "electra"}, {"hidden_size": 768},
                 {"layer_norm_eps": None}, {"dtype": "bfloat16"}):  # fmt: skip
        assert not is_small(config | more)
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    assert not isinstance(read_pretrained(folder, CPU), ArrayEncoder)


def test_damaged_weights_are_one_error(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(TINY, tmp_path / "model")
    path = folder / "model.safetensors"
    tensors = load_file(path)
    for name, change in (("encoder.layer.1.output.dense.bias", None), ("embeddings.LayerNorm.weight", np.ones(7))):
        [name] = [key for key in tensors if key.endswith(name)]
        damaged = {key: value for key, value in tensors.items() if key != name}
        save_file(damaged if change is None else {**damaged, name: change}, path)
        with pytest.raises(ModelError, match=name.removeprefix("bert.").replace(".", r"\.")):
            read_pretrained(folder, CPU)
    path.write_bytes(b"no tensors")
    with pytest.raises(ModelError, match="cannot be loaded"):
        _ = open_encoder(Engine(), str(folder), "").model


def test_gelu_is_that_of_the_error_function() -> None:
    from scipy.special import erf

    x = np.linspace(-12, 12, 100_001)
    computed = _gelu(x.astype(np.float32)[:, None])[:, 0]
    assert np.abs(computed - x * (1 + erf(x / np.sqrt(2))) / 2).max() < 7e-7  # half a unit in the last place of 12


def test_states_depend_neither_on_company_nor_on_threads() -> None:
    from threadpoolctl import threadpool_limits

    model = open_encoder(Engine(), str(TINY), "").model
    sequences = [tuple(range(5, 5 + n)) for n in (3, 40, 17, 64, 1)]
    places = [range(len(ids)) for ids in sequences]
    together = model.vectors(sequences, [1, -1], places)
    for at, ids in enumerate(sequences):
        with threadpool_limits(1 + at % 2):
            assert np.array_equal(model.vectors([ids], [1, -1], [places[at]])[0], together[at])


def test_special_tokens_and_limits_are_those_of_transformers() -> None:
    auto = pytest.importorskip("transformers").AutoTokenizer
    words = ["cathédrale", "Über", "[SEP]", "<s>", "日本語", "e\u0301", "", " ", "x" * 200, "👍", "\0"]
    options = {"add_special_tokens": False, "split_special_tokens": True, "truncation": False}
    for folder in (TINY, TINY.parent / "tiny-xlmr", hub.embedded("minilm") or TINY):
        tokenizer, theirs = load_tokenizer(folder), auto.from_pretrained(str(folder))
        assert isinstance(tokenizer, FileTokenizer) and len(tokenizer) == len(theirs)
        for kind in ("pad", "unk", "cls", "sep", "eos"):
            assert getattr(tokenizer, f"{kind}_token_id") == getattr(theirs, f"{kind}_token_id")
        assert tokenizer.model_max_length == min(theirs.model_max_length, 1_000_000)
        for texts in ([""], ["a text"], ["a", "b"]):
            assert tokenizer(*texts)["input_ids"] == theirs(*texts)["input_ids"]
        ids = tokenizer("Hello, cathédrale.")["input_ids"]
        assert tokenizer.decode(ids) == theirs.decode(ids)
        assert tokenizer.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
        kept = auto.from_pretrained(str(folder), do_lower_case=False)
        mine = load_tokenizer(folder, lower=False)
        assert [mine(word, **options)["input_ids"] for word in words] == kept(words, **options)["input_ids"]


@pytest.mark.long
@pytest.mark.parametrize("name", METRICS)
def test_scores_are_those_of_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    if hub.embedded("minilm") is None:
        pytest.skip("the embedded MiniLM is not installed")
    from wholetext.demo import load
    from wholetext.io import Loaded
    from wholetext.models import encoder
    from wholetext.scoring import engine

    corpus, outputs = load("de-en")
    loaded, options = Loaded(corpus, outputs[:2]), wt.Options(cache=False, flags=False)
    rows = []
    for path in (on_arrays, lambda config, precision: False):
        monkeypatch.setattr(encoder, "on_arrays", path)
        monkeypatch.setattr(engine, "_RESOURCES", {})
        results = wt.score(loaded, name, options=options)
        [scores] = results.scores.values()
        rows.append(np.concatenate([scores[system].reduce_rows(scores[system].stats) for system in results.systems]))
    scale = 100 if name == "wt-mini" else 1
    assert np.abs(rows[0] - rows[1]).max() < 1e-6 * scale


def test_a_large_model_without_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.models import device

    monkeypatch.setattr(device, "find_spec", lambda name: None)
    open_encoder(Engine(), str(TINY), "")
    folder = shutil.copytree(TINY, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 768}))
    with pytest.raises(MissingExtra, match=r"wholetext\[models\]"):
        open_encoder(Engine(), str(folder), "")


def test_neither_torch_nor_transformers_is_imported() -> None:
    if hub.embedded("minilm") is None:
        pytest.skip("the embedded MiniLM is not installed")
    code = ("import sys; sys.modules['torch'] = sys.modules['transformers'] = None; import wholetext as wt; "
            "print(wt.score(['A cat sat.', 'It ran.'], 'doc-bertscore@minilm', refs=['The cat sat.', 'It ran.'], "
            "langs='de-en').score)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.8 < float(done.stdout) < 1
