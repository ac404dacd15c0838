"""Signatures and cache keys name local models by their content, never by where they lie; every model file counts."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.metrics.neural_texts import TINY
from wholetext import score
from wholetext.scoring.evaluate import Options
from wholetext.types import Scores

SPECS = {"bertscore(layer=2)@M": "tiny-bert", "mover@M": "tiny-bert", "sbert@M": "tiny-bert", "prism@M": "tiny-mbart50",
         "metricx@M": "tiny-mt5", "comet@M": "comet-reg-mix"}  # fmt: skip


def scored(spec: str, cache: Path | bool = False) -> Scores:
    texts = {"srcs": ["Ein Text.", "Noch einer."], "refs": ["A text.", "Another here."], "langs": "de-en"}
    options = Options(device="cpu", cache=cache)
    return score(["A first text.", "Another one here."], spec, options=options, **texts)[spec]["hyp"]


@pytest.mark.parametrize("spec", SPECS)
def test_the_signature_holds_content_and_no_path(spec: str, tmp_path: Path) -> None:
    told = []
    for place in ("one", "two/deep"):
        folder = tmp_path / place / f"model-{place[:3]}"
        shutil.copytree(TINY / SPECS[spec], folder)
        if SPECS[spec] == "comet-reg-mix":
            shutil.copytree(TINY / "tiny-xlmr", folder.parent / "tiny-xlmr")
        found = scored(spec.replace("@M", f"@{folder}"))
        assert str(tmp_path) not in str(found.signature) and found.signature["model"].startswith("folder#")
        told.append(str(found.signature))
    assert told[0] == told[1]


def test_another_tokenizer_is_another_metric(tmp_path: Path) -> None:
    """Its folder is in signature and cache key: what one tokenizer gave is not the answer for the next."""
    sentencepiece = pytest.importorskip("sentencepiece")
    words = tmp_path / "words"
    shutil.copytree(TINY / "tiny-mt5", words)
    spec = f"metricx(tokenizer={words})@{TINY / 'tiny-mt5'}"
    cache = tmp_path / "cache.sqlite"
    first = scored(spec, cache)
    assert first.signature["tokenizer"].startswith("folder#") and str(tmp_path) not in str(first.signature)
    other = io.BytesIO()  # the same folder, now with another vocabulary
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a text, another text, one here"] * 9),
                                             model_writer=other, vocab_size=40, hard_vocab_limit=False, minloglevel=2)
    (words / "spiece.model").write_bytes(other.getvalue())
    again = scored(spec, cache)
    assert again.signature["tokenizer"] != first.signature["tokenizer"]
    assert again.score == scored(spec).score != first.score
