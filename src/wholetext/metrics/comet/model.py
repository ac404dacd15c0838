"""COMET models: hyper-parameters, encoder and head from a checkpoint folder, and their scores.

Scores come from sentence vectors (regression, reference-free, ranking), or from all texts in one
sequence, with error spans (UniTE, CometKiwi, xCOMET).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes, read_yaml
from wholetext.models.device import Precision, memory, need_torch, side_by_side, torch_module
from wholetext.models.encoder import (
    Encoder,
    EncoderBackend,
    average,
    cut_above,
    refuse_context,
)
from wholetext.models.hub import locate as hub
from wholetext.models.hub.torch_file import read_torch_file
from wholetext.models.layout import Layout, Parts, assemble, fit_in, together
from wholetext.models.loading import fill
from wholetext.models.tokenizer import FILES, TokenizedText, Tokenizer, reading
from wholetext.types import Excerpt, Fit, FloatArray, Request

KINDS: Mapping[str, str] = {
    "regression_metric": "regression",
    "referenceless_regression_metric": "referenceless",
    "ranking_metric": "ranking",
    "unified_metric": "unified",
    "xcomet_metric": "xcomet",
}
# encoder_model → (tokenizer class, whether token types mark the first text)
ENCODERS: Mapping[str, tuple[str, bool]] = {
    "XLM-RoBERTa": ("XLMRobertaTokenizerFast", False),
    "XLM-RoBERTa-XL": ("XLMRobertaTokenizerFast", False),
    "MiniLM": ("XLMRobertaTokenizerFast", False),
    "BERT": ("BertTokenizerFast", True),
    "RemBERT": ("RemBertTokenizerFast", False),  # has token types, but COMET does not pass them
}
PREFIXES = ("encoder.model.", "layerwise_attention.", "estimator.", "hidden2tag.")  # of tensors
# defaults of COMET's own classes
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "regression_metric": {"hidden_sizes": (3072, 1024)},
    "referenceless_regression_metric": {"hidden_sizes": (2048, 1024)},
    "unified_metric": {
        "layer_transformation": "sparsemax",
        "hidden_sizes": (3072, 1024),
        "word_layer": 24,
    },
    "xcomet_metric": {
        "layer_transformation": "sparsemax",
        "hidden_sizes": (2560, 1280),
        "word_layer": 36,
        "layer_norm": False,
        "word_level_training": True,
        "error_labels": ("minor", "major", "critical"),
    },
}
POOLS = ("avg", "max", "cls", "default")  # the last needs a layer that BERT's checkpoints lack
MIXES = ("softmax", "sparsemax", "sparsemax_patch")  # the last one means softmax
_MINILM_VOCABULARY = "FacebookAI/xlm-roberta-base"  # of multilingual MiniLM models
FIRST_TOKEN = {"cls", "default"}  # ways of pooling that read the first token alone
Vector = NDArray[np.float32]  # (width,)
# the score of a pass, and label probabilities (hypothesis tokens with markers, labels) of some models
Prediction = tuple[float, NDArray[np.float32] | None]
_ROWS = 1024  # rows that go through the estimator at a time


@dataclass(frozen=True)
class Hparams:
    """The hyperparameters in ``hparams.yaml``, with defaults for those that old files omit."""

    kind: str
    encoder_model: str
    pretrained_model: str
    pool: str
    layer: int | None  # None: a mix of all
    transformation: str
    layer_norm: bool
    hidden_sizes: tuple[int, ...]
    activation: str
    final_activation: str | None
    segments: tuple[str, ...]
    word_layer: int | None  # None: no error spans
    labels: tuple[str, ...]

    @property
    def normed(self) -> bool:
        """Whether each layer is normed over all tokens of a text."""
        return self.layer_norm and self.layer is None


def locate_comet(model: str, revision: str, weights: bool = True) -> hub.Located:
    """Locate a COMET model; short names mean Unbabel's models."""
    need_torch()  # before anything is downloaded
    known = (
        "/" not in model
        and not Path(model).exists()
        and model.lower().startswith(("wmt", "xcomet", "eamt"))
    )
    name = f"Unbabel/{model}" if known else model
    return hub.locate(name, revision, patterns=None if weights else ("*.yaml",))


