"""``compute_metrics`` in a real Seq2SeqTrainer, with a tiny model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.integrations.cases import LANGS, by_command, rows
from wholetext.integrations.trainer import compute_metrics

SPECS = ("chrf", "d-bleu", "ter")


def tokenizer(texts: list[str]) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = dict.fromkeys(word for text in texts for word in text.split())
    table = {word: i for i, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    plain = Tokenizer(models.WordLevel(table, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"])  # fmt: skip


@pytest.mark.long
def test_scores_in_training_are_those_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("accelerate")
    torch = pytest.importorskip("torch")
    import transformers as tf

    torch.manual_seed(1)
    segments = [{**row, "src": " ".join(row["src"].split()), "ref": " ".join(row["ref"].split())} for row in rows(2)]
    words = tokenizer([row[side] for row in segments for side in ("src", "ref")])
    config = tf.T5Config(vocab_size=len(words), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                         decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)  # fmt: skip
    data = [{"input_ids": words(row["src"]).input_ids, "labels": words(row["ref"]).input_ids} for row in segments]
    model = tf.T5ForConditionalGeneration(config)
    arguments = tf.Seq2SeqTrainingArguments(
        output_dir=str(tmp_path / "out"), predict_with_generate=True, generation_max_length=12, report_to=[],
        eval_strategy="steps", eval_steps=1, save_steps=1, max_steps=2, load_best_model_at_end=True,
        metric_for_best_model="chrf", include_for_metrics=["inputs"], use_cpu=True, disable_tqdm=True,
        per_device_train_batch_size=4, per_device_eval_batch_size=8)  # fmt: skip
    trainer = tf.Seq2SeqTrainer(
        model=model, args=arguments, train_dataset=data, eval_dataset=data,
        data_collator=tf.DataCollatorForSeq2Seq(words, model=model),
        compute_metrics=compute_metrics(words, *SPECS, docs=[row["doc"] for row in segments], langs=LANGS),
        callbacks=[tf.EarlyStoppingCallback(1)])  # fmt: skip
    trainer.train()
    assert trainer.state.best_metric == max(entry["eval_chrf"] for entry in trainer.state.log_history
                                            if "eval_chrf" in entry)  # fmt: skip
    metrics = trainer.evaluate()
    ids = trainer.predict(data).predictions
    texts = words.batch_decode(np.where(ids < 0, 0, ids), skip_special_tokens=True)
    outputs = [{**row, "hyp": text.strip()} for row, text in zip(segments, texts)]
    expected = by_command(capsys, tmp_path, outputs, *SPECS)
    named = [metrics[f"eval_{spec}"] for spec in SPECS]
    assert named == pytest.approx(expected, abs=1e-6)


def test_mistakes_are_answered() -> None:
    pytest.importorskip("transformers")
    words = tokenizer(["a b"])
    with pytest.raises(wt.errors.SpecError, match="there is no metric 'chrff'"):
        compute_metrics(words, "chrff")
    logits = SimpleNamespace(predictions=np.zeros((2, 3, 4)), label_ids=np.zeros((2, 3), int))
    with pytest.raises(wt.errors.InputError, match=r"not generated text but an array of shape \(2, 3, 4\)") as caught:
        compute_metrics(words, "chrf")(logits)
    assert "predict_with_generate=True" in caught.value.next
    ids = words(["a b", "b a"]).input_ids
    texts = SimpleNamespace(predictions=np.array(ids), label_ids=np.array([[3, -100], [4, 3]]))
    expected = wt.score(["a b", "b a"], "chrf", refs=["a", "b a"]).score
    assert compute_metrics(words)(texts) == {"chrf": pytest.approx(expected, abs=1e-6)}
    with pytest.raises(wt.errors.MetricError, match="needs the source"):
        compute_metrics(words, "term-consistency")(texts)
    with pytest.raises(wt.errors.AlignmentError, match="srcs"):
        compute_metrics(words, "chrf", srcs=["a"])(texts)
