"""A chat server on loopback that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.judges.loopback import ChatHandler, Loopback

Reply = str | tuple[int, Any] | tuple[int, Any, dict[str, str]]


def completion(text: str | None, **more: Any) -> dict[str, Any]:
    """The body of an answer, as OpenAI sends it."""
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    choice = {"index": 0, "finish_reason": more.pop("finish", "stop"), "message": message}
    return {"model": "scripted-1", "system_fingerprint": "fp_1", "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2}, **more}


@dataclass
class ScriptedServer(Loopback):
    """``reply(body, n)``: a text, or status, body and headers; ``n`` counts requests of this content from 1."""

    reply: Callable[[Mapping[str, Any], int], Reply]
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def post(self, handler: ChatHandler, data: bytes) -> None:
        body = json.loads(data)
        with self._lock:
            if handler.asks:
                self.asked.append(body)
            self.headers.append(dict(handler.headers))
            number = sum(one == body for one in self.asked)
        reply = self.reply({**body, "path": handler.path}, number)
        status, found, *headers = (200, completion(reply)) if isinstance(reply, str) else reply
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        handler.reply(status, data, headers[0] if headers else None)
