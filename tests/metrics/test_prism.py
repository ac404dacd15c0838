"""Prism and Doc-Prism against the published fork and an independent computation; BARTScore's directions; cuts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scored import scored
from wholetext.errors import SpecError
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output, Scores

pytest.importorskip("torch")
pytest.importorskip("transformers")

TOLERANCE = 5e-5  # as the oracle states it
INVARIANT = 1e-6
CPU = Options(cache=False, device="cpu")


@pytest.fixture(scope="module")
def golden(oracle: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((oracle / "neural/prism/prism_mbart.json").read_text("utf-8"))
    return found["expected"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def model(oracle: Path) -> str:
    return str(oracle / "neural/models/tiny-mbart50")


@pytest.fixture(scope="module")
def texts(oracle: Path) -> dict[str, Any]:
    found = json.loads((oracle / "neural/inputs.json").read_text("utf-8"))
    return {**found["lps"], "long": found["long"]}


def corpus(texts: dict[str, Any], langs: str) -> tuple[Corpus, Output]:
    names = list(dict.fromkeys(texts["doc"]))

    def of(name: str, side: str) -> tuple[str, ...]:
        return tuple(text for text, doc in zip(texts[side], texts["doc"]) if doc == name)

    docs = tuple(Document(name, of(name, "src"), {"ref": of(name, "ref")}) for name in names)
    src, tgt = langs.split("-")
    return Corpus("oracle", (src, tgt), docs), Output("system", {name: of(name, "hyp") for name in names})


def texts_scored(texts: dict[str, Any], langs: str, spec: str, options: Options = CPU) -> Scores:
    made, output = corpus(texts, langs)
    return score(Loaded(made, [output]), spec, options=options)[spec]["system"]


@pytest.mark.parametrize("langs", ["en-de", "zh-en"])
@pytest.mark.parametrize("prev", [0, 2])
def test_every_token_span(langs: str, prev: int, golden: Any, texts: Any, model: str) -> None:
    wanted = golden[langs][f"independent_n{prev}"]
    for span in ("reference", "sentence", "sentence+eos"):
        found = texts_scored(texts[langs], langs, f"context(prev={prev}):prism(token_span={span})@{model}")
        np.testing.assert_allclose(found.at("row"), wanted[span.replace("+", "_")], atol=TOLERANCE, rtol=0)
        if span == "reference":
            fork = golden[langs]["fork_doc_bs4" if prev else "fork_sentence_bs4"]
            np.testing.assert_allclose(found.at("row"), fork, atol=TOLERANCE, rtol=0)
            for output, name in (("precision", "hyp_given_ref"), ("recall", "ref_given_hyp")):
                np.testing.assert_allclose(found.at("row", output), wanted[f"{name}_reference"], atol=TOLERANCE, rtol=0)


def test_without_context_it_is_the_sentence_score(texts: Any, model: str) -> None:
    sentence = texts_scored(texts["zh-en"], "zh-en", f"prism@{model}").at("row")
    for view in ("context(prev=0)", "slide(size=1,step=1)", "paragraph(size=1)"):
        np.testing.assert_array_equal(
            texts_scored(texts["zh-en"], "zh-en", f"{view}:prism@{model}").at("row"), sentence
        )


def test_what_does_not_fit_is_context_and_counted(golden: Any, texts: Any, model: str) -> None:
    found = texts_scored(texts["long"], "en-de", f"doc-prism@{model}")
    whole = [i for i in range(len(found.rows)) if i not in golden["long"]["truncated"]]
    np.testing.assert_allclose(found.at("row")[whole], np.array(golden["long"]["fork_doc_bs4"])[whole], atol=TOLERANCE)
    assert found.lost is not None
    assert np.flatnonzero(found.lost[:, 0]).tolist() == golden["long"]["truncated"]
    assert not found.lost[:, 1].any() and found.signature["lost_context"] == "4"
    # where the published code divides by tokens that were cut away, a score near 0 looks excellent
    cut = golden["long"]["truncated"]
    assert (found.at("row")[cut] < np.array(golden["long"]["fork_doc_bs4"])[cut] - 1).any()


def test_cut_text_as_the_published_code_counts_it(golden: Any, texts: Any, model: str) -> None:
    found = texts_scored(texts["long"], "en-de", f"context(prev=2):prism(truncation=reference)@{model}")
    np.testing.assert_allclose(found.at("row"), golden["long"]["fork_doc_bs1"], atol=TOLERANCE)
    assert found.lost is not None and np.flatnonzero(found.lost[:, 1]).tolist() == golden["long"]["truncated"]
    assert found.signature["truncation"] == "reference"


def test_directions_of_bartscore(texts: Any, model: str) -> None:
    short = {side: lines[:6] for side, lines in texts["en-de"].items() if side in ("doc", "src", "hyp", "ref")}
    both = texts_scored(short, "en-de", f"bartscore@{model}")
    precision = texts_scored(short, "en-de", f"bartscore(direction=ref-hyp)@{model}")
    recall = texts_scored(short, "en-de", f"bartscore(direction=hyp-ref)@{model}")
    faithful = texts_scored(short, "en-de", f"bartscore(direction=src-hyp)@{model}")
    np.testing.assert_allclose(both.at("row", "precision"), precision.at("row"), atol=INVARIANT, rtol=INVARIANT)
    np.testing.assert_allclose(both.at("row", "recall"), recall.at("row"), atol=INVARIANT, rtol=INVARIANT)
    halved = (precision.at("row") + recall.at("row")) / 2
    np.testing.assert_allclose(both.at("row"), halved, atol=INVARIANT, rtol=INVARIANT)
    assert precision.outputs == ("score",) and faithful.signature["src_lang"] == "en"
    assert np.abs(faithful.at("row") - precision.at("row")).max() > 1e-3  # it read the source


def test_several_references(texts: Any, model: str) -> None:
    short = {side: lines[:4] for side, lines in texts["en-de"].items() if side in ("doc", "src", "hyp", "ref")}
    made, output = corpus(short, "en-de")
    docs = tuple(Document(doc.id, doc.src, {"a": doc.refs["ref"], "b": doc.src or ()}) for doc in made.docs)
    several = Corpus(made.id, made.langs, docs)
    one = [
        scored(several, [output], f"doc-prism@{model}", Options(cache=False, refs=(name,)))["system"].at("row")
        for name in ("a", "b")
    ]
    mean = scored(several, [output], f"doc-prism@{model}", CPU)["system"].at("row")
    best = scored(several, [output], f"doc-prism(multi_ref=max)@{model}", CPU)["system"].at("row")
    np.testing.assert_allclose(mean, np.mean(one, axis=0), atol=INVARIANT, rtol=INVARIANT)
    np.testing.assert_allclose(best, np.max(one, axis=0), atol=INVARIANT, rtol=INVARIANT)


def test_empty_outputs(model: str) -> None:
    made = Corpus("c", ("de", "en"), (Document("d", None, {"ref": ("A cat .", "A dog .")}),))
    output = Output("s", {"d": ("", "A dog .")})
    assert np.isfinite(scored(made, [output], f"prism@{model}", CPU)["s"].at("row")).all()
    undefined = scored(made, [output], f"prism(token_span=sentence)@{model}", CPU)["s"]
    assert np.isnan(undefined.at("row")[0]) and np.isfinite(undefined.score)
    told = scored(made, [output], f"prism(token_span=sentence,direction=ref-hyp,empty=-20)@{model}", CPU)["s"]
    assert told.at("row")[0] == -20


@pytest.mark.parametrize("parameter", ["tgt_lang", "src_lang"])
def test_a_language_that_a_model_cannot_be_told_is_refused(texts: Any, oracle: Path, parameter: str) -> None:
    direction = "src-hyp" if parameter == "src_lang" else "f"
    spec = f"prism(direction={direction},{parameter}=de_DE)@{oracle / 'neural/models/tiny-mt5'}"
    with pytest.raises(SpecError, match=f"does not read {parameter}"):
        texts_scored(texts["en-de"], "en-de", spec)
