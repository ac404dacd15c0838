"""The pipeline's own checks: what is refused before any work, what the signature says, what the cache goes by."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import pytest

import wholetext as wt
from wholetext import registry
from wholetext.errors import AlignmentError, MetricError
from wholetext.registry import scorer
from wholetext.scoring.bound import bind, salt_of
from wholetext.scoring.compute import Computer
from wholetext.scoring.engine import Engine

DOCS = (
    wt.Document("a", ["eins", "zwei"], {"x": ["one", "two"], "y": ["one one", "two two"]}),
    wt.Document("b", ["drei"], {"x": ["three"], "y": ["three three"]}),
)
CORPUS = wt.Corpus("c", ("de", "en"), DOCS)
OUTPUT = wt.Output("s", {"a": ["one", "too"], "b": ["three"]})


def test_documents_of_one_id_are_refused() -> None:
    with pytest.raises(AlignmentError, match="several documents are called 'a'"):
        wt.score(wt.Loaded(replace(CORPUS, docs=(DOCS[0], DOCS[0])), [OUTPUT]), "chrf")


def test_segments_that_do_not_line_up_are_told_before_any_metric_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Computer, "run", lambda *_: pytest.fail("nothing should be measured"))
    other = wt.Output("joined", {"a": ["one too"], "b": ["three"]})
    with pytest.raises(AlignmentError, match="system joined, document a: chrf: the output has 1 segment,"):
        wt.score(wt.Loaded(CORPUS, [OUTPUT, other]), ["whole:chrf", "chrf"])


def test_a_reference_for_some_documents_only_is_called_that() -> None:
    some = replace(CORPUS, docs=(DOCS[0], replace(DOCS[1], refs={})))
    with pytest.raises(MetricError, match="none for every document"):
        wt.score(wt.Loaded(some, [OUTPUT]), "chrf")


def test_rows_of_another_version_are_not_taken_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    work = bind(scorer("chrf"), CORPUS, [OUTPUT], Engine(CORPUS.langs), None)
    now = salt_of(work)
    monkeypatch.setattr(sys.modules["wholetext.scoring.bound"], "__version__", "9")
    assert salt_of(work) != now


@dataclass(frozen=True)
class Judge(wt.Metric):
    """The number of words of context; needs no reference."""

    name = "judge"
    summary = "words of context"
    needs = frozenset({"hyp"})
    range = (0.0, 100.0)

    def measure(self, requests: object, run: object) -> wt.FloatArray:
        return wt.mean_stats([float(len(" ".join(r.hyp[0].before).split())) for r in requests])  # type: ignore[attr-defined]


def test_the_signature_says_whose_context_was_borrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILTIN", {**registry.BUILTIN, "judge": f"{__name__}:Judge"})
    spec = "context(prev=1,hyp=ref):judge"
    first = wt.score(wt.Loaded(CORPUS, [OUTPUT]), spec, options=wt.Options(refs=("x",)))[spec]["s"]
    second = wt.score(wt.Loaded(CORPUS, [OUTPUT]), spec, options=wt.Options(refs=("y",)))[spec]["s"]
    assert (first.score, second.score) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert first.signature["context_refs"] == "x" and second.signature["context_refs"] == "y"
