"""Neural metrics under views: exactness, independence of batches, long documents, several references, memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.metrics.neural_texts import CPU, ORACLE, TEXTS, cut, one, oracle
from wholetext.errors import MetricError, ModelError, TextTooLong
from wholetext.io import Loaded
from wholetext.metrics.bertscore import BertScore, Mover
from wholetext.metrics.comet.metric import Comet
from wholetext.metrics.discoscore.metric import DsFocus, DsSent
from wholetext.metrics.metricx import MetricX
from wholetext.metrics.prism import Prism
from wholetext.metrics.sbert import Sbert
from wholetext.registry import scorer
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.plan import plan
from wholetext.testing import check_metric
from wholetext.types import Corpus, Document, FloatArray, Metric, Output, Request

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
BERT = str(ORACLE / "models" / "tiny-bert")
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
                                    "comet@TINY/comet-kiwi-bert", "prism@TINY/tiny-mbart50",
                                    pytest.param("comet@TINY/comet-reg-mix", marks=pytest.mark.long)])
def test_no_context_and_windows_of_one_are_the_sentence_exactly(metric: str, tiny: Path) -> None:
    corpus, outputs = small()
    metric = metric.replace("BERT", BERT).replace("TINY", str(tiny))
    sentence = rows(score(Loaded(corpus, outputs), [metric], options=CPU))
    for view in ("context(prev=0)", "slide(size=1,step=1)", "paragraph(size=1)"):
        assert np.array_equal(rows(score(Loaded(corpus, outputs), [f"{view}:{metric}"], options=CPU)), sentence)
    assert not np.array_equal(
        rows(score(Loaded(corpus, outputs), [f"context(prev=1):{metric}"], options=CPU)), sentence
    )


def every(tiny: Path) -> list[Metric]:
    comets = [Comet(str(tiny / name)) for name in ("comet-reg-mix", "comet-qe-mix", "comet-kiwi-bert", "xcomet")]
    readers = [MetricX(str(tiny / "tiny-mt5"), clamp=False), Prism(str(tiny / "tiny-mbart50"))]
    return [*comets, *readers, BertScore(BERT, layer=3), Sbert(BERT), Mover(BERT, layer=3)]


@pytest.mark.long
@pytest.mark.parametrize("prev", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_scores_do_not_depend_on_batches_order_or_threads(prev: int, tiny: Path) -> None:
    asked = cut(TEXTS["zh-en"], prev)[:16]
    for metric in every(tiny):
        metric = metric.resolve(("zh", "en"))
        wanted = metric.reduce_rows(metric.measure(asked, Engine(batch_tokens=1)))
        close = 50e-6 if isinstance(metric, MetricX) else 1e-6  # 0 to 25: 2e-6 of the range, whatever the kernel
        for budget in (200, 4000):
            found = metric.reduce_rows(metric.measure(asked[::-1], Engine(batch_tokens=budget)))[::-1]
            np.testing.assert_allclose(found, wanted, atol=close, rtol=1e-6, err_msg=str(metric))
        threads = torch.get_num_threads()
        torch.set_num_threads(3 - min(2, threads))
        try:
            found = metric.reduce_rows(metric.measure(asked, Engine()))
        finally:
            torch.set_num_threads(threads)
        np.testing.assert_allclose(found, wanted, atol=close, rtol=1e-6, err_msg=str(metric))


@pytest.mark.slow
def test_every_golden_checkpoint_keeps_its_scores_in_any_batch(golden: Path) -> None:
    asked = cut(TEXTS["en-de"]) + cut(TEXTS["zh-en"])
    for folder in sorted((golden / "models").glob("*comet*")):
        metric = Comet(str(folder)).resolve(("en", "de"))
        found = [metric.reduce_rows(metric.measure(asked, Engine(batch_tokens=budget))) for budget in (1, 300, 8000)]
        assert np.ptp(found, axis=0).max() <= 1e-6, folder.name


@pytest.mark.parametrize(("metric", "method"), [(Sbert(BERT), "vectors"), (Comet("comet-reg-mix"), "hidden")])
def test_too_little_memory_halves_the_batch(
    metric: Metric, method: str, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wholetext.models import device, encoder

    metric = replace(metric, model=str(tiny / metric.model)).resolve(("en", "de"))  # type: ignore[type-var,attr-defined]
    asked, sizes, whole = cut(TEXTS["en-de"])[:6], list[int](), getattr(encoder.Encoder, method)
    wanted = metric.measure(asked, Engine())

    def greedy(self: Any, sequences: Any, *more: Any, **options: Any) -> Any:
        sizes.append(len(sequences))
        with device.memory():
            if len(sequences) > 2:
                raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return whole(self, sequences, *more, **options)

    monkeypatch.setattr(encoder.Encoder, method, greedy)
    np.testing.assert_allclose(metric.measure(asked, Engine()), wanted, atol=1e-6)
    assert max(sizes) > 2 >= min(sizes)


def test_the_contract_of_metrics(tiny: Path) -> None:
    check_metric(f"bertscore(layer=2)@{BERT}")
    check_metric(f"context(prev=1):sbert@{BERT}")
    check_metric(f"mover(layer=2,idf=true)@{BERT}")
    check_metric(f"context(prev=2):comet@{tiny / 'comet-reg-mix'}")
    check_metric(f"comet@{tiny / 'xcomet'}")


def long_document(many: int = 600) -> tuple[Corpus, list[Output]]:
    """A document of many sentences, the one in the middle of 2,000 tokens and more."""
    lines = TEXTS["en-de"]
    sides = {side: [lines[side][i % 35] for i in range(many)] for side in ("src", "hyp", "ref")}
    for side in sides.values():
        side[many // 2] = " ".join(["The bridge over the river was closed again."] * 220)
    doc = Document("long", tuple(sides["src"]), {"ref": tuple(sides["ref"])})
    return Corpus("long", ("en", "de"), (doc,)), [Output("one", {"long": tuple(sides["hyp"])})]


VIEWS = ("sentence", "context(prev=2)", "slide(size=6,step=6)", "paragraph(size=5)", "whole")


@pytest.mark.parametrize("metric", ["bertscore(layer=1)@tiny-bert", "comet@comet-kiwi-bert", *(
    pytest.param(metric, marks=pytest.mark.long)
    for metric in ("sbert@tiny-bert", "comet@comet-reg-mix", "prism@tiny-mbart50", "metricx@tiny-mt5"))])
def test_a_long_document_scores_under_every_view_and_losses_are_counted(metric: str, tiny: Path) -> None:
    corpus, outputs = long_document(60)
    specs = [f"{view}:{metric.replace('@', f'@{tiny}/')}" for view in VIEWS]
    for view, by_system in zip(VIEWS, score(Loaded(corpus, outputs), specs, options=CPU).scores.values()):
        scores = by_system["one"]
        assert np.isfinite(scores.at("row")).all() and scores.lost is not None
        cut_rows = np.flatnonzero(scores.lost[:, 1]).tolist()
        holding = [i for i, row in enumerate(scores.rows) if row.start <= 30 < row.stop]
        assert holding and {*holding} <= {*cut_rows} and int(scores.signature["lost_focus"]) == len(cut_rows)
        if view in ("sentence", "context(prev=2)"):  # only the long segment is cut; its neighbours lose context
            assert cut_rows == holding


def test_overflow_error_stops_before_any_model_runs(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("hidden", "vectors"):
        monkeypatch.setattr(f"wholetext.models.encoder.Encoder.{method}", None)
    monkeypatch.setattr("wholetext.models.loading.load_model", None)
    corpus, outputs = long_document()
    strict = Options(cache=False, overflow="error")
    readers = (f"prism(limit=1000)@{tiny / 'tiny-mbart50'}", f"metricx(limit=1000)@{tiny / 'tiny-mt5'}")
    for metric in (f"bertscore@{BERT}", f"context(prev=2):comet@{tiny / 'comet-reg-mix'}", f"sbert@{BERT}", *readers):
        with pytest.raises(TextTooLong, match=r"document long, segments? 301.*system one"):
            score(Loaded(corpus, outputs), [metric], options=strict)


def test_plan_shows_the_tokens_with_the_scored_ones_marked(tiny: Path) -> None:
    corpus, outputs = small()
    planned = plan(corpus, outputs[:1], f"context(prev=1):comet@{tiny / 'comet-reg-mix'}", show=2)
    sides = dict(planned.shown[1].sides)
    assert sides.keys() == {"hyp", "src", "ref"}
    assert sides["hyp"].startswith("<s> ▁") and sides["hyp"].endswith("» </s>") and " </s> «▁" in sides["hyp"]
    crossed = plan(corpus, outputs[:1], f"comet@{tiny / 'comet-kiwi-bert'}", show=1)
    assert crossed.shown[0].sides[0][0] == "src" and "[SEP]" in crossed.shown[0].sides[0][1]


def test_several_references_are_averaged_by_comet(tiny: Path) -> None:
    lines = TEXTS["en-de"]
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
