"""500 clients that are slow or say nothing, beside ten honest ones for a minute: all honest requests are answered."""

from __future__ import annotations

import itertools
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.serving.serving_material import DOCUMENTS, Running, until

TOKEN = "a-token-of-the-honest"
SECONDS, SLOW, HONEST = 60.0, 500, 10
# what a slow client sends, byte by byte: nothing, a header without end, a body without end
BEGINNINGS = (b"", b"GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 10_000,
              b"POST /v1/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n" + b" " * 10_000,
              b"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n"
              b"Content-Type: multipart/form-data; boundary=x\r\n\r\n" + b"1\r\n-\r\n" * 5_000)  # fmt: skip


def be_slow(port: int, stop: threading.Event) -> None:
    """Keep the connections open, a byte each every half a second; one that is closed is opened again."""
    clients: list[tuple[socket.socket, bytes, int] | None] = [None] * SLOW
    beginnings = itertools.cycle(BEGINNINGS)
    while not stop.wait(0.5):
        for i, client in enumerate(clients):
            try:
                if client is None:
                    opened = socket.create_connection(("127.0.0.1", port), timeout=2)
                    text, sent = next(beginnings), 200
                    opened.sendall(text[:sent])
                else:
                    opened, text, sent = client
                    opened.sendall(text[sent : sent + 1])
                clients[i] = (opened, text, sent + 1)
            except OSError:
                if client is not None:
                    client[0].close()
                clients[i] = None
    for client in filter(None, clients):
        client[0].close()


@pytest.mark.slow
@pytest.mark.parametrize("token", [TOKEN, ""])
def test_honest_clients_are_answered(tmp_path: Path, token: str) -> None:
    stop = threading.Event()
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    def be_honest(server: Running, number: int) -> list[float]:
        times = []
        for turn in itertools.count():
            if time.monotonic() > end:
                return times
            begin = time.monotonic()
            assert server.ask("/healthz") == {"status": "ok"}
            assert "jobs" in server.ask("/v1/jobs", **headers)
            documents: list[Any] = json.loads(json.dumps(DOCUMENTS))
            documents[0]["outputs"]["good"][0] = f"text {number} {turn}"
            answer = server.ask("/v1/score", {"documents": documents, "metrics": ["chrf"]}, **headers)
            assert answer["metrics"][0]["name"] == "chrf", answer
            times.append(time.monotonic() - begin)
            time.sleep(0.3)
        return times

    with Running(tmp_path / "data", *(["--token", token] if token else [])) as server:
        slow = threading.Thread(target=be_slow, args=(server.port, stop))
        slow.start()
        end = time.monotonic() + SECONDS
        try:
            with ThreadPoolExecutor(HONEST) as pool:
                times = list(pool.map(lambda number: be_honest(server, number), range(HONEST)))
        finally:
            stop.set()
            slow.join()
        assert all(times) and max(map(max, times)) < 30
        until(lambda: not list((tmp_path / "data" / "jobs").iterdir()), "what slow clients began to be removed")
        print(f"\n{sum(map(len, times))} rounds, the longest {max(map(max, times)):.1f} s")
