"""Small requests: collected for some milliseconds, scored together by a worker that stays alive."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool

from wholetext.errors import InputError, WholetextError, WorkerError
from wholetext.serving.scheduler import POLLING, Worker
from wholetext.serving.settings import ServeOptions

PAUSE, PAUSES = 0.002, 10  # seconds without a new request that end the wait; 20 ms at most
TOGETHER = 256  # requests
QUEUE = 2000  # small requests that may wait; larger ones count for more


class Busy(InputError):
    """More small requests than the server lets wait."""


class Ending(WholetextError):
    """The server ends before a request is scored."""

    def __init__(self) -> None:
        super().__init__("the server ends", next="send the request again when it runs")


class Failed(WholetextError):
    """A request that could not be scored."""


class Batches:
    """The queue of small requests; nothing of it is written to disk."""

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self._waiting: list[tuple[Mapping[str, Any], asyncio.Future[Any]]] = []
        self._size, self._closing, self._lock = 0, False, threading.Lock()
        self._task: asyncio.Task[None] | None = None
        self._worker: Worker | None = None

    async def answer(self, request: Mapping[str, Any], size: int) -> Any:
        """Score the texts of a request of ``size`` bytes, together with those of others."""
        size = max(size, self.options.upload // QUEUE)
        if self._size + size > self.options.upload:
            raise Busy("this server has too many requests", next="try again in a second")
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._size += size
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            return await future
        except asyncio.CancelledError:
            raise Ending from None
        finally:
            self._size -= size

    async def _run(self) -> None:
        while self._waiting:
            for _ in range(PAUSES):
                before = len(self._waiting)
                await asyncio.sleep(PAUSE)
                if len(self._waiting) in (before, TOGETHER):
                    break
            batch, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
            requests = [request for request, _ in batch]
            try:
                answers = await run_in_threadpool(self._answers, requests)
            except (Failed, Ending, OSError) as fault:
                answers = [fault] * len(batch)
            for (_, future), answer in zip(batch, answers):
                if future.done():  # the client has gone
                    continue
                if isinstance(answer, WholetextError) and not isinstance(answer, Ending):
                    answer = Failed(answer.what, where=answer.where, next=answer.next)
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)

    # -------------------------------------------------------- in a thread

    def _answers(self, requests: Sequence[Mapping[str, Any]]) -> list[Any]:
        """An answer or an error for each; if the worker dies, each is scored again on its own."""
        try:
            return self._ask(requests)
        except WorkerError:
            answers: list[Any] = []
        for request in requests:
            try:
                answers += self._ask([request])
            except WorkerError as fault:
                answers.append(fault)
        return answers

    def _ask(self, requests: Sequence[Mapping[str, Any]]) -> list[Any]:
        with self._lock:
            if self._closing:
                raise Ending
            if self._worker is None or not self._worker.idle:
                self._worker = Worker(self.options)
            worker, deadline = self._worker, time.monotonic() + self.options.timeout
            try:
                worker.pipe.send((requests, None))
                while not worker.pipe.poll(POLLING):
                    if self._closing:
                        raise Ending
                    if time.monotonic() > deadline:
                        raise TimeoutError
                answers: list[Any] = worker.pipe.recv()
                return answers
            except TimeoutError:
                worker.kill()
                raise Failed(
                    f"scoring took more than {self.options.timeout:g} seconds, the server's limit",
                    next="send fewer or shorter texts at a time",
                ) from None
            except (EOFError, OSError):
                worker.process.join(5)
            code = worker.process.exitcode
            worker.kill()
            raise WorkerError(
                f"the scoring process ended (exit code {code})",
                next="send shorter texts, or use a smaller model; see the server's log",
            )

    def close(self) -> None:
        """End the worker; requests that wait are answered with an error."""
        self._closing = True
        with self._lock:
            if self._worker is not None and not self._worker.pipe.closed:
                self._worker.kill()
