"""Labels: one short name per metric, as `wholetext list` shows it, whatever the spec was."""

from __future__ import annotations

import pytest

from wholetext.registry import ALIASES, label, metric_names, scorer
from wholetext.scoring.results import Results
from wholetext.types import Corpus


@pytest.mark.parametrize("name", [*metric_names(), *ALIASES])
def test_a_label_is_a_listed_name_that_reads_back(name: str) -> None:
    spec = scorer(name).spec
    assert scorer(label(spec)).spec == spec
    assert label(spec) in {*metric_names(), *ALIASES} and len(label(spec)) <= len(spec)


@pytest.mark.parametrize(("spec", "expected"), [
    ("context(prev=2):comet", "doc-comet"),
    ("context(prev=2):comet@Unbabel/wmt22-comet-da", "doc-comet"),
    ("learned@wt-mini", "wt-mini"),
    ("cometkiwi", "kiwi"),
    ("whole:bleu", "d-bleu"),
    ("context(prev=2):bertscore@minilm", "doc-bertscore@minilm"),
    ("context(prev=3):comet@Unbabel/wmt22-cometkiwi-da", "context(prev=3):kiwi"),
    ("comet@/data/models/a-folder/with a name/", "comet@with a name"),
    ("bertscore@org/encoder#0123456789abcdef", "bertscore@encoder#01234567"),
    ("bleu(tokenize=flores200,lowercase=true)", "spbleu(lowercase=true)"),
    ("slide(size=3,step=1):chrf", "slide(size=3,step=1):chrf"),
])  # fmt: skip
def test_labels(spec: str, expected: str) -> None:
    assert label(scorer(spec).spec) == expected


def test_two_that_would_look_the_same_keep_their_specs() -> None:
    specs = ["comet@/a/model", "comet@/b/model", "chrf"]
    results = Results(Corpus("c", ("", ""), ()), (), {spec: {} for spec in specs})
    assert results.labels == {"comet@/a/model": "comet@/a/model", "comet@/b/model": "comet@/b/model", "chrf": "chrf"}
