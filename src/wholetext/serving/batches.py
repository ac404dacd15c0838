"""Small requests: those that wait together are scored together, by workers that stay alive."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any

from wholetext.errors import WholetextError, WorkerError
from wholetext.serving.access import Refused
from wholetext.serving.scheduler import ENDING, Worker
from wholetext.serving.settings import ServeOptions

PAUSE = 0.002  # seconds that a request waits for others if it finds none
TOGETHER = 256  # requests
QUEUE = 2000  # small requests that may wait; larger ones count for more
Waiting = tuple[Mapping[str, Any], asyncio.Future[Any]]  # a request, and the answer to come


class Batches:
    """The queue of small requests, with a thread for each worker; nothing is written to disk.

    A worker that is free takes all that wait. While it scores them, the server answers the batch
    before and reads further requests.
    """

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._size, self._closing = 0, False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._loop) for _ in range(self.options.workers)]
        for thread in self._threads:
            thread.start()

    async def answer(self, request: Mapping[str, Any], size: int) -> Any:
        """Score the texts of a request of ``size`` bytes, together with those of others."""
        size = max(size, self.options.upload // QUEUE)
        if self._size + size > self.options.upload:
            raise Refused(429, "this server has too many requests", "try again in a second")
        future = asyncio.get_running_loop().create_future()
        self._queue.put((request, future))
        self._size += size
        try:
            return await future
        except asyncio.CancelledError:
            raise Refused(503, *ENDING) from None
        finally:
            self._size -= size

    def close(self) -> None:
        """End the workers; requests that wait are cancelled by the server."""
        self._closing = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    # -------------------------------------------------------- in the threads

    def _loop(self) -> None:
        worker = Worker(self.options)
        while (batch := self._batch()) and not self._closing:
            answers = self._answers(worker, [request for request, _ in batch])
            _, future = batch[0]
            future.get_loop().call_soon_threadsafe(_deliver, batch, answers)
        worker.kill()

    def _batch(self) -> list[Waiting]:
        """Wait for a request and take those that wait with it; none when the server ends."""
        first = self._queue.get()
        if first is None:
            return []
        if self._queue.empty():
            time.sleep(PAUSE)
        return [first, *islice(iter(self._next, None), TOGETHER - 1)]

    def _next(self) -> Waiting | None:
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def _answers(self, worker: Worker, requests: Sequence[Mapping[str, Any]]) -> list[Any]:
        """An answer or an error for each; if the worker dies, each is scored again on its own."""
        try:
            answers = worker.ask((requests, None), lambda: self._closing)
        except WorkerError as fault:
            if len(requests) == 1:
                return [Refused(422, fault.what, fault.next)]
            return [self._answers(worker, [request])[0] for request in requests]
        except Exception as fault:  # the thread goes on
            return [fault] * len(requests)
        return [
            Refused(422, f"{answer.where}: {answer.what}".removeprefix(": "), answer.next)
            if isinstance(answer, WholetextError)
            else answer
            for answer in answers
        ]


def _deliver(batch: Sequence[Waiting], answers: Sequence[Any]) -> None:
    """Pass on the answers, in the thread of the event loop."""
    for (_, future), answer in zip(batch, answers):
        if future.done():  # the client has gone
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
