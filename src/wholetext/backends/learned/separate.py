"""Form ``separate``: a vector of each text by itself, then products and differences (COMET: Rei et al. 2020, §2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wholetext.backends.device import memory, torch_module
from wholetext.backends.layout import Layout, together
from wholetext.backends.learned.body import Body, Opening, Pooling, average, texts_of
from wholetext.backends.learned.config import fill
from wholetext.backends.tokenizer import TokenizedText
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime


class Texts:
    """A backend that reads each text by itself; ``run`` is what becomes of them."""

    def __init__(self, body: Body, pooling: Pooling, name: str) -> None:
        self.body, self.pooling = body, pooling
        self.reading = TokenizedText(body.tokenizer.limited(pooling.limit or None))
        self.id = f"{body.id}/{name}"

    def fit(self, x: Excerpt) -> Fit:
        return self.layout(x).fit

    def layout(self, view: Excerpt) -> Layout:
        self.pooling.check([view])
        return self.body.tokenizer.layout(view, self.reading)

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.body.encoder.spread(work, batches)


class TextForm:
    """What forms have in common that read each text by itself, through the backend ``texts``."""

    reads: tuple[str, ...]
    body: Body
    texts: Texts

    def fit(self, pair: Request) -> Fit:
        return together(self.texts.fit(view) for view in texts_of(pair, self.reads).values())

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        marked = self.body.tokenizer.marked
        return [(side, marked(self.texts.layout(view))) for side, view in texts_of(pair, self.reads).items()]

    def seen(self, pair: Request) -> int | None:
        return self.body.tokenizer.seen(pair.hyp[0], self.texts.reading)


class Vectors(Texts):
    """Backend: view → (layers · width,) mean over its scored tokens and the markers around them."""

    def run(self, batch: Sequence[Excerpt]) -> list[FloatArray]:
        with torch_module().inference_mode(), memory():
            return list(self.tensors(batch, learning=False).cpu().numpy().astype(np.float64))

    def tensors(self, views: Sequence[Excerpt], learning: bool) -> Any:
        """(views, layers · width)"""
        layouts = [self.layout(view) for view in views]
        states = self.body.states([layout.ids for layout in layouts], None, learning)
        first = self.pooling.pool == "cls"
        return average(states, [[0] if first else layout.kept(markers=True) for layout in layouts])


class Separate(TextForm):
    """h, r, h·r, |h − r| (and s, h·s, |h − s|) of the pooled vectors of hypothesis, reference and source."""

    Settings = Pooling

    def __init__(self, opening: Opening) -> None:
        pooling = fill(Pooling, opening.config.settings, opening.base.name, "settings.")
        self.reads, self.body = opening.config.reads, Body(opening, pooling)
        self.texts = self.vectors = Vectors(self.body, pooling, "separate")
        self.id = f"{self.vectors.id}/{','.join(self.reads)}"
        self.width = self.body.width * len(self.body.layers) * (1 + 3 * (len(self.reads) - 1))

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        sides = list(zip(*(texts_of(pair, self.reads).values() for pair in pairs)))  # (sides, n)
        vectors = run.map(self.vectors, [view for side in sides for view in side])
        found = np.stack(vectors).reshape(len(sides), len(pairs), -1)  # (sides, n, layers · width)
        return np.concatenate(_compared(list(found)), axis=-1)

    @property
    def module(self) -> Any:
        return self.body.encoder.model

    def learn(self, pairs: Sequence[Request]) -> Any:
        torch = torch_module()
        sides = list(zip(*(texts_of(pair, self.reads).values() for pair in pairs)))
        distinct = {view: i for i, view in enumerate(dict.fromkeys(view for side in sides for view in side))}
        vectors = self.vectors.tensors(list(distinct), learning=True)
        return torch.cat(_compared([vectors[[distinct[view] for view in side]] for side in sides]), dim=-1)


def _compared(sides: Sequence[Any]) -> list[Any]:
    """The hypothesis's vectors, then of each other text: its own, the product, the distance."""
    hyp = sides[0]
    return [hyp, *(part for other in sides[1:] for part in (other, hyp * other, abs(hyp - other)))]
