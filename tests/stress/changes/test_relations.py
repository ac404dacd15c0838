"""Connectives."""

from __future__ import annotations

import random
import re

import pytest

from wholetext.stress.change import NotApplicable, TaggedText, applied
from wholetext.stress.changes.relations import (
    LEFT_OUT,
    TURNED,
    connective,
    connectives,
    no_connective,
)


@pytest.mark.parametrize(("lang", "sentence", "turned", "left"), [
    ("en", "But the train was late.", "So the train was late.", None),
    ("en", "However, she went on foot.", "Therefore, she went on foot.", "She went on foot."),
    ("de", "Trotzdem kam er noch rechtzeitig an.", "Deshalb kam er noch rechtzeitig an.", None),
    ("de", "Aber der Zug kam zu spät.", "Denn der Zug kam zu spät.", "Der Zug kam zu spät."),
    ("fr", "Cependant, elle est venue hier.", "Par conséquent, elle est venue hier.", "Elle est venue hier."),
    ("fr", "Mais l'hiver est long.", "C'est pourquoi l'hiver est long.", "L'hiver est long."),
    ("fr", "Mais l’hiver est long.", "C’est pourquoi l’hiver est long.", "L’hiver est long."),
    ("es", "Sin embargo, ella vino ayer.", "Por lo tanto, ella vino ayer.", "Ella vino ayer."),
    ("ru", "Однако поезд опоздал на час.", "Поэтому поезд опоздал на час.", "Поезд опоздал на час."),
    ("zh", "但是火车晚点了一个小时。", "因此火车晚点了一个小时。", "火车晚点了一个小时。"),
])
def test_a_connective_is_turned_or_left_out(lang: str, sentence: str, turned: str, left: str | None) -> None:
    text = TaggedText("doc", lang, (sentence, sentence), glue="" if lang == "zh" else " ")
    assert applied(text.segments, connective.sites(text, random.Random(0)))[0] == (sentence, turned)
    if left:
        assert applied(text.segments, no_connective.sites(text, random.Random(0)))[0] == (sentence, left)


@pytest.mark.parametrize("sentence", [
    "However, despite the rain she went on foot.", "However, it rained again.", "However,  the blanks are two.",
    "Therefore, she went on foot.", "But the train was late."])
def test_a_connective_without_which_nothing_is_lost_stays(sentence: str) -> None:
    with pytest.raises(NotApplicable):
        no_connective.sites(TaggedText("doc", "en", ("The sun came out.", sentence)), random.Random(0))


@pytest.mark.parametrize("sentence", ["But for him all was lost.", "But is it safe to go there?", "But no.",
                                      "But that was it then.", "But to speak the truth, all went well.",
                                      "However hard it is, go on.", "Buttons were all over the place.",
                                      "Mais c'est une tortue de mer.", "Mais si tu savais le nombre de filles."])
def test_what_only_looks_like_a_connective_stays(sentence: str) -> None:
    lang = "fr" if sentence.startswith("Mais") else "en"
    with pytest.raises(NotApplicable):
        connective.sites(TaggedText("doc", lang, ("The sun came out again.", sentence)), random.Random(0))


def test_every_pattern_is_found_and_turned_into_something_else() -> None:
    for lang, patterns in TURNED.items():
        for pattern, turned in patterns.items():
            plain = re.sub(r"\(\?[!=].*?\)|\?$", "", pattern)
            text = TaggedText("doc", lang, ("x", f"{plain}the old house was empty for years."))
            assert [new for _, _, new in connectives(text, patterns)] == [turned], plain
            assert turned.strip(" ,，") != plain.strip(" ,，")
    assert TURNED.keys() == LEFT_OUT.keys()
