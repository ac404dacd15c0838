"""Batches side by side: in order, really at the same time, and leaving torch's settings as they were."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext.models.device import Precision, side_by_side  # noqa: E402
from wholetext.models.encoder import Encoder, load_pretrained  # noqa: E402
from wholetext.models.hub.locate import locate  # noqa: E402
from wholetext.models.tokenizer import Tokenizer  # noqa: E402

TINY = Path(__file__).parents[1] / "oracle" / "neural" / "models" / "tiny-bert"


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_come_in_order_and_batches_run_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=30)  # broken, and the test with it, unless two are there at once

    def work(batch: list[int]) -> tuple[int, int]:
        meeting.wait()
        return sum(batch), torch.get_num_threads()

    found = list(side_by_side("cpu", work, [[i, i] for i in range(8)]))
    assert found == [(2 * i, 1) for i in range(8)]
    assert torch.get_num_threads() == 2


def test_a_batch_has_one_thread_so_rounding_does_not_depend_on_their_number() -> None:
    def work(batch: Any) -> tuple[int, bytes]:
        return torch.get_num_threads(), torch.nn.functional.linear(batch, weight).numpy().tobytes()

    torch.manual_seed(0)
    weight, batches = torch.randn(3072, 4608), [torch.randn(16, 4608)]  # a COMET estimator; two threads round otherwise
    torch.set_num_threads(1)
    alone = list(side_by_side("cpu", work, batches))
    torch.set_num_threads(2)
    assert list(side_by_side("cpu", work, batches)) == alone and alone[0][0] == 1


def test_exact_attention_holds_in_every_lane_and_is_put_back() -> None:
    located = locate(str(TINY))
    encoder = Encoder(located, Tokenizer(located.path), Precision("cpu"), lambda: load_pretrained(located.path))
    ids = [tuple(range(5, 5 + n)) for n in range(3, 43)]
    usual = torch.backends.cuda.flash_sdp_enabled()

    def work(batch: tuple[int, ...]) -> tuple[bool, Any]:
        states, _ = encoder.hidden([batch])
        return torch.backends.cuda.flash_sdp_enabled(), states[-1]

    encoder.exact = True
    alone = [encoder.hidden([one])[0][-1] for one in ids]
    found = list(encoder.spread(work, ids))
    assert not any(flash for flash, _ in found)  # no batch's end gave the fast kernel back to another one
    assert all(torch.allclose(states, one, atol=1e-6) for (_, states), one in zip(found, alone))
    assert torch.backends.cuda.flash_sdp_enabled() == usual


def test_a_failed_batch_ends_the_run_and_nothing_that_waits_is_begun() -> None:
    begun: list[int] = []
    failed = threading.Event()

    def work(batch: int) -> int:
        begun.append(batch)
        if batch == 0:
            failed.set()
            raise ValueError("a bad batch")
        failed.wait(30)
        return batch

    with pytest.raises(ValueError, match="a bad batch"):
        list(side_by_side("cpu", work, range(1000)))
    assert len(begun) < 1000 and torch.get_num_threads() == 2
