"""Scores of COMET models: from sentence vectors (regression, reference-free, ranking), or from all
texts in one sequence, with error spans (UniTE, CometKiwi, xCOMET).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import ModelError
from wholetext.metrics.comet.model import FIRST_TOKEN, CometModel
from wholetext.models.device import memory, side_by_side, torch_module
from wholetext.models.encoder import EncoderBackend, average, refuse_context
from wholetext.models.layout import Ids, Layout, Parts, assemble, fit_in, together
from wholetext.models.tokenizer import TokenizedText
from wholetext.types import Excerpt, Fit, FloatArray, Request

Vector = NDArray[np.float32]  # (width,)
_ROWS = 1024  # rows that go through the estimator at a time


class SentenceVectors(EncoderBackend):
    """Backend: excerpt → vector of its scored segment in context (Vernikos et al. 2022, §3).

    The average runs over the scored tokens and, unless ``markers`` is off, the markers around them,
    which the average of a sentence without context has too.
    """

    def __init__(self, model: CometModel, reading: TokenizedText, markers: bool = True) -> None:
        self.model, self.encoder, self.markers = model, model.encoder, markers
        self.reading = TokenizedText(reading.limit or model.positions - 2, reading.truncation)
        self.id = f"{model.encoder.id}/pooled/{self.reading}/{markers}"

    def layout(self, x: Excerpt) -> Layout:
        if self.model.hparams.pool in FIRST_TOKEN:
            refuse_context(self.model.located.name, x)
        return self.model.tokenizer.layout(x, self.reading)

    def run(self, batch: Sequence[Excerpt], group: bool = False) -> list[Vector]:
        """Encode excerpts; with ``group`` the layer norm sees them as one text."""
        layouts = [self.layout(view) for view in batch]
        last = None if group else self.read_at(layouts)
        states, mask = self.encoder.hidden([layout.ids for layout in layouts], last=last)
        with torch_module().inference_mode(), memory():
            return list(self.pool(states, mask, layouts, group).cpu().numpy())

    def pool(
        self, states: Sequence[Any], mask: Any, layouts: Sequence[Layout], group: bool = False
    ) -> Any:
        """(batch, width) vectors; with ``group`` the layer norm sees the batch as one text."""
        hparams = self.model.hparams
        kept = self.mark([self._positions(layout) for layout in layouts], mask)
        if hparams.pool == "default":
            if self.model.typed:
                raise ModelError(
                    "its pooling needs a layer that is not in the checkpoint",
                    where=hparams.encoder_model,
                )
            return states[-1][:, 0].float()
        parts = (
            [(hparams.layer, 1.0)] if hparams.layer is not None else [*enumerate(self.model.mix[0])]
        )
        gamma = 1.0 if hparams.layer is not None else self.model.mix[1]
        total: Any = 0.0
        for layer, weight in parts:
            if weight:
                state = states[layer].float()  # (batch, tokens, width)
                mean, spread = (
                    moments(state, mask, group) if self.model.hparams.normed else (0.0, 1.0)
                )
                read = state if hparams.pool == "max" else average(state, kept)
                total = total + weight * (read - mean) / spread
        if hparams.pool == "max":
            return (gamma * total).masked_fill(~kept[:, :, None], float("-inf")).amax(dim=1)
        return (gamma * total)[:, 0]  # (batch, width)

    def read_at(self, layouts: Sequence[Layout]) -> list[list[int]] | None:
        """Positions of each sequence that ``pool`` reads; None: all."""
        return (
            None if self.model.hparams.normed else [self._positions(layout) for layout in layouts]
        )

    def _positions(self, layout: Layout) -> list[int]:
        if self.model.hparams.pool in FIRST_TOKEN:
            return [0]
        return layout.kept(self.markers) or layout.kept(True)


class GroupedVectors:
    """Backend: eight excerpts → vectors with a joint layer norm, as in COMET 1."""

    def __init__(self, single: SentenceVectors) -> None:
        self.single = single
        self.id = f"{single.id}/minibatch"

    def fit(self, x: tuple[Excerpt, ...]) -> Fit:
        return together(map(self.single.fit, x))

    def run(self, batch: Sequence[tuple[Excerpt, ...]]) -> list[list[Vector]]:
        return [self.single.run(views, group=True) for views in batch]


def moments(state: Any, mask: Any, group: bool) -> tuple[Any, Any]:
    """Mean and spread over real tokens, (batch, 1, 1) each (Peters et al. 2018, §3.2)."""
    real = mask[:, :, None].to(state.dtype)
    over = (0, 1, 2) if group else (1, 2)
    count = real.sum(dim=over, keepdim=True) * state.shape[-1]
    mean = (state * real).sum(dim=over, keepdim=True) / count
    variance = (((state - mean) * real) ** 2).sum(dim=over, keepdim=True) / count
    return mean, (variance + 1e-12).sqrt()


class RegressionHead:
    """Scores (n,) from (n, width) vectors of hypothesis, source and reference."""

    def __init__(self, model: CometModel) -> None:
        self.model = model

    @cached_property
    def estimator(self) -> Any:
        width = self.model.width
        return self.model.head((4 if self.model.hparams.kind == "referenceless" else 6) * width)

    def scores(self, hyp: Vector, src: Vector, ref: Vector | None) -> NDArray[np.float64]:
        torch, device = torch_module(), self.model.encoder.device
        if self.model.hparams.kind != "ranking":
            _ = self.estimator  # made once, before several ask for it

        def part(begin: int) -> NDArray[np.float32]:
            with torch.inference_mode(), memory():
                rows = [
                    torch.from_numpy(side[begin : begin + _ROWS]).to(device)
                    for side in (hyp, src, ref)
                    if side is not None
                ]
                return self._rows(*rows).cpu().numpy()  # type: ignore[no-any-return]

        return np.concatenate(list(side_by_side(device, part, range(0, len(hyp), _ROWS)))).astype(
            np.float64
        )

    def _rows(self, hyp: Any, src: Any, ref: Any = None) -> Any:
        """Score rows: Rei et al. 2020, §2.3–2.4 (with a reference), Rei et al. 2021 (without)."""
        torch = torch_module()
        if self.model.hparams.kind == "ranking":
            near = torch.nn.functional.pairwise_distance
            source, reference = near(hyp, src), near(hyp, ref)
            return 1 / (1 + 2 * source * reference / (source + reference))
        pairs = [hyp * src, (hyp - src).abs()]
        if ref is None:
            return self.estimator(torch.cat([hyp, src, *pairs], dim=-1))[:, 0]
        return self.estimator(torch.cat([hyp, ref, hyp * ref, (hyp - ref).abs(), *pairs], dim=-1))[
            :, 0
        ]


@dataclass(frozen=True, eq=False)
class Prediction:
    """Score of a pass, and label probabilities of hypothesis tokens, markers included."""

    score: float
    labels: NDArray[np.float32] | None  # (hypothesis tokens, labels)


class CrossEncoder(EncoderBackend):
    """Backend: request with the texts of one pass → Prediction."""

    def __init__(self, model: CometModel, limit: int = 0) -> None:
        self.model, self.encoder = model, model.encoder
        self.limit = limit or model.positions
        self.vectors = SentenceVectors(model, TokenizedText(self.limit))
        self.id = f"{model.encoder.id}/cross/{self.limit}"

    def layout(self, x: Request) -> Layout:
        """Lay out ``<s> hypothesis </s></s> source </s></s> reference </s>``.

        Each text is cut alone first, then the whole on the right, as the published tool does.
        Context goes before any scored text does, each text keeping an equal share of what room is
        left for it.
        """
        markers = self.model.tokenizer.markers
        texts = [self.model.tokenizer.parts(view) for view in texts_of(x)]
        edges = len(markers.opening) + len(markers.closing)
        own = [Parts((), text.scored[: self.limit - 2 - edges], ()) for text in texts]
        size = edges + len(markers.pair) * (len(texts) - 1) + sum(len(text.scored) for text in own)
        share = max(0, self.limit - size) // max(
            1, sum(bool(text.before or text.after) for text in texts)
        )
        fitted = [
            fit_in(text, len(cut.scored) + share, len(markers.between)) if text.context else cut
            for text, cut in zip(texts, own)
        ]
        ids, start, spans = self._join(fitted)
        ids = ids[: self.limit]
        kept = sum(max(0, min(stop, len(ids)) - min(begin, len(ids))) for begin, stop in spans)
        context = sum(text.context for text in fitted)
        fit = Fit(
            len(ids),
            len(ids) - kept - context,
            sum(text.context for text in texts) - context,
            sum(len(text.scored) for text in texts) - kept,
        )
        return Layout(ids, start, min(start + len(fitted[0].scored), len(ids)), fit)

    def _join(self, texts: Sequence[Parts]) -> tuple[Ids, int, list[tuple[int, int]]]:
        """Return the sequence, the start of the hypothesis, and the scored span of each text."""
        markers = self.model.tokenizer.markers
        ids: list[int] = [*markers.opening]
        spans = []
        for i, text in enumerate(texts):
            inner, begin = assemble(text, markers)
            begin += len(ids) - len(markers.opening) + (len(markers.pair) if i else 0)
            ids += [
                *(markers.pair if i else ()),
                *inner[len(markers.opening) : len(inner) - len(markers.closing)],
            ]
            spans.append((begin, begin + len(text.scored)))
        return (*ids, *markers.closing), spans[0][0], spans

    def run(self, batch: Sequence[Request]) -> list[Prediction]:
        torch, hparams = torch_module(), self.model.hparams
        layouts = [self.layout(request) for request in batch]
        types = None
        if self.model.typed:  # 0 for the hypothesis with its markers, 1 for the rest
            ranges = [(layout.stop, range(len(layout.ids))) for layout in layouts]
            types = [tuple(int(at > stop) for at in places) for stop, places in ranges]
        last = (
            self.vectors.read_at(layouts) if hparams.word_layer is None else None
        )  # error spans: every token
        states, mask = self.model.encoder.hidden(
            [layout.ids for layout in layouts], types, last=last
        )
        with torch.inference_mode(), memory():
            scores = self.estimator(self.vectors.pool(states, mask, layouts))[:, 0].cpu().tolist()
            if hparams.word_layer is None:
                return [Prediction(score, None) for score in scores]
            words = states[hparams.word_layer].float()  # (batch, tokens, width)
            found = []
            for row, layout, score in zip(words, layouts, scores):
                labels = self.tagger(row[layout.kept(markers=True)]).softmax(
                    dim=-1
                )  # (hypothesis tokens, labels)
                found.append(Prediction(score, labels.cpu().numpy()))
        return found

    @cached_property
    def estimator(self) -> Any:
        return self.model.head(self.model.width)

    @cached_property
    def tagger(self) -> Any:
        labels = len(self.model.hparams.labels) + 1
        return self.model.linear("hidden2tag", self.model.width, labels).to(self.encoder.device)

    def seen(self, request: Request) -> int:
        """Count the characters of the hypothesis that the sequence holds."""
        layout = self.layout(request)
        ends = [end for _, end in self.model.tokenizer.offsets(request.hyp[0].text)]
        kept = min(layout.stop - layout.start, len(ends))
        return ends[kept - 1] if kept else 0

    def spans(self, request: Request, labels: FloatArray) -> list[dict[str, Any]]:
        """Find error spans: runs of tokens labelled as errors, named after the first.

        A run that reaches the last token is dropped, as the published tool does: its scores depend
        on it.
        """
        view, layout = request.hyp[0], self.layout(request)
        positions = layout.kept(markers=True)
        offsets = self.model.tokenizer.offsets(view.text)
        where = [
            offsets[at - layout.start] if layout.start <= at < layout.stop else (0, 0)
            for at in positions
        ]
        best = labels.argmax(axis=1)
        found: list[dict[str, Any]] = []
        begin: int | None = None
        for i, label in enumerate(best):
            if label and begin is None:
                begin = i
            elif not label and begin is not None:
                found.append(
                    {
                        "text": self.model.tokenizer.decode(
                            tuple(layout.ids[at] for at in positions[begin:i])
                        ),
                        "confidence": float(labels[begin:i].max(axis=1).mean()),
                        "severity": self.model.hparams.labels[best[begin] - 1],
                        "start": where[begin][0],
                        "end": where[i - 1][1],
                    }
                )
                begin = None
        return found


def texts_of(request: Request) -> list[Excerpt]:
    """Texts of a pass in training order: hypothesis, source, reference."""
    return [request.hyp[0], *([request.src] if request.src else []), *request.refs[:1]]
