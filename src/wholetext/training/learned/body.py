"""The base encoder of a learned metric, shared with other metrics, and the texts it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wholetext.errors import ModelError
from wholetext.models.device import Precision
from wholetext.models.encoder import Encoder, open_encoder
from wholetext.models.hub.locate import Located
from wholetext.models.layout import Ids
from wholetext.models.tokenizer import Tokenizer
from wholetext.training.learned.config import Config
from wholetext.types import Excerpt, Request, Runtime


@dataclass(frozen=True, eq=False)
class Opening:
    """Arguments of a form. ``run`` provides shared models; a form does not keep it."""

    config: Config
    base: Located  # the base model, checked
    precision: Precision
    run: Runtime


class Body:
    """An encoder and the layers that are read (negative: from the last one back)."""

    def __init__(self, opening: Opening, layers: Sequence[int]) -> None:
        base = opening.base
        self.tokenizer = opening.run.resource(
            ("tokenizer", base.path), lambda: Tokenizer(base.path)
        )
        depth = int(self.tokenizer.config.get("num_hidden_layers") or 12)
        self.layers = tuple(layer + depth + 1 if layer < 0 else layer for layer in layers)
        missing = [layer for layer, at in zip(layers, self.layers) if not 0 <= at <= depth]
        if missing or not self.layers:
            what = f"there is no layer {missing[0]}" if missing else "no layer is read"
            raise ModelError(
                f"{what}: it has {depth} layers",
                where=base.name,
                next="name layers with settings.layers",
            )
        top = max(self.layers)

        def build() -> Any:
            return open_encoder(opening.run, base.asked, base.revision, top).model

        self.encoder = Encoder(base, self.tokenizer, opening.precision, build, top)
        # standardising magnifies rounding errors
        self.encoder.exact, self.encoder.min_padded_length = True, 32
        self.id = f"{self.encoder.id}/layers{self.layers}"

    def states(self, sequences: Sequence[Ids]) -> list[Any]:
        """The states of each layer that is read, each (batch, tokens, width) in single precision."""
        states, _ = self.encoder.hidden(sequences)
        return [states[layer].float() for layer in self.layers]


def texts_of(pair: Request, reads: Sequence[str]) -> dict[str, Excerpt]:
    """The texts a metric reads, in its order, the hypothesis first."""
    sides = {"hyp": pair.hyp[0], "ref": pair.refs[0] if pair.refs else None, "src": pair.src}
    order = dict.fromkeys(("hyp", *reads))
    return {side: view for side in order if (view := sides[side]) is not None}
