"""Parameters and checkpoints that cannot be used are errors with the remedy; notes about models hold from the cache."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.metrics.neural_texts import TINY, with_tokenizers
from wholetext import score
from wholetext.errors import MetricError, ModelError, WholetextError
from wholetext.models.hub import locate as hub
from wholetext.scoring.evaluate import Options
from wholetext.scoring.plan import plan
from wholetext.types import Corpus, Document, Output, Scores


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_tokenizers(tmp_path_factory.mktemp("models"))


def scored(spec: str, langs: str = "de-en", device: str = "cpu", **options: Any) -> Scores:
    texts: dict[str, Any] = {"srcs": ["Ein Text.", "Noch einer."], "refs": ["A text.", "Another."], **options}
    hyps = ["A first text.", "Another one."]
    return score(hyps, spec, langs=langs, options=Options(device=device), **texts)[spec]["hyp"]


LIMITED = {"bertscore": "tiny-bert", "mover": "tiny-bert", "sbert": "tiny-bert", "comet": "comet-reg-mix",
           "prism": "tiny-mbart50", "metricx": "tiny-mt5"}  # fmt: skip


@pytest.mark.parametrize("limit", [0, -5, 1])
@pytest.mark.parametrize("metric", LIMITED)
def test_limits_without_room_for_text(metric: str, limit: int, models: Path) -> None:
    with pytest.raises(MetricError, match=f"limit={limit} leaves no room") as caught:
        scored(f"{metric}(limit={limit})@{models / LIMITED[metric]}")
    assert "at least" in caught.value.next


@pytest.mark.parametrize("metric", [each for each in LIMITED if each != "metricx"])
def test_limits_beyond_the_positions(metric: str, models: Path) -> None:
    with pytest.raises(MetricError, match=r"limit=5000 exceeds the model's maximum of \d+ tokens") as caught:
        scored(f"{metric}(limit=5000)@{models / LIMITED[metric]}")
    assert "at most" in caught.value.next


def test_limits_of_cross_encoders(models: Path) -> None:
    with pytest.raises(MetricError, match="limit=5000 exceeds"):
        scored(f"comet(limit=5000)@{models / 'comet-kiwi-bert'}")
    assert scored(f"comet(limit=20)@{models / 'comet-kiwi-bert'}").score


@pytest.mark.parametrize(("line", "said"), [
    ("pretrained_model:", "names no pretrained_model"), ("layer: 9", "asks for layer 9"), ("layer: -1", "layer -1"),
    ("pool: attention", "pool is 'attention'"), ("layer_transformation: entmax15", "entmax15"),
    ("hidden_sizes: [-1]", "hparams.yaml and the checkpoint do not match"), ("hidden_sizes: 7", "it cannot be used"),
    ("final_activation: MultiheadAttention", "MultiheadAttention"),
])  # fmt: skip
def test_hyper_parameters(line: str, said: str, tmp_path: Path) -> None:
    for name in ("comet-reg-mix", "tiny-xlmr"):
        shutil.copytree(TINY / name, tmp_path / name)
    path = tmp_path / "comet-reg-mix" / "hparams.yaml"
    told = {**yaml.safe_load(path.read_text("utf-8")), **yaml.safe_load(line)}
    path.write_text(yaml.safe_dump(told), "utf-8")
    with pytest.raises(ModelError, match=said):
        scored(f"comet@{tmp_path / 'comet-reg-mix'}")


def test_an_absent_encoder_names_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shutil.copytree(TINY / "comet-reg-mix", tmp_path / "my-comet")
    with pytest.raises(ModelError, match=r"my-comet: its encoder 'tiny-xlmr' was not found") as caught:
        scored(f"comet@{tmp_path / 'my-comet'}")
    assert "next to" in caught.value.next


@pytest.mark.parametrize("spec", ["learned@nofolder", "comet@m/typo", "bertscore@m/typo", "bertscore@~nouser/x"])
def test_offline_a_folder_that_is_not_there(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"there is no folder|there is no such model folder"):
        scored(spec)


def test_an_absent_device_is_refused_from_the_cache_too(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    spec = f"bertscore(layer=1)@{models / 'tiny-bert'}"
    assert scored(spec).score
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match=r"device cuda\S* is not available"):
        scored(spec, device="cuda")


@pytest.mark.parametrize("metric", ["bertscore", "mover", "sbert"])
def test_an_english_model_on_another_language(metric: str) -> None:
    if hub.embedded("minilm") is None:
        pytest.skip("the minilm extra is not installed")
    for _ in range(2):  # the second time from the cache
        found = scored(f"{metric}@minilm", langs="en-de")
        assert any("minilm was trained on English" in note and " de " in note for note in found.notes)
    assert not any("trained on English" in note for note in scored(f"{metric}@minilm").notes)


@pytest.mark.parametrize(("spec", "said"), [
    ("metricx(mode=qe,multi_ref=best)@tiny-mt5", "multi_ref"), ("prism(src_lang=de_DE)@tiny-mbart50", "src_lang"),
    ("prism(direction=src-hyp,multi_ref=max)@tiny-mbart50", "multi_ref"), ("comet(qe=true)@comet-reg-mix", "qe=true"),
])  # fmt: skip
def test_parameters_that_change_nothing(spec: str, said: str, models: Path) -> None:
    with pytest.raises(WholetextError, match=said):
        scored(spec.replace("@", f"@{models}/"))


def test_no_references_at_all(models: Path) -> None:
    found = score(
        ["A text."],
        f"comet@{models / 'comet-qe-mix'}",
        srcs=["Ein Text."],
        langs="de-en",
        options=Options(device="cpu"),
    )[f"comet@{models / 'comet-qe-mix'}"]["hyp"]
    assert found.signature["refs"] == "none"


def test_error_spans_of_every_reference(models: Path) -> None:
    refs = {"a": ["A text.", "Another."], "b": ["Something else entirely, and longer.", "Not that one."]}
    found = scored(f"comet@{models / 'xcomet'}", refs=refs)
    each = [scored(f"comet@{models / 'xcomet'}", refs=[refs[name]]) for name in "ab"]
    for row in range(2):
        detail = dict(found.details[row] or {})
        several = detail.pop("by_reference")
        assert len(several) == 2 and detail == several[0]  # spans and mqm: the first reference's
        for given, alone in zip(several, each):
            assert [span["text"] for span in given["spans"]] == [s["text"] for s in (alone.details[row] or {})["spans"]]
            assert given["mqm"] == (alone.details[row] or {})["mqm"]


@pytest.mark.parametrize(("spec", "sides"), [
    ("prism(limit=12)@tiny-mbart50", ["ref (read)", "hyp (scored)", "hyp (read)", "ref (scored)"]),
    ("metricx(limit=12)@tiny-mt5", ["prompt with ref"]),
])  # fmt: skip
def test_a_plan_shows_what_is_left_of_the_text(spec: str, sides: list[str], models: Path) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    corpus = Corpus("c", ("de", "en"), (Document("d", (text,), {"ref": (text,)}),))
    planned = plan(corpus, [Output("s", {"d": (text + " end",)})], spec.replace("@", f"@{models}/"), show=1)
    shown = planned.shown[0].sides
    assert [side for side, _ in shown] == sides and planned.lost_focus == 1
    for _, tokens in shown:
        assert 0 < len(tokens.replace("«", "").replace("»", "").split()) <= 12
        assert "end" not in tokens and "«" in tokens