def locate_encoder(located: hub.Located) -> hub.Located:
    """Locate configuration and vocabulary of the encoder: beside the model or on the hub."""
    return hub.companion(located.path, read_hparams(located.path).pretrained_model, FILES)


def read_hparams(folder: Path) -> Hparams:
    """Read and check ``hparams.yaml``."""
    path = folder / "hparams.yaml"
    if not path.is_file():
        raise ModelError(
            "there is no hparams.yaml",
            where=str(folder),
            next="give a COMET model: a folder with hparams.yaml and checkpoints, or a hub name",
        )
    raw = read_yaml(
        file_bytes(path, error=ModelError),
        where=str(path),
        next="fetch the model again",
        error=ModelError,
    )
    with hub.guarded(path, "it cannot be used"):
        identifier = str(raw.get("class_identifier"))
        if not isinstance(raw.get("pretrained_model"), str):
            raise ValueError(
                "it names no pretrained_model, the encoder that the model was trained from"
            )
        crossed = KINDS.get(identifier) in {"unified", "xcomet"}
        settings: dict[str, Any] = {**_DEFAULTS.get(identifier, {}), **raw}
        layer = settings.get("sent_layer" if crossed else "layer", "mix")
        final, spans = settings.get("final_activation"), settings.get("word_level_training")
        segments = settings.get("input_segments") or ("mt", "src", "ref")
        hparams = Hparams(
            kind=KINDS.get(identifier, ""),
            encoder_model=str(settings.get("encoder_model", "XLM-RoBERTa")),
            pretrained_model=settings["pretrained_model"],
            pool="cls" if crossed else str(settings.get("pool", "avg")),
            layer=None if layer == "mix" else int(layer),
            transformation=str(settings.get("layer_transformation", "softmax")),
            layer_norm=bool(settings.get("layer_norm", True)),
            hidden_sizes=tuple(int(size) for size in settings.get("hidden_sizes") or ()),
            activation=str(settings.get("activations", "Tanh")),
            final_activation=str(final) if final else None,
            segments=tuple(map(str, segments)) if crossed else (),
            word_layer=int(settings["word_layer"]) if crossed and spans else None,
            labels=tuple(map(str, settings.get("error_labels") or ("minor", "major"))),
        )
        _, typed = ENCODERS.get(hparams.encoder_model, ("", False))
        for name, values, known in (
            ("class_identifier", [identifier], KINDS),
            ("encoder_model", [hparams.encoder_model], ENCODERS),
            ("pool", [hparams.pool], POOLS[: 3 if typed else 4]),
            ("layer_transformation", [hparams.transformation], MIXES),
            ("input_segments", hparams.segments, ("mt", "src", "ref")),
        ):
            if not {*values} <= {*known}:
                stated = ", ".join(map(repr, values))[:80]
                raise ValueError(f"{name} is {stated}; known: {', '.join(known)}")
    return hparams


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read the tensors that COMET models use from a checkpoint's ``state_dict``."""
    content = read_torch_file(path)
    weights = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(weights, dict):
        raise ModelError(
            "the checkpoint has no state_dict", where=str(path), next="fetch the model again"
        )
    return {
        key: value
        for key, value in weights.items()
        if isinstance(value, torch_module().Tensor) and str(key).startswith(PREFIXES)
    }


