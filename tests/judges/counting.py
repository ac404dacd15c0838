"""A proxy before a chat server that counts what passes, and can stop a request before it reaches the model."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


def is_repair(body: Mapping[str, Any]) -> bool:
    """Whether a request quotes an answer that could not be used: its last message shows no text to judge."""
    return "<translation-" not in body["messages"][-1]["content"]


@dataclass
class Exchange:
    """One chat request and what came back."""

    body: dict[str, Any]
    answer: dict[str, Any] | None = None  # None: not answered
    delivered: float | None = None  # time.monotonic() when it went back to the client

    @property
    def text(self) -> str:
        return json.dumps(self.body, sort_keys=True)

    @property
    def repair(self) -> bool:
        """Whether it quotes an answer that could not be used."""
        return is_repair(self.body)


@dataclass
class CountingProxy:
    """Forwards to ``target``. ``gate`` sees the number of a chat request before it is forwarded; False drops it."""

    target: str
    gate: Callable[[int], bool] = lambda number: True
    exchanges: list[Exchange] = field(default_factory=list)
    arrived: int = 0
    most_at_once: int = 0

    def __enter__(self) -> CountingProxy:
        self._lock, self._busy = threading.Lock(), 0
        self._server = QuietServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def asked(self) -> Counter[str]:
        """How often each request was forwarded to the model, by its content."""
        return Counter(one.text for one in self.exchanges)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out as the server reports them."""
        usages = [one.answer["usage"] for one in self.exchanges if one.answer and "usage" in one.answer]
        return sum(each["prompt_tokens"] for each in usages), sum(each["completion_tokens"] for each in usages)

    def clear(self) -> None:
        with self._lock:
            self.exchanges, self.arrived, self.most_at_once = [], 0, 0

    def _begin(self, body: dict[str, Any]) -> Exchange | None:
        with self._lock:
            self.arrived += 1
            number = self.arrived
        if not self.gate(number):
            return None
        with self._lock:
            self._busy += 1
            self.most_at_once = max(self.most_at_once, self._busy)
            self.exchanges.append(one := Exchange(body))
        return one

    def _end(self) -> None:
        with self._lock:
            self._busy -= 1


class QuietServer(ThreadingHTTPServer):
    """Clients that are killed or give up are what these tests are about: not worth a traceback."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        pass


class ChatHandler(BaseHTTPRequestHandler):
    """Reads and answers whole bodies over connections that stay open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def read_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        standard = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in {**standard, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _handler(proxy: CountingProxy) -> type[ChatHandler]:
    target = urlsplit(proxy.target)

    def forward(method: str, path: str, data: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=300)
        try:
            connection.request(method, path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    class Handler(ChatHandler):
        def do_GET(self) -> None:
            self.reply(*forward("GET", self.path, b""))

        def do_POST(self) -> None:
            data = self.read_body()
            if not self.path.endswith("/chat/completions"):
                self.reply(*forward("POST", self.path, data))
                return
            one = proxy._begin(json.loads(data))
            if one is None:
                self.close_connection = True
                return
            try:
                status, answer = forward("POST", self.path, data)
                one.answer = json.loads(answer)
                one.delivered = time.monotonic()
                self.reply(status, answer)
            finally:
                proxy._end()

    return Handler
