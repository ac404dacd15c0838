"""Words of a text for metrics that compare words: mteval's tokens."""

from __future__ import annotations

from wholetext.text.mteval import tokenize_13a


def words_of(text: str) -> list[str]:
    """Split a text into the tokens of mteval-v13a, as BLEU does by default."""
    return tokenize_13a([text])[0].split()
