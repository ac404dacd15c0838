"""Parallel batches: on a CPU, several batches with few threads each are faster than one batch with all threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_MOST = 8  # batches in memory at a time
_ROUNDS = 4  # batches per lane from which it pays: with fewer, lanes would stand idle at the end


def side_by_side(torch: Any, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
    """What ``work`` makes of each batch, in order. torch's threads are shared out among the lanes: a matrix product
    that has a core to itself need not wait for others at its end, and its data stays in that core's cache.
    """
    threads = torch.get_num_threads()
    lanes = min(threads, _MOST)
    if lanes < 2 or len(batches) < _ROUNDS * lanes:
        yield from map(work, batches)
        return
    pool = ThreadPoolExecutor(lanes, "wholetext", initializer=torch.set_num_threads, initargs=(threads // lanes,))
    try:
        yield from pool.map(work, batches)
    finally:  # a failed batch, or a consumer that stops: queued batches are cancelled
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # threads begun later take over the number set last
