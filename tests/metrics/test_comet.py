"""COMET of every kind against frozen outputs of unbabel-comet 2.2.7 and of the document-level fork."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neural_texts import cut, oracle, texts, with_tokenizers

from wholetext.engine import Engine
from wholetext.metrics.comet import Comet
from wholetext.types import FloatArray, Request, View

pytest.importorskip("torch")
pytest.importorskip("transformers")
TOLERANCE = 2e-5
TEXTS = texts()
SENTENCES = oracle("comet/sentence_scores.json")["models"]
HERE = ("comet-reg-mix", "comet-qe-mix", "comet-kiwi-bert", "comet-reg-short", "xcomet")  # the rest lie in golden/


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_tokenizers(tmp_path_factory.mktemp("models"))


def folder(name: str, tiny: Path, request: pytest.FixtureRequest) -> str:
    """The model's folder; the models that are not copied into the project are looked for beside it."""
    return str(tiny / name if name in HERE else request.getfixturevalue("golden") / "models" / name)


def scores(metric: Comet, asked: Sequence[Request], engine: Engine | None = None) -> FloatArray:
    engine = engine or Engine(("en", "de"))
    metric = metric.resolve(engine.langs)
    return metric.reduce_rows(metric.measure(asked, engine))[:, 0]


def close(found: FloatArray, wanted: Sequence[float], tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(found, wanted, atol=tolerance, rtol=0)


def sides(name: str) -> dict[str, bool]:
    return {"ref": not any(part in name for part in ("qe", "kiwi"))}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentence_scores(name: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    metric = Comet(folder(name, tiny, request))
    for pair, wanted in SENTENCES[name]["expected"].items():
        asked = cut(TEXTS[pair], **sides(name))
        engine = Engine(("en", "de"))
        found = scores(metric, asked, engine)
        close(found, wanted["scores"])
        assert np.mean(found) == pytest.approx(wanted["system_score"], abs=TOLERANCE)
        if "qe_mode" in wanted:
            close(scores(Comet(metric.model, qe=True), asked), wanted["qe_mode"]["scores"])
        check_details(engine._details, wanted.get("metadata", {}))


def check_details(details: dict[int, dict[str, Any]], wanted: dict[str, Any]) -> None:
    """Scores of single passes, error spans (exact) and the score from spans, as the original reports them."""
    if "unified_scores" in wanted:
        for ours, theirs in (("src", "src_scores"), ("ref", "ref_scores"), ("src+ref", "unified_scores")):
            close(np.array([details[i]["passes"][ours] for i in sorted(details)]), wanted[theirs])
    if "mqm_scores" in wanted:
        close(np.array([details[i]["mqm"] for i in sorted(details)]), wanted["mqm_scores"])
    for i, spans in enumerate(wanted.get("error_spans", ())):
        found = [dict(span) for span in details[i]["spans"]]
        close(np.array([span.pop("confidence") for span in found]), [s["confidence"] for s in spans], 1e-4)
        assert found == [{key: value for key, value in span.items() if key != "confidence"} for span in spans]
