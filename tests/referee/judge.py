"""A chat server on loopback whose answers depend on the prompt alone."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ASPECTS = ("reference", "tense", "terminology", "connectives", "register")


def answer(prompt: str) -> dict[str, Any]:
    """A well-formed answer to any prompt of ours: the checksum of the prompt decides."""
    draw = zlib.crc32(prompt.encode())
    if '"errors"' in prompt:
        error = {"severity": ("minor", "major")[draw % 2], "category": "accuracy/mistranslation", "span": "the",
                 "context": "", "reason": ""}  # fmt: skip
        return {"errors": [error] * (draw % 3)}
    if '"better"' in prompt:
        return {"better": "AB"[draw % 2]}
    if "connectives" in prompt:
        return {name: {"score": (draw >> i) % 101, "evidence": []} for i, name in enumerate(ASPECTS)}
    return {"score": draw % 101}


class Handler(BaseHTTPRequestHandler):
    """The completions of an OpenAI-compatible server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a prompt."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(answer(body["messages"][-1]["content"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        self.reply(200, {"model": body["model"], "choices": [choice], "usage": usage})

    def do_GET(self) -> None:
        """Know nothing else."""
        self.reply(404, {})

    def reply(self, status: int, content: dict[str, Any]) -> None:
        """Send JSON."""
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def judge() -> Iterator[str]:
    """Run the server; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
