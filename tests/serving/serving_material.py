"""Material for tests of the server: small texts, and a metric that waits until it is told to go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from wholetext import plugins
from wholetext.serving.app import make_app
from wholetext.serving.jobs import Jobs
from wholetext.serving.scheduler import Scheduler
from wholetext.serving.settings import ServeOptions

PATIENCE = 120.0  # seconds that a test waits for what must come; a busy machine is slow, not wrong
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the environment names
REF, GOOD, BAD = "the cat sat\nit was late\n", "the cat sat\nit was late\n", "a dog sat\nit is late\n"
DOCUMENTS = [{"doc": "d1", "src": ["x", "y"], "refs": {"A": ["the cat sat", "it was late"]},
              "outputs": {"good": ["the cat sat", "it was late"], "bad": ["a dog sat", "it is late"]}}]  # fmt: skip
HOLD = '''
import os, signal, time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import numpy as np
from wholetext.types import Metric, mean_stats

@dataclass(frozen=True)
class Hold(Metric):
    """Scores 0.5 when the file `go` is there; says by a file that it began, and can end its process."""
    interface: ClassVar[int] = 3
    name: ClassVar[str] = "hold"
    summary: ClassVar[str] = "waits"
    needs: ClassVar[frozenset[str]] = frozenset({"hyp"})
    outputs: ClassVar[tuple[str, ...]] = ("score",)
    crash: bool = False

    def measure(self, requests, run):
        place = Path(os.environ["HOLD"])
        (place / f"began-{os.getpid()}").touch()
        if self.crash:
            os.kill(os.getpid(), signal.SIGKILL)
        while not (place / "go").exists():
            time.sleep(0.02)
        return mean_stats(np.full(len(requests), 0.5))
'''


class Sleeping(Scheduler):
    """No job of it ever runs."""

    def start(self) -> None: ...


def client_of(
    data: Path, kind: type[Scheduler] = Sleeping, address: str = "http://127.0.0.1:8765", **options: Any
) -> TestClient:
    """A server without a socket."""
    settings = ServeOptions(data=data, **options)
    jobs = Jobs(settings.folder)
    app = make_app(jobs, kind(jobs, settings), settings)
    return TestClient(app, base_url=address, raise_server_exceptions=False)


def install_hold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the metric `hold` known here and in processes that are started; returns the folder of its signs."""
    code, signs = folder / "plugin", folder / "signs"
    (code / "hold-1.0.dist-info").mkdir(parents=True)
    signs.mkdir()
    (code / "hold-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: hold\nVersion: 1.0\n")
    (code / "hold-1.0.dist-info" / "entry_points.txt").write_text("[wholetext.metrics]\nhold = hold_code:Hold\n")
    (code / "hold_code.py").write_text(HOLD)
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setenv("HOLD", str(signs))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(code), os.environ.get("PYTHONPATH", "")]))
    plugins.installed.cache_clear()
    return signs


def until(condition: Callable[[], Any], what: str) -> Any:
    """The first true value of a function that is asked again and again."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE:g} seconds for {what}")


def gone(process: int) -> bool:
    """Whether a process has ended, also where nobody has asked for its exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Running:
    """A server in its own process."""

    def __init__(self, data: Path, *more: str, port: int = 0) -> None:
        command = [sys.executable, "-m", "wholetext", "serve", "--data", str(data), "--port", str(port), *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.address = self.line.split("   ")[0].rstrip("/")
        self.port = int(self.address.rpartition(":")[2])

    def ask(self, path: str, body: object = None, method: str | None = None, **headers: str) -> Any:
        """The JSON of an answer, whatever its status."""
        data = None if body is None else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, {**kind, **headers}, method=method)
        try:
            with DIRECT.open(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    def form(self, **fields: str) -> Any:
        """A form without files."""
        parts = "".join(f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                        for name, value in fields.items())
        kind = {"Content-Type": "multipart/form-data; boundary=edge"}
        request = urllib.request.Request(f"{self.address}/v1/jobs", f"{parts}--edge--\r\n".encode(), kind)
        with DIRECT.open(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
