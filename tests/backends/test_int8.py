"""Layers in small integers: exact sums, near the layers they replace, the same whoever computes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from wholetext.backends import int8  # noqa: E402
from wholetext.scoring.evaluate import Options, evaluate  # noqa: E402
from wholetext.types import Corpus, Document, Output  # noqa: E402

compiled = pytest.mark.skipif(int8.kernel() is None, reason="needs a C compiler and a processor with AVX2")


def linear(inputs: int, outputs: int, seed: int = 0, size: float = 1.0) -> Any:
    draw = torch.Generator().manual_seed(seed)
    made = torch.nn.Linear(inputs, outputs)
    made.weight.data = size * torch.randn(outputs, inputs, generator=draw)
    made.bias.data = torch.randn(outputs, generator=draw)
    return made.requires_grad_(False)


def rows_of(count: int, inputs: int, seed: int = 1, size: float = 1.0) -> Any:
    return size * torch.randn(count, inputs, generator=torch.Generator().manual_seed(seed))


def both(exact: Any) -> tuple[Any, Any]:
    return int8.layer_class()(exact, int8.kernel()), int8.layer_class()(exact, None)


@pytest.fixture
def afresh() -> Iterator[None]:
    """The kernel is compiled again in the test, and after it."""
    int8.kernel.cache_clear()
    yield
    int8.kernel.cache_clear()


@compiled
@given(st.integers(1, 40), st.integers(1, 300), st.integers(1, 70), st.sampled_from([1e-42, 1e-20, 1.0, 1e12]),
       st.integers(0, 99))  # fmt: skip
def test_the_compiled_layer_gives_the_numbers_of_torch(
    count: int, inputs: int, outputs: int, size: float, seed: int
) -> None:
    fast, plain = both(linear(inputs, outputs, seed))
    rows = rows_of(count, inputs, seed + 1, size)
    rows[0] = size  # a row that is the same everywhere
    assert torch.equal(fast(rows), plain(rows))
    assert torch.equal(fast.weight(), plain.weight())


@compiled
def test_long_rows_and_the_largest_sums() -> None:
    """All codes at their ends: sums near 3072 · 127 · 63, which 16 bits, or fp32 at once, would not hold."""
    exact = torch.nn.Linear(3072, 40, bias=False).requires_grad_(False)
    exact.weight.data.fill_(1.0)
    exact.weight.data[1::2] = -1.0
    rows = torch.ones(5, 3072)
    rows[:, -1] = 0.0  # so that all others are at level 127
    fast, plain = both(exact)
    wanted = torch.ones(5, 1) * 3071 * torch.tensor([1.0, -1.0]).repeat(20)
    for layer in (fast, plain):
        torch.testing.assert_close(layer(rows), wanted, rtol=1e-6, atol=0)
    assert torch.equal(fast(rows), plain(rows))
    noisy, (fast, plain) = rows_of(33, 5000), both(linear(5000, 24))
    assert torch.equal(fast(noisy), plain(noisy))


@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 99))
def test_the_error_is_what_rounding_allows(inputs: int, outputs: int, seed: int) -> None:
    """Half a step for each weight and each input, and no more."""
    exact, rows = linear(inputs, outputs, seed), rows_of(4, inputs, seed + 1)
    layer = int8.layer_class()(exact, int8.kernel())
    step = (rows.amax(1) - rows.amin(1))[:, None] / int8.LEVELS
    half = exact.weight.abs().amax(1) / int8.MOST / 2
    allowed = rows.abs().sum(1)[:, None] * half + step / 2 * layer.weight().abs().sum(1)
    assert ((layer(rows) - exact(rows)).abs() <= allowed * 1.001 + 1e-4).all()
    assert ((layer.weight() - exact.weight).abs() <= half[:, None] * 1.001).all()


def test_a_row_is_the_same_alone_in_a_batch_and_on_threads() -> None:
    layer = int8.layer_class()(linear(96, 50), int8.kernel())
    rows, threads = rows_of(300, 96), torch.get_num_threads()
    together = layer(rows)
    assert torch.equal(together, torch.cat([layer(row[None]) for row in rows]))
    assert torch.equal(together.view(3, 100, 50), layer(rows.view(3, 100, 96)))
    assert layer(rows[:0]).shape == (0, 50)
    try:
        torch.set_num_threads(1)
        alone = layer(rows)
        torch.set_num_threads(3)
        assert torch.equal(alone, together) and torch.equal(layer(rows), together)
    finally:
        torch.set_num_threads(threads)


def test_what_is_no_number_stays_none_and_in_its_row() -> None:
    rows = rows_of(6, 37)
    for bad, at in ((1, 0), (2, 20), (4, 36)):
        rows[bad, at] = float("nan")
    for layer in both(linear(37, 20)):
        lost = layer(rows).isnan()
        assert lost.all(1).tolist() == lost.any(1).tolist() == [False, True, True, False, True, False]


def test_only_linear_layers_are_replaced() -> None:
    config = transformers.AutoConfig.for_model("bert", hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
                                               intermediate_size=40, vocab_size=50)  # fmt: skip
    model = transformers.AutoModel.from_config(config)
    count = sum(type(part) is torch.nn.Linear for part in model.modules())
    model = int8.quantised(model)
    assert sum(isinstance(part, int8.layer_class()) for part in model.modules()) == count == 2 * 6 + 1
    assert not any(type(part) is torch.nn.Linear for part in model.modules())
    assert model.embeddings.word_embeddings.weight.dtype == torch.float32


@compiled
def test_without_a_compiler_scores_are_the_same(
    oracle: Path, monkeypatch: pytest.MonkeyPatch, afresh: None
) -> None:
    text = ("A cat sat down.", "It was tired of the long walk home.")
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"ref": text}),))
    outputs = [Output("s", {"d": ("The cat sat.", "It had walked far.")})]
    options = Options(cache=False, device="cpu", dtype="int8")
    spec = f"sbert@{oracle / 'neural/models/tiny-bert'}"

    def rows() -> tuple[Any, str]:
        found = evaluate(corpus, outputs, [spec], options)
        return next(iter(found.scores.values()))["s"].at("row"), " ".join(found.warnings)

    fast, said = rows()
    assert "7 bits" in said and "compiler" not in said
    int8.kernel.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    slow, said = rows()
    assert "C compiler" in said
    np.testing.assert_array_equal(fast, slow)


@compiled
@pytest.mark.parametrize("fault", ["s/LEVELS = 127/LEVELS = 126/", "s/int apply/int other/", "s/int apply/int (/", ""])
def test_a_kernel_that_is_wrong_is_not_used(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, afresh: None
) -> None:
    """A compiler that makes something else of the source than it says."""
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\nfor last; do :; done\nsed "{fault}" "$last" > {tmp_path}/changed.c\n'
                      f'eval set -- $(echo "$@" | sed "s|$last|{tmp_path}/changed.c|")\nexec cc "$@"\n')  # fmt: skip
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    assert (int8.kernel() is None) == bool(fault)
