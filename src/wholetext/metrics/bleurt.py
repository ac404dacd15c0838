"""BLEURT: a cross-encoder of reference and hypothesis, trained on human judgments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.metrics.model_metric import ModelMetric
from wholetext.models.device import Precision, memory, torch_module
from wholetext.models.encoder import Encoder, EncoderBackend, refuse_context
from wholetext.models.hub.locate import guarded, locate
from wholetext.models.hub.torch_file import read_torch_file
from wholetext.models.layout import Ids, Layout, Markers
from wholetext.models.loading import fill, refuse_weights
from wholetext.models.tokenizer import (
    FILES,
    UNREADABLE,
    Tokenizer,
    check_limit,
    read_config,
    reading,
    sentence_pieces,
)
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime, mean_stats

Pair = tuple[Excerpt, Excerpt]  # reference, hypothesis
_PREFIX = "bleurt."
_HEAD = (
    "bleurt.pooler.dense.weight",
    "bleurt.pooler.dense.bias",
    "classifier.weight",
    "classifier.bias",
)
_LONGEST = 512  # ids that checkpoints without a number in their name were trained for


@dataclass(frozen=True)
class Bleurt(ModelMetric):
    """BLEURT (Sellam et al. 2020, §2; BLEURT-20: Pu et al. 2021), in the PyTorch conversion.

    The model reads ``[CLS] reference [SEP] hypothesis [SEP]``; its first token gives the score,
    which is about 0 to 1 for BLEURT-20 and has other scales in other checkpoints. What exceeds its
    length is cut from the end of the longer text, as in the published code. It cannot score a part
    of what it reads, so views with context are refused. Several references: the best (BLEURT itself
    takes one).
    """

    name = "bleurt"
    summary = "predicted quality of the hypothesis beside the reference (BLEURT, BLEURT-20)"
    range = (float("-inf"), float("inf"))
    several_refs = "max"
    overlapping = True

    model: str = "lucadiliello/BLEURT-20"
    limit: int | None = None  # by the model's name (bleurt-base-128: 128), else 512

    def resolve(self, langs: tuple[str, str]) -> Bleurt:
        located = locate(self.model, self.revision, patterns=FILES)
        config = read_bleurt_config(located.path)
        positions = int(config["max_position_embeddings"])
        trained = re.search(r"-(128|512)/?$", self.model)
        longest = min(int(trained[1]) if trained else _LONGEST, positions)
        limit = longest if self.limit is None else self.limit
        check_limit(limit, 5, positions, self.model)  # three markers, a token of each text
        return replace(self, revision=located.revision, limit=limit)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats([max(scores) for scores in self.mapped(requests, run)])

    def backend(self, run: Runtime) -> BleurtModel:
        precision, limit = Precision(run.device, run.dtype), self.limit or _LONGEST
        key = ("bleurt", self.model, self.revision, precision, limit)
        return run.resource(key, lambda: BleurtModel(self.model, self.revision, precision, limit))

    def inputs(self, request: Request) -> list[tuple[str, Pair]]:
        return [("ref and hyp", (ref, hyp)) for hyp, ref in request.pairs()]


class BleurtModel(EncoderBackend):
    """Backend: (reference, hypothesis) → score."""

    def __init__(self, model: str, revision: str, precision: Precision, limit: int) -> None:
        located = locate(model, revision, patterns=FILES)
        self.source, self.limit = (model, revision), limit
        self.config = read_bleurt_config(located.path)
        self.tokenizer = open_tokenizer(located.path)
        self.encoder = Encoder(located, self.tokenizer, precision, self._build)
        self.encoder.exact = True  # the score is read from a single token
        self.id = f"{self.encoder.id}/bleurt/{limit}"
        self.laid_out = lru_cache(1 << 15)(self._layout)
        self._head: list[Any] = []

    def layout(self, x: Pair) -> Layout:
        return self.laid_out(x)

    def run(self, batch: Sequence[Pair]) -> list[float]:
        torch = torch_module()
        layouts = [self.layout(pair) for pair in batch]
        types = [
            tuple(int(at >= layout.start) for at in range(len(layout.ids))) for layout in layouts
        ]
        # the last layer of all tokens: rounding at the first alone would depend on the batch
        states, _ = self.encoder.hidden([layout.ids for layout in layouts], types)
        linear = torch.nn.functional.linear
        with torch.inference_mode(), memory():
            dense, bias, weight, shift = (part.to(self.encoder.device) for part in self._head)
            pooled = torch.tanh(linear(states[-1][:, 0].float(), dense, bias))  # (batch, width)
            scores: list[float] = linear(pooled, weight, shift)[:, 0].tolist()
        return scores

    def _layout(self, x: Pair) -> Layout:
        for view in x:
            refuse_context(self.encoder.located.name, view)
        ref, hyp = (self.tokenizer.ids(view.text) for view in x)
        markers = self.tokenizer.markers
        special = len(markers.opening) + 2 * len(markers.closing)
        over = max(0, len(ref) + len(hyp) - (self.limit - special))
        even = max(0, over - abs(len(ref) - len(hyp)))  # cut from both, once they are as long
        lost = over - even if len(hyp) > len(ref) else 0
        lost += (even + 1) // 2  # the hypothesis first
        hyp, ref = hyp[: len(hyp) - lost], ref[: len(ref) - (over - lost)]
        head = (*markers.opening, *ref, *markers.closing)
        ids = (*head, *hyp, *markers.closing)
        return Layout(ids, len(head), len(head) + len(hyp), Fit(len(ids), special, lost_focus=over))

    def _build(self) -> Any:
        """Build the encoder, which is an ELECTRA, and read the head from the same file."""
        folder = locate(*self.source).path
        tensors = read_weights(folder)
        width = self.config.get("embedding_size") or self.config["hidden_size"]
        sizes = {**self.config, "model_type": "electra", "embedding_size": width}
        with reading(folder) as transformers, torch_module().device("meta"):
            model = transformers.ElectraModel(transformers.ElectraConfig.from_dict(sizes))
        names = {
            name: _PREFIX + name.replace("embeddings_project.", "encoder.embedding_projection.")
            for name in model.state_dict()
        }
        refuse_weights([], {*names.values(), *_HEAD} - tensors.keys(), folder)
        self._head = [tensors[name].float() for name in _HEAD]
        return fill(model, {name: tensors[key] for name, key in names.items()})


class SentencePieces:
    """Text to ids by a folder's ``spm.model`` (BLEURT-20)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._model = sentence_pieces(folder / "spm.model")
        special = [self._model.piece_to_id(piece) for piece in ("[PAD]", "[CLS]", "[SEP]")]
        if self._model.unk_id() in special:
            raise ModelError(
                "its spm.model has no pieces [PAD], [CLS] and [SEP]",
                where=str(folder),
                next="fetch the model again",
            )
        self.pad, opening, closing = special
        self.markers = Markers((opening,), (closing,), (closing,), (closing,))

    def ids(self, text: str) -> Ids:
        with guarded(self.folder, UNREADABLE):
            return tuple(self._model.encode(text))

    def tokens(self, ids: Ids) -> list[str]:
        return [str(piece) for piece in self._model.id_to_piece(list(ids))]


def open_tokenizer(folder: Path) -> Any:
    """The tokenizer of a checkpoint: sentence pieces, or BERT's word pieces in lower case."""
    if (folder / "spm.model").is_file():
        return SentencePieces(folder)
    return Tokenizer(folder, "BertTokenizerFast")


def read_bleurt_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` of a BLEURT checkpoint."""
    config = read_config(folder)
    kind, activation = config.get("model_type"), config.get("hidden_act")
    if kind != "bleurt" or activation != "gelu" or not config.get("max_position_embeddings"):
        raise ModelError(
            f"this is a model of type {kind} with the activation {activation}, not BLEURT",
            where=str(folder),
            next="give a BLEURT checkpoint in PyTorch, such as lucadiliello/BLEURT-20; Google's "
            "TensorFlow folders have to be converted",
        )
    return config


def read_weights(folder: Path) -> dict[str, Any]:
    """Tensors of a checkpoint by name, from safetensors or a file of ``torch.save``."""
    path = folder / "model.safetensors"
    if not path.is_file():
        content = read_torch_file(folder / "pytorch_model.bin")
        return content if isinstance(content, dict) else {}
    from safetensors.torch import load_file

    with guarded(path):
        return dict(load_file(path))
