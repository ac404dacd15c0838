"""Form ``aligned``: token matches at several layers, as in BERTScore (Zhang et al. 2020, eq. 1).

Features are the mean and the worst matches, their order, and the surface overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import ModelError
from wholetext.models.device import Precision
from wholetext.models.embeddings import unit
from wholetext.models.encoder import Encoder, EncoderBackend, open_encoder
from wholetext.models.hub.locate import Located
from wholetext.models.layout import together
from wholetext.models.tokenizer import TokenizedText, Tokenizer
from wholetext.training.learned.folder import Config
from wholetext.training.learned.likeness import NAMES, likeness
from wholetext.types import Excerpt, Fit, FloatArray, IntArray, Request, Runtime

PAIRS = 96  # whose token vectors are held at a time
WORST = 5  # one token in so many makes the tail
POOR = 0.6  # a token that matches worse has no counterpart
STEP = 3  # counterparts at most so far to the right of the one before are in order
# per layer and side the mean, the tail, the worst; once order, poor tokens, cosine, lengths
PER_LAYER, ONCE = 6, 9


@dataclass(frozen=True)
class LayerSettings:
    """Which layers are compared (negative: from the last one back)."""

    layers: tuple[int, ...] = (0, 3, -1)
    limit: int = 0  # tokens per sequence; 0: what the model takes


class Units(EncoderBackend):
    """Backend: text → (layers, tokens, width) unit vectors of its scored tokens."""

    def __init__(
        self, base: Located, precision: Precision, run: Runtime, settings: LayerSettings
    ) -> None:
        self.tokenizer = run.resource(("tokenizer", base.path), lambda: Tokenizer(base.path))
        depth = int(self.tokenizer.config.get("num_hidden_layers") or 12)
        self.layers = [layer + depth + 1 if layer < 0 else layer for layer in settings.layers]
        if not self.layers or min(self.layers) < 0 or max(self.layers) > depth:
            raise ModelError(
                f"there are no layers {list(settings.layers)}: it has {depth}",
                where=base.name,
                next="name layers with settings.layers",
            )
        top = max(self.layers)
        self.encoder = Encoder(
            base,
            self.tokenizer,
            precision,
            lambda: open_encoder(run, base.source, base.revision, top).model,
            top,
        )
        # standardising magnifies rounding errors
        self.encoder.exact, self.encoder.min_padded_length = True, 32
        self.reading = TokenizedText(self.tokenizer.limited(settings.limit or None))
        self.id = f"{self.encoder.id}/layers{tuple(self.layers)}/aligned/{self.reading}"

    def run(self, batch: Sequence[Excerpt]) -> list[NDArray[Any]]:
        layouts = [self.layout(view) for view in batch]
        places = [layout.kept(markers=False) for layout in layouts]
        states = self.encoder.vectors([layout.ids for layout in layouts], self.layers, places)
        return [unit(rows) for rows in states]


class AlignedForm:
    """Per layer the mean, worst fifth and worst match of tokens; order; length; surface."""

    Settings = LayerSettings
    predicts_directly = False

    def __init__(self, config: Config, base: Located, precision: Precision, run: Runtime) -> None:
        self.units = Units(base, precision, run, LayerSettings(**config.settings))
        self.id = f"{self.units.id}/1"
        self.deep = len(self.units.layers) * PER_LAYER + ONCE
        self.width = self.deep + len(NAMES)

    def fit(self, pair: Request) -> Fit:
        return together(self.units.fit(view) for view in (pair.hyp[0], pair.refs[0]))

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        sides = {"hyp": pair.hyp[0], "ref": pair.refs[0]}
        return [(side, self.units.shown(view)) for side, view in sides.items()]

    def seen(self, pair: Request) -> int | None:
        return self.units.tokenizer.seen(pair.hyp[0], self.units.reading)

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """Compute (n, width) features; pairs with one reference are neighbours, so it is encoded once."""
        sides = [(pair.hyp[0], pair.refs[0]) for pair in pairs]
        deep = np.zeros((len(pairs), self.deep))
        order = sorted(range(len(sides)), key=lambda i: (sides[i][1].parts, sides[i][1].focus))
        for at in range(0, len(order), PAIRS):
            chosen = order[at : at + PAIRS]
            views = list(dict.fromkeys(view for i in chosen for view in sides[i]))
            vectors = dict(zip(views, run.map(self.units, views)))
            for i in chosen:
                hyp, ref = sides[i]
                deep[i] = matched(vectors[hyp], vectors[ref], (hyp.text, ref.text))
        surface = likeness([hyp.text for hyp, _ in sides], [ref.text for _, ref in sides])
        return np.concatenate([deep, surface], axis=1)

    def untrained(self, features: FloatArray) -> FloatArray:
        """Read BERTScore's F of the middle layer from (n, width) features: (n,)."""
        layers = len(self.units.layers)
        precision, recall = features[:, layers // 2], features[:, 3 * layers + layers // 2]
        return np.asarray(2 * precision * recall / np.maximum(precision + recall, 1e-9))


def matched(hyp: FloatArray, ref: FloatArray, texts: tuple[str, str]) -> FloatArray:
    """Compute the features of two texts from their (layers, tokens, width) unit vectors."""
    layers, size, ref_size = len(hyp), hyp.shape[1], ref.shape[1]
    ratio = float(np.log((size + 1) / (ref_size + 1)))
    # pieces per word: high for garbled words
    pieces = [tokens / max(1, len(text.split())) for tokens, text in zip((size, ref_size), texts)]
    lengths = [
        min(3.0, max(-3.0, ratio)),
        float(np.log1p(ref_size)),
        *(min(5.0, share) for share in pieces),
    ]
    if not size or not ref_size:
        return np.array([0.0] * (layers * PER_LAYER) + [0.0, 0.0, 1.0, 1.0, 0.0] + lengths)
    similar = hyp @ ref.transpose(0, 2, 1)  # (layers, hyp tokens, ref tokens)
    sides = similar.max(axis=2), similar.max(axis=1)  # (layers, tokens of one side)
    parts = [part for side in sides for part in (side.mean(axis=1), tail(side), side.min(axis=1))]
    middle = layers // 2
    order = [in_order(similar[middle].argmax(axis=axis)) for axis in (1, 0)]
    poor = [float((side[middle] < POOR).mean()) for side in sides]
    mean = [side[-1].mean(axis=0) for side in (hyp, ref)]
    norms = float(np.linalg.norm(mean[0]) * np.linalg.norm(mean[1]))
    cosine = float(mean[0] @ mean[1] / max(1e-12, norms))
    return np.array([*np.concatenate(parts), *order, *poor, cosine, *lengths], dtype=np.float64)


def tail(matches: FloatArray) -> FloatArray:
    """Average the worst of (layers, tokens) matches: (layers,)."""
    worst = max(1, matches.shape[1] // WORST)
    return np.asarray(np.sort(matches, axis=1)[:, :worst].mean(axis=1))


def in_order(places: IntArray) -> float:
    """Compute the share of neighbouring tokens whose counterparts follow each other."""
    steps = np.diff(places)
    return float(((steps >= 0) & (steps <= STEP)).mean()) if len(steps) else 1.0
