"""Modules of the BERT family by the names of transformers, for checkpoints that it cannot load."""

from __future__ import annotations

from typing import Any

from wholetext.models.device import torch_module
from wholetext.models.tokenizer import OFFSET


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
