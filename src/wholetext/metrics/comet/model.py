"""COMET models: hyper-parameters, encoder and scoring head from a checkpoint folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes, read_yaml
from wholetext.models.device import Precision, torch_module
from wholetext.models.encoder import Encoder, cut_above
from wholetext.models.hub import locate as hub
from wholetext.models.hub.torch_file import read_torch_file
from wholetext.models.tokenizer import FILES, Tokenizer, reading

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
    "regression": {"hidden_sizes": (3072, 1024)},
    "referenceless": {"hidden_sizes": (2048, 1024)},
    "ranking": {},
    "unified": {
        "layer_transformation": "sparsemax",
        "hidden_sizes": (3072, 1024),
        "word_layer": 24,
    },
    "xcomet": {
        "layer_transformation": "sparsemax",
        "hidden_sizes": (2560, 1280),
        "word_layer": 36,
        "layer_norm": False,
        "word_level_training": True,
        "error_labels": ("minor", "major", "critical"),
    },
}
POOLS = ("avg", "max", "cls", "default")
MIXES = ("softmax", "sparsemax", "sparsemax_patch")  # the last one means softmax
_MINILM_VOCABULARY = "FacebookAI/xlm-roberta-base"  # of multilingual MiniLM models
FIRST_TOKEN = {"cls", "default"}  # ways of pooling that read the first token alone


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

    @property
    def top(self) -> int | None:
        """The last encoder layer that is needed; None: all."""
        return None if self.layer is None else max(self.layer, self.word_layer or 0)


def locate_comet(model: str, revision: str, weights: bool = True) -> hub.Located:
    """Locate a COMET model; short names mean Unbabel's models."""
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
        hparams = _hparams(raw)
        for name, values, known in (
            ("encoder_model", [hparams.encoder_model], ENCODERS),
            ("pool", [hparams.pool], POOLS),
            ("layer_transformation", [hparams.transformation], MIXES),
            ("input_segments", hparams.segments, ("mt", "src", "ref")),
        ):
            if not {*values} <= {*known}:
                stated = ", ".join(map(repr, values))[:80]
                raise ValueError(f"{name} is {stated}; known: {', '.join(known)}")
    return hparams


