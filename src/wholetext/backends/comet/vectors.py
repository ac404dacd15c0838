"""COMET's sentence vectors and what is computed from them: regression, reference-free and ranking models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.comet.model import FIRST_TOKEN, CometModel
from wholetext.backends.device import memory, torch_module
from wholetext.backends.layout import Layout, together
from wholetext.backends.tokenizer import TokenizedText
from wholetext.errors import MetricError, ModelError
from wholetext.types import Excerpt, Fit

Vector = NDArray[np.float32]  # (width,)
_ROWS = 1024  # rows that go through the estimator at a time


class SentenceVectors:
    """Backend: view → the vector of its scored segment, read in its context (Vernikos et al. 2022, §3).

    The average runs over the scored tokens and, unless ``markers`` is off, the markers around them, which the average
    of a sentence without context has too.
    """

    def __init__(self, model: CometModel, reading: TokenizedText, markers: bool = True) -> None:
        self.model, self.markers = model, markers
        self.reading = TokenizedText(reading.limit or model.positions - 2, reading.truncation)
        self.id = f"{model.encoder.id}/pooled/{self.reading}/{markers}"

    def fit(self, x: Excerpt) -> Fit:
        return self.layout(x).fit

    def layout(self, view: Excerpt) -> Layout:
        found = self.model.tokenizer.layout(view, self.reading)
        if self.model.hparams.pool in FIRST_TOKEN and (view.before or view.after):
            raise MetricError(f"{self.model.located.name} pools the first token, so a segment cannot "
                              "be separated from its context",
                              next="use a view without context: sentence, slide, paragraph")
        return found

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.model.encoder.spread(work, batches)

    def run(self, batch: Sequence[Excerpt]) -> list[Vector]:
        torch = torch_module()
        layouts = [self.layout(view) for view in batch]
        states, mask = self.model.encoder.hidden([layout.ids for layout in layouts], last=self.read_at(layouts))
        with torch.inference_mode(), memory():
            return list(self.pool(states, mask, layouts).cpu().numpy())

    def pool(self, states: Sequence[Any], mask: Any, layouts: Sequence[Layout], group: bool = False) -> Any:
        """(batch, width) vectors; with ``group`` the layer norm sees the batch as one text."""
        torch, hparams = torch_module(), self.model.hparams
        kept = torch.zeros_like(mask)  # (batch, tokens) which tokens the vector is made of
        for row, layout in zip(kept, layouts):
            row[self._positions(layout)] = True
        if hparams.pool == "default":
            if self.model.typed:
                raise ModelError("its pooling needs a layer that is not in the checkpoint", where=hparams.encoder_model)
            return states[-1][:, 0].float()
        parts = [(hparams.layer, 1.0)] if hparams.layer is not None else [*enumerate(self.model.mix[0])]
        gamma = 1.0 if hparams.layer is not None else self.model.mix[1]
        total: Any = 0.0
        for layer, weight in parts:
            if weight:
                state = states[layer].float()  # (batch, tokens, width)
                mean, spread = moments(state, mask, group) if self.model.hparams.normed else (0.0, 1.0)
                read = state if hparams.pool == "max" else average(state, kept)
                total = total + weight * (read - mean) / spread
        if hparams.pool == "max":
            return (gamma * total).masked_fill(~kept[:, :, None], float("-inf")).amax(dim=1)
        return (gamma * total)[:, 0]  # (batch, width)

    def read_at(self, layouts: Sequence[Layout]) -> list[list[int]] | None:
        """The tokens of each sequence that ``pool`` reads; None: all."""
        return None if self.model.hparams.normed else [self._positions(layout) for layout in layouts]

    def _positions(self, layout: Layout) -> list[int]:
        """The tokens that the vector is made of."""
        if self.model.hparams.pool in FIRST_TOKEN:
            return [0]
        return layout.kept(self.markers) or layout.kept(True)


class GroupedVectors:
    """Backend: eight views → their vectors, the layer norm taken over all of them, as COMET 1 did (for comparison)."""

    def __init__(self, single: SentenceVectors) -> None:
        self.single = single
        self.id = f"{single.id}/minibatch"

    def fit(self, x: tuple[Excerpt, ...]) -> Fit:
        return together(map(self.single.fit, x))

    def run(self, batch: Sequence[tuple[Excerpt, ...]]) -> list[list[Vector]]:
        torch = torch_module()
        found = []
        for views in batch:
            layouts = [self.single.layout(view) for view in views]
            states, mask = self.single.model.encoder.hidden([layout.ids for layout in layouts])
            with torch.inference_mode(), memory():
                found.append(list(self.single.pool(states, mask, layouts, group=True).cpu().numpy()))
        return found


def moments(state: Any, mask: Any, group: bool) -> tuple[Any, Any]:
    """Mean and spread over a text's real tokens and all dimensions, each (batch, 1, 1) (Peters et al. 2018, §3.2)."""
    real = mask[:, :, None].to(state.dtype)
    over = (0, 1, 2) if group else (1, 2)
    count = real.sum(dim=over, keepdim=True) * state.shape[-1]
    mean = (state * real).sum(dim=over, keepdim=True) / count
    variance = (((state - mean) * real) ** 2).sum(dim=over, keepdim=True) / count
    return mean, (variance + 1e-12).sqrt()


def average(state: Any, kept: Any) -> Any:
    """(batch, 1, width) mean over the kept tokens."""
    weights = kept.to(state.dtype)
    return (weights[:, None, :] @ state) / weights.sum(dim=1)[:, None, None]


class RegressionHead:
    """From sentence vectors to scores: (n, width) arrays of hypothesis, source and reference → (n,) scores."""

    def __init__(self, model: CometModel) -> None:
        self.model = model

    @cached_property
    def estimator(self) -> Any:
        width = self.model.width
        return self.model.head((4 if self.model.hparams.kind == "referenceless" else 6) * width)

    def scores(self, hyp: Vector, src: Vector, ref: Vector | None) -> NDArray[np.float64]:
        torch = torch_module()
        found: list[NDArray[np.float32]] = []
        with torch.inference_mode(), memory():
            for begin in range(0, len(hyp), _ROWS):
                part = slice(begin, begin + _ROWS)
                rows = [torch.from_numpy(side[part]).to(self.model.encoder.device)
                        for side in (hyp, src, ref) if side is not None]
                found.append(self._rows(*rows).cpu().numpy())
        return np.concatenate(found).astype(np.float64)

    def _rows(self, hyp: Any, src: Any, ref: Any = None) -> Any:
        """(rows,) scores: Rei et al. 2020, §2.3 and §2.4 (with a reference) and Rei et al. 2021 (without)."""
        torch = torch_module()
        if self.model.hparams.kind == "ranking":
            near = torch.nn.functional.pairwise_distance
            source, reference = near(hyp, src), near(hyp, ref)
            return 1 / (1 + 2 * source * reference / (source + reference))
        pairs = [hyp * src, (hyp - src).abs()]
        if ref is None:
            return self.estimator(torch.cat([hyp, src, *pairs], dim=-1))[:, 0]
        return self.estimator(torch.cat([hyp, ref, hyp * ref, (hyp - ref).abs(), *pairs], dim=-1))[:, 0]
