"""Prism and Doc-Prism against the published fork and an independent computation; BARTScore's directions; cuts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.neural_texts import CPU, TEXTS, TINY, corpus, oracle, scored_lines
from tests.scored import scored
from wholetext.errors import SpecError
from wholetext.scoring.evaluate import Options
from wholetext.types import Corpus, Document, Output

pytest.importorskip("torch")
pytest.importorskip("transformers")

PUBLISHED = oracle("prism/prism_mbart.json")["expected"]
MODEL = TINY / "tiny-mbart50"
TOLERANCE = 5e-5  # as the oracle states it
INVARIANT = 1e-6


@pytest.mark.parametrize("langs", ["en-de", "zh-en"])
@pytest.mark.parametrize("prev", [0, 2])
def test_every_token_span(langs: str, prev: int) -> None:
    wanted = PUBLISHED[langs][f"independent_n{prev}"]
    for span in ("reference", "sentence", "sentence+eos"):
        found = scored_lines(TEXTS[langs], f"context(prev={prev}):prism(token_span={span})@{MODEL}", langs)
        np.testing.assert_allclose(found.at("row"), wanted[span.replace("+", "_")], atol=TOLERANCE, rtol=0)
        if span == "reference":
            fork = PUBLISHED[langs]["fork_doc_bs4" if prev else "fork_sentence_bs4"]
            np.testing.assert_allclose(found.at("row"), fork, atol=TOLERANCE, rtol=0)
            for output, name in (("precision", "hyp_given_ref"), ("recall", "ref_given_hyp")):
                np.testing.assert_allclose(found.at("row", output), wanted[f"{name}_reference"], atol=TOLERANCE, rtol=0)


def test_what_does_not_fit_is_context_and_counted() -> None:
    found = scored_lines(TEXTS["long"], f"doc-prism@{MODEL}")
    whole = [i for i in range(len(found.rows)) if i not in PUBLISHED["long"]["truncated"]]
    fork = np.array(PUBLISHED["long"]["fork_doc_bs4"])
    np.testing.assert_allclose(found.at("row")[whole], fork[whole], atol=TOLERANCE)
    assert found.lost is not None
    assert np.flatnonzero(found.lost[:, 0]).tolist() == PUBLISHED["long"]["truncated"]
    assert not found.lost[:, 1].any() and found.signature["lost_context"] == "4"
    # where the published code divides by tokens that were cut away, a score near 0 looks excellent
    cut = PUBLISHED["long"]["truncated"]
    assert (found.at("row")[cut] < fork[cut] - 1).any()


def test_cut_text_as_the_published_code_counts_it() -> None:
    found = scored_lines(TEXTS["long"], f"context(prev=2):prism(truncation=reference)@{MODEL}")
    np.testing.assert_allclose(found.at("row"), PUBLISHED["long"]["fork_doc_bs1"], atol=TOLERANCE)
    assert found.lost is not None and np.flatnonzero(found.lost[:, 1]).tolist() == PUBLISHED["long"]["truncated"]
    assert found.signature["truncation"] == "reference"


def test_directions_of_bartscore() -> None:
    short = {side: lines[:6] for side, lines in TEXTS["en-de"].items() if side in ("doc", "src", "hyp", "ref")}
    both = scored_lines(short, f"bartscore@{MODEL}")
    precision = scored_lines(short, f"bartscore(direction=ref-hyp)@{MODEL}")
    recall = scored_lines(short, f"bartscore(direction=hyp-ref)@{MODEL}")
    faithful = scored_lines(short, f"bartscore(direction=src-hyp)@{MODEL}")
    np.testing.assert_allclose(both.at("row", "precision"), precision.at("row"), atol=INVARIANT, rtol=INVARIANT)
    np.testing.assert_allclose(both.at("row", "recall"), recall.at("row"), atol=INVARIANT, rtol=INVARIANT)
    halved = (precision.at("row") + recall.at("row")) / 2
    np.testing.assert_allclose(both.at("row"), halved, atol=INVARIANT, rtol=INVARIANT)
    assert precision.outputs == ("score",) and faithful.signature["src_lang"] == "en"
    assert np.abs(faithful.at("row") - precision.at("row")).max() > 1e-3  # it read the source


def test_several_references() -> None:
    short = {side: lines[:4] for side, lines in TEXTS["en-de"].items() if side in ("doc", "src", "hyp", "ref")}
    made, output = corpus(short)
    docs = tuple(Document(doc.id, doc.src, {"a": doc.refs["ref"], "b": doc.src or ()}) for doc in made.docs)
    several = Corpus(made.id, made.langs, docs)
    one = [
        scored(several, [output], f"doc-prism@{MODEL}", Options(cache=False, refs=(name,)))["system"].at("row")
        for name in ("a", "b")
    ]
    mean = scored(several, [output], f"doc-prism@{MODEL}", CPU)["system"].at("row")
    best = scored(several, [output], f"doc-prism(multi_ref=max)@{MODEL}", CPU)["system"].at("row")
    np.testing.assert_allclose(mean, np.mean(one, axis=0), atol=INVARIANT, rtol=INVARIANT)
    np.testing.assert_allclose(best, np.max(one, axis=0), atol=INVARIANT, rtol=INVARIANT)


def test_empty_outputs() -> None:
    made = Corpus("c", ("de", "en"), (Document("d", None, {"ref": ("A cat .", "A dog .")}),))
    output = Output("s", {"d": ("", "A dog .")})
    assert np.isfinite(scored(made, [output], f"prism@{MODEL}", CPU)["s"].at("row")).all()
    undefined = scored(made, [output], f"prism(token_span=sentence)@{MODEL}", CPU)["s"]
    assert np.isnan(undefined.at("row")[0]) and np.isfinite(undefined.score)
    told = scored(made, [output], f"prism(token_span=sentence,direction=ref-hyp,empty=-20)@{MODEL}", CPU)["s"]
    assert told.at("row")[0] == -20


@pytest.mark.parametrize("parameter", ["tgt_lang", "src_lang"])
def test_a_language_that_a_model_cannot_be_told_is_refused(parameter: str) -> None:
    direction = "src-hyp" if parameter == "src_lang" else "f"
    spec = f"prism(direction={direction},{parameter}=de_DE)@{TINY / 'tiny-mt5'}"
    with pytest.raises(SpecError, match=f"does not read {parameter}"):
        scored_lines(TEXTS["en-de"], spec)
