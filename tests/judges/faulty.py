"""An OpenAI-compatible server on loopback that goes wrong on purpose, and knows exactly how often it did.

What happens to a request depends on the seed, its content and how often it was asked, never on timing: one run with
eight requests at a time meets the same faults as one that asks one by one.
"""

from __future__ import annotations

import json
import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.judges.loopback import ChatHandler, Loopback

HUGE = 2_000_000  # characters of an answer that does not stop
REFUSALS = (
    "I'm sorry, but I can't help with that.", "I cannot assist with this request.",
    "I'm unable to evaluate this content as it may violate the usage policy.",
)  # fmt: skip

# What a client should do about a fault.
AGAIN = (
    "429", "429-date", "429-bare", "500", "502", "503", "hang", "reset", "cut-body", "cut-stream", "bad-json", "html",
)  # fmt: skip
SCHEMA = ("no-choices", "empty-choices", "null-content", "number-content", "list-body", "no-message")
TEXT = ("refusal-field", "refusal-text", "filtered", "empty", "nonsense", "huge", "two-numbers", "cut-short")
FAULTS = (*AGAIN, *SCHEMA, *TEXT)


@dataclass(frozen=True)
class Served:
    """One request as the server saw it."""

    kind: str
    body: dict[str, Any]
    attempt: int
    tokens: tuple[int, int]  # 0, 0 where nothing was answered


def words(text: str) -> int:
    """The server's tokens: words."""
    return len(text.split())


def right_answer(body: Mapping[str, Any]) -> str:
    """A number that depends on the request alone."""
    return str(random.Random(json.dumps(body["messages"], sort_keys=True)).randrange(101))


@dataclass
class FaultyServer(Loopback):
    """``rate`` of the requests meet one of ``faults``; the others get ``answer``. ``script`` overrides.

    A request that hangs does so as long as the server runs: how long a client waits is its own affair.
    """

    seed: int = 0
    rate: float = 0.0
    faults: Sequence[str] = FAULTS
    answer: Callable[[Mapping[str, Any]], str] = right_answer
    script: Callable[[Mapping[str, Any], int], str] | None = None  # (body, attempt) → kind, "ok" for the right answer
    served: list[Served] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._attempts, self._stop = Counter[str](), threading.Event()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        super().__exit__()

    @property
    def kinds(self) -> Counter[str]:
        """How often each thing happened."""
        with self._lock:
            return Counter(request.kind for request in self.served)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of everything that was answered, in and out."""
        with self._lock:
            return sum(request.tokens[0] for request in self.served), sum(request.tokens[1] for request in self.served)

    def chosen(self, body: Mapping[str, Any], attempt: int) -> str:
        if self.script is not None:
            return self.script(body, attempt)
        rng = random.Random(json.dumps([self.seed, body, attempt], sort_keys=True))
        return rng.choice(self.faults) if rng.random() < self.rate else "ok"

    def _note(self, kind: str, body: dict[str, Any], attempt: int, text: str | None) -> None:
        asked = sum(words(str(message["content"])) for message in body["messages"])
        with self._lock:
            self.served.append(Served(kind, body, attempt, (0, 0) if text is None else (asked, words(text))))

    def _attempt(self, body: dict[str, Any]) -> int:
        key = json.dumps(body, sort_keys=True)
        with self._lock:
            self._attempts[key] += 1
            return self._attempts[key]

    def get(self, handler: ChatHandler) -> None:
        handler.reply(200, json.dumps({"object": "list", "data": [{"id": "faulty-1.0", "object": "model"}]}).encode())

    def post(self, handler: ChatHandler, data: bytes) -> None:
        if not handler.asks:
            handler.reply(404, _error("unknown path", "not_found"))
            return
        body = json.loads(data)
        attempt = self._attempt(body)
        kind, right = self.chosen(body, attempt), self.answer(body)
        if kind in AGAIN:
            self._note(kind, body, attempt, None)
            self._fail(handler, kind, json.dumps(_completion(body, {"content": right}, "stop", right)).encode())
            return
        message, finish, text = _texts(kind, right)
        whole = _completion(body, message, finish, text)
        self._note(kind, body, attempt, text)
        handler.reply(200, json.dumps(_schema(kind, whole) if kind in SCHEMA else whole).encode())

    def _fail(self, handler: ChatHandler, kind: str, whole: bytes) -> None:
        """``whole`` is what should have been answered."""
        half = whole[: len(whole) // 2]
        if kind.startswith("429"):
            wait = {"429": {"Retry-After": "0"}, "429-date": {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}}
            handler.reply(429, _error("too many requests", "rate_limit_exceeded"), wait.get(kind, {}))
        elif kind.isdigit():
            handler.reply(int(kind), _error("the server failed", "server_error"))
        elif kind == "html":
            handler.reply(200, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})
        elif kind == "bad-json":
            handler.reply(200, half)
        elif kind == "cut-body":  # less than was promised
            handler.reply(200, half, {"Content-Length": str(len(whole))})
        elif kind == "cut-stream":
            headers = {"Content-Length": "", "Transfer-Encoding": "chunked"}
            handler.reply(200, b"%x\r\n%s\r\n" % (len(half), half), headers)
        elif kind == "hang":
            self._stop.wait()
        if kind in ("reset", "cut-body", "cut-stream", "hang"):
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)


def _completion(body: Mapping[str, Any], message: dict[str, Any], finish: str, text: str) -> dict[str, Any]:
    asked = sum(words(str(each["content"])) for each in body["messages"])
    usage = {"prompt_tokens": asked, "completion_tokens": words(text), "total_tokens": asked + words(text)}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "faulty-1.0", "usage": usage,
            "system_fingerprint": "fp_faulty", "choices": [{"index": 0, "finish_reason": finish,
                                                            "message": {"role": "assistant", **message}}]}  # fmt: skip


def _error(message: str, kind: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": kind, "code": kind}}).encode()


def _texts(kind: str, right: str) -> tuple[dict[str, Any], str, str]:
    """Message, reason to stop and text of a well-formed answer."""
    refusal = random.Random(right).choice(REFUSALS)
    text = {
        "refusal-field": "", "refusal-text": refusal, "filtered": "", "empty": "", "nonsense": "0.50",
        "huge": "very " * (HUGE // 5), "two-numbers": "Between 17 and 93, I think.", "cut-short": "The score of",
    }.get(kind, right)  # fmt: skip
    message: dict[str, Any] = {"content": text}
    if kind == "refusal-field":
        message = {"content": None, "refusal": refusal}
    finish = {"filtered": "content_filter", "huge": "length", "cut-short": "length"}.get(kind, "stop")
    return message, finish, text


def _schema(kind: str, whole: dict[str, Any]) -> Any:
    """An answer of another shape than the interface promises."""
    choice = whole["choices"][0]
    if kind == "no-choices":
        return {"id": "x", "object": "chat.completion", "model": "faulty-1.0"}
    if kind == "empty-choices":
        return {**whole, "choices": []}
    if kind == "list-body":
        return [whole]
    if kind == "no-message":
        return {**whole, "choices": [{"index": 0, "finish_reason": "stop"}]}
    content = None if kind == "null-content" else 87
    return {**whole, "choices": [{**choice, "message": {"role": "assistant", "content": content}}]}
