"""DiscoScore's encoder of words; long texts are read in overlapping windows.

DiscoScore (Zhao, Strube and Eger 2023) feeds the encoder ``[CLS]`` and the words of the text, each
word-pieced by itself, without ``[SEP]``, and keeps the first 8 layers. The published code passes a
mask of zeros, which older transformers took for full attention and newer ones for none at all; here
every token attends to every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import TextTooLong
from wholetext.models.encoder import Encoder
from wholetext.models.hub.locate import guarded
from wholetext.models.tokenizer import UNREADABLE, load_tokenizer
from wholetext.types import Fit, IntArray

TooLong = Literal["window", "error", "truncate"]
Vectors = NDArray[np.float32]
_TOKENS = 4096  # padded tokens per forward pass
_PIECES = 200_000  # words whose pieces are cached
_PASSAGES = 1000  # whose vectors are cached
_Window = tuple[int, tuple[int, ...]]  # first piece, [CLS] not counted, and ids


@dataclass(frozen=True, slots=True)
class Passage:
    """A text as words, with a request for vectors of some words and of all sentences."""

    words: tuple[str, ...]
    places: tuple[int, ...] = ()  # words whose last piece is returned
    sentences: tuple[tuple[int, int], ...] = ()  # spans of words; the first also counts [CLS]


class WordEncoder:
    """Backend: passage → (places + sentences, hidden); NaN rows for what ``truncate`` cut."""

    def __init__(self, encoder: Encoder, *, layers: int = 8, too_long: TooLong = "window") -> None:
        self._encoder, self.layers, self.too_long = encoder, layers, too_long
        # without its own lower-casing: words are lower-cased already, and keep their accents
        self._words = load_tokenizer(encoder.located.path, lower=False)
        self.limit: int = encoder.tokenizer.limit
        self.pieces = lru_cache(_PIECES)(self._split)
        self._memo: dict[Passage, Vectors] = {}
        self.id = f"{encoder.id}|words|layers:{layers}|{too_long}"

    def _split(self, word: str) -> tuple[int, ...]:
        """Split a word into pieces; a word without any is one unknown piece."""
        space = " " if self._encoder.tokenizer.spaced else ""
        with guarded(self._encoder.located.path, UNREADABLE):
            # a literal [SEP] in the text is text
            encoded = self._words(
                space + word,
                add_special_tokens=False,
                split_special_tokens=True,
                truncation=False,
            )
        return tuple(encoded["input_ids"]) or (self._words.unk_token_id,)

    def fit(self, x: Passage) -> Fit:
        tokens = 1 + sum(len(self.pieces(word)) for word in x.words)
        lost = max(0, tokens - self.limit) if self.too_long == "truncate" else 0
        return Fit(tokens=tokens - lost, special=1, lost_focus=lost)

    def run(self, batch: Sequence[Passage]) -> list[Vectors]:
        """Encode each passage from its own windows, independent of the batch."""
        # kept, because metrics and their variants ask for the same vectors one after the other
        if len(self._memo) > _PASSAGES:
            self._memo = {}
        memo = self._memo  # of this thread, while another one begins anew
        new = [passage for passage in dict.fromkeys(batch) if passage not in memo]
        plans = [self._plan(passage) for passage in new]
        encoded = iter(self._encode([window for _, windows in plans for window in windows]))
        for passage, (ends, windows) in zip(new, plans):
            vectors = _stitch([(window, next(encoded)) for window in windows])  # (tokens, hidden)
            memo[passage] = _pool(passage, ends, vectors)
        return [memo[passage] for passage in batch]

    def _plan(self, passage: Passage) -> tuple[IntArray, list[_Window]]:
        """Return where each word ends among the tokens, and the windows to encode."""
        pieces = list(map(self.pieces, passage.words))
        # (words + 1,) tokens up to and with each word, [CLS] first
        ends = np.cumsum([1, *map(len, pieces)])
        ids = [piece for word in pieces for piece in word]
        room = self.limit - 1
        if len(ids) > room and self.too_long == "error":
            name = self._encoder.located.name
            raise TextTooLong(
                f"a text of {len(ids) + 1} tokens is more than the {self.limit} of {name}",
                where=" ".join(passage.words[:8]),
                next="use too_long=window or too_long=truncate",
            )
        if self.too_long == "truncate":
            ids = ids[:room]
        last = max(0, len(ids) - room)
        starts = [*range(0, last, max(1, room // 2)), last]
        return ends, [(at, tuple(ids[at : at + room])) for at in starts]

    def _encode(self, windows: Sequence[_Window]) -> list[Vectors]:
        """Encode windows: (1 + pieces, hidden) each, [CLS] first."""
        rows = [(self._words.cls_token_id, *ids) for _, ids in windows]
        step = max(1, _TOKENS // max(map(len, rows), default=1))
        layer = min(self.layers, self._encoder.depth)
        vectors: list[Vectors] = []
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            states = self._encoder.vectors(part, [layer], [range(len(row)) for row in part])
            vectors += [state for [state] in states]
        return vectors


def _stitch(windows: Sequence[tuple[_Window, Vectors]]) -> Vectors:
    """Take each token from the window where it is farthest from an inner edge: (tokens, hidden)."""
    starts = [start for (start, _), _ in windows]
    ends = [start + len(ids) for (start, ids), _ in windows]
    middles = [(end + start + 1) // 2 for end, start in zip(ends, starts[1:])]  # of the overlaps
    parts = [
        vectors[1 + begin - start : 1 + end - start]
        for ((start, _), vectors), begin, end in zip(windows, [0, *middles], [*middles, ends[-1]])
    ]
    return np.concatenate([windows[0][1][:1], *parts])  # [CLS] first


def _pool(passage: Passage, ends: IntArray, vectors: Vectors) -> Vectors:
    """Pool last pieces of these words and means of sentences: (places + sentences, hidden)."""
    out = np.full(
        (len(passage.places) + len(passage.sentences), vectors.shape[1]), np.nan, dtype=np.float32
    )
    # (places,) token of each of these words
    last = ends[np.array(passage.places, dtype=np.int64) + 1] - 1
    here = last < len(vectors)
    out[: len(last)][here] = vectors[last[here]]
    for at, (start, stop) in enumerate(passage.sentences, len(last)):
        begin = 0 if start == 0 else int(ends[start])
        part = vectors[begin : int(ends[stop])]
        if len(part):
            out[at] = part.mean(axis=0, dtype=np.float64)
    return out
