"""The shorter way through BERT-like layers gives the states that transformers gives."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


from wholetext.models.encoder import can_stack, states  # noqa: E402

SIZES = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
         "intermediate_size": 40, "max_position_embeddings": 40}  # fmt: skip


def make(kind: str, **more: Any) -> Any:
    torch.manual_seed(3)
    config = transformers.AutoConfig.for_model(kind, **SIZES, **more)
    model = transformers.AutoModel.from_config(config).eval()
    for parameter in model.parameters():  # biases and norms start as 0 and 1, where mistakes would not show
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def batch() -> tuple[Any, Any]:
    lengths = torch.tensor([9, 4, 7])
    mask = torch.arange(9)[None, :] < lengths[:, None]
    return torch.randint(3, 50, (3, 9)).masked_fill(~mask, 1), mask


def wanted(model: Any, ids: Any, mask: Any, types: Any = None) -> tuple[Any, ...]:
    more = {} if types is None else {"token_type_ids": types}
    found = model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True, **more)
    return tuple(found.hidden_states)


@torch.inference_mode()
@pytest.mark.parametrize("act", ["gelu", "relu", "gelu_new"])
@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "camembert"])
def test_every_layer_is_as_transformers_computes_it(kind: str, act: str) -> None:
    model = make(kind, hidden_act=act)
    ids, mask = batch()
    assert can_stack(model)
    found = states(model, ids, mask, None, None)
    assert len(found) == 4
    for mine, theirs in zip(found, wanted(model, ids, mask)):
        torch.testing.assert_close(mine[mask], theirs[mask], atol=2e-6, rtol=1e-6)


@torch.inference_mode()
def test_token_types_count() -> None:
    model = make("bert")
    ids, mask = batch()
    types = (torch.arange(9) > 4).long().expand(3, 9)
    found = states(model, ids, mask, types, None)[-1]
    torch.testing.assert_close(found[mask], wanted(model, ids, mask, types)[-1][mask], atol=2e-6, rtol=1e-6)
    assert (found - states(model, ids, mask, None, None)[-1]).abs().max() > 0.01


@torch.inference_mode()
@pytest.mark.parametrize("last", [[[0, 5, 6], [2], [1, 3]], [[], [0], []], [[8], [], [0, 1, 2, 3]]])
def test_the_last_layer_is_computed_where_it_is_read(last: list[list[int]]) -> None:
    model = make("xlm-roberta")
    ids, mask = batch()
    full, some = wanted(model, ids, mask), states(model, ids, mask, None, last)
    torch.testing.assert_close(some[-2][mask], full[-2][mask], atol=2e-6, rtol=1e-6)
    read = torch.zeros_like(mask)
    for row, positions in zip(read, last):
        row[positions] = True
    torch.testing.assert_close(some[-1][read], full[-1][read], atol=2e-6, rtol=1e-6)
    assert bool((some[-1][~read] == 0).all()), "nothing else was computed"


@torch.inference_mode()
@pytest.mark.parametrize("last", [[[], [], []], [[*range(9)], [*range(4)], [*range(7)]]])
def test_reading_nothing_or_everything_computes_the_whole_layer(last: list[list[int]]) -> None:
    model = make("bert")
    ids, mask = batch()
    found = states(model, ids, mask, None, last)[-1]
    torch.testing.assert_close(found[mask], wanted(model, ids, mask)[-1][mask], atol=2e-6, rtol=1e-6)


@pytest.mark.parametrize(("kind", "more"), [("electra", {}), ("mpnet", {}), ("xlm-roberta-xl", {}), ("rembert", {}),
                                            ("bert", {"is_decoder": True})])  # fmt: skip
def test_models_of_another_make_go_their_own_way(kind: str, more: dict[str, Any]) -> None:
    assert not can_stack(make(kind, **more))
