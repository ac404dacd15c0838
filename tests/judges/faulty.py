"""An OpenAI-compatible server on loopback that goes wrong on purpose, and knows exactly how often it did.

What happens to a request depends on the seed, its content and how often it was asked, never on timing: one run with
eight requests at a time meets the same faults as one that asks one by one.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counting import ChatHandler, QuietServer

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
class FaultyServer:
    """``rate`` of the requests meet one of ``faults``; the others get ``answer``. ``script`` overrides."""

    seed: int = 0
    rate: float = 0.0
    faults: Sequence[str] = FAULTS
    answer: Callable[[Mapping[str, Any]], str] = right_answer
    script: Callable[[Mapping[str, Any], int], str] | None = None  # (body, attempt) → kind, "ok" for the right answer
    hang: float = 5.0
    delay: float = 0.0
    served: list[Served] = field(default_factory=list)

    def __enter__(self) -> FaultyServer:
        self._lock, self._attempts = threading.Lock(), Counter[str]()
        self._stop = threading.Event()
        self._server = QuietServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def kinds(self) -> Counter[str]:
        """How often each thing happened."""
        with self._lock:
            return Counter(one.kind for one in self.served)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens of everything that was answered, in and out."""
        with self._lock:
            return sum(one.tokens[0] for one in self.served), sum(one.tokens[1] for one in self.served)

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


def _handler(server: FaultyServer) -> type[ChatHandler]:
    class Handler(ChatHandler):
        def do_GET(self) -> None:
            self.reply(200, json.dumps({"object": "list", "data": [{"id": "faulty-1.0", "object": "model"}]}).encode())

        def do_POST(self) -> None:
            data = self.read_body()
            if not self.path.endswith("/chat/completions"):
                self.reply(404, _error("unknown path", "not_found"))
                return
            body = json.loads(data)
            attempt = server._attempt(body)
            kind = server.chosen(body, attempt)
            time.sleep(server.delay)
            right = server.answer(body)
            if kind in AGAIN:
                server._note(kind, body, attempt, None)
                self.fail(kind, body, right)
                return
            message, finish, text = _texts(kind, right)
            whole = _completion(body, message, finish, text)
            server._note(kind, body, attempt, text)
            self.reply(200, json.dumps(_schema(kind, whole) if kind in SCHEMA else whole).encode())

        def fail(self, kind: str, body: dict[str, Any], right: str) -> None:
            whole = json.dumps(_completion(body, {"content": right}, "stop", right)).encode()
            if kind.startswith("429"):
                wait = {"429": {"Retry-After": "0"}, "429-date": {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}}
                self.reply(429, _error("too many requests", "rate_limit_exceeded"), wait.get(kind, {}))
            elif kind.isdigit():
                self.reply(int(kind), _error("the server failed", "server_error"))
            elif kind == "html":
                self.reply(200, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})
            elif kind == "bad-json":
                self.reply(200, whole[: len(whole) // 2])
            elif kind == "hang":
                server._stop.wait(server.hang)
                self.drop()
            else:
                self.partly(kind, whole)
                self.drop()

        def partly(self, kind: str, whole: bytes) -> None:
            """Less than was promised: of a body, or of a chunked one."""
            half = whole[: len(whole) // 2]
            if kind == "cut-body":
                self.reply(200, half, {"Content-Length": str(len(whole))})
            elif kind == "cut-stream":
                headers = {"Content-Length": "", "Transfer-Encoding": "chunked"}
                self.reply(200, b"%x\r\n%s\r\n" % (len(half), half), headers)

        def drop(self) -> None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def send_header(self, keyword: str, value: str) -> None:
            if value:  # an empty one takes a standard header away
                super().send_header(keyword, value)

    return Handler