class CometModel:
    """A COMET model; weights are loaded when first needed."""

    def __init__(self, located: hub.Located, precision: Precision) -> None:
        self.located, self.precision = located, precision
        self.hparams = read_hparams(located.path)
        self.base = locate_encoder(located)
        kind, self.typed = ENCODERS[self.hparams.encoder_model]
        self.tokenizer = Tokenizer(self.base.path, kind, vocabulary=self._vocabulary())
        with hub.guarded(self.base.path, "its config.json has no sizes"):
            sizes = (self.tokenizer.config[key] for key in ("hidden_size", "num_hidden_layers"))
            self.width, self.depth = map(int, sizes)
        for name, layer in (("layer", self.hparams.layer), ("word_layer", self.hparams.word_layer)):
            if layer is not None and not 0 <= layer <= self.depth:
                raise ModelError(
                    f"hparams.yaml asks for {name} {layer}, and its encoder {self.base.name} has "
                    f"{self.depth} layers",
                    where=str(located.path),
                    next="fetch the model and its encoder again",
                )
        self.encoder = Encoder(located, self.tokenizer, precision, self._build)
        self.encoder.exact = self.hparams.pool != "avg" and not self.hparams.segments

    @property
    def positions(self) -> int:
        """Ids a sequence may have in the published tool: two fewer than there are positions."""
        return int(self.tokenizer.config.get("max_position_embeddings") or 514) - 2

    @cached_property
    def weights(self) -> dict[str, Any]:
        """Tensors by name, from the one checkpoint of the folder."""
        paths = sorted((self.located.path / "checkpoints").glob("*.ckpt"))
        if len(paths) != 1:
            raise ModelError(
                f"there are {len(paths)} files checkpoints/*.ckpt, not one",
                where=str(self.located.path),
                next="keep the checkpoint you mean in the folder",
            )
        return read_checkpoint(paths[0])

    def tensor(self, key: str, shape: tuple[int, ...]) -> Any:
        """Return a tensor by name, and check its shape."""
        tensor = self.weights.get(key)
        if tensor is None or tuple(tensor.shape) != shape:
            stated = "no tensor" if tensor is None else f"the shape {tuple(tensor.shape)}"
            raise ModelError(
                f"the checkpoint has {stated} for {key!r}, not the shape {shape}",
                where=str(self.located.path),
                next="fetch the model again: hparams.yaml and the checkpoint do not match",
            )
        return tensor

    @cached_property
    def mix(self) -> tuple[dict[int, float], float]:
        """Weights of the layers that count, and the factor of their sum (Peters et al. 2018, eq. 1)."""
        if self.hparams.layer is not None:
            return {self.hparams.layer: 1.0}, 1.0
        name = "layerwise_attention.scalar_parameters"
        each = [self.tensor(f"{name}.{i}", (1,)) for i in range(self.depth + 1)]
        raw = torch_module().cat(each).double()
        sparse = self.hparams.transformation == "sparsemax"
        weights = sparsemax(raw.tolist()) if sparse else raw.softmax(0).tolist()
        gamma = float(self.tensor("layerwise_attention.gamma", (1,)))
        return {layer: weight for layer, weight in enumerate(weights) if weight}, gamma

    @cached_property
    def estimator(self) -> Any:
        """The feed-forward estimator: (n, features) → (n, 1)."""
        torch = torch_module()
        vectors = {"regression": 6, "referenceless": 4}.get(self.hparams.kind, 1)
        sizes = (vectors * self.width, *self.hparams.hidden_sizes, 1)
        modules: list[Any] = []
        for i, (size, out) in enumerate(pairwise(sizes)):
            name = f"estimator.ff.{3 * i}"  # Linear, activation and dropout come in threes
            modules += [self.linear(name, size, out), activation(self.hparams.activation)]
        modules.pop()
        if self.hparams.final_activation:
            modules.append(activation(self.hparams.final_activation))
        return torch.nn.Sequential(*modules).eval().to(self.encoder.device)

    @cached_property
    def tagger(self) -> Any:
        """The layer that labels tokens: (n, width) → (n, labels)."""
        labels = len(self.hparams.labels) + 1
        return self.linear("hidden2tag", self.width, labels).to(self.encoder.device)

    def linear(self, name: str, inputs: int, outputs: int) -> Any:
        """Build a linear layer from the checkpoint."""
        weight = self.tensor(f"{name}.weight", (outputs, inputs)).float()
        bias = self.tensor(f"{name}.bias", (outputs,)).float()
        layer = torch_module().nn.Linear(inputs, outputs, device="meta")  # weights follow
        layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)
        return layer.requires_grad_(False)

    def _vocabulary(self) -> Path:
        path = self.base.path
        names = ("tokenizer.json", "sentencepiece.bpe.model", "vocab.txt")
        if self.hparams.encoder_model != "MiniLM" or any((path / n).is_file() for n in names):
            return path
        own_name = _MINILM_VOCABULARY.split("/")[1]
        beside = hub.beside(self.located.path, own_name) != own_name
        return hub.companion(
            self.located.path, own_name if beside else _MINILM_VOCABULARY, FILES, "vocabulary"
        ).path

    def _build(self) -> Any:
        """Build the encoder with the checkpoint's weights, not the pretrained ones."""
        torch = torch_module()
        with reading(self.base.path) as transformers, torch.device("meta"):
            config = transformers.AutoConfig.from_pretrained(str(self.base.path), **hub.SAFE)
            model = transformers.AutoModel.from_config(
                config, add_pooling_layer=False, trust_remote_code=False
            )
        prefix = "encoder.model."
        state = {
            name: self.tensor(prefix + name, tuple(p.shape)) for name, p in model.named_parameters()
        }
        model = fill(model, state)
        # held once
        self.weights = {
            key: value for key, value in self.weights.items() if not key.startswith(prefix)
        }
        return cut_above(model, max(*self.mix[0], self.hparams.word_layer or 0))


