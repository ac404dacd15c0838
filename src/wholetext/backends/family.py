"""Encoders of the BERT family from safetensors, mapped into memory, without transformers' models: importing those
takes longer than torch itself, and ``encoder.states`` needs nothing of them but weights by their names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wholetext.backends.device import torch_module
from wholetext.backends.tokenizer import OFFSET, read_config

FAMILY = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})  # embeddings, then layers of one make
_STATED = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "max_position_embeddings",
           "type_vocab_size", "vocab_size", "pad_token_id", "layer_norm_eps")  # without defaults
_OTHERWISE = ("is_decoder", "add_cross_attention", "quantization_config")  # settings that make it another model
_LINEAR = {"attention.self.query": ("hidden_size", "hidden_size"), "attention.self.key": ("hidden_size", "hidden_size"),
           "attention.self.value": ("hidden_size", "hidden_size"),
           "attention.output.dense": ("hidden_size", "hidden_size"),
           "intermediate.dense": ("hidden_size", "intermediate_size"),
           "output.dense": ("intermediate_size", "hidden_size")}  # input and output width
_NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
_TABLES = {"word_embeddings": "vocab_size", "position_embeddings": "max_position_embeddings",
           "token_type_embeddings": "type_vocab_size"}


def read_family(folder: Path) -> Any:
    """The encoder in a folder, for inference alone; None if transformers has to load it, or to report the error.

    That is so for other kinds of models and files, and wherever a setting or tensor is missing or does not fit.
    """
    config = read_config(folder)
    if config.get("model_type") not in FAMILY or not all(isinstance(config.get(key), (int, float)) for key in _STATED):
        return None
    plain = config.get("hidden_act") == "gelu" and config.get("position_embedding_type", "absolute") == "absolute"
    heads = int(config["num_attention_heads"])
    if not plain or any(config.get(key) for key in _OTHERWISE) or heads < 1 or config["hidden_size"] % heads:
        return None
    if [path.name for path in folder.glob("*.safetensors")] != ["model.safetensors"]:
        return None
    tensors = _tensors(folder / "model.safetensors", _shapes(config))
    if tensors is None:
        return None
    with torch_module().random.fork_rng(devices=[]):  # modules draw their first weights, which are replaced
        return _built(SimpleNamespace(**config), tensors)


def _shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The name and shape of every tensor that is read."""
    width, found = config["hidden_size"], dict[str, tuple[int, ...]]()
    for name, rows in _TABLES.items():
        found[f"embeddings.{name}.weight"] = (config[rows], width)
    norms = ["embeddings.LayerNorm"]
    for layer in range(config["num_hidden_layers"]):
        start = f"encoder.layer.{layer}"
        norms += [f"{start}.{name}" for name in _NORMS]
        for name, (read, given) in _LINEAR.items():
            found[f"{start}.{name}.weight"] = (config[given], config[read])
            found[f"{start}.{name}.bias"] = (config[given],)
    return found | {f"{name}.{part}": (width,) for name in norms for part in ("weight", "bias")}


def _tensors(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any] | None:
    """The tensors by name; None where one is missing or has another shape. Models with a head have a prefix."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            there, first = set(file.keys()), next(iter(shapes))
            prefix = next((name.removesuffix(first) for name in there if name.endswith(first)), "")
            if not {prefix + name for name in shapes} <= there:
                return None
            if any(tuple(file.get_slice(prefix + name).get_shape()) != shape for name, shape in shapes.items()):
                return None
            return {name: file.get_tensor(prefix + name) for name in shapes}
    except (SafetensorError, OSError):
        return None


def _built(config: Any, tensors: Mapping[str, Any]) -> Any:
    """Modules under the names that transformers gives them."""
    torch = torch_module()
    nn = torch.nn
    leaves: dict[str, Any] = {}
    for name in dict.fromkeys(name.rpartition(".")[0] for name in tensors):
        shape = tuple(tensors[f"{name}.weight"].shape)
        if len(shape) == 1:
            leaf = nn.LayerNorm(1, eps=config.layer_norm_eps)
            leaf.normalized_shape = shape
        elif name.startswith("embeddings."):
            leaf = nn.Embedding(1, 1)
            leaf.num_embeddings, leaf.embedding_dim = shape
        else:
            leaf = nn.Linear(1, 1)
            leaf.out_features, leaf.in_features = shape
        for part, _ in list(leaf.named_parameters()):  # in place of the small ones, which cost no time
            setattr(leaf, part, nn.Parameter(tensors[f"{name}.{part}"], requires_grad=False))
        leaves[name] = leaf
    model = nn.Module()
    model.config, model.encoder, model.embeddings = config, nn.Module(), _embeddings(config)
    model.encoder.layer = nn.ModuleList(nn.Module() for _ in range(config.num_hidden_layers))
    for name, leaf in leaves.items():
        *path, last = name.split(".")
        at = model
        for part in path:
            if not hasattr(at, part):
                at.add_module(part, nn.Module())
            at = getattr(at, part)
        at.add_module(last, leaf)
    for layer in model.encoder.layer:
        layer.intermediate.intermediate_act_fn = nn.GELU()
    return model


def _embeddings(config: Any) -> Any:
    """The sum of word, type and position vectors, normed; RoBERTa counts positions from behind the padding's id."""
    torch = torch_module()

    class Embeddings(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, input_ids: Any, token_type_ids: Any = None) -> Any:
            if config.model_type in OFFSET:
                real = input_ids.ne(config.pad_token_id).int()
                places = (torch.cumsum(real, dim=1).type_as(real) * real).long() + config.pad_token_id
            else:
                places = torch.arange(input_ids.shape[1], device=input_ids.device)[None, :]
            types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            total = self.word_embeddings(input_ids) + self.token_type_embeddings(types)
            return self.LayerNorm(total + self.position_embeddings(places))

    return Embeddings()
