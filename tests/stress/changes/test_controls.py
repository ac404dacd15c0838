"""Errors inside a sentence, and changes that nobody should mind."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from wholetext.stress.change import Change, NotApplicable, TaggedText, applied
from wholetext.stress.changes.controls import (
    contraction,
    negation,
    number,
    paraphrase,
    resegment,
    typography,
)

Tagged = Callable[..., TaggedText]


def after(change: Change, *segments: str, lang: str = "en") -> tuple[str, ...]:
    text = TaggedText("doc", lang, segments, glue="" if lang == "zh" else " ")
    return applied(text.segments, change.sites(text, random.Random(0)))[0]


@given(st.integers(2, 10**7), st.integers(0, 99))
def test_a_number_becomes_another_of_its_form(value: int, seed: int) -> None:
    text = TaggedText("doc", "en", (f"There were {value:,} of {value}.",))
    _, edits = applied(text.segments, number.sites(text, random.Random(seed)))
    assert len(edits) == 2
    for edit in edits:
        assert edit.before != edit.after and re.sub(r"\d", "0", edit.before) == re.sub(r"\d", "0", edit.after)


@pytest.mark.parametrize(("change", "text"), [
    *((number, text) for text in ("At 10:30 or 10: 30.", "Model A380, B-52, 1st, x2.", "Just 1.", "3–0", "(4) Is it?",
                                  "4) Why?")),
    *((typography, text) for text in ('He said "yes.', 'A 5" screen is "new".', "Plain.")),  # without a pair
    *((paraphrase, text) for text in (  # the other expression is wider; after an article, in a comparison
        "However, it rained.", "He was almost sad.", "It works normally.", "He saw a number of the cars.",
        "It was an almost new car and the most frequently seen one, more often than not.")),
    (contraction, "It is late."),
])  # fmt: skip
def test_what_is_not_sure_stays(change: Change, text: str) -> None:
    with pytest.raises(NotApplicable):
        after(change, text)


def test_years_and_days_stay_possible() -> None:
    for seed in range(50):
        text = TaggedText("doc", "en", ("On 27 May 1996, 30 came.",))
        day, year, many = (edit.after for edit in applied(text.segments, number.sites(text, random.Random(seed)))[1])
        assert 10 <= int(day) <= 28 and 1990 <= int(year) <= 1999 and 10 <= int(many) <= 28


@pytest.mark.parametrize(("words", "changed"), [
    ("The/DT old/JJ house/NN is/VBZ empty/JJ ./.", "The old house is not empty."),
    ("They/PRP can/MD see/VB it/PRP ./.", "They cannot see it."),
    *((words, None) for words in (
    "Is/VBZ the/DT house/NN empty/JJ ?/.", "The/DT house/NN is/VBZ never/RB empty/JJ ./.",
    "The/DT house/NN is/VBZ empty/JJ and/CC was/VBD sold/VBN ./.", "The/DT house/NN is/VBZ not/RB only/RB empty/JJ ./.",
    "They/PRP did/VBD not/RB see/VB it/PRP ./.", "The/DT house/NN is/VBZ in/IN Rome/NNP ./.",
    "Some/DT houses/NNS are/VBP empty/JJ ./.", "Here/RB are/VBP the/DT houses/NNS ./.")),
])
def test_a_sentence_is_negated_where_that_is_certain(tagged: Tagged, words: str, changed: str | None) -> None:
    text = tagged(words)
    found = [*negation.find(text, random.Random(0))]
    assert (applied(text.segments, found)[0] == (changed,)) if changed else not found


def test_contractions_are_written_out() -> None:
    short = ("I don't know and can't say; she won't, we’ve left.", "Isn't it late?", "\"Wouldn't it be nice.",
             "It's Bob's.")
    assert after(contraction, *short) == ("I do not know and cannot say; she will not, we have left.", *short[1:])


@pytest.mark.parametrize(("lang", "text", "changed"), [
    ("en", 'He said "yes" and "no".', "He said “yes” and “no”."), ("en", "He said “yes”.", 'He said "yes".'),
    ("de", 'Er sagte "ja".', "Er sagte „ja“."), ("ru", 'Он сказал "да".', "Он сказал «да»."),
    ("zh", '他说"好"。', "他说“好”。"),
])
def test_quotation_marks_change_in_pairs(lang: str, text: str, changed: str) -> None:
    assert after(typography, text, lang=lang) == (changed,)


def test_paraphrases_keep_the_sense() -> None:
    assert after(paraphrase, "For example, it often rains, despite the sun.") == (
        "For instance, it frequently rains, in spite of the sun.",)


PARTS = ["Bob came in, and Ann went out.", "It rained.", "He saw it; she, too, saw all of it."]


@given(st.lists(st.sampled_from(PARTS), min_size=2, max_size=6))
def test_the_text_stays_the_same_whatever_its_segments(segments: list[str]) -> None:
    text = TaggedText("doc", "en", tuple(segments))
    sites = [*resegment.find(text, random.Random(0))]
    changed, _ = applied(text.segments, sites)
    assert " ".join(changed) == " ".join(segments) and (changed != text.segments) == bool(sites) and all(changed)


def test_a_clause_begins_the_next_segment_also_in_chinese() -> None:
    changed = after(resegment, "昨天下午他们来到了北京，很高兴。", "天气很好。", lang="zh")
    assert changed == ("昨天下午他们来到了北京，", "很高兴。天气很好。")
    with pytest.raises(NotApplicable):
        after(resegment, "It rained.", "It snowed.")