def _hparams(raw: dict[str, Any]) -> Hparams:
    identifier = str(raw.get("class_identifier"))
    if identifier not in KINDS:
        raise ValueError(f"class_identifier is {identifier[:80]!r}; known: {', '.join(KINDS)}")
    if not isinstance(raw.get("pretrained_model"), str):
        raise ValueError(
            "it names no pretrained_model, the encoder that the model was trained from"
        )
    kind = KINDS[identifier]
    crossed = kind in {"unified", "xcomet"}
    said: dict[str, Any] = {**_DEFAULTS[kind], **raw}
    layer = said.get("sent_layer" if crossed else "layer", "mix")
    return Hparams(
        kind=kind,
        encoder_model=str(said.get("encoder_model", "XLM-RoBERTa")),
        pretrained_model=said["pretrained_model"],
        pool="cls" if crossed else str(said.get("pool", "avg")),
        layer=None if layer == "mix" else int(layer),
        transformation=str(said.get("layer_transformation", "softmax")),
        layer_norm=bool(said.get("layer_norm", True)),
        hidden_sizes=tuple(int(size) for size in said.get("hidden_sizes") or ()),
        activation=str(said.get("activations", "Tanh")),
        final_activation=str(said["final_activation"]) if said.get("final_activation") else None,
        segments=tuple(map(str, said.get("input_segments") or ("mt", "src", "ref")))
        if crossed
        else (),
        word_layer=int(said["word_layer"]) if crossed and said.get("word_level_training") else None,
        labels=tuple(map(str, said.get("error_labels") or ("minor", "major"))),
    )


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
        for name, layer in (("layer", self.hparams.layer), ("word_layer", self.hparams.word_layer)):
            if layer is not None and not 0 <= layer <= self.depth:
                raise ModelError(
                    f"hparams.yaml asks for {name} {layer}, and its encoder {self.base.name} has "
                    f"{self.depth} layers",
                    where=str(located.path),
                    next="fetch the model and its encoder again",
                )
        self.encoder = Encoder(located, self.tokenizer, precision, self._build, self.hparams.top)
        self.encoder.exact = self.hparams.pool != "avg" and not self.hparams.segments

    @property
    def positions(self) -> int:
        """Ids a sequence may have in the published tool: two fewer than there are positions."""
        return int(self.tokenizer.config.get("max_position_embeddings") or 514) - 2

    @property
    def width(self) -> int:
        """Numbers in the vector of a token."""
        return self._size("hidden_size")

    @property
    def depth(self) -> int:
        """Layers of the encoder."""
        return self._size("num_hidden_layers")

    def _size(self, name: str) -> int:
        found = self.tokenizer.config.get(name)
        if not found:
            raise ModelError(
                f"its config.json has no {name}", where=str(self.base.path), next="fetch it again"
            )
        return int(found)

    @cached_property
    def weights(self) -> dict[str, Any]:
        """Tensors by name, from the one checkpoint of the folder."""
        found = sorted((self.located.path / "checkpoints").glob("*.ckpt"))
        if len(found) != 1:
            raise ModelError(
                f"there are {len(found)} files checkpoints/*.ckpt, not one",
                where=str(self.located.path),
                next="keep the checkpoint you mean in the folder",
            )
        return read_checkpoint(found[0])

    def tensor(self, key: str, shape: tuple[int, ...] | None = None) -> Any:
        """Return a tensor by name, and check its shape."""
        tensor = self.weights.get(key)
        if tensor is None or (shape is not None and tuple(tensor.shape) != shape):
            what = (
                f"the checkpoint has no tensor {key!r}"
                if tensor is None
                else (f"{key!r} has the shape {tuple(tensor.shape)}, not {shape}")
            )
            raise ModelError(
                what,
                where=str(self.located.path),
                next="fetch the model again: hparams.yaml and the checkpoint do not match",
            )
        return tensor

    @cached_property
    def mix(self) -> tuple[list[float], float]:
        """Weights of the layers and the factor of their sum (Peters et al. 2018, eq. 1)."""
        torch = torch_module()
        layers = self.depth + 1
        name = "layerwise_attention.scalar_parameters"
        raw = torch.cat([self.tensor(f"{name}.{i}", (1,)) for i in range(layers)]).double()
        weights = (
            sparsemax(raw.tolist())
            if self.hparams.transformation == "sparsemax"
            else raw.softmax(0).tolist()
        )
        return weights, float(self.tensor("layerwise_attention.gamma", (1,)))

    def head(self, inputs: int) -> Any:
        """Build the feed-forward estimator: (n, inputs) features → (n, 1)."""
        torch = torch_module()
        sizes = (inputs, *self.hparams.hidden_sizes, 1)
        modules: list[Any] = []
        for i, (size, out) in enumerate(pairwise(sizes)):
            name = f"estimator.ff.{3 * i}"  # Linear, activation and dropout come in threes
            modules += [self.linear(name, size, out), activation(self.hparams.activation)]
        modules.pop()
        if self.hparams.final_activation:
            modules.append(activation(self.hparams.final_activation))
        return torch.nn.Sequential(*modules).eval().to(self.encoder.device)

    def linear(self, name: str, inputs: int, outputs: int) -> Any:
        """Build a linear layer from the checkpoint."""
        torch = torch_module()
        weight, bias = (
            self.tensor(f"{name}.weight", (outputs, inputs)),
            self.tensor(f"{name}.bias", (outputs,)),
        )
        layer = torch.nn.Linear(inputs, outputs, device="meta")  # no memory: weights follow
        layer.weight = torch.nn.Parameter(weight.float(), requires_grad=False)
        layer.bias = torch.nn.Parameter(bias.float(), requires_grad=False)
        return layer

    def _vocabulary(self) -> Path:
        path = self.base.path
        own = any(
            (path / name).is_file()
            for name in ("tokenizer.json", "sentencepiece.bpe.model", "vocab.txt")
        )
        if own or self.hparams.encoder_model != "MiniLM":
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
        model.load_state_dict(state, strict=False, assign=True)
        self.weights = {
            key: value for key, value in self.weights.items() if not key.startswith(prefix)
        }  # held once
        for name, buffer in list(model.named_buffers()):
            owner, _, last = name.rpartition(".")
            made = (
                torch.arange(buffer.shape[-1]).expand(1, -1)
                if last == "position_ids"
                else torch.zeros(buffer.shape)
            )
            model.get_submodule(owner).register_buffer(
                last, made.to(buffer.dtype), persistent=False
            )
        if self.hparams.layer is not None:
            return model
        # sparsemax leaves layers out
        counted = max(i for i, weight in enumerate(self.mix[0]) if weight)
        return cut_above(model, max(counted, self.hparams.word_layer or 0))


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
