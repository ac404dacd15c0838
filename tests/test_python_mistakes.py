"""Mistakes in calls from Python: values of the wrong type are told in words, as mistakes in files are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wholetext
from wholetext import Corpus, Document, Options, Output
from wholetext.spec import Call

wt: Any = wholetext  # many calls below are wrong on purpose

CORPUS = Corpus("c", ("de", "en"), (Document("d", ("a b",), {"r": ("a b c",)}),))
OUTPUT = Output("s", {"d": ("a b",)})
LOADED = wt.Loaded(CORPUS, [OUTPUT])

WRONG: dict[str, Callable[[], Any]] = {
    "expected a list of strings, got Corpus": lambda: wt.score(CORPUS, [OUTPUT]),
    "expected a Corpus and a list of Output, got str": lambda: wt.score(wt.Loaded("corpus.jsonl", [OUTPUT]), "chrf"),
    "list of Output, got Output": lambda: wt.score(wt.Loaded(CORPUS, OUTPUT), "chrf"),
    "and a list of Output, got str": lambda: wt.score(wt.Loaded(CORPUS, ["a b"]), "chrf"),
    "expected texts, got a path": lambda: wt.score("corpus.jsonl", "chrf"),
    "refs, srcs, docs and langs go with plain texts": lambda: wt.score(LOADED, "chrf", refs=["a b"]),
    "a metric is named by a spec string, and this is of the type int": lambda: wt.score(LOADED, [3]),
    "a metric is named by a spec string, and this is of the type set": lambda: wt.score(LOADED, {"chrf"}),
    "options are of the type dict": lambda: wt.score(LOADED, "chrf", options={"refs": ("r",)}),
    "refs is a tuple of names, not 3": lambda: wt.Options(refs=3),
    "there is no device None": lambda: wt.Options(device=None),
    "cache is true, false or a file": lambda: wt.Options(cache=3),
    "overflow is warn or error": lambda: wt.Options(overflow="stop"),
    "batch_tokens must be at least 1": lambda: wt.Options(batch_tokens="many"),
    "block must be at least 1": lambda: wt.Options(block=0),
    "segments are a list of strings, not one string": lambda: wt.Document("d", "abc"),
    "segments are a list of strings, and one is of the type NoneType": lambda: wt.Document("d", ("a", None)),
    "expected reference → segments, got list": lambda: wt.Document("d", ("a",), ["a"]),
    "expected document → segments, got list": lambda: wt.Output("s", ["a"]),
    "segments are a list of strings, and one is of the type int": lambda: wt.Output("s", {"d": (1,)}),
    "langs is a pair of language codes, not 'de-en'": lambda: wt.Corpus("c", "de-en", ()),
    "docs is a list of Document": lambda: wt.Corpus("c", ("de", "en"), ("d",)),
    "expected a list of strings, got str": lambda: wt.score(["a b"], "chrf", refs="a"),
    "expected a string, got int": lambda: wt.score(["a"], "chrf", refs=[1]),
    "a language pair is written like de-en, not 3": lambda: wt.score(["a"], "chrf", refs=["a"], langs=3),
    "expected a file, a folder or a list of files, got NoneType": lambda: wt.read(None),
    "compare takes Results, not dict": lambda: wt.compare({}),
    "this has 2 scores, not one": lambda: wt.score(LOADED, ["chrf", "bleu"]).score,
    "expected a folder, got NoneType": lambda: wt.open_run(None),
    "there is no level 'docs'": lambda: wt.score(LOADED, "chrf")["chrf"]["s"].at("docs"),
    "choose one of score": lambda: wt.score(LOADED, "chrf")["chrf"]["s"].at("doc", "recall"),
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_types_are_told(said: str) -> None:
    with pytest.raises(wt.WholetextError) as caught:
        WRONG[said]()
    assert said in str(caught.value)


def test_lists_do_where_tuples_are_meant() -> None:
    made = wt.Corpus("c", ["de", "en"], [wt.Document("d", ["a b"], {"r": ["a b c"]})])
    assert made == CORPUS and hash(made) == hash(CORPUS)


def test_equal_values_have_equal_hashes() -> None:
    texts = {"d": ("a b",), "e": ("c",)}
    assert len({Output("s", texts), Output("s", dict(reversed(texts.items())))}) == 1
    assert len({Call("c", {"a": 1, "b": 2}), Call("c", {"b": 2, "a": 1})}) == 1


def test_scores_by_any_spelling_of_a_spec() -> None:
    results = wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["d-bleu", "chrf"], options=Options(cache=False))
    assert results["d-bleu"] is results["whole:bleu"] is results.scores["whole:bleu"]
    assert results["chrf(char_order=6)"] is results["chrf"]
    with pytest.raises(wt.WholetextError, match="there is no metric 'ter'") as caught:
        results["ter"]
    assert "whole:bleu, chrf" in str(caught.value)


def test_a_window_longer_than_all_documents_is_told_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from wholetext.metrics.surface import Chrf

    monkeypatch.setattr(Chrf, "measure", lambda *_: pytest.fail("something was measured"))
    with pytest.raises(wt.WholetextError, match="leaves no row to score"):
        wt.score(wt.Loaded(CORPUS, [OUTPUT]), ["chrf", "slide(size=3):bleu"], options=Options(cache=False))


MODEL = Path(__file__).parent / "oracle" / "neural" / "models" / "tiny-mbart50"


@pytest.mark.parametrize(("metric", "refs", "parameter"), [
    ("chrf", None, "refs="), ("sbert", ["a b"], "langs="), (f"prism(direction=src-hyp)@{MODEL}", ["a b"], "srcs="),
])  # fmt: skip
def test_what_is_missing_is_named_as_python_names_it(metric: str, refs: list[str] | None, parameter: str) -> None:
    with pytest.raises(wt.WholetextError) as caught:
        wt.score(["a b"], metric, refs=refs)
    assert parameter in caught.value.next


def test_references_not_read_and_references_not_used_are_the_same() -> None:
    two = Corpus("c", ("de", "en"), (Document("d", ("a b",), {"r": ("a b c",), "other": ("x y",)}),))
    chosen = wt.score(wt.Loaded(two, [OUTPUT]), "bleu", options=Options(refs=("r",), cache=False))["bleu"]["s"]
    alone, both = (wt.score(wt.Loaded(corpus, [OUTPUT]), "bleu", options=Options(cache=False))["bleu"]["s"]
                   for corpus in (CORPUS, two))  # fmt: skip
    assert chosen.signature == alone.signature
    assert chosen.signature["corpus"] != both.signature["corpus"]
