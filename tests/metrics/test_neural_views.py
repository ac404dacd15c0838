"""Neural metrics under views: exactness, independence of batches, long documents, several references, memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.metrics.neural_texts import ORACLE, cut, oracle, texts, with_tokenizers
from wholetext.errors import MetricError, ModelError, TextTooLong
from wholetext.io import Loaded
from wholetext.metrics.bertscore import BertScore, Mover
from wholetext.metrics.comet.metric import Comet
from wholetext.metrics.discoscore.metric import DsFocus, DsSent
from wholetext.metrics.sbert import Sbert
from wholetext.registry import scorer
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.testing import check_metric
from wholetext.types import Corpus, Document, Excerpt, FloatArray, Metric, Output, Request

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
BERT = str(ORACLE / "models" / "tiny-bert")
TEXTS = texts()
NO_CACHE = Options(cache=False, device="cpu")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_tokenizers(tmp_path_factory.mktemp("models"))


def small(many: int = 6) -> tuple[Corpus, list[Output]]:
    """Two documents of real text and two systems."""
    src, hyp, ref = (tuple(TEXTS["en-de"][side]) for side in ("src", "hyp", "ref"))
    cuts = {"a": slice(0, many), "b": slice(many, 2 * many)}
    docs = tuple(Document(name, src[at], {"ref": ref[at]}) for name, at in cuts.items())
    later = slice(2 * many, 4 * many)
    other = {name: tuple(hyp[later][at]) for name, at in cuts.items()}
    return Corpus("c", ("en", "de"), docs), [
        Output("one", {name: hyp[at] for name, at in cuts.items()}), Output("two", other)
    ]


def rows(results: Any) -> FloatArray:
    (by_system,) = results.scores.values()
    return np.stack([scores.at("row") for scores in by_system.values()])


@pytest.mark.parametrize("metric", ["bertscore(layer=2)@BERT", "sbert@BERT", "mover(layer=2)@BERT",
                                    "comet@TINY/comet-kiwi-bert",
                                    pytest.param("comet@TINY/comet-reg-mix", marks=pytest.mark.long)])
def test_no_context_and_windows_of_one_are_the_sentence_exactly(metric: str, tiny: Path) -> None:
    corpus, outputs = small()
    metric = metric.replace("BERT", BERT).replace("TINY", str(tiny))
    sentence = rows(score(Loaded(corpus, outputs), [metric], options=NO_CACHE))
    for view in ("context(prev=0)", "slide(size=1,step=1)", "paragraph(size=1)"):
        assert np.array_equal(rows(score(Loaded(corpus, outputs), [f"{view}:{metric}"], options=NO_CACHE)), sentence)
    assert not np.array_equal(
        rows(score(Loaded(corpus, outputs), [f"context(prev=1):{metric}"], options=NO_CACHE)), sentence
    )


def every(tiny: Path) -> list[Metric]:
    comets = [Comet(str(tiny / name)) for name in ("comet-reg-mix", "comet-qe-mix", "comet-kiwi-bert", "xcomet")]
    return [*comets, BertScore(BERT, layer=3), Sbert(BERT), Mover(BERT, layer=3)]


@pytest.mark.long
@pytest.mark.parametrize("prev", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_scores_do_not_depend_on_batches_order_or_threads(prev: int, tiny: Path) -> None:
    asked = cut(TEXTS["zh-en"], prev)[:16]
    for metric in every(tiny):
        metric = metric.resolve(("zh", "en"))
        wanted = metric.reduce_rows(metric.measure(asked, Engine(batch_tokens=1)))
        for budget in (200, 4000):
            found = metric.reduce_rows(metric.measure(asked[::-1], Engine(batch_tokens=budget)))[::-1]
            np.testing.assert_allclose(found, wanted, atol=1e-6, rtol=1e-6, err_msg=str(metric))
        threads = torch.get_num_threads()
        torch.set_num_threads(3 - min(2, threads))
        try:
            found = metric.reduce_rows(metric.measure(asked, Engine()))
        finally:
            torch.set_num_threads(threads)
        np.testing.assert_allclose(found, wanted, atol=1e-6, rtol=1e-6, err_msg=str(metric))


def test_the_contract_of_metrics(tiny: Path) -> None:
    check_metric(f"bertscore(layer=2)@{BERT}")
    check_metric(f"context(prev=1):sbert@{BERT}")
    check_metric(f"mover(layer=2,idf=true)@{BERT}")
    check_metric(f"context(prev=2):comet@{tiny / 'comet-reg-mix'}")
    check_metric(f"comet@{tiny / 'xcomet'}")


def long_document() -> tuple[Corpus, list[Output]]:
    """600 sentences, one of them of 2,000 tokens and more."""
    lines = TEXTS["en-de"]
    sides = {side: [lines[side][i % 35] for i in range(600)] for side in ("src", "hyp", "ref")}
    for side in sides.values():
        side[300] = " ".join(["The bridge over the river was closed again."] * 220)
    doc = Document("long", tuple(sides["src"]), {"ref": tuple(sides["ref"])})
    return Corpus("long", ("en", "de"), (doc,)), [Output("one", {"long": tuple(sides["hyp"])})]


def test_overflow_error_stops_before_any_model_runs(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wholetext.models.encoder.Encoder.hidden", None)
    corpus, outputs = long_document()
    strict = Options(cache=False, overflow="error")
    for metric in (f"bertscore@{BERT}", f"context(prev=2):comet@{tiny / 'comet-reg-mix'}", f"sbert@{BERT}"):
        with pytest.raises(TextTooLong, match=r"document long, segments? 301.*system one"):
            score(Loaded(corpus, outputs), [metric], options=strict)


def test_several_references_are_averaged_by_comet(tiny: Path) -> None:
    lines = TEXTS["en-de"]
    one = lambda text: Excerpt((text,), (0, 1))  # noqa: E731
    for name in ("comet-reg-mix", "xcomet"):
        metric = Comet(str(tiny / name)).resolve(("en", "de"))
        refs = (one(lines["ref"][0]), one(lines["hyp"][1]))
        src, hyp = one(lines["src"][0]), (one(lines["hyp"][0]),)
        asked = [Request(hyp, src, some) for some in (refs, refs[:1], refs[1:])]
        both, first, second = metric.reduce_rows(metric.measure(asked, Engine()))[:, 0]
        assert both == pytest.approx((first + second) / 2, abs=1e-6)


def test_models_that_read_one_token_say_what_context_means(tiny: Path, golden: Path) -> None:
    engine = Engine()
    metric = Comet(str(tiny / "xcomet")).resolve(("en", "de"))
    asked = cut(TEXTS["en-de"], 1)[:3]
    metric.measure(asked, engine)
    assert all("as one" in engine._details[i]["notes"][0] for i in (1, 2)) and "notes" not in engine._details[0]
    for i, request in enumerate(asked):
        assert all(span["end"] <= len(request.hyp[0].text) for span in engine._details[i]["spans"])
    with pytest.raises(MetricError, match="first token"):
        first = Comet(str(golden / "models" / "comet-reg-cls")).resolve(("en", "de"))
        first.measure(asked, Engine())


def test_models_are_chosen_by_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    models = {
        "bertscore": "google-bert/bert-base-multilingual-cased", "kiwi": "Unbabel/wmt22-cometkiwi-da",
        "sbert": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        "doc-comet": "Unbabel/wmt22-comet-da", "comet@wmt20-comet-da": "Unbabel/wmt20-comet-da",
    }  # fmt: skip
    for spec, model in models.items():
        with pytest.raises(ModelError, match=f"wholetext models fetch {model}"):
            scorer(spec).metric.resolve(("en", "de"))
    english = {"doc-bertscore": "FacebookAI/roberta-large", "mover": "FacebookAI/roberta-large",
               "sbert": "sentence-transformers/all-MiniLM-L6-v2"}
    for spec, model in english.items():  # whatever is installed
        metric = scorer(spec).metric
        with pytest.raises(ModelError, match=f"wholetext models fetch {model}.* or write {metric.name}@minilm"):
            metric.resolve(("de", "en"))
    for metric in (DsFocus(), DsSent()):
        with pytest.raises(ModelError, match=f"fetch bert-base-uncased, or write {metric.name}@minilm"):
            metric.encoder(Engine())
    with pytest.raises(MetricError, match="target language"):
        scorer("bertscore").metric.resolve(("", ""))


def test_sentence_vectors_are_those_of_sentence_transformers() -> None:
    from wholetext.models.hub import locate as hub

    if hub.embedded("minilm") is None:
        pytest.skip("the embedded MiniLM is not installed")
    wanted = oracle("sbert/cosines.json")["cosine"]
    metric = Sbert("minilm").resolve(("zh", "en"))
    found = metric.reduce_rows(metric.measure(cut(TEXTS["zh-en"])[: len(wanted)], Engine()))[:, 0]
    np.testing.assert_allclose(found, wanted, atol=2e-6)
