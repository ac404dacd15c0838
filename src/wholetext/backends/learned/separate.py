"""Forms that read each text by itself.

``separate``: a vector of each text, then products and differences (COMET: Rei et al. 2020, §2.3).
``aligned``: how well each token is found in the other text, at several layers, matched as by BERTScore
(Zhang et al. 2020, eq. 1): the mean and the worst matches, their order, and the surface overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.backends.device import memory, torch_module
from wholetext.backends.layout import Layout, together
from wholetext.backends.learned.body import Body, Opening, Pooling, average, texts_of
from wholetext.backends.learned.config import fill
from wholetext.backends.tokenizer import TokenizedText
from wholetext.errors import ModelError
from wholetext.languages.overlap import NAMES, likeness
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime

PAIRS = 96  # whose token vectors are held at a time
WORST = 5  # one token in so many makes the tail
POOR = 0.6  # a token that matches worse is not found
STEP = 3  # tokens found at most so far to the right of the one before are in order
PER_LAYER, ONCE = 6, 9


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
    """h, r, h·r, |h − r| (and s, h·s, |h − s|) of pooled vectors."""

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


@dataclass(frozen=True)
class Layers:
    """Which layers are compared (negative: from the last one back)."""

    layers: tuple[int, ...] = (0, 3, -1)
    limit: int = 0  # tokens per sequence; 0: what the model takes


class Units(Texts):
    """Backend: view → (layers, tokens, width) unit vectors of its scored tokens."""

    def run(self, batch: Sequence[Excerpt]) -> list[FloatArray]:
        torch = torch_module()
        layouts = [self.layout(view) for view in batch]
        states = self.body.states([layout.ids for layout in layouts], None, learning=False)
        with torch.inference_mode(), memory():
            stacked = torch.stack(states, dim=1)  # (batch, layers, tokens, width)
            unit = torch.nn.functional.normalize(stacked, dim=-1).cpu().numpy()
        return [row[:, layout.start : layout.stop].copy() for row, layout in zip(unit, layouts)]


class Aligned(TextForm):
    """Per layer the mean, worst fifth and worst match of tokens; order; length; surface."""

    Settings = Layers
    reads = ("hyp", "ref")

    def __init__(self, opening: Opening) -> None:
        settings = fill(Layers, opening.config.settings, opening.base.name, "settings.")
        if set(opening.config.reads) != set(self.reads):
            raise ModelError(f"the form aligned reads hyp and ref, not {', '.join(opening.config.reads)}",
                             where=opening.base.name, next="choose the form joint or separate to read the source")
        pooling = Pooling(layers=settings.layers, limit=settings.limit)
        self.body = Body(opening, pooling)
        self.texts = self.units = Units(self.body, pooling, "aligned")
        self.id = f"{self.texts.id}/1"
        self.width = len(self.body.layers) * PER_LAYER + ONCE + len(NAMES)

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n, width). Pairs with one reference are taken together, so that it is encoded once."""
        sides = [tuple(texts_of(pair, self.reads).values()) for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda i: (sides[i][1].parts, sides[i][1].focus))
        deep = np.zeros((len(pairs), self.width - len(NAMES)))
        for at in range(0, len(order), PAIRS):
            chosen = order[at : at + PAIRS]
            views = list(dict.fromkeys(view for i in chosen for view in sides[i]))
            vectors = dict(zip(views, run.map(self.units, views)))
            for i in chosen:
                hyp, ref = sides[i]
                deep[i] = _matched(vectors[hyp], vectors[ref], hyp.text, ref.text)
        surface = likeness([hyp.text for hyp, _ in sides], [ref.text for _, ref in sides])
        return np.concatenate([deep, surface], axis=1)

    def untrained(self, features: FloatArray) -> FloatArray:
        """(n,) BERTScore's F of the middle layer, from (n, width) features."""
        layers = len(self.body.layers)
        precision, recall = features[:, layers // 2], features[:, 3 * layers + layers // 2]
        return np.asarray(2 * precision * recall / np.maximum(precision + recall, 1e-9))


def _matched(hyp: FloatArray, ref: FloatArray, hyp_text: str, ref_text: str) -> FloatArray:
    """(layers · PER_LAYER + ONCE,) of two texts' (layers, tokens, width) unit vectors."""
    layers, size, ref_size = len(hyp), hyp.shape[1], ref.shape[1]
    ratio = float(np.log((size + 1) / (ref_size + 1)))
    # how finely words fall apart: broken words do
    pieces = [many / max(1, len(text.split())) for many, text in ((size, hyp_text), (ref_size, ref_text))]
    lengths = [min(3.0, max(-3.0, ratio)), float(np.log1p(ref_size)), *(min(5.0, each) for each in pieces)]
    if not size or not ref_size:
        return np.array([0.0] * (layers * PER_LAYER) + [0.0, 0.0, 1.0, 1.0, 0.0] + lengths)
    similar = hyp @ ref.transpose(0, 2, 1)  # (layers, hyp tokens, ref tokens)
    found, covered = similar.max(axis=2), similar.max(axis=1)  # (layers, tokens of one side)
    parts: list[FloatArray] = []
    for side in (found, covered):
        parts += [side.mean(axis=1), _tail(side), side.min(axis=1)]
    middle = layers // 2
    order = [_in_order(similar[middle].argmax(axis=axis)) for axis in (1, 0)]
    poor = [float((side[middle] < POOR).mean()) for side in (found, covered)]
    mean = [side[-1].mean(axis=0) for side in (hyp, ref)]
    cosine = float(mean[0] @ mean[1] / max(1e-12, float(np.linalg.norm(mean[0]) * np.linalg.norm(mean[1]))))
    return np.array([*np.concatenate(parts), *order, *poor, cosine, *lengths], dtype=np.float64)


def _tail(matches: FloatArray) -> FloatArray:
    """(layers,) mean of the worst matches of (layers, tokens)."""
    worst = max(1, matches.shape[1] // WORST)
    return np.asarray(np.sort(matches, axis=1)[:, :worst].mean(axis=1))


def _in_order(places: FloatArray) -> float:
    """Share of neighbouring tokens whose counterparts follow each other."""
    steps = np.diff(places)
    return float(((steps >= 0) & (steps <= STEP)).mean()) if len(steps) else 1.0
