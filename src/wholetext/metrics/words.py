"""Words of a text for metrics that compare words: mteval's tokens."""

from __future__ import annotations

from functools import cache
from typing import Any


def words_of(text: str) -> list[str]:
    """Split a text into the tokens of mteval-v13a, as BLEU does by default."""
    return str(_tokenizer()(text)).split()


@cache
def _tokenizer() -> Any:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenizer: Any = Tokenizer13a
    return tokenizer()
