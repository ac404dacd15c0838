"""Recipes and examples: what is read, what is refused and how it is named, who is on which side of the split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.training_data import make, recipe, write
from wholetext.errors import InputError
from wholetext.training.examples import held_back, read_examples
from wholetext.training.recipe import make_recipe, read_recipe


@pytest.mark.parametrize("text, wanted", [
    ("seeed = 1", "no setting seeed\n  → did you mean seed"),
    ("[head]\nhiden = [4]", "no setting head.hiden"),
    ("[head]\nactivation = 'gel'", "head.activation takes one of tanh, gelu"),
    ("epochs = 'two'", "epochs takes int; got 'two'"),
    ("form = 'alinged'", "no form 'alinged': did you mean aligned"),
    ("k = [0, 1]", "k is"),
    ("k = [2]\nsampling = 'sentence'", "sampling=sentence"),
    ("[penalty]\nrate = 1.0", "set ends = true"),
    ("reads = ['hyp']", "at least one of ref and src"),
    ("[[data]]\nevalsets = 'x'", "no setting data[1].evalsets"),
    ("epochs = ", "not TOML"),
    ("share = nan", "share takes float; got nan"),
])  # fmt: skip
def test_faults_in_a_recipe_are_named(text: str, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    before, after = (text, "") if not text.startswith("[") else ("", text)
    path.write_text(f"{before}\n[[data]]\nevalset = 'x'\n{after}\n")
    with pytest.raises(InputError) as caught:
        read_recipe(path, {})
    assert wanted in str(caught.value) and str(path) in str(caught.value)


def test_options_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("epochs = 5\n[[data]]\nevalset = 'x'\n[head]\nhidden = [4]\nactivation = 'tanh'\n")
    found = read_recipe(path, {"epochs": 7, "head.activation": "gelu"})
    assert (found.epochs, found.head.activation, found.head.hidden, found.batch) == (7, "gelu", (4,), 32)
    with pytest.raises(InputError, match="cannot be read"):
        read_recipe(tmp_path / "none.toml", {})
    with pytest.raises(InputError, match="data is missing"):
        read_recipe(None, {})


def test_a_document_is_on_one_side_only(root: Path) -> None:
    train, held = read_examples(recipe(root))
    sides = [{place.doc for place in side.places} for side in (train, held)]
    assert sides[0] and sides[1] and not sides[0] & sides[1]
    assert {place.k for place in train.places} == {1, 2, 3}
    other = read_examples(recipe(root, seed=9))
    assert other[0].digest() == train.digest(), "the split does not depend on the seed of training"
    assert held_back({"a", "b", "c"}, 0.01) and len(held_back({"a", "b"}, 0.99)) == 1


def test_scores_are_means_over_sentences_and_raters(root: Path, tmp_path: Path) -> None:
    train, _ = read_examples(recipe(root, k=[1, 2]))
    by_place = {(p.doc, p.start, p.k, p.system): gold for p, gold in zip(train.places, train.gold)}
    for (doc, start, k, system), gold in by_place.items():
        if k == 2:
            parts = [by_place[doc, start + i, 1, system] for i in range(2)]
            assert gold == pytest.approx(np.mean(parts))
    twice = make(tmp_path)
    path = twice / "human-scores/de-en.wmt.ratings.tsv"
    lines = path.read_text().splitlines()
    write(path, [*lines, *(line.replace("rater0", "rater9").replace("rater1", "rater9") for line in lines[1:])])
    again, _ = read_examples(recipe(twice, k=[1]))
    assert len(again) == sum(train.k == 1)


def test_texts_are_those_of_the_paragraph(root: Path) -> None:
    train, _ = read_examples(recipe(root, reads=["hyp", "ref", "src"], k=[2]))
    pair, place = train.pairs[0], train.places[0]
    refs = (root / "references/de-en.refA.txt").read_text().splitlines()
    docs = [line.split("\t")[1] for line in (root / "documents/de-en.docs").read_text().splitlines()]
    first = docs.index(place.doc) + place.start
    assert pair.refs[0].text == " ".join(refs[first : first + 2]) and pair.src is not None
    assert len(pair.hyp[0].parts) == 2


def test_fewer_examples_where_asked(root: Path) -> None:
    train, held = read_examples(recipe(root, most=5, validation_most=3))
    assert {k: int((train.k == k).sum()) for k in (1, 2, 3)} == {1: 20, 2: 20, 3: 20}  # of four systems
    assert all(len(set(held.item[held.k == k].tolist())) == 3 for k in (1, 2, 3))


def test_validation_sets_of_their_own_take_their_documents(root: Path, tmp_path: Path) -> None:
    few = make(tmp_path, documents=2)
    train, held = read_examples(recipe(root, validation=[{"evalset": str(few), "human": "wmt-z"}]))
    assert len({place.doc for place in held.places}) == 2
    assert not {place.doc for place in held.places} & {place.doc for place in train.places}


def refused(root: Path, wanted: str, **settings: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_examples(recipe(root, **settings))
    assert wanted in str(caught.value)


def test_bad_data_is_named(root: Path, tmp_path: Path) -> None:
    def data(**more: Any) -> list[dict[str, Any]]:
        return [{"evalset": str(root), "human": "wmt-z", **more}]

    refused(root, "no language pair de-fr", data=data(langs=["de-fr"]))
    refused(root, "no ratings of segments called 'mqm'", data=data(human="mqm"))
    refused(root, "no reference 'refZ'", data=data(refs=["refZ"]))
    refused(root, "no EvalSet 'nowhere'", data=[{"evalset": "nowhere"}])
    refused(root, "no paragraph of 50 segments", k=[50])
    refused(root, "and 0 for validation", data=data(documents=1))
    other = make(tmp_path / "other")
    scores = other / "human-scores/de-en.wmt-z.seg.score"
    scores.rename(scores.with_name("de-en.other.seg.score"))
    refused(root, "human scores other and wmt-z", data=[*data(), {"evalset": str(other), "human": "other"}])
    empty = make(tmp_path, scored=False)  # every score is None: nobody judged anything
    refused(empty, "no paragraph of 1, 2, 3 segments has human scores 'wmt-z'", data=[{"evalset": str(empty)}])


@pytest.mark.parametrize(("name", "sampling"), [("SENT-BASE", "sentence"), ("para-unif", "uniform"),
                                                ("PARA-STRAT", "stratified")])  # fmt: skip
def test_metrics_of_the_paper_by_name(name: str, sampling: str) -> None:
    published = make_recipe([name], {"base": "google/mt5-small"})
    assert (published.sampling, published.optimizer, published.steps) == (sampling, "adafactor", 20_000)
    assert (published.batch, published.runs, published.form) == (128, 5, "t5") and published.k == tuple(range(1, 11))
    assert [len(data.langs) for data in published.data] == [18, 18] and published.settings == {"limit": 1024}
