"""A real server as people start it: its address, 1 GB that it refuses, kill -9 and a new start."""

from __future__ import annotations

import http.client
import signal
import socket
import statistics
import sys
import time
from pathlib import Path

import pytest

from tests.in_process import call
from tests.serving.serving_material import PATIENCE, Running, gone, install_hold, until
from wholetext.errors import InputError, MissingExtra
from wholetext.serving import server
from wholetext.serving.settings import ServeOptions


@pytest.mark.slow
def test_one_gigabyte_is_refused_early(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as server:
        assert server.line.startswith("http://127.0.0.1:") and str(tmp_path / "data") in server.line
        head = (f"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000000000\r\n"
                "Content-Type: multipart/form-data; boundary=edge\r\n\r\n")  # fmt: skip
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
            raw.sendall(head.encode())  # not one byte of the body is needed
            answer = raw.recv(4096)
        assert answer.startswith(b"HTTP/1.1 413 ") and b"connection: close" in answer.lower()
        head = head.replace("Content-Length: 1000000000", "Transfer-Encoding: chunked")
        part = b'--edge\r\nContent-Disposition: form-data; name="hyp"; filename="a"\r\n\r\n'
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw, pytest.raises(OSError):
            raw.sendall(head.encode() + b"%x\r\n%s\r\n" % (len(part), part))
            for _ in range(500):  # no announced length; the server closes the connection
                raw.sendall(b"100000\r\n" + b"x" * 0x100000 + b"\r\n")
        assert list((tmp_path / "data" / "jobs").iterdir()) == []
        assert server.ask("/v1/jobs") == {"jobs": []} and server.end() in (0, -signal.SIGTERM)


@pytest.mark.long
def test_a_response_does_not_wait_for_acknowledgements(tmp_path: Path) -> None:
    """Headers and body are sent at once, not 40 ms apart (TCP_NODELAY)."""
    with Running(tmp_path / "data") as server:
        connection, seconds = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE), []
        for _ in range(30):
            begin = time.monotonic()
            connection.request("GET", "/v1/jobs")
            assert connection.getresponse().read() == b'{"jobs":[]}'
            seconds.append(time.monotonic() - begin)
        assert statistics.median(seconds) < 0.03


@pytest.mark.slow
def test_a_killed_server_takes_its_jobs_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    with Running(tmp_path / "data") as server:
        first, second = (server.form(demo="de-en", metric=metric)["id"] for metric in ("hold", "chrf"))
        (began,) = until(lambda: list(signs.glob("began-*")), "the first job to begin")
        assert [job["state"] for job in server.ask("/v1/jobs")["jobs"]] == ["waiting", "running"]
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
    worker = int(began.name.partition("-")[2])
    until(lambda: gone(worker), "the worker to end with its server")
    (signs / "go").touch()
    with Running(tmp_path / "data") as again:
        until(lambda: [job["state"] for job in again.ask("/v1/jobs")["jobs"]] == ["done", "done"], "both jobs")
        assert again.ask(f"/v1/jobs/{first}/results")["metrics"][0]["name"] == "hold"
        assert again.end() in (0, -signal.SIGTERM) and first != second


def test_what_cannot_be_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match="cannot listen there"):
        server.serve(ServeOptions(tmp_path / "data", port=taken.getsockname()[1]))
    with pytest.raises(InputError, match="cannot listen there"):
        server.serve(ServeOptions(tmp_path / "data", host="192.0.2.1", token="0123456789abcdef"))
    assert not (tmp_path / "data").exists()
    code, _, err = call(capsys, "serve", "--host", "0.0.0.0", "--data", tmp_path / "data")
    assert code == 2 and "needs a token" in err and "WHOLETEXT_TOKEN" in err
    monkeypatch.setitem(sys.modules, "python_multipart", None)
    with pytest.raises(MissingExtra, match=r"wholetext\[serve\]"):
        server.serve(ServeOptions(tmp_path / "data"))
