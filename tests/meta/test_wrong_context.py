"""Wrong context as a control of contrastive sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from wholetext.errors import SpecError
from wholetext.meta.contrastive.decisions import decide, with_controls
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats
from wholetext.views import Context


def made(many: int, context: int = 3) -> ContrastSet:
    """Items whose sentences name their item and place."""
    items = []
    for at in range(many):
        before = tuple(f"s{at}.{i}" for i in range(context))
        target = tuple(f"t{at}.{i}" for i in range(context))
        items.append(Item(f"item {at}", f"source {at}", before,
                          (Candidate(f"right {at}", target), Candidate(f"wrong {at}", target))))
    return ContrastSet("made", ("en", "fr"), tuple(items))


@pytest.mark.parametrize("source", ["shuffled", "other"])
def test_all_candidates_of_an_item_get_the_same_wrong_context(source: str) -> None:
    items = made(30)
    found, one = with_controls(items, scorer(f"context(prev=3,hyp=own,source={source}):chrf"))
    assert one.spec == "context(prev=3,hyp=own):chrf"
    changed = 0
    for before, after in zip(items.items, found.items):
        assert after.candidates[0].context == after.candidates[1].context
        assert [text.replace("s", "t") for text in after.src_context] == list(after.candidates[0].context)
        own = {text.split(".")[0] for text in after.src_context} == {before.src_context[0].split(".")[0]}
        assert own == (source == "shuffled")
        changed += after.src_context != before.src_context
    assert changed >= (30 if source == "other" else 15)  # an order of three is drawn again once in six times


def test_controls_depend_on_the_seed_and_not_on_company() -> None:
    shuffled = scorer("context(prev=3,hyp=own,source=shuffled):chrf")
    all_items, few = made(30), made(10)
    assert with_controls(all_items, shuffled)[0].items[:10] == with_controls(few, shuffled)[0].items
    reseeded = scorer("context(prev=3,hyp=own,source=shuffled,seed=1):chrf")
    assert with_controls(few, shuffled)[0].items != with_controls(few, reseeded)[0].items


def test_one_sentence_cannot_be_shuffled_which_is_noted() -> None:
    items = made(4, context=1)
    found, _ = with_controls(items, scorer("context(prev=1,hyp=own,source=shuffled):chrf"))
    assert found.items == items.items and "changes nothing in 4 items of 4" in found.warnings[0]


def test_items_of_one_context_cannot_lend() -> None:
    one = made(1)
    twice = ContrastSet("made", one.langs, (one.items[0], Item("again", "x", *_rest(one.items[0]))))
    with pytest.raises(SpecError, match="different contexts"):
        with_controls(twice, scorer("context(source=other):chrf"))


def _rest(item: Item) -> tuple[tuple[str, ...], tuple[Candidate, ...]]:
    return item.src_context, item.candidates


@dataclass(frozen=True)
class Heard(Metric):
    """1 if the context of the source names the item that the hypothesis belongs to."""

    name = "heard"
    summary = "for tests"
    needs = frozenset({"src", "hyp"})

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats([_own(request) for request in requests])


def _own(request: Request) -> float:
    assert request.src is not None
    number = request.hyp[0].text.split()[-1]
    return float("right" in request.hyp[0].text and request.src.parts[0].startswith(f"s{number}."))


@pytest.mark.parametrize(("source", "correct"), [("same", 12), ("shuffled", 12), ("other", 0)])
def test_decisions_are_made_in_the_controls_context_and_name_it(source: str, correct: int) -> None:
    one = Scorer(Context(prev=2, hyp="own", source=source), Heard())  # type: ignore[arg-type]
    found = decide(made(12), one, Options(cache=False))
    assert int(found.correct.sum()) == correct
    assert ("source=" in found.metric) == (source != "same")
    assert found.set.items == made(12).items
