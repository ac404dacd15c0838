"""Sentences by rule."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st

from wholetext.errors import SpecError
from wholetext.text.sentences import split, splitter


@pytest.mark.parametrize(("lang", "text", "parts"), [
    ("en", "He came. She left! Why? Nobody knows…", 4),
    ("en", "Dr. Smith met Mr. J. R. Jones in St. Louis. They talked.", 2),
    ("en", 'He said "Stop!" and left. “No.” She stayed.', 3),
    ("en", "It costs 3.5 dollars, e.g. at Ben's. Cheap.", 2),
    ("en", "The U.S. President spoke at 5 p.m. on Monday.", 1), ("en", "First line\nsecond line", 2),
    ("de", "Am 3. Mai kam z. B. Herr Dr. Meier. Es war 2019. Dann ging er.", 3),
    ("en", "We won in May 3. Then we left.", 2), ("ru", "Это стоит 5 тыс. рублей. Он купил, т.е. взял.", 2),
    ("zh", "他来了。她走了！为什么？", 3), ("zh", "他说：“走吧。”然后离开了。", 2),
    ("ja", "彼は「行こう。もう遅い。」と言った。そして帰った。", 2),
    ("hi", "वह आया। वह गई।", 2), ("", "", 0), ("", "   \n \n", 0),
])  # fmt: skip
def test_splitting(lang: str, text: str, parts: int) -> None:
    found = split(text, lang)
    assert len(found) == parts, found
    assert "".join("".join(found).split()) == "".join(text.split())


@given(st.text(max_size=60), st.sampled_from(["", "en", "de", "zh_CN", "ja"]))
def test_no_text_is_lost(text: str, lang: str) -> None:
    found = split(text, lang)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(part == part.strip() and part for part in found)


def test_ways_to_split() -> None:
    assert splitter("rules", "de")("Am 3. Mai. Ja.") == ["Am 3. Mai.", "Ja."]
    assert splitter("none")("A. B.") == ["A. B."]
    with pytest.raises(SpecError, match="no sentence splitter 'rule'"):
        splitter("rule")


def processor_time(text: str) -> float:
    begin = time.process_time()
    assert split(text, "ja")
    return time.process_time() - begin


@pytest.mark.parametrize("piece", ["He came. ", "「行こう。", "a.", "!", "\u300c", "Dr. ", "x!)", "no. "])
def test_eight_times_the_text_takes_eight_times_as_long(piece: str) -> None:
    """Linear time gives a ratio of 8 and quadratic time one of 64, whatever the machine; other work on it cannot make
    up for a factor of 8 in every one of five attempts."""
    processor_time(piece * 100)
    ratios = (processor_time(piece * 16_000) / min(processor_time(piece * 2_000) for _ in range(3)) for _ in range(5))
    assert any(ratio < 22 for ratio in ratios)


@pytest.mark.parametrize(("text", "sentences"), [
    ('" Pack up first. Large items stay. "', ['" Pack up first.', 'Large items stay. "']),
    ('He said so. " I took it. " Then he left.', ["He said so.", '" I took it. "', "Then he left."]),
    ('It is so. " Nobody knows.', ["It is so.", '" Nobody knows.']),
    ("So ( he said. ) Good.", ["So ( he said. )", "Good."]),
])  # fmt: skip
def test_quotes_apart_from_their_sentence(text: str, sentences: list[str]) -> None:
    """As text has them that was tokenised."""
    assert split(text, "en") == sentences
