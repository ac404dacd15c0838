"""A real server as people start it: its address, 1 GB that it refuses, eight jobs at once, kill -9 and a new start."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import call
from tests.serving.serving_material import DOCUMENTS, PATIENCE, Running, gone, install_hold, until
from wholetext.errors import InputError, MissingExtra
from wholetext.serving import server
from wholetext.serving.settings import ServeOptions

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Running] = []

    def started(*more: str) -> Running:
        running.append(Running(tmp_path / "data", *more))
        return running[-1]

    yield started
    for one in running:
        one.end(signal.SIGKILL)


@pytest.mark.slow
def test_one_gigabyte_is_refused_early(start: Start, tmp_path: Path) -> None:
    one = start()
    assert one.line.startswith("http://127.0.0.1:") and str(tmp_path / "data") in one.line
    head = (f"POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:{one.port}\r\nContent-Length: 1000000000\r\n"
            "Content-Type: multipart/form-data; boundary=edge\r\n\r\n")  # fmt: skip
    with socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode())  # not one byte of the body is needed
        answer = raw.recv(4096)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"connection: close" in answer.lower()
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    head = head.replace("Content-Length: 1000000000", "Transfer-Encoding: chunked")
    sent = 0
    with socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE) as raw:
        part = b'--edge\r\nContent-Disposition: form-data; name="hyp"; filename="a"\r\n\r\n'
        raw.sendall(head.encode() + b"%x\r\n%s\r\n" % (len(part), part))
        try:
            for _ in range(1000):  # 1 GB without an announced length
                raw.sendall(chunk)
                sent += len(chunk)
        except OSError:  # the server closed the connection
            pass
    assert sent < 500e6
    assert list((tmp_path / "data" / "jobs").iterdir()) == []
    assert one.ask("/v1/jobs") == {"jobs": []} and one.end() in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_eight_jobs_at_once(start: Start) -> None:
    one = start("--workers", "2")

    def score(number: int) -> Any:
        text = [f"the cat sat {number}", "it was late"]
        documents = [{**DOCUMENTS[0], "outputs": {"same": text, "good": DOCUMENTS[0]["refs"]["A"]}}]  # type: ignore[index]
        return one.ask("/v1/score", {"documents": documents, "metrics": ["chrf"]})

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(score, range(8)))
    for answer in found:
        scores = {system["system"]: system["score"] for system in answer["metrics"][0]["systems"]}
        assert scores["good"] == 100.0 and 50 < scores["same"] < 100
    assert one.ask("/v1/jobs") == {"jobs": []}


@pytest.mark.slow
def test_a_killed_server_takes_its_jobs_up_again(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    one = start()
    first, second = (one.form(demo="de-en", metric=metric, title=metric)["id"] for metric in ("hold", "chrf"))
    (began,) = until(lambda: list(signs.glob("began-*")), "the first job to begin")
    assert [job["state"] for job in one.ask("/v1/jobs")["jobs"]] == ["waiting", "running"]
    assert one.end(signal.SIGKILL) == -signal.SIGKILL
    worker = int(began.name.partition("-")[2])
    until(lambda: gone(worker), "the worker to end with its server")
    (signs / "go").touch()
    again = start()

    def states() -> dict[str, str]:
        return {job["id"]: job["state"] for job in again.ask("/v1/jobs")["jobs"]}

    until(lambda: states() == {first: "done", second: "done"}, "both jobs")
    assert again.ask(f"/v1/jobs/{first}/results")["metrics"][0]["name"] == "hold"
    assert again.end() in (0, -signal.SIGTERM)


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
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"wholetext\[serve\]"):
        server.serve(ServeOptions(tmp_path / "data"))
