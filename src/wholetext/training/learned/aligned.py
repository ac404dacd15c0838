"""Form ``aligned``: matches of tokens at several layers, as in BERTScore (Zhang et al. 2020, eq. 1).

Features are the mean and the worst matches, their order, and the surface overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.errors import ModelError
from wholetext.models.device import memory, torch_module
from wholetext.models.encoder import EncoderBackend
from wholetext.models.layout import Layout, together
from wholetext.models.tokenizer import TokenizedText
from wholetext.text.overlap import NAMES, likeness
from wholetext.training.learned.body import Body, Opening, texts_of
from wholetext.training.learned.config import fill
from wholetext.types import Excerpt, Fit, FloatArray, IntArray, Request, Runtime

PAIRS = 96  # whose token vectors are held at a time
WORST = 5  # one token in so many makes the tail
POOR = 0.6  # a token that matches worse is not found
STEP = 3  # tokens found at most so far to the right of the one before are in order
PER_LAYER, ONCE = 6, 9


class Texts(EncoderBackend):
    """Base class of backends that encode each text by itself."""

    def __init__(self, body: Body, limit: int, name: str) -> None:
        self.body, self.encoder = body, body.encoder
        self.reading = TokenizedText(body.tokenizer.limited(limit or None))
        self.id = f"{body.id}/{name}/{self.reading}"

    def layout(self, x: Excerpt) -> Layout:
        return self.body.tokenizer.layout(x, self.reading)

    def stacked(self, batch: Sequence[Excerpt]) -> tuple[list[Layout], Any, Any]:
        """Layouts of the texts; (batch, layers, tokens, width) states, and the same as unit vectors."""
        torch = torch_module()
        layouts = [self.layout(view) for view in batch]
        states = self.body.states([layout.ids for layout in layouts])
        with torch.inference_mode(), memory():
            states = torch.stack(states, dim=1)
            return layouts, states, torch.nn.functional.normalize(states, dim=-1)


def both_read(
    sides: Sequence[Sequence[Excerpt]], backend: Any, run: Runtime, most: int
) -> Iterator[tuple[int, Any, Any]]:
    """Yield (index, output, output) of the backend for each pair of texts.

    ``most`` pairs are in memory at a time; pairs with the same second text are neighbours, so that
    it is encoded once.
    """
    order = sorted(range(len(sides)), key=lambda i: (sides[i][1].parts, sides[i][1].focus))
    for at in range(0, len(order), most):
        chosen = order[at : at + most]
        views = list(dict.fromkeys(view for i in chosen for view in sides[i]))
        outputs = dict(zip(views, run.map(backend, views)))
        for i in chosen:
            yield i, outputs[sides[i][0]], outputs[sides[i][1]]


def reads_only(opening: Opening, form: str, reads: Sequence[str]) -> None:
    """Raise if a configuration reads other texts than the form can."""
    if set(opening.config.reads) != set(reads):
        raise ModelError(
            f"the form {form} reads {' and '.join(reads)}, not {', '.join(opening.config.reads)}",
            where=opening.base.name,
            next="choose another form",
        )


@dataclass(frozen=True)
class Layers:
    """Which layers are compared (negative: from the last one back)."""

    layers: tuple[int, ...] = (0, 3, -1)
    limit: int = 0  # tokens per sequence; 0: what the model takes


class Units(Texts):
    """Backend: view → (layers, tokens, width) unit vectors of its scored tokens."""

    def run(self, batch: Sequence[Excerpt]) -> list[FloatArray]:
        layouts, _, units = self.stacked(batch)
        return [
            row[:, layout.start : layout.stop].copy()
            for row, layout in zip(units.cpu().numpy(), layouts)
        ]


class PairForm:
    """Base class of forms that compare two texts: encoder features, then surface features."""

    Settings: type
    reads = ("hyp", "ref")
    name: str
    version = 1  # of the features: stored ones of another version are not used
    backend: type[Texts]
    held: int  # pairs whose token vectors are in memory at a time
    sizes: tuple[int, int, int]  # features per layer, once, of the surface

    def __init__(self, opening: Opening) -> None:
        settings: Any = fill(self.Settings, opening.config.settings, opening.base.name, "settings.")
        reads_only(opening, self.name, self.reads)
        self.body = Body(opening, settings.layers)
        self.texts = self.backend(self.body, settings.limit, self.name)
        self.id = f"{self.texts.id}/{self.version}"
        self.deep = len(self.body.layers) * self.sizes[0] + self.sizes[1]
        self.width = self.deep + self.sizes[2]

    def fit(self, pair: Request) -> Fit:
        return together(self.texts.fit(view) for view in texts_of(pair, self.reads).values())

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        marked = self.body.tokenizer.marked
        return [
            (side, marked(self.texts.layout(view)))
            for side, view in texts_of(pair, self.reads).items()
        ]

    def seen(self, pair: Request) -> int | None:
        return self.body.tokenizer.seen(pair.hyp[0], self.texts.reading)

    def compare(self, hyp: Any, ref: Any, texts: tuple[str, str]) -> FloatArray:
        """(deep,) features of two texts as the backend gives them."""
        raise NotImplementedError

    def surface(self, hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
        raise NotImplementedError

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n, width)"""
        sides = [tuple(texts_of(pair, self.reads).values()) for pair in pairs]
        texts = [(hyp.text, ref.text) for hyp, ref in sides]
        deep = np.zeros((len(pairs), self.deep))
        for i, hyp, ref in both_read(sides, self.texts, run, self.held):
            deep[i] = self.compare(hyp, ref, texts[i])
        return np.concatenate(
            [deep, self.surface([hyp for hyp, _ in texts], [ref for _, ref in texts])], axis=1
        )


