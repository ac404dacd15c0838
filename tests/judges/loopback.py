"""What the chat servers of the tests share: a free port of loopback, a thread per connection, whole bodies."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class ChatHandler(BaseHTTPRequestHandler):
    """Reads and answers whole bodies over connections that stay open."""

    server: _QuietServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.owner.get(self)

    def do_POST(self) -> None:
        self.server.owner.post(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

    @property
    def asks(self) -> bool:
        """Whether a chat model is asked, and not something else of the server."""
        return self.path.endswith("/chat/completions")

    def reply(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        """``headers`` come to the standard ones; an empty value takes one away."""
        self.send_response(status)
        standard = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        for name, value in {**standard, **(headers or {})}.items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


class _QuietServer(ThreadingHTTPServer):
    """Clients that are killed or give up are what these tests are about: not worth a traceback."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, owner: Loopback) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.owner = owner

    def handle_error(self, *_: object) -> None:
        pass


class Loopback:
    """A server that runs while its block does."""

    def __enter__(self) -> Self:
        self._lock = threading.Lock()
        self._server = _QuietServer(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def get(self, handler: ChatHandler) -> Any:
        handler.reply(404, b"{}")

    def post(self, handler: ChatHandler, data: bytes) -> Any:
        raise NotImplementedError
