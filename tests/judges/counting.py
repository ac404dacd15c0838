"""A proxy before a chat server that counts what passes, and can hold or drop a request before it reaches the model."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.judges.loopback import ChatHandler, Loopback


def is_repair(body: Mapping[str, Any]) -> bool:
    """Whether a request quotes an answer that could not be used: its last message shows no text to judge."""
    return "<translation-" not in body["messages"][-1]["content"]


@dataclass
class Exchange:
    """One chat request and what came back."""

    body: dict[str, Any]
    answer: dict[str, Any] | None = None  # None: not answered

    @property
    def text(self) -> str:
        return json.dumps(self.body, sort_keys=True)


@dataclass
class CountingProxy(Loopback):
    """Forwards to ``target``. ``gate`` sees the number of a chat request before it is forwarded; False drops it."""

    target: str
    gate: Callable[[int], bool] = lambda number: True
    more: Mapping[str, Any] = field(default_factory=dict)  # what is added to every chat request
    exchanges: list[Exchange] = field(default_factory=list)
    arrived: int = 0

    @property
    def asked(self) -> Counter[str]:
        """How often each request was forwarded to the model, by its content."""
        return Counter(exchange.text for exchange in self.exchanges)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out as the server reports them."""
        answers = [exchange.answer for exchange in self.exchanges if exchange.answer]
        usages = [answer["usage"] for answer in answers if "usage" in answer]
        return sum(usage["prompt_tokens"] for usage in usages), sum(usage["completion_tokens"] for usage in usages)

    def clear(self) -> None:
        with self._lock:
            self.exchanges, self.arrived = [], 0

    def get(self, handler: ChatHandler) -> None:
        handler.reply(*self._forward("GET", handler.path, b""))

    def post(self, handler: ChatHandler, data: bytes) -> None:
        if not handler.asks:
            handler.reply(*self._forward("POST", handler.path, data))
            return
        with self._lock:
            self.arrived += 1
            number = self.arrived
        if not self.gate(number):
            handler.close_connection = True
            return
        exchange = Exchange(json.loads(data))
        with self._lock:
            self.exchanges.append(exchange)
        status, answer = self._forward("POST", handler.path, json.dumps({**exchange.body, **self.more}).encode())
        exchange.answer = json.loads(answer)
        handler.reply(status, answer)

    def _forward(self, method: str, path: str, data: bytes) -> tuple[int, bytes]:
        target = urlsplit(self.target)
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=1800)
        try:
            connection.request(method, path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class Turnstile:
    """A gate that lets some requests pass and holds the others until they are dropped."""

    def __init__(self) -> None:
        self._lock, self._held = threading.Lock(), threading.Semaphore(0)
        self.open(0)

    def open(self, many: int) -> None:
        """So many pass from now on; those held before are dropped."""
        with self._lock:
            self._left, self._drop = many, threading.Event()

    def __call__(self, number: int) -> bool:
        with self._lock:
            self._left -= 1
            if self._left >= 0:
                return True
            drop = self._drop
        self._held.release()
        drop.wait()
        return False

    def wait(self, many: int) -> None:
        """Until so many are held."""
        for _ in range(many):
            assert self._held.acquire(timeout=600), "a request did not arrive"

    def drop(self) -> None:
        self._drop.set()
