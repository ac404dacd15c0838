"""Stretches of text: from what metrics leave to what browsers count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.reporting.report_material import rows_of, scores_of
from wholetext.errors import RunError
from wholetext.reporting.texts import Texts, marks_of, utf16
from wholetext.types import Corpus, Document, Output, mean_stats


@given(st.text(max_size=30), st.integers(0, 40))
def test_positions_are_what_a_browser_counts(text: str, at: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert utf16(text, at) == len(text[:at].encode("utf-16-le")) // 2


def single(spec: str, hyp: tuple[str, ...], details: list, whole: bool):  # type: ignore[no-untyped-def, type-arg]
    corpus = Corpus("c", ("de", "en"), (Document("d", hyp, {"r": hyp}),))
    rows = rows_of(corpus, whole)
    return scores_of(spec, Output("s", {"d": hyp}), rows, mean_stats(np.ones((len(rows), 3))), details)


def test_an_error_over_two_segments_of_a_window_is_two_stretches() -> None:
    hyp = ("One 😀 two", "three four")
    span = {"start": 6, "end": 15, "severity": "minor", "confidence": 0.5}
    scores = single("whole:bertscore", hyp, [{"spans": [span]}], True)
    assert marks_of(scores, 0, Texts(hyp), 9)["errors"] == [[0, 7, 10, "minor", 0.5], [1, 0, 5, "minor", 0.5]]


def test_an_error_of_a_judge_has_its_kind_and_reason() -> None:
    span = {"start": 0, "end": 3, "severity": "major", "category": "accuracy", "reason": "the source says two"}
    scores = single("bertscore", ("One", "two"), [{"spans": [span]}, None], False)
    assert marks_of(scores, 0, Texts(("One", "two")), 9)["errors"] == [
        [0, 0, 3, "major", 0.0, "accuracy: the source says two"]]


def test_a_cut_takes_the_rest_of_the_window() -> None:
    hyp = ("One two", "three four", "five")
    scores = single("whole:bertscore", hyp, [{"cut": {"hyp": 11}}], True)
    assert marks_of(scores, 0, Texts(hyp), 9)["cuts"] == [[1, 3], [2, 0]]
    assert marks_of(single("whole:bertscore", hyp, [{"cut": {"hyp": 99}}], True), 0, Texts(hyp), 9) is None


@pytest.mark.parametrize("details", [
    {"spans": [{}]}, {"spans": [1]}, {"spans": [{"start": "x", "end": 1}]}, {"cut": {"hyp": "x"}}, {"blonde": {}},
    {"blonde": {"hyp": [[0]], "refs": []}}, {"blonde": {"hyp": [[0, 0, 1, {}, {}, 1]], "refs": []}},
])  # fmt: skip
def test_damaged_details_are_an_error(details: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(RunError, match="the details of whole:bertscore for s are damaged"):
        marks_of(single("whole:bertscore", ("One",), [details], True), 0, Texts(("One",)), 9)


def test_what_the_model_did_not_see_comes_from_the_tokenizer(oracle) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("transformers", reason="the models extra is not installed")
    from wholetext.models.tokenizer import TokenizedText, Tokenizer
    from wholetext.types import Excerpt

    tokenizer = Tokenizer(oracle / "neural" / "models" / "tiny-xlmr")
    text = "  a small ferry crosses the river again today"
    view = Excerpt((text,), (0, 1), " ")
    whole = tokenizer.layout(view, TokenizedText(strip=True))
    assert tokenizer.seen(view, TokenizedText(strip=True)) == len(text)
    size = whole.fit.tokens
    last = len(text)
    for limit in range(size - 1, 3, -1):
        seen = tokenizer.seen(view, TokenizedText(limit=limit, strip=True))
        assert seen is not None and seen <= last
        kept = tokenizer.ids(text[:seen], strip=True)
        assert len(kept) <= limit - whole.fit.special + 1
        last = seen
    assert last < len(text)
