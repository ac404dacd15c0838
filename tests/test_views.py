"""Views against an independent brute force: windows by enumeration, weights and counts by definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.scored import scored
from wholetext.errors import AlignmentError, SpecError
from wholetext.scoring.evaluate import Options
from wholetext.text import joiner as joiner_of
from wholetext.types import Corpus, Document, Output, Request
from wholetext.views import Context, Paragraph, Sentence, Sides, Slide, Whole, token_windows

SIZES = st.integers(1, 25)
SIDES = Sides(("de", "en"), src=True, refs=("a", "b"), context_refs=("a", "b"))


def document(size: int) -> tuple[Document, tuple[str, ...]]:
    def side(mark: str) -> tuple[str, ...]:
        return tuple(f"{mark}{i}" for i in range(size))

    return Document("d", side("s"), {"a": side("a"), "b": side("b")}), side("h")


def brute_windows(size: int, window: int, step: int) -> list[set[int]]:
    """Every full window, found by trying every start."""
    return [set(range(start, start + window)) for start in range(size) if start % step == 0 and start + window <= size]


@given(
    SIZES,
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from(["drop", "include", "weighted"]),
    st.sampled_from(["strided", "uncovered"]),
)
def test_slide_equals_brute_force(size: int, window: int, step: int, partial: str, remainder: str) -> None:
    step = min(step, window)
    expected = brute_windows(size, window, step)
    covered = set().union(*expected)
    left = set(range(size)) - covered
    if left and partial != "drop":
        next_start = 0
        while next_start in {min(w) for w in expected}:
            next_start += step
        expected.append(left if remainder == "uncovered" else set(range(next_start, size)))
    spans = Slide(size=window, step=step, partial=partial, remainder=remainder).spans(size)
    assert [set(range(a, b)) for a, b, _ in spans] == expected
    assert [w for _, _, w in spans] == [float(len(e)) if partial == "weighted" else 1.0 for e in expected]
    if partial != "drop":
        assert set().union(*expected) == set(range(size))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(1, 80), st.none() | st.integers(1, 5))
def test_token_windows_fit_the_budget_and_skip_nothing(sizes: list[int], budget: int, step: int | None) -> None:
    windows = token_windows(sizes, budget, step)
    assert windows[0][0] == 0
    assert windows[-1][1] == len(sizes)
    for a, b in windows:
        assert b - a == 1 or sum(sizes[a:b]) <= budget  # a segment that alone exceeds the budget stands alone
        assert b == len(sizes) or sum(sizes[a : b + 1]) > budget  # as large as possible
    for (a, b), (c, _) in itertools.pairwise(windows):
        assert a < c <= b
        assert c == (b if step is None else min(a + step, b))


@given(SIZES, st.integers(0, 4), st.integers(0, 3), st.sampled_from(["auto", "ref", "own"]))
def test_context_equals_brute_force(size: int, before: int, after: int, stream: str) -> None:
    doc, hyp = document(size)
    spans, requests = Context(prev=before, next=after, hyp=stream).cut(doc, hyp, SIDES)
    assert spans == [(i, i + 1, 1.0) for i in range(size)]
    for i, request in enumerate(requests):
        previous = [j for j in range(size) if i - before <= j < i]
        following = [j for j in range(size) if i < j <= i + after]

        def read(mark: str, current: str) -> tuple[str, ...]:
            return (*(f"{mark}{j}" for j in previous), current, *(f"{mark}{j}" for j in following))  # noqa: B023

        assert request.src is not None
        assert request.src.parts == read("s", f"s{i}")
        assert [r.parts for r in request.refs] == [read("a", f"a{i}"), read("b", f"b{i}")]
        expected = [read("h", f"h{i}")] if stream == "own" else [read("a", f"h{i}"), read("b", f"h{i}")]
        expected = expected[:1] if len(set(expected)) == 1 else expected
        assert [h.parts for h in request.hyp] == expected
        for view in (request.src, *request.hyp, *request.refs):
            assert view.scored == (view.parts[len(previous)],)
            assert view.before == view.parts[: len(previous)]
            assert view.after == view.parts[len(previous) + 1 :]
        assert [h.text for h, _ in request.pairs()] == [f"h{i}"] * 2


@given(SIZES)
def test_no_context_and_windows_of_one_are_the_sentence_view(size: int) -> None:
    doc, hyp = document(size)
    plain = Sentence().cut(doc, hyp, SIDES)
    assert Context(prev=0).cut(doc, hyp, SIDES) == plain
    assert Slide(size=1, step=1).cut(doc, hyp, SIDES) == plain
    assert Paragraph(size=1).cut(doc, hyp, SIDES) == plain


@given(SIZES, st.integers(1, 9))
def test_paragraphs_partition_the_document(size: int, block: int) -> None:
    spans = Paragraph(size=block).spans(size)
    assert [i for a, b, _ in spans for i in range(a, b)] == list(range(size))
    assert all(b - a == block for a, b, _ in spans[:-1])
    assert [s for s in spans if s[1] - s[0] == block] == Paragraph(size=block, partial="drop").spans(size)


def test_qe_context_is_the_outputs_own() -> None:
    doc, hyp = document(3)
    sides = Sides(("de", "en"), src=True, context_refs=("a",))
    assert Context().cut(doc, hyp, sides)[1][2].hyp[0].parts == ("h0", "h1", "h2")
    assert Context(hyp="ref").cut(doc, hyp, sides)[1][2].hyp[0].parts == ("a0", "a1", "h2")
    with pytest.raises(SpecError, match="needs a reference"):
        Context(hyp="ref").cut(doc, hyp, Sides(("de", "en"), src=True))


def test_whole_takes_outputs_with_other_breaks_and_the_rest_refuse_them() -> None:
    doc, _ = document(4)
    spans, (request,) = Whole().cut(doc, ("x", "y"), SIDES)
    assert spans == [(0, 4, 1.0)]
    assert request.hyp[0].text == "x y"
    for view in (Sentence(), Context(), Slide(size=2), Paragraph()):
        with pytest.raises(AlignmentError, match="2 segments, the document 4") as caught:
            view.check(doc, ("x", "y"), SIDES)
        assert "document d" in str(caught.value)


def test_slide_kiwi_joins_chinese_with_a_space_as_its_paper_does() -> None:
    from wholetext.registry import scorer

    doc = Document("d", tuple(f"第{i}句。" for i in range(6)), {})
    (request,) = scorer("slide-kiwi").view.cut(doc, tuple("abcdef"), Sides(("zh", "en"), src=True))[1]
    assert request.src is not None and request.src.glue.join(request.src.parts) == " ".join(doc.src or ())


@pytest.mark.parametrize(("lang", "joiner", "glue"), [
    ("en", "auto", " "), ("zh", "auto", ""), ("zh-CN", "auto", ""), ("ja", "auto", ""), ("jpn_Jpan", "auto", ""),
    ("th", "auto", " "), ("km", "auto", " "),  # blanks between sentences, none between words
    ("zh", "space", " "), ("en", "none", ""), ("", "auto", " "),
])  # fmt: skip
def test_text_is_joined_as_the_language_is_written(lang: str, joiner: str, glue: str) -> None:
    assert joiner_of(lang, joiner) == glue  # type: ignore[arg-type]


def corpus_of(sizes: list[int]) -> tuple[Corpus, Output]:
    docs = tuple(
        Document(f"d{k}", None, {"r": tuple(f"the cat number {i} of {k} sat" for i in range(n))})
        for k, n in enumerate(sizes)
    )
    output = Output("sys", {d.id: tuple(f"a cat number {i} sat down" for i in range(len(d))) for d in docs})
    return Corpus("c", ("de", "en"), docs), output


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4).filter(lambda s: max(s) >= 3),
    st.sampled_from(["drop", "include", "weighted"]),
    st.integers(1, 3),
)
def test_segment_scores_are_means_over_covering_windows(sizes: list[int], partial: str, step: int) -> None:
    corpus, output = corpus_of(sizes)
    scores = scored(corpus, [output], f"slide(size=3,step={step},partial={partial}):chrf", Options(cache=False))["sys"]
    rows, segments = scores.at("row"), scores.at("segment")
    dropped, at = 0, 0
    for doc, size in zip(corpus.docs, sizes):
        for i in range(size):
            covering = [rows[j] for j, row in enumerate(scores.rows) if row.doc == doc.id and row.start <= i < row.stop]
            if covering:
                assert segments[at] == pytest.approx(np.mean(covering), abs=1e-9)
            else:
                dropped += 1
                assert np.isnan(segments[at])
            at += 1
    assert scores.signature["dropped"] == f"{dropped}/{sum(sizes)}"
    weights = np.array([row.weight for row in scores.rows])
    assert scores.totals().sum(axis=0) == pytest.approx((weights[:, None] * scores.stats).sum(axis=0))


def test_token_budgets_count_each_segment_with_all_its_sides() -> None:
    """The counter is asked for one segment at a time, with source and references, as the metric will see them."""
    doc, hyp = document(4)
    asked: list[Request] = []

    def count(request: Request) -> int:
        asked.append(request)
        return 3

    spans, requests = Slide(tokens=7).cut(doc, hyp, Sides(("de", "en"), src=True, refs=("a", "b"), count=count))
    assert [request.hyp[0].parts for request in asked] == [("h0",), ("h1",), ("h2",), ("h3",)]
    assert asked[2].src is not None and asked[2].src.parts == ("s2",)
    assert [view.parts for view in asked[1].refs] == [("a1",), ("b1",)]
    assert spans == [(0, 2, 2.0), (2, 4, 2.0)] and requests[1].hyp[0].parts == ("h2", "h3")
    with pytest.raises(SpecError, match="no model") as caught:
        Slide(tokens=7).cut(doc, hyp, SIDES)
    assert caught.value.next == "use slide(size=…) instead"
