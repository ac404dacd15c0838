"""Controls for context: as much of it, but shuffled or from another document; and views of one metric run together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.io import Loaded
from wholetext.metrics.surface import Chrf
from wholetext.registry import scorer
from wholetext.scoring.bound import bind
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, FloatArray, Output, Request, Runtime
from wholetext.views import draw, lenders


def corpus(*sizes: int) -> tuple[Corpus, list[Output]]:
    docs = tuple(
        Document(f"d{k}", tuple(f"s{k}.{i}" for i in range(n)), {"ref": tuple(f"r{k}.{i}" for i in range(n))})
        for k, n in enumerate(sizes)
    )
    outputs = [Output(name, {f"d{k}": tuple(f"{name}{k}.{i}" for i in range(n)) for k, n in enumerate(sizes)})
               for name in ("a", "b")]
    return Corpus("c", ("de", "en"), docs), outputs


def cut(spec: str, sizes: Sequence[int], doc: int = 0, system: int = 0) -> list[Request]:
    made, outputs = corpus(*sizes)
    work = bind(scorer(spec), made, outputs, Engine(made.langs), None)
    return work.cut(made.docs[doc], outputs[system])[1]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(0, 4), st.integers(0, 2), st.integers(0, 5))
def test_controls_have_as_much_context(sizes: list[int], prev: int, next: int, seed: int) -> None:
    same = cut(f"context(prev={prev},next={next}):chrf", sizes)
    shuffled = cut(f"context(prev={prev},next={next},source=shuffled,seed={seed}):chrf", sizes)
    for i, (one, two) in enumerate(zip(same, shuffled)):
        assert one.hyp[0].focus == two.hyp[0].focus and one.hyp[0].scored == two.hyp[0].scored == (f"a0.{i}",)
        drawn = [*two.hyp[0].before, *two.hyp[0].after]
        assert len(set(drawn)) == len(drawn) and set(drawn) <= {f"r0.{j}" for j in range(sizes[0])} - {f"r0.{i}"}
        assert two.refs[0].before == two.hyp[0].before  # both sides read the same wrong sentences
    other = cut(f"context(prev={prev},next={next},source=other,seed={seed}):chrf", sizes)
    for one, two in zip(same, other):
        context = [*two.refs[0].before, *two.refs[0].after]
        assert len(context) <= len(one.refs[0].before) + len(one.refs[0].after)
        assert not any(text.startswith("r0.") for text in context)
        places = [int(text.split(".")[1]) for text in context]
        assert places == list(range(places[0], places[0] + len(places))) if places else True


def test_own_wrong_context_is_the_systems_own() -> None:
    for request in cut("context(prev=2,hyp=own,source=other):chrf", [5, 5], system=1)[1:]:
        assert all(text.startswith("b1.") for text in request.hyp[0].before)
        assert [t.replace("r", "b") for t in request.refs[0].before] == list(request.hyp[0].before)


def test_draws_depend_on_the_seed_and_nothing_else() -> None:
    spec = "context(prev=2,source=shuffled):chrf"
    assert cut(spec, [9, 3]) == cut(spec, [9, 8, 7])
    assert cut(spec, [9, 3]) != cut("context(prev=2,source=shuffled,seed=1):chrf", [9, 3])
    # written down: the same in every version of Python
    drawn = [request.refs[0].before for request in cut(spec, [6])]
    assert drawn[3:] == [("r0.0", "r0.5"), ("r0.1", "r0.3"), ("r0.2", "r0.3")]
    made, _ = corpus(4, 4, 4, 4, 4)
    found = lenders(made.docs, 0, 2)
    assert found == lenders(made.docs[::-1], 0, 2) and all(doc != lender.id for doc, lender in found.items())
    assert len({lender.id for lender in found.values()}) == 5  # a circle: everybody lends once


def test_views_of_one_metric_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    measured, measure = list[list[Request]](), Chrf.measure

    def counted(metric: Chrf, requests: Sequence[Request], run: Runtime) -> FloatArray:
        measured.append(list(requests))
        return measure(metric, requests, run)

    monkeypatch.setattr(Chrf, "measure", counted)
    made, outputs = corpus(5, 3, 1)
    specs = ["chrf", "context(prev=1):chrf", "context(prev=2):chrf", "chrf(beta=3)", "slide(size=2,step=1):chrf",
             "slide(size=2,step=2):chrf"]  # fmt: skip
    together = score(Loaded(made, outputs), specs, options=Options(cache=False))
    assert len(measured) == 2  # the five views of the first, and the other metric
    assert all(len(set(requests)) == len(requests) for requests in measured)
    assert list(together.scores) == [scorer(spec).spec for spec in specs]
    for spec, scores in together.scores.items():
        alone = score(Loaded(made, outputs), [spec], options=Options(cache=False)).scores[spec]
        for system in alone:
            np.testing.assert_array_equal(alone[system].stats, scores[system].stats)
            assert str(alone[system].signature) == str(scores[system].signature)


def test_context_of_another_document_is_drawn_from_all_of_it() -> None:
    """Every place of the lender where the context fits comes up, none where it does not; draws never change."""
    found = {
        tuple(int(text.split(".")[1]) for text in [*request.refs[0].before, *request.refs[0].after])
        for seed in range(40)
        for request in cut(f"context(prev=2,next=1,source=other,seed={seed}):chrf", [5, 6])[2:4]
    }
    assert found == {(start, start + 1, start + 2) for start in range(4)}
    assert draw(1, "d", 2) == 13256725967063111149 and draw(1, "d", 3) != draw(2, "d", 3)


def test_a_short_lender_lends_what_it_has() -> None:
    for request in cut("context(prev=3,next=3,source=other):chrf", [9, 2])[3:6]:
        assert [*request.refs[0].before, *request.refs[0].after] == ["r1.0", "r1.1"]
