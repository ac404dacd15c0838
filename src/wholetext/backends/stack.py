"""A forward pass through encoders of the BERT family that leaves out what is never read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_FAMILY = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})  # embeddings, then layers of one make
_MOST = 0.8  # share of the tokens from which on the last layer is computed for all of them


def can_stack(model: Any) -> bool:
    """Whether a transformers model is embeddings and layers of the family's make, and nothing else."""
    config, layers = model.config, getattr(getattr(model, "encoder", None), "layer", ())
    parts = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
             "attention.output.LayerNorm", "intermediate.dense", "intermediate.intermediate_act_fn", "output.dense",
             "output.LayerNorm")  # fmt: skip
    plain = getattr(config, "position_embedding_type", None) in {None, "absolute"}
    return (config.model_type in _FAMILY and plain and not getattr(config, "is_decoder", False)
            and all({*parts} <= {name for name, _ in layer.named_modules()} for layer in layers))  # fmt: skip


def states(model: Any, ids: Any, mask: Any, types: Any, last: Sequence[Sequence[int]] | None) -> list[Any]:
    """(batch, tokens, width) of the embeddings and after each layer, as the model gives them but for rounding.

    ids, mask and types: (batch, tokens). ``last``: the positions of each row at which the last layer is read; it is
    computed there alone, and 0 elsewhere.
    """
    found = [model.embeddings(input_ids=ids, **({} if types is None else {"token_type_ids": types}))]
    closed = None
    if not bool(mask.all()):  # added before the softmax: -inf for padding
        closed = found[0].new_zeros(mask.shape).masked_fill_(~mask, float("-inf"))[:, None, None, :]
    chosen = None if last is None else _choose(mask, last)
    *layers, top = model.encoder.layer or [None]
    for layer in layers:
        found.append(_run(layer, model.config, found[-1], closed))
    if top is not None:
        found.append(_run(top, model.config, found[-1], closed, chosen))
    return found


@dataclass(frozen=True)
class _Chosen:
    """Some tokens of a batch: where they are, and the same as a table of positions, filled up to the longest row."""

    where: Any  # (batch, tokens)
    table: Any  # (batch, most)
    real: Any  # (batch, most) what is no filler


def _choose(mask: Any, positions: Sequence[Sequence[int]]) -> _Chosen | None:
    """The tokens at these positions of each row, in rising order; None where they are nearly all, or none."""
    import torch

    count = sum(map(len, positions))
    if not count or count > _MOST * int(mask.sum()):
        return None
    most = max(map(len, positions))
    table = torch.tensor([[*row, *[0] * (most - len(row))] for row in positions], device=mask.device)
    lengths = torch.tensor([len(row) for row in positions], device=mask.device)
    real = torch.arange(most, device=mask.device)[None, :] < lengths[:, None]
    rows = torch.arange(len(mask), device=mask.device)[:, None].expand_as(table)
    where = torch.zeros_like(mask)
    where[rows[real], table[real]] = True
    return _Chosen(where, table, real)


def _run(layer: Any, config: Any, state: Any, closed: Any, chosen: _Chosen | None = None) -> Any:
    """Attention, then two dense layers, each with a sum and a norm after it (Vaswani et al. 2017, §3.1).

    The activation and the sums take the place of their input: new memory costs as much time as they do.
    """
    import torch

    asking = state  # (batch, asking tokens, width)
    if chosen is not None:
        asking = state.gather(1, chosen.table[:, :, None].expand(-1, -1, state.shape[2]))
    own, out = layer.attention.self, layer.attention.output
    heads = [part.unflatten(-1, (config.num_attention_heads, -1)).transpose(1, 2)
             for part in (own.query(asking), own.key(state), own.value(state))]  # fmt: skip
    if closed is not None:
        closed = closed.expand(-1, 1, asking.shape[1], -1)
    mixed = torch.nn.functional.scaled_dot_product_attention(*heads, attn_mask=closed)
    mixed, before = mixed.transpose(1, 2).flatten(2), asking
    if chosen is not None:  # from here on without the filler: (chosen tokens, width)
        mixed, before = mixed[chosen.real], asking[chosen.real]
    inner = out.LayerNorm(out.dense(mixed).add_(before))
    wide = layer.intermediate.dense(inner)
    in_place = torch.ops.aten.gelu_ if config.hidden_act == "gelu" else None
    wide = (in_place or layer.intermediate.intermediate_act_fn)(wide)
    after = layer.output.LayerNorm(layer.output.dense(wide).add_(inner))
    if chosen is None:
        return after
    full = torch.zeros_like(state)
    full[chosen.where] = after
    return full
