"""Form ``joint``: hypothesis, reference (and source) in one sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from wholetext.backends.device import memory, torch_module
from wholetext.backends.layout import Ids, Parts, assemble, fit_in
from wholetext.backends.learned.body import Body, Opening, Pooling, average, texts_of
from wholetext.backends.learned.config import fill
from wholetext.types import Fit, FloatArray, Request, Runtime


@dataclass(frozen=True)
class Sequenced:
    """One sequence, and the positions of each text's scored tokens."""

    ids: Ids
    types: Ids  # 0 for the hypothesis with its markers, 1 for the rest
    spans: tuple[tuple[int, int], ...]
    fit: Fit


class Joint:
    """Backend and form: the means over the scored tokens of each text, side by side."""

    Settings = Pooling

    def __init__(self, opening: Opening) -> None:
        self.pooling = fill(Pooling, opening.config.settings, opening.base.name, "settings.")
        self.reads, self.body = opening.config.reads, Body(opening, self.pooling)
        self.limit = self.body.tokenizer.limited(self.pooling.limit or None) or self.body.tokenizer.limit
        self.id = f"{self.body.id}/joint/{','.join(self.reads)}"
        vectors = 1 if self.pooling.pool == "cls" else len(self.reads)
        self.width = self.body.width * len(self.body.layers) * vectors
        self.sequence = lru_cache(1 << 15)(self._sequence)

    def fit(self, pair: Request) -> Fit:
        return self.sequence(pair).fit

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        return np.stack(run.map(self, pairs))

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.body.encoder.spread(work, batches)

    def run(self, batch: Sequence[Request]) -> list[FloatArray]:
        with torch_module().inference_mode(), memory():
            return list(self._vectors(batch, learning=False).cpu().numpy().astype(np.float64))

    @property
    def module(self) -> Any:
        return self.body.encoder.model

    def learn(self, pairs: Sequence[Request]) -> Any:
        return self._vectors(pairs, learning=True)

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        made = self.sequence(pair)
        tokens = self.body.tokenizer.tokens(made.ids)
        for begin, stop in made.spans:
            if stop > begin:
                tokens[begin], tokens[stop - 1] = f"«{tokens[begin]}", f"{tokens[stop - 1]}»"
        return [("+".join(texts_of(pair, self.reads)), " ".join(tokens))]

    def seen(self, pair: Request) -> int | None:
        begin, stop = self.sequence(pair).spans[0]
        ends = [end for _, end in self.body.tokenizer.offsets(pair.hyp[0].text)]
        return ends[stop - begin - 1] if stop > begin else 0

    def _vectors(self, pairs: Sequence[Request], learning: bool) -> Any:
        """(pairs, width)"""
        made = [self.sequence(pair) for pair in pairs]
        states = self.body.states([one.ids for one in made], [one.types for one in made], learning)
        if self.pooling.pool == "cls":
            return average(states, [[0] for _ in made])
        # the marker after a text counts as its own, so that an empty text has a vector too
        sides = [[range(begin, stop + 1) for begin, stop in (one.spans[i] for one in made)]
                 for i in range(len(self.reads))]
        return torch_module().cat([average(states, places) for places in sides], dim=-1)

    def _sequence(self, pair: Request) -> Sequenced:
        """``[CLS] hypothesis [SEP] reference [SEP]``. Context is dropped first, each text keeping an
        equal share; then the ends of the scored texts, the longest first.
        """
        views = texts_of(pair, self.reads).values()
        self.pooling.check(views)
        markers = self.body.tokenizer.markers
        texts = [self.body.tokenizer.parts(view) for view in views]
        edges = len(markers.opening) + len(markers.closing) + len(markers.pair) * (len(texts) - 1)
        room = max(0, self.limit - edges)
        most = _level([len(text.scored) for text in texts], room)
        left = room - sum(min(most, len(text.scored)) for text in texts)
        share = left // max(1, sum(text.context > 0 for text in texts))
        fitted = []
        for text in texts:
            own = Parts(text.before, text.scored[:most], text.after)
            fitted.append(fit_in(own, len(own.scored) + share, len(markers.between)) if text.context else own)
        ids: list[int] = [*markers.opening]
        spans: list[tuple[int, int]] = []
        first = 0  # where the second text begins
        for i, text in enumerate(fitted):
            inner, begin = assemble(text, markers)
            ids += markers.pair if i else ()
            first = len(ids) if i == 1 else first
            begin += len(ids) - len(markers.opening)
            ids += inner[len(markers.opening) : len(inner) - len(markers.closing)]
            spans.append((begin, begin + len(text.scored)))
        ids += markers.closing
        kept = sum(len(text.scored) + text.context for text in fitted)
        fit = Fit(len(ids), len(ids) - kept, sum(text.context for text in texts) - sum(t.context for t in fitted),
                  sum(len(text.scored) - len(cut.scored) for text, cut in zip(texts, fitted)))
        return Sequenced(tuple(ids), (0,) * first + (1,) * (len(ids) - first), tuple(spans), fit)


def _level(sizes: Sequence[int], room: int) -> int:
    """The greatest length to which texts can be cut so that all fit."""
    if sum(sizes) <= room:
        return max(sizes)
    left = room
    for i, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - i)
        if size > share:
            return share
        left -= size
    return 0
