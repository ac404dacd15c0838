"""Encoder-decoder models of several families against their own forward pass, and languages by name."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models.test_hostile_fairseq import Call
from wholetext.errors import ModelError
from wholetext.models.device import Precision
from wholetext.models.loading import Checkpoint
from wholetext.models.seq2seq import Pair, Seq2Seq, language_code
from wholetext.scoring.engine import Engine
from wholetext.types import Excerpt

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
         "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
         "max_position_embeddings": 64, "init_std": 0.5}  # fmt: skip
TEXTS = ["Der Hund läuft im Park .", "A cat sat on the mat .", "It was raining all day long ."]


def bart(at: Path, models: Path) -> None:
    from tokenizers import ByteLevelBPETokenizer

    learner = ByteLevelBPETokenizer()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learner.train_from_iterator(TEXTS * 5, vocab_size=400, special_tokens=marks, show_progress=False)
    learner.save_model(str(at))
    tokenizer = transformers.BartTokenizerFast.from_pretrained(at)
    tokenizer.save_pretrained(at)
    save(transformers.BartForConditionalGeneration(transformers.BartConfig(vocab_size=len(tokenizer), **SIZES)), at)


def marian(at: Path, models: Path) -> None:
    import sentencepiece

    for side in ("source", "target"):
        shutil.copy(models / "tiny-mt5/spiece.model", at / f"{side}.spm")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(at / "source.spm"))
    words = [pieces.id_to_piece(i) for i in range(pieces.vocab_size())]
    words = ["</s>", "<unk>", *(word for word in words if word not in ("</s>", "<unk>", "<pad>")), "<pad>"]
    (at / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    about = {"source_lang": "en", "target_lang": "de", "model_max_length": 64, "tokenizer_class": "MarianTokenizer"}
    (at / "tokenizer_config.json").write_text(json.dumps(about))
    last = len(words) - 1
    save(transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=len(words), pad_token_id=last, eos_token_id=0, decoder_start_token_id=last, **SIZES)), at)


def m2m(at: Path, models: Path) -> None:
    import sentencepiece

    shutil.copy(models / "tiny-mt5/spiece.model", at / "sentencepiece.bpe.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(at / "sentencepiece.bpe.model"))
    known = [pieces.id_to_piece(i) for i in range(pieces.vocab_size())]
    words = dict.fromkeys(["<s>", "<pad>", "</s>", "<unk>", *known])
    (at / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    tokenizer = transformers.M2M100Tokenizer(str(at / "vocab.json"), str(at / "sentencepiece.bpe.model"))
    tokenizer.save_pretrained(at)
    size = len(words) + 128  # the languages come after the words
    save(transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(vocab_size=size, **SIZES)), at)


def mbart(at: Path, models: Path) -> None:
    shutil.copytree(models / "tiny-mbart50", at, dirs_exist_ok=True)


def t5(at: Path, models: Path) -> None:
    shutil.copytree(models / "tiny-mt5", at, dirs_exist_ok=True)


def save(model: object, at: Path) -> None:
    bias = getattr(model, "final_logits_bias", None)
    if bias is not None:
        bias.normal_()
    model.save_pretrained(at)  # type: ignore[attr-defined]


def plain(*parts: str, focus: int | None = None) -> Excerpt:
    at = len(parts) - 1 if focus is None else focus
    return Excerpt(parts, (at, at + 1))


FAMILIES: list[Callable[[Path, Path], None]] = [bart, marian, m2m, mbart, t5]


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda make: make.__name__)
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, oracle: Path) -> Seq2Seq:
    torch.manual_seed(7)
    at = tmp_path_factory.mktemp(request.param.__name__)
    request.param(at, oracle / "neural/models")
    return Seq2Seq(Checkpoint(str(at), "", Precision("cpu")), ("en", "de"))


def test_every_family_says_what_its_own_loss_says(backend: Seq2Seq) -> None:
    tokenizer, model = backend.tokenizer, backend.checkpoint.weights
    for given, said in itertools.pairwise(TEXTS):
        with torch.no_grad():
            labels = torch.tensor([tokenizer(text_target=said)["input_ids"]])
            read = torch.tensor([tokenizer(given)["input_ids"]])
            logs = model(input_ids=read, labels=labels).logits.log_softmax(-1)[0]
        wanted = logs.gather(1, labels[0][:, None])[:, 0].double().numpy()
        (found,) = backend.run([Pair(plain(given), plain(said))])
        whole = np.nansum([found.before, found.total, found.after])
        assert whole == pytest.approx(wanted.sum(), rel=1e-6, abs=2e-5)
        assert found.after == pytest.approx(wanted[-1], rel=1e-6, abs=1e-5)
        assert found.tokens + 1 + (not np.isnan(found.before)) == len(wanted)


def test_batches_do_not_matter(backend: Seq2Seq) -> None:
    asked = [Pair(plain(a), plain(b)) for a in TEXTS for b in [*TEXTS, "", TEXTS[0] * 3]]
    asked += [Pair(plain(*TEXTS), plain(*TEXTS[::-1])), Pair(plain(*TEXTS, focus=0), plain(*TEXTS, focus=1))]
    alone = np.array([backend.run([pair])[0] for pair in asked])
    for budget in (40, 10_000):
        together = np.array(Engine(batch_tokens=budget).map(backend, asked))
        # sums over up to ~30 tokens: 1e-6 per token, relative to the size of log-probabilities
        np.testing.assert_allclose(together, alone, rtol=1e-6, atol=1e-5, equal_nan=True)


def test_threads_do_not_matter(backend: Seq2Seq) -> None:
    """To the last bit, as workers have other numbers of them; several batches at a time do not get mixed up."""
    asked = [Pair(plain(a), plain(b, str(n))) for n in range(4) for a in TEXTS for b in TEXTS]
    before, found = torch.get_num_threads(), set()
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            found.add(np.array(Engine(batch_tokens=60).map(backend, asked)).tobytes())
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


def test_out_of_memory_halves_the_batch(backend: Seq2Seq, monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.models import seq2seq

    asked = [Pair(plain(a), plain(b)) for a in TEXTS for b in TEXTS]
    wanted, sizes, real = Engine(batch_tokens=10_000).map(backend, asked), [], seq2seq.head_input

    def small(model: object, **inputs: Any) -> object:
        sizes.append(len(inputs["input_ids"]))
        if sizes[-1] > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return real(model, **inputs)

    monkeypatch.setattr(seq2seq, "head_input", small)
    found = Engine(batch_tokens=10_000).map(backend, asked)
    assert sizes[0] == 9 and 2 in sizes
    np.testing.assert_allclose(np.array(found), np.array(wanted), rtol=1e-6, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("shards", [1, 2])
def test_weights_as_published_before_safetensors(shards: int, tmp_path: Path, oracle: Path) -> None:
    """mBART-50 and MetricX are published as torch archives, large ones in shards."""
    from safetensors.torch import load_file

    folder = oracle / "neural/models/tiny-mbart50"
    at = Path(shutil.copytree(folder, tmp_path / "m"))
    weights = load_file(folder / "model.safetensors")
    (at / "model.safetensors").unlink()
    if shards == 1:
        torch.save(weights, at / "pytorch_model.bin")
    else:
        where = {name: f"pytorch_model-{i % 2 + 1:05d}-of-00002.bin" for i, name in enumerate(sorted(weights))}
        for file in set(where.values()):
            torch.save({name: weights[name] for name in where if where[name] == file}, at / file)
        index = {"metadata": {"total_size": 0}, "weight_map": where}
        (at / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    pair = Pair(plain("Der Hund ."), plain("Ein Hund ."))
    found, wanted = (Seq2Seq(Checkpoint(str(place), "", Precision("cpu")), ("de", "de")).run([pair])[0]
                     for place in (at, folder))  # fmt: skip
    assert found == wanted


def test_what_follows_is_read_but_not_written(backend: Seq2Seq) -> None:
    text = plain("a", "b c", "d", focus=1)
    layout = backend.target(text)
    assert layout.ids[-len(backend.writes.closing) :] == backend.writes.closing
    assert layout.stop == len(layout.ids) - len(backend.writes.closing)
    assert len(backend.source(text).ids) > len(layout.ids) - 1


def test_text_that_is_too_long_loses_context_first(backend: Seq2Seq) -> None:
    small = Seq2Seq(backend.checkpoint, ("en", "de"), limit=16)
    view = plain(TEXTS[0] * 3, TEXTS[1], "a cat")
    fit = small.fit(Pair(view, view))
    assert small.source(view).fit.tokens <= 16 and fit.lost_context > 0 and fit.lost_focus == 0
    assert small.fit(Pair(plain(TEXTS[0] * 9), plain("a"))).lost_focus > 0
    assert all(np.isfinite(small.run([Pair(view, view)])[0][1:]))


def test_languages_by_name() -> None:
    codes = ["de_DE", "en_XX", "zho_Hans", "zho_Hant"]
    assert language_code("de", codes) == "de_DE"
    assert language_code("en_XX", codes) == language_code("en-XX", codes) == "en_XX"
    with pytest.raises(ModelError, match="several"):
        language_code("zho", codes)
    with pytest.raises(ModelError, match="has no code for the language 'fr'"):
        language_code("fr", codes)
    with pytest.raises(ModelError, match="has no code for the language ''"):
        language_code("", codes)


@pytest.mark.parametrize("how", ["missing", "shape"])
def test_a_wrong_weight_is_named(how: str, tmp_path: Path, oracle: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(oracle / "neural/models/tiny-mbart50", tmp_path / "m")
    weights = load_file(tmp_path / "m/model.safetensors")
    key = "model.decoder.layers.1.fc1.weight"
    weights.pop(key)
    if how == "shape":
        weights[key] = torch.zeros(3, 3)
    save_file(weights, tmp_path / "m/model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=f"wrong shape for {key}" if how == "shape" else f"no weights for {key}"):
        Checkpoint(str(tmp_path / "m"), "", Precision("cpu")).weights.parameters()


@pytest.mark.parametrize("how", ["cut", "pickle"])
def test_a_bad_checkpoint_is_refused(how: str, tmp_path: Path, oracle: Path) -> None:
    import pickle

    shutil.copytree(oracle / "neural/models/tiny-mbart50", tmp_path / "m")
    file, trap = tmp_path / "m/model.safetensors", tmp_path / "trap"
    if how == "cut":
        file.write_bytes(file.read_bytes()[:5000])
    else:
        file.unlink()
        (tmp_path / "m/pytorch_model.bin").write_bytes(pickle.dumps(Call(Path.touch, (trap,)), protocol=2))
    with pytest.raises(ModelError, match="cannot be loaded"):
        Checkpoint(str(tmp_path / "m"), "", Precision("cpu")).weights.parameters()
    assert not trap.exists()
