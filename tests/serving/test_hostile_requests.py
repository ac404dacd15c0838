"""Every answer of the JSON interface is JSON with `error` and `next`; memory, files and start-up of the server."""

from __future__ import annotations

import errno
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvicorn
from starlette.datastructures import UploadFile
from starlette.testclient import TestClient

from tests.serving.serving_material import DOCUMENTS, GOOD, REF, Running, client_of
from wholetext.serving import intake
from wholetext.serving.jobs import Jobs

FORM = {"content-type": "multipart/form-data; boundary=edge"}


def full(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def upload(client: TestClient, name: str = "good.txt") -> Any:
    return client.post("/v1/jobs", data={"metric": "chrf"}, files=[("hyp", (name, GOOD)), ("ref", ("ref.txt", REF))])


def test_errors_are_json_with_a_next_step(tmp_path: Path) -> None:
    with client_of(tmp_path / "data", upload=10_000) as client:
        done = upload(client).json()["id"]
        answers = {
            405: [client.put("/v1/jobs"), client.get("/v1/score"), client.post("/"), client.delete("/assets/app.js")],
            404: [client.get("/x"), client.get("/v1/jobs/x"), client.get("/assets/x"), client.delete("/v1/jobs/x")],
            409: [client.get(f"/v1/jobs/{done}/{name}") for name in ("results", "run.zip", "report")],
            421: [client.get("/v1/jobs", headers={"host": "evil.org"})],
            403: [client.post("/v1/jobs", headers={"origin": "http://evil.org"})],
            413: [client.post(path, content=b"x" * 20_000, headers=FORM) for path in ("/v1/jobs", "/v1/score")],
            400: [client.post("/v1/jobs", content=b"x", headers={"content-type": kind}) for kind in (
                "", "text/plain", "multipart/form-data", f"multipart/form-data; boundary={'x' * 300}",
                "multipart/form-data; boundary=\\x00", "multipart/form-data; boundary=edge; charset=none")]
            + [client.post("/v1/score", content=text) for text in (
                b"", b"\xff", b"[" * 9000, b'{"documents": ' + b"9" * 5000 + b"}",
                b'{"documents": [1], "metrics": ["x("]}', b'{"documents": ["\\ud800"]}')],
        }  # fmt: skip
        for status, several in answers.items():
            for answer in several:
                assert answer.status_code == status, (status, answer.request.url, answer.text)
                assert answer.json()["error"] and answer.json()["next"], (status, answer.text)


def test_names_of_eighty_letters_of_four_bytes(tmp_path: Path) -> None:
    with client_of(tmp_path / "data") as client:
        for name in ("😀" * 80, "𠀀" * 80 + ".txt", "é" * 300, "\u202e" * 80):
            assert upload(client, name).status_code == 202, name


@pytest.mark.parametrize("part", ["upload", "folder", "documents", "list"])
def test_a_full_disk_is_answered_and_the_server_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    with client_of(tmp_path / "data") as client, monkeypatch.context() as patch:
        if part == "upload":
            patch.setattr(UploadFile, "write", full)
        if part == "documents":
            patch.setattr(intake, "write_file", full)
        if part == "list":
            patch.setattr(Jobs, "add", full)
        if part == "folder":
            patch.setattr(Path, "mkdir", full)
        by_form = part in ("upload", "folder", "list")
        answer = upload(client) if by_form else client.post("/v1/score", json={"documents": DOCUMENTS})
        assert answer.status_code == 507 and "No space left" in answer.json()["error"] and answer.json()["next"]
        assert str(tmp_path) not in answer.text
        patch.undo()
        assert list((tmp_path / "data" / "jobs").iterdir()) == []
        assert upload(client).status_code == 202


def test_a_large_upload_to_a_full_disk_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that is still sending gets the answer, not a reset connection."""
    app = client_of(tmp_path / "data").app
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    monkeypatch.setattr(UploadFile, "write", full)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        body = b"".join((b'--edge\r\ncontent-disposition: form-data; name="hyp"; filename="a.txt"\r\n\r\n',
                         b"x" * 8_000_000, b"\r\n--edge--\r\n"))  # fmt: skip
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/v1/jobs", body, {**FORM, "host": "127.0.0.1:8765"})
        answer = connection.getresponse()
        assert answer.status == 507 and json.loads(answer.read())["next"]
    finally:
        server.should_exit = True
        thread.join()


def test_others_of_this_machine_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    Jobs(tmp_path / "data").close()
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "data" / "jobs.sqlite").stat().st_mode) == 0o600


@pytest.mark.long
def test_hostile_json_does_not_fill_the_memory_of_the_server(tmp_path: Path) -> None:
    """10 MB of which Python would make 300 MB, 60 MB; and what is not HTTP is answered in JSON."""
    with Running(tmp_path / "data") as server:
        for values, status, said in ((3_000_000, 400, "values"), (20_000_000, 413, "bytes")):
            body = b'{"documents": [' + b"{}," * values + b"{}]}"
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            connection.request("POST", "/v1/score", body)
            answer = connection.getresponse()
            text = json.loads(answer.read())
            assert answer.status == status and said in text["error"] and text["next"]
        for process in (psutil.Process(server.process.pid), *psutil.Process(server.process.pid).children()):
            (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
            assert int(peak) < 600_000, "more than 600 MB"
        for nonsense in (b"\x16\x03\x01\x02\x00\n\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
                raw.sendall(nonsense)
                head, _, said = raw.makefile("rb").read().partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 400 ") and json.loads(said)["error"] and json.loads(said)["next"]


@pytest.mark.long
@pytest.mark.parametrize("moment", [0.1, 0.6, 1.0, 1.5, 2.0])
def test_an_interrupted_start_prints_no_traceback(tmp_path: Path, moment: float) -> None:
    command = [sys.executable, "-m", "wholetext", "serve", "--data", str(tmp_path / "data"), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said or moment < 0.6  # before that, the interpreter itself is starting
    assert process.returncode in (0, 130, -signal.SIGINT)
