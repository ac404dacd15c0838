"""Connections: a time limit for requests, and a budget for clients that have shown no token."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 15.0  # seconds in which the first line and the headers of a request must arrive
STRANGERS = 300  # connections that have shown no token
# bytes read at a time: asyncio's 256 kB would leave holes between small requests, and the memory of
# the process would grow by 0.1 kB with each of them
READ = 16_384


class Connection(H11Protocol):
    """An HTTP connection that is closed if no request arrives in time.

    Beyond the budget, a new connection replaces the one whose client has kept the server waiting
    longest. So a client that sends its request at once is answered, however many others are slow.
    """

    known = False  # whether its client has shown the token
    since = 0.0  # when it began to wait for a request
    timer: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.app_state = {**self.app_state, "connection": self}

    @property
    def waiting(self) -> bool:
        """Whether the client has to send more of a request, or to read the response."""
        cycle = self.cycle
        ended = cycle is None or cycle.response_complete
        return ended or cycle.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        strangers = [
            other for other in self.connections if isinstance(other, Connection) and not other.known
        ]
        with suppress(AttributeError):  # uvloop decides for itself
            transport.max_size = READ  # type: ignore[attr-defined]
        # asyncio does it only for sockets that name their protocol: without it, the body of a
        # response waits up to 40 ms for the client to acknowledge the headers
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._expect_request()
        if len(strangers) >= STRANGERS:
            idle = (other for other in strangers if other.waiting)
            oldest = min(idle, key=lambda other: other.since, default=self)
            self.connections.discard(oldest)  # connection_lost, which does it too, is called later
            oldest.transport.abort()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect_request()

    def _expect_request(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.since = self.loop.time()
        self.timer = self.loop.call_later(HEADERS, self._expire)

    def _expire(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Reject what is not HTTP, in the form of all other errors."""
        if self.cycle is None or self.cycle.response_complete:  # not within a response
            body = json.dumps({"error": msg, "next": "send a request of HTTP/1.1"})
            head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n{body}".encode())
        self.transport.close()
