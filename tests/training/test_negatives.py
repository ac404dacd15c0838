"""Damaged copies of outputs: one error each, cheaper than the original, the same whatever else is there."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from wholetext.training.examples import ExamplePlace, Examples
from wholetext.training.negatives import CHANGES, COST, add_negatives
from wholetext.types import Excerpt, Request

TEXT = "In 2019, the old company of Maria Gonzales was sold to a bank, which had not paid for 25 years."


def examples(*texts: str) -> Examples:
    pairs = tuple(Request((Excerpt((text,), (0, 1)),), None, (Excerpt((TEXT,), (0, 1)),)) for text in texts)
    places = tuple(ExamplePlace("set de-en z", "doc", i, 1, "sys", "refA", 1) for i in range(len(texts)))
    return Examples(pairs, np.arange(len(texts), dtype=np.float64), places)


def beside_sources(*texts: str) -> Examples:
    found = examples(*texts)
    pairs = tuple(Request(pair.hyp, Excerpt((f"source {i}",), (0, 1))) for i, pair in enumerate(found.pairs))
    places = tuple(replace(place, doc=f"doc {i}") for i, place in enumerate(found.places))
    return Examples(pairs, found.gold, places)


def test_beside_a_source_there_is_what_is_no_translation() -> None:
    """The source itself, nothing, and the text of another document, far below everything else."""
    plain = beside_sources(*(f"so it goes {i}x" for i in range(60)))
    found = add_negatives(plain, 1.0, 0)
    added = [(pair, gold, place) for pair, gold, place in zip(found.pairs, found.gold, found.places)][len(plain) :]
    kinds = {place.system.partition("(")[2].rstrip(")") for _, _, place in added}
    assert kinds == {"copy", "empty", "other"}
    for pair, gold, place in added:
        kind, text = place.system.partition("(")[2].rstrip(")"), pair.hyp[0].text
        own = plain.pairs[place.start].hyp[0].text
        assert pair.src is not None and gold < plain.gold.min()
        assert {"copy": text == pair.src.text, "empty": text == "", "other": text not in ("", own)}[kind]


@pytest.mark.parametrize("kind", CHANGES)
def test_each_kind_changes_what_it_says(kind: str) -> None:
    changed = CHANGES[kind](TEXT, random.Random(1))
    before, after = TEXT.split(), changed.split()
    if kind == "clause":
        assert changed == "In 2019, the old company of Maria Gonzales was sold to a bank."
    elif kind == "negation":
        assert [word for word in before if word != "not"] == after
    else:
        differs = [(a, b) for a, b in zip(before, after) if a != b]
        assert len(before) == len(after) and len(differs) == 1
        assert differs[0][0].strip(",").isdigit() == (kind == "number")


def test_of_several_segments_one_is_lost() -> None:
    parts = ("One came.", "Two left.", "Three stayed.")
    views = [Excerpt(parts, (0, 3)) for _ in range(2)]
    place = ExamplePlace("set de-en z", "doc", 0, 3, "sys", "refA", 1)
    found = add_negatives(Examples((Request((views[0],), None, (views[1],)),), np.array([0.0]), (place,)), 1.0, 0)
    lost = found.pairs[1].hyp[0]
    assert len(lost.parts) == 2 and set(lost.parts) < set(parts) and lost.focus == (0, 2)
    assert found.places[1].system == "sys (sentence)"


def test_texts_that_offer_nothing_stay_alone() -> None:
    assert all(change("so it goes", random.Random(1)) == "so it goes" for change in CHANGES.values())
    assert len(add_negatives(examples("so it goes"), 1.0, 0)) == 1


def test_copies_are_in_the_same_item_and_cost() -> None:
    found = examples(TEXT, TEXT.replace("Maria", "Anna"))
    more = add_negatives(found, 1.0, 0)
    assert len(more) == 4 and more.item.tolist() == [0, 1, 0, 1]
    for i in (2, 3):
        kind = more.places[i].system.removeprefix("sys (").removesuffix(")")
        assert more.gold[i] == pytest.approx(found.gold[i - 2] - COST[kind] * found.gold.std())


def test_a_copy_does_not_depend_on_other_examples() -> None:
    texts = [TEXT.replace("25", str(number)) for number in range(20, 60)]
    many = add_negatives(examples(*texts), 0.5, 0)
    few = add_negatives(examples(*texts[:10]), 0.5, 0)
    copies = [{pair.hyp[0].text for pair in each.pairs[size:]} for each, size in ((few, 10), (many, 40))]
    assert copies[0] <= copies[1] and 10 < len(copies[1]) < 30
