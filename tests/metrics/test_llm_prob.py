"""`llm-prob` on random causal models against their own forward pass: prompts, views, batches, limits, GGUF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wholetext.errors import MetricError, MissingExtra, ModelError
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.plan import plan
from wholetext.testing import check_metric
from wholetext.types import Corpus, Document, FloatArray, Output

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SRC = ("The vase fell.", "It is broken.", "Yes.")
OUTPUTS = {"one": ("Le vase est tombé.", "Il est cassé.", "Oui."), "two": ("Le vase est tombé.", "Elle 花瓶.", "")}
CPU = Options(cache=False, device="cpu")


def qwen(words: int) -> Any:
    return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        vocab_size=words, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=300, initializer_range=0.5))  # fmt: skip


def gpt2(words: int) -> Any:  # learned positions
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=words, n_embd=32, n_layer=2, n_head=4, n_positions=300, initializer_range=0.5))  # fmt: skip


@pytest.fixture(scope="module", params=[qwen, gpt2])
def folder(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(request.param, tmp_path_factory.mktemp("causal"))


def made(family: Any, folder: Path) -> Path:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(  # type: ignore[call-arg]
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)  # fmt: skip
    core.train_from_iterator([*SRC, *OUTPUTS["one"]] * 3, trainer)
    transformers.PreTrainedTokenizerFast(tokenizer_object=core).save_pretrained(folder)
    torch.manual_seed(1)
    family(core.get_vocab_size()).save_pretrained(folder)
    return folder


def rows(spec: str, options: Options = CPU, outputs: dict[str, tuple[str, ...]] = OUTPUTS) -> FloatArray:
    corpus = Corpus("c", ("en", "fr"), (Document("d", SRC, {}),))
    loaded = Loaded(corpus, [Output(name, {"d": texts}) for name, texts in outputs.items()])
    (by_system,) = score(loaded, spec, options=options).scores.values()
    return np.stack([scores.at("row") for scores in by_system.values()])


def expected(folder: Path, given: str, scored: str) -> float:
    """The mean log-probability of the tokens of ``scored``, one text at a time and without a cache."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    prompt, ids = (tokenizer(text)["input_ids"] for text in (given, given + scored))
    assert ids[: len(prompt)] == prompt
    with torch.inference_mode():
        logs = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return float(np.mean([float(logs[at - 1, ids[at]]) for at in range(len(prompt), len(ids))]))


def test_it_is_the_models_own_log_probability(folder: Path) -> None:
    with pytest.warns(match="the output is empty, so only the end of the line is scored"):
        found = rows(f"llm-prob@{folder}")
    for system, texts in enumerate(OUTPUTS.values()):
        for at, (src, hyp) in enumerate(zip(SRC, texts)):
            one = expected(folder, f"English: {src}\nFrench:", f" {hyp}\n")
            assert found[system, at] == pytest.approx(one, abs=2e-5)
    with pytest.warns(match="the output is empty"):
        found = rows(f"context(prev=2):llm-prob@{folder}")
    given = f"English: {' '.join(SRC)}\nFrench: {' '.join(OUTPUTS['one'][:2])}"
    assert found[0, 2] == pytest.approx(expected(folder, given, " Oui.\n"), abs=2e-5)


def test_scores_do_not_depend_on_their_company(folder: Path) -> None:
    check_metric(f"llm-prob@{folder}", tolerance=1e-5)
    with pytest.warns(match="the output is empty"):
        spec = f"context(prev=1):llm-prob@{folder}"
        together, alone = rows(spec), rows(spec, Options(cache=False, device="cpu", batch_tokens=1))
    np.testing.assert_allclose(together, alone, atol=1e-5, rtol=0)


