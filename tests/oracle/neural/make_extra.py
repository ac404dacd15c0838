"""Makes tests/oracle/neural/extra: models of kinds the other oracle files lack, scored by the original tools.

    python tests/oracle/neural/make_extra.py      (with unbabel-comet 2.2.7, bert-score 0.3.13, transformers 4.57)

COMET on RemBERT and on multilingual MiniLM (XLM-R's vocabulary, BERT's layers), regression and unified; BERTScore on a
byte-level RoBERTa, whose words depend on the space before them. Random weights, fixed seed.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import torch
import yaml

HERE = Path(__file__).resolve().parent
EXTRA = HERE / "extra"
WIDTH, LAYERS = 16, 3


def lines():
    found = json.loads((HERE / "inputs.json").read_text("utf-8"))["lps"]["en-de"]
    return found["src"][:8], found["hyp"][:8], found["ref"][:8]


def vocabulary(kind, folder, size):
    """A small tokenizer trained on the texts."""
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    texts = [text for side in lines() for text in side]
    if kind == "rembert":
        special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
        made = Tokenizer(models.Unigram())
        made.normalizer, made.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=size, special_tokens=special, unk_token="<unk>")
        made.train_from_iterator(texts, trainer)
        pair = [("[CLS]", made.token_to_id("[CLS]")), ("[SEP]", made.token_to_id("[SEP]"))]
        single = "[CLS]:0 $A:0 [SEP]:0"
        made.post_processor = processors.TemplateProcessing(single, f"{single} $B:1 [SEP]:1", pair)
    else:
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        made = Tokenizer(models.BPE())
        made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
        made.train_from_iterator(texts, trainer)
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
        made.model.save(str(folder))
    made.save(str(folder / "tokenizer.json"))
    return made.get_vocab_size()


def encoders():
    import transformers

    for name in ("tiny-rembert", "tiny-minilm", "tiny-roberta"):
        shutil.rmtree(EXTRA / name, ignore_errors=True)
        (EXTRA / name).mkdir(parents=True)
    shared = {"num_hidden_layers": LAYERS, "num_attention_heads": 2, "hidden_size": WIDTH, "intermediate_size": 32}
    size = vocabulary("rembert", EXTRA / "tiny-rembert", 400)
    transformers.RemBertTokenizerFast(tokenizer_file=str(EXTRA / "tiny-rembert/tokenizer.json"), pad_token="<pad>",
                                      unk_token="<unk>").save_pretrained(EXTRA / "tiny-rembert")  # fmt: skip
    config = transformers.RemBertConfig(vocab_size=size, input_embedding_size=8, output_embedding_size=8,
                                        pad_token_id=0, max_position_embeddings=256, **shared)  # fmt: skip
    config.save_pretrained(EXTRA / "tiny-rembert")
    transformers.BertConfig(vocab_size=4002, max_position_embeddings=256, pad_token_id=1, **shared
                            ).save_pretrained(EXTRA / "tiny-minilm")  # fmt: skip
    size = vocabulary("roberta", EXTRA / "tiny-roberta", 600)
    config = transformers.RobertaConfig(vocab_size=size, max_position_embeddings=130, type_vocab_size=1, **shared)
    louder(transformers.RobertaModel(config, add_pooling_layer=False)).save_pretrained(EXTRA / "tiny-roberta")
    transformers.RobertaTokenizer(str(EXTRA / "tiny-roberta/vocab.json"), str(EXTRA / "tiny-roberta/merges.txt")
                                  ).save_pretrained(EXTRA / "tiny-roberta")  # fmt: skip
    (EXTRA / "xlm-roberta-base").mkdir(exist_ok=True)  # the name MiniLM's vocabulary goes by
    for file in (HERE / "models/tiny-xlmr").glob("*token*.json"):
        shutil.copy(file, EXTRA / "xlm-roberta-base")
    shutil.copy(HERE / "models/tiny-xlmr/config.json", EXTRA / "xlm-roberta-base")


def louder(model):
    """Larger weights, so that scores differ from text to text."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(6)
    return model


def comet(name, encoder, folder, kind):
    from comet import load_from_checkpoint
    from comet.models import RegressionMetric, UnifiedMetric

    torch.manual_seed(7)
    shared = {"encoder_model": encoder, "pretrained_model": folder, "hidden_sizes": [24, 12], "activations": "Tanh",
              "layer_transformation": "softmax", "layer_norm": True, "load_pretrained_weights": False}  # fmt: skip
    if kind == "unified_metric":
        model = UnifiedMetric(sent_layer="mix", input_segments=["mt", "src", "ref"], **shared)
    else:
        model = RegressionMetric(layer="mix", pool="avg", **shared)
    louder(model.encoder), louder(model.estimator)
    for parameter in model.layerwise_attention.scalar_parameters:
        torch.nn.init.normal_(parameter)
    place = EXTRA / name
    shutil.rmtree(place, ignore_errors=True)
    (place / "checkpoints").mkdir(parents=True)
    hparams = {**dict(model.hparams), "class_identifier": kind}
    del hparams["load_pretrained_weights"]
    (place / "hparams.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(hparams))), "utf-8")
    torch.save({"state_dict": model.state_dict(), "hyper_parameters": dict(model.hparams),
                "pytorch-lightning_version": "2.0.0"}, place / "checkpoints/model.ckpt")  # fmt: skip
    loaded = load_from_checkpoint(str(place / "checkpoints/model.ckpt"))
    rows = [dict(zip(("src", "mt", "ref"), row)) for row in zip(*lines())]
    return loaded.predict(rows, batch_size=4, gpus=0, num_workers=0, progress_bar=False)["scores"]


def bertscore():
    from bert_score import BERTScorer

    _, hyp, ref = lines()
    p, r, f = BERTScorer(model_type="tiny-roberta", num_layers=2).score([*hyp, " spaced  out "], [*ref, "spaced out"])
    return {"layer": 2, "P": p.tolist(), "R": r.tolist(), "F": f.tolist()}


def main():
    torch.manual_seed(7)
    EXTRA.mkdir(exist_ok=True)
    os.chdir(EXTRA)
    encoders()
    found = {"comet": {
        "rembert-regression": comet("rembert-regression", "RemBERT", "tiny-rembert", "regression_metric"),
        "rembert-unified": comet("rembert-unified", "RemBERT", "tiny-rembert", "unified_metric"),
        "minilm-regression": comet("minilm-regression", "MiniLM", "tiny-minilm", "regression_metric"),
        "minilm-unified": comet("minilm-unified", "MiniLM", "tiny-minilm", "unified_metric"),
    }, "bertscore": bertscore()}
    (EXTRA / "expected.json").write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