def activation(name: str) -> Any:
    """Return an activation of ``torch.nn`` by its name, in any case."""
    modules = torch_module().nn.modules.activation
    try:
        return getattr(
            modules, next(known for known in modules.__all__ if known.lower() == name.lower())
        )()
    except (StopIteration, TypeError):  # unknown, or with parameters of its own
        raise ModelError(
            f"the activation {name!r} is not supported", next="check hparams.yaml"
        ) from None


def sparsemax(scores: list[float]) -> list[float]:
    """Project onto the simplex (Martins & Astudillo 2016, alg. 1): softmax with zeros."""
    total, threshold = 0.0, 0.0
    for k, score in enumerate(sorted(scores, reverse=True), 1):
        total += score
        if 1 + k * score > total:
            threshold = (total - 1) / k
    return [max(0.0, score - threshold) for score in scores]


# ---------------------------------------------------------------- scores


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
        return super().layout(x)

    def run(self, batch: Sequence[Excerpt], group: bool = False) -> list[Vector]:
        """Encode excerpts; with ``group`` the layer norm sees them as one text."""
        layouts = [self.layout(view) for view in batch]
        states, mask = self.encoder.hidden([layout.ids for layout in layouts])
        with torch_module().inference_mode(), memory():
            return list(self.pool(states, mask, layouts, group).cpu().numpy())

    def pool(
        self, states: Sequence[Any], mask: Any, layouts: Sequence[Layout], group: bool = False
    ) -> Any:
        """(batch, width) vectors; with ``group`` the layer norm sees the batch as one text."""
        hparams = self.model.hparams
        kept = torch_module().zeros_like(mask)  # (batch, tokens) of those that are pooled
        for row, layout in zip(kept, layouts):
            first = hparams.pool in FIRST_TOKEN
            row[[0] if first else layout.kept(self.markers) or layout.kept(True)] = True
        if hparams.pool == "default":
            return states[-1][:, 0].float()
        layers, gamma = self.model.mix
        total: Any = 0.0
        for layer, weight in layers.items():
            state = states[layer].float()  # (batch, tokens, width)
            mean, spread = moments(state, mask, group) if hparams.normed else (0.0, 1.0)
            read = state if hparams.pool == "max" else average(state, kept)
            total = total + weight * (read - mean) / spread
        if hparams.pool == "max":
            return (gamma * total).masked_fill(~kept[:, :, None], float("-inf")).amax(dim=1)
        return (gamma * total)[:, 0]  # (batch, width)


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


