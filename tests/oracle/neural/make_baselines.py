"""Makes tests/oracle/neural/baselines: MoverScore, BLEURT and Prism of tiny random models, by the original code.

    python tests/oracle/neural/make_baselines.py FOLDER_OF_MOVERSCORE

FOLDER_OF_MOVERSCORE is the unpacked source of moverscore 1.0.3. Needs bleurt_pytorch 0.0.1, pytorch_pretrained_bert
0.6.2, pyemd 1.0.0, fairseq 0.10.2 (its Python files, without extensions), transformers 4.44.2, numpy 1.26,
sentencepiece and torch. The originals are patched for the device, for numpy (``np.float``), for newer transformers
(tuples, ``max_len``) and Python (dataclasses of fairseq), and read local models; the arithmetic is theirs.
Prism: model, dictionary, batches and SequenceScorer of fairseq, called as prism.py (Thompson & Post) calls them.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import types
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
OUT = HERE / "baselines"
DEMO = HERE.parents[2] / "src" / "wholetext" / "demo" / "de-en.jsonl"
PATCHES = {
    "from transformers import *": "from transformers import DistilBertConfig, DistilBertModel, DistilBertTokenizer",
    "output_attentions=True)": "output_attentions=True, return_dict=False)",
    "import matplotlib.pyplot as plt": "",
    "np.float)": "np.float64)",
    "tokenizer.max_len ": "512 ",
    "'cuda:0'": "'cpu'",
    "'cuda'": "'cpu'",
}


def pairs():
    """(hypothesis, reference) of the demo corpus: system by system, document by document."""
    docs = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    return [
        (hyp, ref)
        for system in docs[0]["outputs"]
        for doc in docs
        for hyp, ref in zip(doc["outputs"][system], doc["refs"]["human"])
    ]


def spread(model, scale):
    """Random weights far enough apart for scores to differ."""
    torch.manual_seed(7)
    for name, weight in model.named_parameters():
        if "LayerNorm" not in name and "layer_norm" not in name:
            torch.nn.init.normal_(weight, std=scale)
    return model.eval()


def module(path, **changes):
    """The original's module, patched."""
    text = path.read_text("utf-8")
    for old, new in {**PATCHES, **changes}.items():
        text = text.replace(old, new)
    made = sys.modules[path.stem] = types.ModuleType(path.stem)  # its processes look it up
    exec(compile(text, str(path), "exec"), made.__dict__)
    return made


def words(folder):
    shutil.copy(HERE / "models/tiny-bert/vocab.txt", folder / "vocab.txt")
    kind = {"do_lower_case": True, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind), "utf-8")


