"""Parameters and checkpoints that cannot be used are errors with the remedy; notes about models hold from the cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import MetricError

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.metrics.neural_texts import with_tokenizers
from wholetext import score
from wholetext.models.hub import locate as hub
from wholetext.scoring.evaluate import Options
from wholetext.types import Scores


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_tokenizers(tmp_path_factory.mktemp("models"))


def scored(spec: str, langs: str = "de-en", device: str = "cpu", **options: Any) -> Scores:
    texts: dict[str, Any] = {"srcs": ["Ein Text.", "Noch einer."], "refs": ["A text.", "Another."], **options}
    hyps = ["A first text.", "Another one."]
    return score(hyps, spec, langs=langs, options=Options(device=device), **texts)[spec]["hyp"]


LIMITED = {"bertscore": "tiny-bert", "mover": "tiny-bert", "sbert": "tiny-bert", "comet": "comet-reg-mix",
           "prism": "tiny-mbart50", "metricx": "tiny-mt5"}  # fmt: skip


@pytest.mark.parametrize(("metric", "limit"), [(metric, limit) for metric in LIMITED for limit in (0, 1, 5000)
                                                if (metric, limit) != ("metricx", 5000)])  # its positions are relative
def test_limits_without_room_for_text_or_beyond_the_positions(metric: str, limit: int, models: Path) -> None:
    with pytest.raises(MetricError, match=f"limit={limit} leaves no room for text, or is more"):
        scored(f"{metric}(limit={limit})@{models / LIMITED[metric]}")


@pytest.mark.parametrize("metric", ["bertscore", "mover", "sbert"])
def test_an_english_model_on_another_language(metric: str) -> None:
    if hub.embedded("minilm") is None:
        pytest.skip("the minilm extra is not installed")
    for _ in range(2):  # the second time from the cache
        found = scored(f"{metric}@minilm", langs="en-de")
        assert any("minilm was trained on English" in note and " de " in note for note in found.notes)
    assert not any("trained on English" in note for note in scored(f"{metric}@minilm").notes)


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