def regression_scores(model: CometModel, *sides: Vector) -> NDArray[np.float64]:
    """Scores (n,) from (n, width) vectors of hypothesis, source and, for some models, reference."""
    torch, device = torch_module(), model.encoder.device
    head = None if model.hparams.kind == "ranking" else model.estimator  # made before threads ask

    def part(begin: int) -> NDArray[np.float32]:
        with torch.inference_mode(), memory():
            parts = (np.ascontiguousarray(side[begin : begin + _ROWS]) for side in sides)
            rows = [torch.from_numpy(part).to(device) for part in parts]
            return _regressed(head, *rows).cpu().numpy()  # type: ignore[no-any-return]

    parts = side_by_side(device, part, range(0, len(sides[0]), _ROWS))
    return np.concatenate(list(parts)).astype(np.float64)


def _regressed(head: Any, hyp: Any, src: Any, ref: Any = None) -> Any:
    """Score rows: Rei et al. 2020, §2.3–2.4 (with a reference), Rei et al. 2021 (without)."""
    torch = torch_module()
    if head is None:  # ranking
        near = torch.nn.functional.pairwise_distance
        source, reference = near(hyp, src), near(hyp, ref)
        return 1 / (1 + 2 * source * reference / (source + reference))
    pairs = [hyp * src, (hyp - src).abs()]
    against = [src] if ref is None else [ref, hyp * ref, (hyp - ref).abs()]
    return head(torch.cat([hyp, *against, *pairs], dim=-1))[:, 0]


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
        sides = (x.hyp[0], x.src, *x.refs[:1])  # in training order
        texts = [self.model.tokenizer.parts(view) for view in sides if view is not None]
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
        bare, spans = replace(markers, opening=(), closing=()), []
        joined = list(markers.opening)
        for i, text in enumerate(fitted):
            joined += markers.pair if i else ()
            inner, places = assemble(text, bare)
            spans.append([len(joined) + place for place in places[len(text.before)]])
            joined += inner
        ids, start = (*joined, *markers.closing)[: self.limit], spans[0][0]
        kept = sum(max(0, min(stop, len(ids)) - min(begin, len(ids))) for begin, stop in spans)
        context = sum(text.context for text in fitted)
        fit = Fit(
            len(ids),
            len(ids) - kept - context,
            sum(text.context for text in texts) - context,
            sum(len(text.scored) for text in texts) - kept,
        )
        return Layout(ids, start, min(start + len(fitted[0].scored), len(ids)), fit)

    def run(self, batch: Sequence[Request]) -> list[Prediction]:
        hparams, types = self.model.hparams, None
        layouts = [self.layout(request) for request in batch]
        if self.model.typed:  # 0 for the hypothesis with its markers, 1 for the rest
            ranges = [(layout.stop, range(len(layout.ids))) for layout in layouts]
            types = [tuple(int(at > stop) for at in places) for stop, places in ranges]
        states, mask = self.encoder.hidden([layout.ids for layout in layouts], types)
        with torch_module().inference_mode(), memory():
            vectors = self.vectors.pool(states, mask, layouts)
            scores = self.model.estimator(vectors)[:, 0].cpu().tolist()
            if hparams.word_layer is None:
                return [(score, None) for score in scores]
            words = states[hparams.word_layer].float()  # (batch, tokens, width)
            rows = [row[layout.kept(markers=True)] for row, layout in zip(words, layouts)]
            labels = [self.model.tagger(row).softmax(dim=-1).cpu().numpy() for row in rows]
            return list(zip(scores, labels))

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
        best = labels.argmax(axis=1).tolist()
        runs = [
            [*run] for wrong, run in groupby(range(len(best)), lambda at: best[at] > 0) if wrong
        ]
        return [
            {
                "text": self.model.tokenizer.decode(tuple(layout.ids[positions[at]] for at in run)),
                "confidence": float(labels[run].max(axis=1).mean()),
                "severity": self.model.hparams.labels[best[run[0]] - 1],
                "start": where[run[0]][0],
                "end": where[run[-1]][1],
            }
            for run in runs
            if run[-1] + 1 < len(best)
        ]