def mover_scores(originals):
    from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

    size = {"vocab_size": 3000, "max_position_embeddings": 512}
    distil = OUT / "tiny-distilbert"
    config = DistilBertConfig(dim=16, n_layers=2, n_heads=2, hidden_dim=32, **size)
    spread(DistilBertModel(config), 0.4).save_pretrained(distil)
    words(distil)
    bert = OUT / "tiny-bert7"
    config = BertConfig(hidden_size=16, num_hidden_layers=7, num_attention_heads=2, intermediate_size=32, **size)
    base = spread(BertModel(config, add_pooling_layer=True), 0.4)
    base.save_pretrained(bert)
    words(bert)
    hyps, refs = map(list, zip(*pairs()))
    alike = defaultdict(lambda: 1.0)
    two = module(originals / "moverscore_v2.py", **{"'distilbert-base-uncased'": repr(str(distil))})
    idf = two.get_idf_dict(refs[: len(refs) // 4])  # each reference once
    scores = {
        "v2": two.word_mover_score(refs, hyps, alike, alike),
        "v2-idf": two.word_mover_score(refs, hyps, idf, idf),
    }
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder)
        words(old)
        table = {**config.to_dict(), "type_vocab_size": 2}
        (old / "bert_config.json").write_text(json.dumps(table), "utf-8")
        state = {f"bert.{name}": weight for name, weight in base.state_dict().items()}
        head = {"classifier.weight": torch.zeros(3, 16), "classifier.bias": torch.zeros(3)}
        torch.save({**state, **head}, old / "pytorch_model.bin")
        start = (originals / "moverscore.py").read_text("utf-8").split("device = 'cuda'")
        kept = start[0].split("def download_MNLI_BERT")[0] + "device = 'cuda'" + start[1]
        (old / "moverscore.py").write_text(kept, "utf-8")
        one = module(old / "moverscore.py", **{"os.path.join(MOVERSCORE_DIR)": repr(str(old)), "import requests": ""})
        for grams in (1, 2):
            scores[f"v1-{grams}"] = one.word_mover_score(refs, hyps, alike, alike, n_gram=grams)
        scores["v1-idf"] = one.word_mover_score(refs, hyps, idf, idf)
    return {name: [float(value) for value in values] for name, values in scores.items()}


def bleurt_scores():
    import sentencepiece
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.tokenization_bleurt_fast import BleurtTokenizerFast
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    sizes = {"num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32, "hidden_size": 16}
    texts = pairs()
    results = {}
    kinds = {"bleurt-words": {"vocab_size": 3000}, "bleurt-pieces": {"vocab_size": 600, "embedding_size": 8}}
    for name, more in kinds.items():
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        model = spread(BleurtForSequenceClassification(BleurtConfig(max_position_embeddings=128, **sizes, **more)), 0.4)
        # a folder of the port as published holds pytorch_model.bin, a converted one safetensors
        model.save_pretrained(folder, safe_serialization=name == "bleurt-words")
        if name == "bleurt-words":
            words(folder)
            tokenizer = BleurtTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True)
            (folder / "tokenizer_config.json").unlink()
        else:
            corpus = folder / "texts.txt"
            corpus.write_text("\n".join(text for pair in texts for text in pair), "utf-8")
            sentencepiece.SentencePieceTrainer.train(
                input=str(corpus), model_prefix=str(folder / "spm"), vocab_size=600, byte_fallback=True,
                pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, pad_piece="[PAD]", unk_piece="[UNK]",
                control_symbols=["[CLS]", "[SEP]", "[MASK]"])  # fmt: skip
            corpus.unlink()
            (folder / "spm.vocab").unlink()
            tokenizer = BleurtSPTokenizer(str(folder / "spm.model"))
        scores = []
        with torch.no_grad():
            for hyp, ref in texts:
                scores.append(float(model(**tokenizer([ref], [hyp], return_tensors="pt")).logits))
        results[name] = scores
    return results


def prism_scores():
    import dataclasses

    import torch._dynamo  # before the patch
    import transformers  # noqa: F401

    plain = dataclasses.dataclass

    def dataclass(cls=None, **options):
        """Python 3.11 refuses defaults that compare by value."""
        options.setdefault("eq", False)
        return plain(cls, **options) if cls is not None else lambda made: plain(made, **options)

    dataclasses.dataclass = dataclass
    np.float, np.int, np.bool, np.object = float, int, bool, object
    from argparse import SUPPRESS, ArgumentParser

    import sentencepiece
    from fairseq.data import Dictionary, LanguagePairDataset
    from fairseq.models.transformer import TransformerModel, base_architecture
    from fairseq.sequence_scorer import SequenceScorer

    texts, results = pairs(), {}
    for name in ("m39-before", "m39-after"):  # norms before a block or after it
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(OUT / "bleurt-pieces/spm.model", folder)
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
        # the last pieces are left out, so that some words are unknown
        known = [pieces.id_to_piece(at) for at in range(5, 550)]
        lines = [f"{piece} {1000 - at}" for at, piece in enumerate([*known, "<en>", "<de>"])]
        for side in ("src", "tgt"):
            (folder / f"dict.{side}.txt").write_text("\n".join(lines) + "\n", "utf-8")
        words = Dictionary.load(str(folder / "dict.src.txt"))
        before = name == "m39-before"
        parser = ArgumentParser(argument_default=SUPPRESS)
        TransformerModel.add_args(parser)
        args = parser.parse_args([])
        vars(args).update(
            arch="transformer", task="translation", encoder_layers=3, decoder_layers=2, encoder_embed_dim=16,
            encoder_ffn_embed_dim=32, decoder_ffn_embed_dim=24, encoder_attention_heads=2, decoder_attention_heads=4,
            encoder_normalize_before=before, decoder_normalize_before=before, share_all_embeddings=before,
            max_source_positions=1024, max_target_positions=1024)  # fmt: skip
        base_architecture(args)
        task = types.SimpleNamespace(source_dictionary=words, target_dictionary=words)
        torch.manual_seed(3)
        model = TransformerModel.build_model(args, task).eval()
        for key, weight in model.named_parameters():
            torch.nn.init.normal_(weight, 1.0 if "norm.weight" in key else 0.0, 0.3)
        # as Trainer.save_checkpoint writes it; half of the files in the format before torch 1.6, as m39v1 is
        content = {
            "args": args, "model": model.state_dict(), "last_optimizer_state": None,
            "optimizer_history": [{"criterion_name": "LabelSmoothedCrossEntropyCriterion", "num_updates": 1}],
            "extra_state": {"train_iterator": {"epoch": 1}, "val_loss": 1.0}}  # fmt: skip
        torch.save(content, folder / "checkpoint.pt", _use_new_zipfile_serialization=before)
        scorer = SequenceScorer(words)

        def encode(text, tag, words=words, pieces=pieces):
            line = " ".join(pieces.encode(text, out_type=str))
            return words.encode_line(f"<en> {line}" if tag else line, add_if_not_exist=False).long()

        def forward(sources, targets, words=words, model=model, scorer=scorer):
            sources, targets = [encode(text, False) for text in sources], [encode(text, True) for text in targets]
            data = LanguagePairDataset(
                sources, torch.LongTensor([len(ids) for ids in sources]), words,
                tgt=targets, tgt_sizes=torch.LongTensor([len(ids) for ids in targets]), tgt_dict=words)  # fmt: skip
            scores = {}
            for start in range(0, len(data), 16):
                batch = data.collater([data[at] for at in range(start, min(start + 16, len(data)))])
                for at, hypotheses in zip(batch["id"].tolist(), scorer.generate([model], batch)):
                    scores[at] = float(hypotheses[0]["positional_scores"].numpy()[1:].mean())
            return [scores[at] for at in range(len(data))]

        hyps, refs = map(list, zip(*texts))
        results[name] = {"precision": forward(refs, hyps), "recall": forward(hyps, refs)}
    return results


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    found = {"moverscore": mover_scores(Path(sys.argv[1])), "bleurt": bleurt_scores(), "prism": prism_scores()}
    (OUT / "scores.json").write_text(json.dumps(found) + "\n", "utf-8")
