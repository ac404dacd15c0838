"""The tokenizer 13a is sacrebleu's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from wholetext.text.mteval import tokenize_13a

PEER = Tokenizer13a()


@settings(max_examples=500)
@given(st.one_of(st.text(max_size=40), st.text(alphabet="ab1 2.,-\n&;<>quot'\u00a0\u3000é世。", max_size=30)))
@example("a-\nb <skipped> &amp;quot; 1.5, 2,000. 3-4 .. ,, x.y")
def test_any_text(text: str) -> None:
    assert tokenize_13a([text]) == [PEER(text.rstrip())]


@given(st.lists(st.text(alphabet="ab1 2.,-\n\r\x85\u2028", max_size=12), max_size=8))
@example(["a..", "5.,", "..5", "1,.", ",.2,3"])
def test_texts_do_not_touch_each_other(texts: list[str]) -> None:
    assert tokenize_13a(texts) == [PEER(text.rstrip()) for text in texts]


def test_every_ascii_character() -> None:
    for code in range(128):
        texts = [chr(code), f"a{chr(code)}b", f"1{chr(code)}2", f"{chr(code)}{chr(code)}"]
        assert tokenize_13a(texts) == [PEER(text.rstrip()) for text in texts]


@pytest.mark.data
def test_wmt21(data: Path) -> None:
    for path in sorted((data / "evalsets" / "wmt21.news" / "references").glob("*-en.ref*.txt")):
        lines = path.read_text("utf-8").split("\n")
        assert tokenize_13a(lines) == [PEER(line.rstrip()) for line in lines]
