"""A document of 600 sentences, one of them of 2,000 tokens, under every view: scored, losses counted, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import TextTooLong
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

pytest.importorskip("torch")
pytest.importorskip("transformers")

LONG = 300  # where the long sentence stands


@pytest.fixture(scope="module")
def text() -> tuple[Corpus, Output]:
    ref = [f"This is sentence number {i} ." for i in range(600)]
    ref[LONG] = "word " * 2000
    hyp = [line.replace("This", "That") for line in ref]
    doc = Document("long", tuple(ref), {"ref": tuple(ref)})
    return Corpus("c", ("de", "en"), (doc,)), Output("s", {"long": tuple(hyp)})


METRICS = {"prism": "tiny-mbart50", "metricx": "tiny-mt5"}
VIEWS = ["sentence", "context(prev=2)", "slide(size=6,step=6)", "paragraph(size=50)", "whole"]


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("metric", METRICS)
def test_every_view(metric: str, view: str, text: tuple[Corpus, Output], oracle: Path) -> None:
    corpus, output = text
    spec = f"{view}:{metric}@{oracle / 'neural/models' / METRICS[metric]}"
    found = score(Loaded(corpus, [output]), spec, options=Options(cache=False, device="cpu"))[spec]["s"]
    assert np.isfinite(found.at("row")).all() and found.lost is not None
    at = [i for i, row in enumerate(found.rows) if row.start <= LONG < row.stop]
    assert (found.lost[at, 1] > 0).all()
    if view in ("sentence", "context(prev=2)"):  # only the long one is cut; its neighbours lose context
        assert np.flatnonzero(found.lost[:, 1]).tolist() == at
    assert int(found.signature["lost_focus"]) == int((found.lost[:, 1] > 0).sum())


@pytest.mark.parametrize("metric", METRICS)
def test_refused_before_any_model_runs(
    metric: str, text: tuple[Corpus, Output], oracle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wholetext.models import loading

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(loading, "load_model", never)
    corpus, output = text
    spec = f"context(prev=1):{metric}(limit=1000)@{oracle / 'neural/models' / METRICS[metric]}"
    with pytest.raises(TextTooLong, match=rf"document long, segments {LONG + 1}.*system s"):
        score(Loaded(corpus, [output]), spec, options=Options(cache=False, device="cpu", overflow="error"))