class Aligned(PairForm):
    """Per layer the mean, worst fifth and worst match of tokens; order; length; surface."""

    Settings, name, backend, held = Layers, "aligned", Units, PAIRS
    sizes = (PER_LAYER, ONCE, len(NAMES))

    def compare(self, hyp: FloatArray, ref: FloatArray, texts: tuple[str, str]) -> FloatArray:
        return matched_features(hyp, ref, *texts)

    def surface(self, hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
        return likeness(hyps, refs)

    def untrained(self, features: FloatArray) -> FloatArray:
        """(n,) BERTScore's F of the middle layer, from (n, width) features."""
        layers = len(self.body.layers)
        precision, recall = features[:, layers // 2], features[:, 3 * layers + layers // 2]
        return np.asarray(2 * precision * recall / np.maximum(precision + recall, 1e-9))


def matched_features(hyp: FloatArray, ref: FloatArray, hyp_text: str, ref_text: str) -> FloatArray:
    """(layers · PER_LAYER + ONCE,) of two texts' (layers, tokens, width) unit vectors."""
    layers, size, ref_size = len(hyp), hyp.shape[1], ref.shape[1]
    ratio = float(np.log((size + 1) / (ref_size + 1)))
    # pieces per word: high for garbled words
    pieces = [
        tokens / max(1, len(text.split()))
        for tokens, text in ((size, hyp_text), (ref_size, ref_text))
    ]
    lengths = [
        min(3.0, max(-3.0, ratio)),
        float(np.log1p(ref_size)),
        *(min(5.0, share) for share in pieces),
    ]
    if not size or not ref_size:
        return np.array([0.0] * (layers * PER_LAYER) + [0.0, 0.0, 1.0, 1.0, 0.0] + lengths)
    similar = hyp @ ref.transpose(0, 2, 1)  # (layers, hyp tokens, ref tokens)
    precise, covered = similar.max(axis=2), similar.max(axis=1)  # (layers, tokens of one side)
    parts: list[FloatArray] = []
    for side in (precise, covered):
        parts += [side.mean(axis=1), tail(side), side.min(axis=1)]
    middle = layers // 2
    order = [in_order(similar[middle].argmax(axis=axis)) for axis in (1, 0)]
    poor = [float((side[middle] < POOR).mean()) for side in (precise, covered)]
    mean = [side[-1].mean(axis=0) for side in (hyp, ref)]
    cosine = float(
        mean[0] @ mean[1] / max(1e-12, float(np.linalg.norm(mean[0]) * np.linalg.norm(mean[1])))
    )
    return np.array([*np.concatenate(parts), *order, *poor, cosine, *lengths], dtype=np.float64)


def tail(matches: FloatArray) -> FloatArray:
    """(layers,) mean of the worst matches of (layers, tokens)."""
    worst = max(1, matches.shape[1] // WORST)
    return np.asarray(np.sort(matches, axis=1)[:, :worst].mean(axis=1))


def in_order(places: FloatArray | IntArray) -> float:
    """Share of neighbouring tokens whose counterparts follow each other."""
    steps = np.diff(places)
    return float(((steps >= 0) & (steps <= STEP)).mean()) if len(steps) else 1.0
