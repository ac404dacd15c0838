"""Cross-encoder COMET models (UniTE, CometKiwi, xCOMET): all texts in one sequence, score and error spans from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.comet.model import CometModel
from wholetext.backends.comet.vectors import SentenceVectors
from wholetext.backends.device import memory, torch_module
from wholetext.backends.layout import Ids, Layout, Parts, assemble, fit_in
from wholetext.backends.tokenizer import TokenizedText
from wholetext.types import Excerpt, Fit, FloatArray, Request


@dataclass(frozen=True, eq=False)
class Prediction:
    """One pass: its score, and for each token of the hypothesis (markers included) how likely each label is."""

    score: float
    labels: NDArray[np.float32] | None  # (hypothesis tokens, labels)


class CrossEncoder:
    """Backend: a request with the texts of one pass (hypothesis; source and/or one reference) → Judged."""

    def __init__(self, model: CometModel, limit: int = 0) -> None:
        self.model = model
        self.limit = limit or model.positions
        self.alone = self.limit - 2  # what each text may have by itself
        self.vectors = SentenceVectors(model, TokenizedText(self.limit))
        self.id = f"{model.encoder.id}/cross/{self.limit}"

    def fit(self, x: Request) -> Fit:
        return self.layout(x).fit

    def layout(self, request: Request) -> Layout:
        """``<s> hypothesis </s></s> source </s></s> reference </s>``; start and stop are the hypothesis's.

        Each text is cut alone first, then the whole on the right, as the published tool does. Context goes before any
        scored text does, each text keeping an equal share of what room is left for it.
        """
        markers = self.model.tokenizer.markers
        texts = [self.model.tokenizer.parts(view) for view in texts_of(request)]
        edges = len(markers.opening) + len(markers.closing)
        own = [Parts((), text.scored[: self.alone - edges], ()) for text in texts]
        size = edges + len(markers.pair) * (len(texts) - 1) + sum(len(text.scored) for text in own)
        share = max(0, self.limit - size) // max(1, sum(bool(text.before or text.after) for text in texts))
        fitted = [fit_in(text, len(cut.scored) + share, len(markers.between)) if text.context else cut
                  for text, cut in zip(texts, own)]  # fmt: skip
        ids, start, spans = self._join(fitted)
        ids = ids[: self.limit]
        kept = sum(max(0, min(stop, len(ids)) - min(begin, len(ids))) for begin, stop in spans)
        context = sum(text.context for text in fitted)
        fit = Fit(len(ids), len(ids) - kept - context, sum(text.context for text in texts) - context,
                  sum(len(text.scored) for text in texts) - kept)
        return Layout(ids, start, min(start + len(fitted[0].scored), len(ids)), fit)

    def _join(self, texts: Sequence[Parts]) -> tuple[Ids, int, list[tuple[int, int]]]:
        """The sequence, where the hypothesis's scored tokens begin, and the positions of those of every text."""
        markers = self.model.tokenizer.markers
        ids: list[int] = [*markers.opening]
        spans = []
        for i, text in enumerate(texts):
            inner, begin = assemble(text, markers)
            begin += len(ids) - len(markers.opening) + (len(markers.pair) if i else 0)
            ids += [*(markers.pair if i else ()), *inner[len(markers.opening) : len(inner) - len(markers.closing)]]
            spans.append((begin, begin + len(text.scored)))
        return (*ids, *markers.closing), spans[0][0], spans

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.model.encoder.spread(work, batches)

    def run(self, batch: Sequence[Request]) -> list[Prediction]:
        torch, hparams = torch_module(), self.model.hparams
        layouts = [self.layout(request) for request in batch]
        types = [_types(layout) for layout in layouts] if self.model.typed else None
        last = self.vectors.read_at(layouts) if hparams.word_layer is None else None  # error spans: every token
        states, mask = self.model.encoder.hidden([layout.ids for layout in layouts], types, last=last)
        with torch.inference_mode(), memory():
            scores = self.estimator(self.vectors.pool(states, mask, layouts))[:, 0].cpu().tolist()
            if hparams.word_layer is None:
                return [Prediction(score, None) for score in scores]
            words = states[hparams.word_layer].float()  # (batch, tokens, width)
            found = []
            for row, layout, score in zip(words, layouts, scores):
                labels = self.tagger(row[layout.kept(markers=True)]).softmax(dim=-1)  # (hypothesis tokens, labels)
                found.append(Prediction(score, labels.cpu().numpy()))
        return found

    @cached_property
    def estimator(self) -> Any:
        return self.model.head(self.model.width)

    @cached_property
    def tagger(self) -> Any:
        torch = torch_module()
        shape = (len(self.model.hparams.labels) + 1, self.model.width)
        linear = torch.nn.Linear(shape[1], shape[0], device="meta")
        weight, bias = self.model.tensor("hidden2tag.weight", shape), self.model.tensor("hidden2tag.bias", shape[:1])
        linear.weight = torch.nn.Parameter(weight.float(), requires_grad=False)
        linear.bias = torch.nn.Parameter(bias.float(), requires_grad=False)
        return linear.to(self.model.encoder.device)

    def seen(self, request: Request) -> int:
        """How many characters of the hypothesis the sequence holds."""
        layout = self.layout(request)
        ends = [end for _, end in self.model.tokenizer.offsets(request.hyp[0].text)]
        kept = min(layout.stop - layout.start, len(ends))
        return ends[kept - 1] if kept else 0

    def spans(self, request: Request, labels: FloatArray) -> list[dict[str, Any]]:
        """Error spans of the hypothesis: runs of tokens whose likeliest label is an error, named after the first.

        A run that reaches the last token is dropped, as the published tool does: its scores depend on it.
        """
        view, layout = request.hyp[0], self.layout(request)
        positions = layout.kept(markers=True)
        offsets = self.model.tokenizer.offsets(view.text)
        where = [offsets[at - layout.start] if layout.start <= at < layout.stop else (0, 0) for at in positions]
        best = labels.argmax(axis=1)
        found: list[dict[str, Any]] = []
        begin: int | None = None
        for i, label in enumerate(best):
            if label and begin is None:
                begin = i
            elif not label and begin is not None:
                found.append({
                    "text": self.model.tokenizer.decode(tuple(layout.ids[at] for at in positions[begin:i])),
                    "confidence": float(labels[begin:i].max(axis=1).mean()),
                    "severity": self.model.hparams.labels[best[begin] - 1],
                    "start": where[begin][0], "end": where[i - 1][1],
                })
                begin = None
        return found


def texts_of(request: Request) -> list[Excerpt]:
    """The texts of a pass in the order the models were trained with: hypothesis, source, reference."""
    return [request.hyp[0], *([request.src] if request.src else []), *request.refs[:1]]


def _types(layout: Layout) -> Ids:
    """Token types: 0 for the hypothesis with its markers, 1 for the rest."""
    first = min(layout.stop + 1, len(layout.ids))
    return (0,) * first + (1,) * (len(layout.ids) - first)
