"""Token vectors of a view at one hidden layer: what BERTScore and optimal-transport metrics compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.device import memory, torch_module
from wholetext.backends.encoder import Encoder
from wholetext.backends.tokenizer import TokenizedText
from wholetext.types import Excerpt, Fit


@dataclass(frozen=True, eq=False)
class Tokens:
    """Unit vectors of a view's tokens, and which of them are scored, markers, or the scored segments' own markers."""

    vectors: NDArray[np.float32]  # (tokens, width)
    ids: NDArray[np.int64]  # (tokens,)
    scored: NDArray[np.bool_]  # (tokens,)
    marker: NDArray[np.bool_]  # (tokens,)
    own: NDArray[np.bool_]  # (tokens,) the opening marker, and the one that closes the scored segments


class TokenVectors:
    """Backend: view → Tokens. ``everything`` keeps context and markers, else only the scored tokens come back."""

    def __init__(self, encoder: Encoder, layer: int, reading: TokenizedText, everything: bool = False) -> None:
        self.encoder, self.layer, self.reading, self.everything = encoder, layer, reading, everything
        self.id = f"{encoder.id}/layer{layer}/{reading}/{'all' if everything else 'scored'}"

    def fit(self, x: Excerpt) -> Fit:
        return self.encoder.tokenizer.layout(x, self.reading).fit

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.encoder.spread(work, batches)

    def run(self, batch: Sequence[Excerpt]) -> list[Tokens]:
        torch = torch_module()
        layouts = [self.encoder.tokenizer.layout(view, self.reading) for view in batch]
        ends = [(0, len(layout.ids)) if self.everything else (layout.start, layout.stop) for layout in layouts]
        kept = [np.arange(*each) for each in ends]
        states, _ = self.encoder.hidden([layout.ids for layout in layouts], last=[keep.tolist() for keep in kept])
        with torch.inference_mode(), memory():
            hidden = states[self.layer].float()  # (batch, tokens, width)
            unit = (hidden / hidden.norm(dim=-1, keepdim=True).clamp_min(1e-30)).cpu().numpy()
        special = {*self.encoder.tokenizer.markers.opening, *self.encoder.tokenizer.markers.between}
        found = []
        for row, layout, keep in zip(unit, layouts, kept):
            ids = np.array(layout.ids, dtype=np.int64)[keep]
            scored = (keep >= layout.start) & (keep < layout.stop)
            marker = ~scored & np.isin(ids, list(special))
            own = ~scored & np.isin(keep, layout.kept(markers=True))
            found.append(Tokens(row[keep].copy(), ids, scored, marker, own))
        return found
