"""Sentence vectors as sentence-transformers models make them: encoder, pooling, dense layers, read from the folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.backends.device import memory, torch_module
from wholetext.backends.encoder import Encoder
from wholetext.backends.hub.locate import guarded
from wholetext.backends.layout import Layout
from wholetext.backends.tokenizer import TokenizedText, read_table
from wholetext.errors import MetricError, ModelError
from wholetext.files.parsing import file_bytes, read_json
from wholetext.types import Excerpt, Fit, FloatArray

_POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_max_tokens": "max"}


class Embeddings:
    """Backend: view → (width,) vector of its scored segments, pooled over their tokens and the markers around them."""

    def __init__(self, encoder: Encoder, reading: TokenizedText) -> None:
        self.encoder = encoder
        self.folder = encoder.located.path
        self.modules = _modules(self.folder)
        unknown = {kind for kind, _ in self.modules} - {"Transformer", "Pooling", "Dense", "Normalize"}
        if unknown:
            raise ModelError(f"the module {min(unknown)[:80]} is not supported", where=str(self.folder),
                             next="use a model of Transformer, Pooling, Dense and Normalize modules")
        stated = _table(self.folder / "sentence_bert_config.json")
        if stated.get("do_lower_case"):
            raise ModelError("it lower-cases text before its tokenizer does", where=str(self.folder))
        longest = stated.get("max_seq_length") or encoder.tokenizer.limit
        if not isinstance(longest, int) or longest < 0:
            raise ModelError(f"max_seq_length is {str(longest)[:40]!r}, not a number of tokens", where=str(self.folder),
                             next="fetch the model again")
        longest = min(longest, encoder.tokenizer.positions or longest)
        self.reading = replace(reading, limit=reading.limit or longest)
        self.pooling = self._pooling()
        self.id = f"{encoder.id}/{self.pooling}/{self.reading}"

    def fit(self, x: Excerpt) -> Fit:
        return self.layout(x).fit

    def layout(self, view: Excerpt) -> Layout:
        if self.pooling == "cls" and (view.before or view.after):
            raise MetricError(f"{self.encoder.located.name} pools the first token, so a segment cannot "
                              "be separated from its context",
                              next="use a view without context: sentence, slide, paragraph")
        return self.encoder.tokenizer.layout(view, self.reading)

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.encoder.spread(work, batches)

    def run(self, batch: Sequence[Excerpt]) -> list[FloatArray]:
        torch = torch_module()
        layouts = [self.layout(view) for view in batch]
        places = [[0] if self.pooling == "cls" else layout.kept(markers=True) for layout in layouts]
        states, mask = self.encoder.hidden([layout.ids for layout in layouts], last=places)
        with torch.inference_mode(), memory():
            last = states[-1].float()  # (batch, tokens, width)
            kept = torch.zeros_like(mask)
            for row, positions in zip(kept, places):
                row[positions] = True
            if self.pooling == "max":
                pooled = last.masked_fill(~kept[:, :, None], float("-inf")).amax(dim=1)
            else:
                weights = kept.to(last.dtype)
                pooled = (weights[:, None, :] @ last)[:, 0] / weights.sum(dim=1, keepdim=True)  # (batch, width)
            found: FloatArray = pooled.cpu().numpy().astype(np.float64)
        for weight, bias in self.dense:
            found = np.tanh(found @ weight.T + bias)
        return list(found)

    def _pooling(self) -> str:
        path = next((path for kind, path in self.modules if kind == "Pooling"), None)
        config = _table(self.folder / path / "config.json") if path else {"pooling_mode_mean_tokens": True}
        chosen = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
        if len(chosen) != 1 or chosen[0] not in _POOLINGS:
            raise ModelError(f"its pooling {' and '.join(chosen) or 'is not stated and'} is not supported",
                             where=str(self.folder), next=f"supported: {', '.join(_POOLINGS)}")
        return _POOLINGS[chosen[0]]

    @cached_property
    def dense(self) -> list[tuple[FloatArray, FloatArray]]:
        """Weight and bias of each dense layer, all with tanh."""
        from safetensors.numpy import load_file

        found = []
        for kind, path in self.modules:
            if kind == "Dense":
                config = _table(self.folder / path / "config.json")
                file = self.folder / path / "model.safetensors"
                if not str(config.get("activation_function", "")).endswith("Tanh") or not file.is_file():
                    raise ModelError("its dense layer is not a tanh layer stored as safetensors",
                                     where=str(self.folder / path))
                with guarded(self.folder / path):
                    tensors: dict[str, Any] = load_file(str(file))
                    found.append((tensors["linear.weight"].astype(float), tensors["linear.bias"].astype(float)))
        return found


def _modules(folder: Path) -> list[tuple[str, str]]:
    """(kind, folder) of each module; folders lie inside the model's."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    listed = read_json(file_bytes(path, error=ModelError), where=str(path), next="fetch the model again",
                       error=ModelError)  # fmt: skip
    rows = listed if isinstance(listed, list) else [None]
    found = [(each.get("type"), each.get("path")) for each in rows if isinstance(each, dict)]
    if len(found) < len(rows) or any(
            not isinstance(kind, str) or not isinstance(at, str) or Path(at).name != at for kind, at in found):
        raise ModelError("it is not a list of modules with a type and a folder of their own", where=str(path),
                         next="fetch the model again")
    return [(str(kind).rsplit(".", 1)[-1], str(at)) for kind, at in found]


def _table(path: Path) -> dict[str, Any]:
    return read_table(path) if path.is_file() else {}
