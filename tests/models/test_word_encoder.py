"""The word-wise encoder: pieces, pooling, windows over long texts, and what each rule does with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wholetext.errors import TextTooLong
from wholetext.metrics.discoscore.word_encoder import Passage, WordEncoder, _stitch
from wholetext.models.encoder import open_encoder
from wholetext.scoring.engine import Engine


@pytest.fixture(scope="module")
def model(oracle: Path) -> str:
    return str(oracle / "neural" / "models" / "tiny-bert")


def opened(model: str, **options: Any) -> WordEncoder:
    return WordEncoder(open_encoder(Engine(), model, "", options.get("layers", 8)), **options)


@pytest.fixture(scope="module")
def encoder(model: str) -> WordEncoder:
    return opened(model)


def test_same_as_the_bare_model(encoder: WordEncoder, model: str) -> None:
    import torch
    from transformers import AutoModel

    words = ["the", "storm", "reached", "the", "coast", "."]
    ids = [2, *(piece for word in map(encoder.pieces, words) for piece in word)]
    bare = AutoModel.from_pretrained(model).eval()
    with torch.inference_mode():
        hidden = bare(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()  # (tokens, hidden)
    ends = np.cumsum([1, *map(len, map(encoder.pieces, words))])
    wanted = (1, 4)
    [rows] = encoder.run([Passage(tuple(words), wanted, ((0, 2), (2, 6)))])
    assert rows[:2] == pytest.approx(hidden[[ends[i + 1] - 1 for i in wanted]], abs=1e-5)
    assert rows[2] == pytest.approx(hidden[: ends[2]].mean(axis=0), abs=1e-5)  # [CLS] counts in the first sentence
    assert rows[3] == pytest.approx(hidden[ends[2] :].mean(axis=0), abs=1e-5)


def test_batches_do_not_matter(encoder: WordEncoder) -> None:
    passages = [Passage(tuple(["the", "storm", "reached", "the", "coast"][:n]), (0,), ((0, n),)) for n in (5, 1, 3)]
    together = encoder.run(passages)
    for passage, rows in zip(passages, together):
        assert rows == pytest.approx(encoder.run([passage])[0], abs=1e-5)


def test_odd_words(encoder: WordEncoder) -> None:
    words = ("[SEP]", "\x00", "👍👍", "cathédrale", "x" * 3000)
    pieces = list(map(encoder.pieces, words))
    assert all(pieces) and pieces[0] != [3]  # a literal marker is text
    [rows] = encoder.run([Passage(words, tuple(range(5)), ((0, 5),))])
    assert np.isfinite(rows).all()
    assert encoder.run([Passage((), (), ())])[0].shape == (0, 32)


def test_long_texts_in_windows(encoder: WordEncoder) -> None:
    words = tuple(f"w{i % 7}" if i % 11 else "storm" for i in range(1500))
    passage = Passage(words, (0, 700, 1499), ((0, 700), (700, 1500)))
    assert encoder.fit(passage).tokens > 2 * encoder.limit and encoder.fit(passage).lost_focus == 0
    [rows] = encoder.run([passage])
    assert rows.shape == (5, 32) and np.isfinite(rows).all()


def test_tokens_of_the_first_window_do_not_depend_on_later_ones(encoder: WordEncoder) -> None:
    room = encoder.limit - 1
    words = ("the", ".") * room  # one piece each
    assert [len(pieces) for pieces in map(encoder.pieces, words[:2])] == [1, 1]
    short = encoder.run([Passage(words[:room], (0, 1, room // 2))])[0]
    long = encoder.run([Passage(words, (0, 1, room // 2))])[0]
    assert long == pytest.approx(short, abs=1e-5)


def test_rules_for_long_texts(model: str) -> None:
    words = ("storm",) * 1200
    with pytest.raises(TextTooLong, match="tokens"):
        opened(model, too_long="error").run([Passage(words)])
    cut = opened(model, too_long="truncate")
    passage = Passage(words, (0, 1199), ((0, 400), (400, 1190), (1190, 1200)))
    assert cut.fit(passage).lost_focus == cut.fit(passage).lost_focus > 0
    [rows] = cut.run([passage])
    assert np.isfinite(rows[[0, 2]]).all() and np.isnan(rows[[1, 4]]).all()


def test_each_token_comes_from_its_best_window() -> None:
    """Windows of 4 pieces, half of them shared: the token nearer to an inner edge loses."""
    windows = [((start, (0,) * 4), np.full((5, 1), float(at), dtype=np.float32))
               for at, start in enumerate((0, 2, 4))]
    assert _stitch(windows)[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 2]
