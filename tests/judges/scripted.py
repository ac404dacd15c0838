"""A chat server on loopback that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from counting import ChatHandler, QuietServer

Reply = str | tuple[int, Any] | tuple[int, Any, dict[str, str]]


def completion(text: str | None, **more: Any) -> dict[str, Any]:
    """The body of an answer, as OpenAI sends it."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    choice = {"index": 0, "finish_reason": more.pop("finish", "stop"), "message": message}
    return {"model": "scripted-1", "system_fingerprint": "fp_1", "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2}, **more}


@dataclass
class ScriptedServer:
    """``reply(body, n)``: a text, or status, body and headers; ``n`` counts requests of this content from 1."""

    reply: Callable[[Mapping[str, Any], int], Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def __enter__(self) -> ScriptedServer:
        self._lock = threading.Lock()
        self._server = QuietServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def _handler(server: ScriptedServer) -> type[ChatHandler]:
    class Handler(ChatHandler):
        def do_POST(self) -> None:
            body = json.loads(self.read_body())
            with server._lock:
                server.paths.append(self.path)
                if self.path.endswith("/chat/completions"):
                    server.asked.append(body)
                server.headers.append(dict(self.headers))
                number = sum(one == body for one in server.asked)
            reply = server.reply({**body, "path": self.path}, number)
            status, found, *headers = (200, completion(reply)) if isinstance(reply, str) else reply
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.reply(status, data, headers[0] if headers else None)

    return Handler
