"""Encoders of the BERT family, read from safetensors without importing transformers' models.

That import takes longer than torch's, and ``encoder.states`` needs only the weights by name.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wholetext.models.device import torch_module
from wholetext.models.tokenizer import OFFSET, read_config

# models of embeddings and uniform layers
FAMILY = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
# settings without defaults
_STATED = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "max_position_embeddings",
    "type_vocab_size",
    "vocab_size",
    "pad_token_id",
    "layer_norm_eps",
)
# settings of other architectures
_OTHERWISE = ("is_decoder", "add_cross_attention", "quantization_config")
_FIRST = "embeddings.word_embeddings.weight"


def read_family(folder: Path) -> Any:
    """The encoder in a folder, for inference; None if transformers has to load it.

    That is the case for other architectures and files, and where a setting or tensor is missing or
    does not fit: transformers then reports the error.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    config = read_config(folder)
    plain = (
        config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )
    stated = all(isinstance(config.get(key), (int, float)) for key in _STATED)
    files = [path.name for path in folder.glob("*.safetensors")]
    if (
        config.get("model_type") not in FAMILY
        or not plain
        or not stated
        or files != ["model.safetensors"]
    ):
        return None
    if any(config.get(key) for key in _OTHERWISE):
        return None
    try:
        tensors = load_file(folder / "model.safetensors")
        prefix = next(
            (name.removesuffix(_FIRST) for name in tensors if name.endswith(_FIRST)), ""
        )  # before a head
        model = build_family(SimpleNamespace(**config))
        weights = {name: tensors[prefix + name] for name in model.state_dict()}
        model.load_state_dict(weights, assign=True)
    except (SafetensorError, OSError, KeyError, RuntimeError):  # RuntimeError: another shape
        return None
    return model.requires_grad_(False)


def build_family(config: Any) -> Any:
    """Modules with the names of transformers, without memory for weights.

    A config with ``embedding_size`` has narrower embeddings and a projection of them (BLEURT-20).
    """
    torch = torch_module()
    nn, width, inner = torch.nn, config.hidden_size, config.intermediate_size
    narrow = getattr(config, "embedding_size", None)

    def empty(kind: Any, *sizes: int, **options: Any) -> Any:
        """A module without initial weights: drawing them would import torch's compiler."""
        return type(kind.__name__, (kind,), {"reset_parameters": lambda self: None})(
            *sizes, device="meta", **options
        )

    def linear(inputs: int, outputs: int) -> Any:
        return empty(nn.Linear, inputs, outputs)

    def norm(size: int = width) -> Any:
        return empty(nn.LayerNorm, size, eps=config.layer_norm_eps)

    def layer() -> Any:
        return nn.ModuleDict(
            {
                "attention": nn.ModuleDict(
                    {
                        "self": nn.ModuleDict(
                            {name: linear(width, width) for name in ("query", "key", "value")}
                        ),
                        "output": nn.ModuleDict(
                            {"dense": linear(width, width), "LayerNorm": norm()}
                        ),
                    }
                ),
                "intermediate": nn.ModuleDict(
                    {"dense": linear(width, inner), "intermediate_act_fn": nn.GELU()}
                ),
                "output": nn.ModuleDict({"dense": linear(inner, width), "LayerNorm": norm()}),
            }
        )

    class Embeddings(nn.Module):  # type: ignore[name-defined,misc]
        """Normed sum of word, type and position vectors; RoBERTa's positions start after its pad id."""

        def __init__(self) -> None:
            super().__init__()
            size = narrow or width
            self.word_embeddings = empty(nn.Embedding, config.vocab_size, size)
            self.position_embeddings = empty(nn.Embedding, config.max_position_embeddings, size)
            self.token_type_embeddings = empty(nn.Embedding, config.type_vocab_size, size)
            self.LayerNorm = norm(size)

        def forward(self, input_ids: Any, token_type_ids: Any = None) -> Any:
            if config.model_type in OFFSET:
                real = input_ids.ne(config.pad_token_id).int()
                places = (
                    torch.cumsum(real, dim=1).type_as(real) * real
                ).long() + config.pad_token_id
            else:
                places = torch.arange(input_ids.shape[1], device=input_ids.device)[None, :]
            types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            total = self.word_embeddings(input_ids) + self.token_type_embeddings(types)
            normed = self.LayerNorm(total + self.position_embeddings(places))
            return model.encoder.embedding_projection(normed) if narrow else normed

    model = nn.Module()
    model.config, model.embeddings = config, Embeddings()
    model.encoder = nn.ModuleDict(
        {"layer": nn.ModuleList(layer() for _ in range(config.num_hidden_layers))}
    )
    if narrow:
        model.encoder["embedding_projection"] = linear(narrow, width)
    return model