def test_what_is_too_long_loses_its_context_first(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size = len(tokenizer(f"English: {SRC[1]}\nFrench: {OUTPUTS['one'][1]}\n")["input_ids"])
    one = {"one": OUTPUTS["one"]}
    alone = rows(f"llm-prob(limit={size})@{folder}", outputs=one)[0]
    with pytest.warns(match="context"):
        found = rows(f"context(prev=1):llm-prob(limit={size})@{folder}", outputs=one)[0]
    assert found[1] == pytest.approx(alone[1], abs=1e-5)
    with pytest.warns(match="cut|lost|trunc"):
        cut = rows(f"llm-prob(limit={size - 2})@{folder}", outputs=one)[0]
    assert abs(cut[1] - alone[1]) > 1e-3
    corpus = Corpus("c", ("en", "fr"), (Document("d", SRC, {}),))
    planned = plan(corpus, [Output("one", {"d": OUTPUTS["one"]})], f"context(prev=1):llm-prob@{folder}", show=2)
    first, second, _ = OUTPUTS["one"]
    prompt = f"English: {SRC[0]} {SRC[1]}\nFrench: {first}« {second}\n»"
    assert planned.shown[1].sides == (("src+hyp", prompt),)


@pytest.mark.parametrize(("spec", "langs", "message"), [
    ("llm-prob", "en-fr", "lacks a model"), ("llm-prob@{}", None, "lacks the languages"),
    ("llm-prob(limit=3)@{}", "en-fr", "limit=3 leaves no room"), ("llm-prob(limit=400)@{}", "en-fr", "limit=400"),
])  # fmt: skip
def test_what_is_missing_is_named(spec: str, langs: str | None, message: str, folder: Path) -> None:
    with pytest.raises(MetricError, match=message):
        score(["Oui."], spec.format(folder), srcs=["Yes."], langs=langs, options=CPU)


def test_a_tokenizer_without_places_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(transformers.AutoTokenizer.from_pretrained(folder))
    monkeypatch.setattr(kind, "is_fast", False)
    with pytest.raises(ModelError, match="does not tell where tokens begin"):
        rows(f"llm-prob(limit=90)@{folder}")


# ---------------------------------------------------------------- one GGUF file


def test_a_gguf_file_without_its_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="gguf and accelerate"):
        rows(f"llm-prob@{tmp_path}")


def test_a_gguf_file_gives_the_same_scores(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="reads GGUF: pip install 'wholetext[llm]'")
    pytest.importorskip("accelerate", reason="reads GGUF: pip install 'wholetext[llm]'")
    source = made(qwen, tmp_path / "qwen")
    as_gguf(source, tmp_path / "gguf")
    one = {"one": OUTPUTS["one"]}
    np.testing.assert_allclose(
        rows(f"llm-prob@{tmp_path / 'gguf'}", outputs=one), rows(f"llm-prob@{source}", outputs=one), atol=1e-4
    )


NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
         "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
         "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
         "model.layers": "blk"}  # fmt: skip


def as_gguf(source: Path, target: Path) -> None:
    """The same model as one file."""
    import gguf

    target.mkdir()
    model = transformers.AutoModelForCausalLM.from_pretrained(source)
    core = transformers.AutoTokenizer.from_pretrained(source).backend_tokenizer
    config, writer = model.config, gguf.GGUFWriter(target / "model.gguf", "qwen2")
    for name, value in {"context_length": 300, "embedding_length": 32, "block_count": 2, "feed_forward_length": 48,
                        "attention.head_count": 4, "attention.head_count_kv": 2,
                        "vocab_size": config.vocab_size}.items():  # fmt: skip
        writer.add_uint32(f"qwen2.{name}", value)
    writer.add_float32("qwen2.attention.layer_norm_rms_epsilon", config.rms_norm_eps)
    writer.add_float32("qwen2.rope.freq_base", 10000.0)
    table = json.loads(core.to_str())["model"]
    tokens = sorted(table["vocab"], key=table["vocab"].get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges([" ".join(pair) for pair in table["merges"]])
    for name, tensor in model.state_dict().items():
        for ours, theirs in NAMES.items():
            name = name.replace(ours, theirs)
        writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
