"""Answers of language models: what is removed, and that plain text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wholetext.text.answers import stripped_answer


@pytest.mark.parametrize(("answer", "text", "removed"), [
    ("<think>spät = late\nor tardy</think>\n\nHe came late.", "He came late.", ("reasoning",)),
    ("hm, late?</think>He came late.", "He came late.", ("reasoning",)),  # the prompt ends with <think>
    ("<think>spät could be", "", ("unfinished reasoning",)),
    ("<think>a</think>He <think>b</think>came.", "He came.", ("reasoning",)),
    ("```\nHe came late.\nHe left.\n```", "He came late.\nHe left.", ("fence",)),
    ("Sure! Here is the translation:\n\n```text\nHe came.\n```\nLet me know!", "He came.", ("preamble", "fence")),
    ("**Translation:** He came late.", "He came late.", ("preamble",)),
    ("Here's the English translation of your text:\nHe came.", "He came.", ("preamble",)),
    ("译文：他来晚了。", "他来晚了。", ("preamble",)),
    ("He said: late is late.", "He said: late is late.", ()),
    ("The translation was poor. She said: no.", "The translation was poor. She said: no.", ()),
    ("Here is what he said: the train was late.", "Here is what he said: the train was late.", ()),
    ("Use `a < b` and <b>bold</b>.", "Use `a < b` and <b>bold</b>.", ()),
])  # fmt: skip
def test_an_answer_is_reduced_to_its_translation(answer: str, text: str, removed: tuple[str, ...]) -> None:
    assert stripped_answer(answer) == (text, removed)


@given(st.text(st.characters(blacklist_characters="<`:：", blacklist_categories=["Cs"])))
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert stripped_answer(text) == (text.strip(), ())


@given(st.text(), st.text("abc .", min_size=1).map(str.strip).filter(bool))
def test_whatever_was_thought_the_translation_is_left(thought: str, text: str) -> None:
    closed = thought.replace("<", "").replace("`", "")
    assert stripped_answer(f"<think>{closed}</think>{text}") == (text, ("reasoning",))
