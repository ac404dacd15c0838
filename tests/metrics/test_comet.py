"""COMET of every kind against frozen outputs of unbabel-comet 2.2.7 and of the document-level fork."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from tests.metrics.neural_texts import ORACLE, TEXTS, cut, one, oracle
from wholetext.errors import SpecError
from wholetext.io import Loaded
from wholetext.metrics.comet.metric import Comet
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.testing import sample
from wholetext.types import FloatArray, Request

pytest.importorskip("torch")
pytest.importorskip("transformers")
TOLERANCE = 2e-5
SENTENCES = oracle("comet/sentence_scores.json")["models"]
HERE = ("comet-reg-mix", "comet-qe-mix", "comet-kiwi-bert", "comet-reg-short", "xcomet")  # the rest lie in golden/


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


DOCS = oracle("comet/doc_scores_upstream.json")["models"]
POLICY = oracle("comet/doc_default_policy.json")["models"]
CUTS = oracle("comet/truncation_upstream.json")["models"]
FORK = oracle("comet/fork_scores.json")["models"]


def one_by_default(names: Iterable[str]) -> list[object]:
    """The first model in the default run, the others in the long one."""
    head, *rest = names
    return [head, *(pytest.param(name, marks=pytest.mark.long) for name in rest)]


@pytest.mark.parametrize("name", DOCS)
def test_document_scores(name: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    metric = Comet(folder(name, tiny, request))
    for pair, variants in DOCS[name]["expected"].items():
        for variant, wanted in variants.items():
            prev, own = int(variant[1]), "ref_context" not in variant
            asked = cut(TEXTS[pair], prev, hyp="own" if own else "ref") if prev else cut(TEXTS[pair])
            close(scores(metric, asked), wanted["scores"])


@pytest.mark.parametrize("name", one_by_default(POLICY))
def test_context_gives_way_first(name: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    model = folder(name, tiny, request)
    for pair, variants in POLICY[name]["expected"].items():
        asked = cut(TEXTS[pair], prev=2, hyp="own" if "qe" in name else "ref")
        for variant, wanted in variants.items():
            limit = int(variant[5:]) if variant.startswith("limit") else None
            metric = Comet(model, limit=limit, pool_special_tokens=variant != "pool_special_tokens_false")
            close(scores(metric, asked), wanted["scores"])
            engine = Engine()
            fits = metric.resolve(engine.langs).fits(asked, engine)
            lost = [i for i, fit in enumerate(fits) if fit.lost_context or fit.lost_focus]
            assert lost == wanted["truncated"]


@pytest.mark.parametrize("name", CUTS)
def test_over_long_text(name: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    model = folder(name, tiny, request)
    for pair, variants in CUTS[name]["expected"].items():
        close(scores(Comet(model), cut(TEXTS[pair], **sides(name))), variants["sentence"]["scores"])
        if "doc_n2" in variants:
            asked = cut(TEXTS[pair], prev=2, hyp="own" if "qe" in name else "ref")
            close(scores(Comet(model, truncation="reference"), asked), variants["doc_n2"]["scores"])


@pytest.mark.parametrize("name", one_by_default(FORK))
def test_the_fork_and_its_layer_norm_over_eight_segments(name: str, tiny: Path, request: pytest.FixtureRequest) -> None:
    metric = Comet(folder(name, tiny, request), truncation="reference", limit=FORK[name]["limit_tokens"])
    grouped = Comet(metric.model, truncation="reference", limit=metric.limit, layernorm_scope="minibatch8")
    for pair, wanted in FORK[name]["expected"].items():
        for level, prev in (("sentence", 0), ("doc", 2)):
            context = {"hyp": "own" if "qe" in name else "ref"} if prev else {}
            asked = cut(TEXTS[pair], prev, **context)
            close(scores(metric, asked), wanted[f"{level}_bs1"]["scores"])
            order = wanted[f"{level}_order"]
            found = np.empty(len(asked))
            for i in range(0, len(order), 32):  # the fork's own batches
                part = order[i : i + 32]
                found[part] = scores(grouped, [asked[j] for j in part])
            close(found, wanted[f"{level}_bs32"]["scores"])


def test_edge_cases(tiny: Path, request: pytest.FixtureRequest) -> None:
    case = oracle("comet/edge_cases.json")
    asked = [Request((one(h),), one(s), (one(r),)) for s, h, r in zip(case["src"], case["hyp"], case["ref"])]
    for name, wanted in case["expected"].items():
        model, _, compat = name.partition(" ")
        if model in HERE:
            options: dict[str, Any] = {"truncation": "reference"} if compat else {}
            close(scores(Comet(str(tiny / model), **options), asked), wanted)


@pytest.mark.parametrize("name", oracle("extra/expected.json")["comet"])
def test_rembert_and_multilingual_minilm(name: str, tmp_path: Path) -> None:
    copytree(ORACLE / "extra", tmp_path / "models")
    copytree(ORACLE / "models" / "tiny-xlmr", tmp_path / "models" / "xlm-roberta-base")  # MiniLM's vocabulary
    lines = {side: TEXTS["en-de"][side][:8] for side in ("src", "hyp", "ref", "doc")}
    close(scores(Comet(str(tmp_path / "models" / name)), cut(lines)), oracle("extra/expected.json")["comet"][name])


@pytest.mark.parametrize(("name", "ignored"), [
    ("comet-reg-mix", {"qe": True}), ("comet-qe-mix", {"qe": True}), ("xcomet", {"pool_special_tokens": False}),
    ("comet-kiwi-bert", {"layernorm_scope": "minibatch8"}), ("xcomet", {"truncation": "reference"}),
])  # fmt: skip
def test_parameters_that_a_checkpoint_does_not_read_are_refused(tiny: Path, name: str, ignored: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=f"does not read {next(iter(ignored))}"):
        Comet(str(tiny / name), **ignored).resolve(("en", "de"))


def test_scores_that_depend_on_company_are_not_kept(tiny: Path, tmp_path: Path) -> None:
    corpus, outputs = sample()
    spec = f"comet(layernorm_scope=minibatch8)@{tiny / 'comet-reg-mix'}"
    options = Options(cache=tmp_path / "cache.sqlite", flags=False)
    together = score(Loaded(corpus, outputs[:2]), [spec], options=options)
    alone = score(
        Loaded(corpus, outputs[:1]), [spec], options=options
    )  # would be answered from the rows scored in company
    fresh = score(Loaded(corpus, outputs[:1]), [spec], options=replace(options, cache=False))
    system = outputs[0].system
    assert np.array_equal(*(next(iter(one.scores.values()))[system].stats for one in (alone, fresh)))
    assert alone.counts["computed"] == alone.counts["distinct"] and not alone.counts.get("cached")
    assert any("depend on which segments are scored together" in note for note in together.warnings)
