"""The server against loops of `score`: 64 clients that send single segments, on MiniLM and a small COMET checkpoint.

python benchmarks/service.py [--requests N] [--loop N] [--processes N] [--comet FOLDER] [--metrics NAME …]
    [--workers N] [--memory N]

Four ways to score the same segments of WMT21 de-en: `wholetext score` for each (a process), `score` in Python for each
(the model stays loaded), `POST /v1/score` from 64 clients at once, and batches of 64 in one process without a server,
the bound: where the metric takes most of the time, no server with one worker is faster. Besides rates by the clock,
processor seconds for 1,000 segments: they do not depend on what else the machine does. `--memory` sends so many
further requests of chrF, and a tenth as many of MiniLM, and prints the memory of the server and its worker;
`--requests 0` does nothing else.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from machine import processor

DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MODELS = Path(__file__).resolve().parents[1] / "tests" / "oracle" / "neural" / "models"
CLIENTS, WARM_UP, LANGS = 64, 10_000, "de-en"
MAIN = "import sys; from wholetext.cli.main import main; main(sys.argv[1:])"
Text = dict[str, Any]


class Exchange(NamedTuple):
    """What the clients saw."""

    scores: list[float]
    latencies: list[float]  # seconds
    clock: float
    cpu: float  # of the clients themselves


def segments() -> list[Text]:
    """Every segment of three systems, none of them twice."""
    root = DATA / "evalsets" / "wmt21.news"
    src = (root / "sources" / "de-en.txt").read_text("utf-8").splitlines()
    ref = next(iter(sorted((root / "references").glob("de-en.ref*.txt")))).read_text("utf-8").splitlines()
    files = sorted((root / "system-outputs" / "de-en").glob("*.txt"))[:3]
    rows = [(hyp, s, r) for file in files for hyp, s, r in zip(file.read_text("utf-8").splitlines(), src, ref)]
    return [{"hyp": hyp, "src": s, "refs": [r]} for hyp, s, r in dict.fromkeys(rows)]


def exchange(port: int, metric: str, texts: Sequence[Text]) -> Exchange:
    """Send a request for each text from 64 clients, each as soon as its last one is answered."""
    sent = []
    for text in texts:
        body = json.dumps({"texts": [text], "metrics": [metric], "langs": LANGS}).encode()
        head = f"POST /v1/score HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        sent.append(head.encode() + body)
    answers, begun, latencies = [b""] * len(sent), [0.0] * len(sent), [0.0] * len(sent)
    waiting, ready = iter(range(len(sent))), selectors.DefaultSelector()
    clock, cpu = time.perf_counter(), time.process_time()

    def next_request(client: socket.socket) -> None:
        at = next(waiting, None)
        if at is None:
            ready.unregister(client)
            client.close()
            return
        ready.modify(client, selectors.EVENT_READ, at)
        begun[at] = time.perf_counter()
        client.sendall(sent[at])

    for _ in range(min(CLIENTS, len(sent))):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.register(client, selectors.EVENT_READ)
        next_request(client)
    while ready.get_map():
        for key, _ in ready.select():
            assert isinstance(key.fileobj, socket.socket)
            answers[key.data] += key.fileobj.recv(1 << 16)
            head, _, body = answers[key.data].partition(b"\r\n\r\n")
            length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
            if length and len(body) == int(length):
                latencies[key.data] = time.perf_counter() - begun[key.data]
                next_request(key.fileobj)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    bodies = [json.loads(answer.partition(b"\r\n\r\n")[2]) for answer in answers]
    return Exchange([body["metrics"][0]["scores"][0] for body in bodies], latencies, clock, cpu)


def command_line(metric: str, texts: Sequence[Text], folder: Path) -> float:
    """Seconds per segment of `wholetext score`, a process for each."""
    begin = time.perf_counter()
    for text in texts:
        for name, line in (("hyp", text["hyp"]), ("src", text["src"]), ("ref", text["refs"][0])):
            (folder / name).write_text(f"{line}\n", "utf-8")
        files = ["-t", folder / "hyp", "-s", folder / "src", "-r", folder / "ref"]
        command = [sys.executable, "-c", MAIN, "score", *map(str, files), "-l", LANGS, "-m", metric, "--no-cache"]
        subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - begin) / len(texts)


def timed(work: Callable[[], Any], count: int) -> tuple[Any, float, float]:
    """What a function returns, its seconds by the clock and of the processor, for each of `count` segments."""
    clock, cpu = time.perf_counter(), time.process_time()
    value = work()
    return value, (time.perf_counter() - clock) / count, (time.process_time() - cpu) / count


def in_process(metric: str, texts: Sequence[Text]) -> list[float]:
    """Score each with `score` in Python."""
    from wholetext.scoring.evaluate import Options, score

    scores = []
    for text in texts:
        sides = {"srcs": [text["src"]], "refs": text["refs"]}
        results = score([text["hyp"]], metric, **sides, langs=LANGS, options=Options(cache=False))
        scores.append(float(next(iter(results[metric].values())).at("segment")[0]))
    return scores


def in_batches(metric: str, texts: Sequence[Text]) -> None:
    """Score as many at a time as there are clients, in this process."""
    from wholetext.scoring.single import Treatment, read_texts, score_texts

    for at in range(0, len(texts), CLIENTS):
        score_texts(read_texts(texts[at : at + CLIENTS]), [metric], Treatment(LANGS))


class Server:
    """A server in a process of its own, and clients in another."""

    def __init__(self, folder: str, model: Path, workers: int) -> None:
        command = ["serve", "--port", "0", "--data", f"{folder}/data", "--allow-model", str(model)]
        command += ["--workers", str(workers)]
        self.process = subprocess.Popen([sys.executable, "-c", MAIN, *command], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split("   ")[0].rstrip("/").rpartition(":")[2])
        self.clients = multiprocessing.get_context("spawn").Pool(1)

    def ask(self, metric: str, texts: Sequence[Text]) -> Exchange:
        return self.clients.apply(exchange, (self.port, metric, texts))

    def parts(self) -> list[psutil.Process]:
        """The server and those of its workers that score."""
        server = psutil.Process(self.process.pid)
        return [part for part in (server, *server.children()) if part.memory_info().rss > 30 << 20]

    def cpu(self) -> tuple[float, float]:
        """Processor seconds of the server, and of its workers."""
        first, *workers = [sum(part.cpu_times()[:2]) for part in self.parts()]
        return first, sum(workers)

    def memory(self) -> str:
        return " + ".join(f"{part.memory_info().rss / 2**20:.0f}" for part in self.parts()) + " MB"

    def end(self) -> None:
        self.clients.terminate()
        self.process.terminate()
        self.process.wait(30)


def compare(server: Server, label: str, metric: str, texts: Sequence[Text], loop: int, processes: int) -> None:
    """Print how the server compares with the loops under one metric."""
    server.ask(metric, texts[:CLIENTS])  # loads the model
    before = server.cpu()
    answers = server.ask(metric, texts)
    front, worker = (after - then for after, then in zip(server.cpu(), before))
    in_process(metric, texts[:1])
    expected, single, single_cpu = timed(lambda: in_process(metric, texts[:loop]), loop)
    many = texts[: 4 * loop]
    in_batches(metric, many[:CLIENTS])
    _, batch, batch_cpu = timed(lambda: in_batches(metric, many), len(many))
    with tempfile.TemporaryDirectory() as folder:
        process = command_line(metric, texts[:processes], Path(folder))
    rate, thousands = len(texts) / answers.clock, len(texts) / 1000
    median, late = np.percentile(answers.latencies, [50, 99]) * 1000
    difference = np.abs(np.subtract(answers.scores[:loop], expected)).max()
    print(f"{label}: {rate:.0f}/s over {len(texts)} requests, p50 {median:.0f} ms, p99 {late:.0f} ms; "
          f"score in Python {1 / single:.0f}/s, wholetext score {1 / process:.2f}/s; "
          f"largest difference of scores {difference:.1e}")  # fmt: skip
    print(f"  ratio {rate * single:.1f} to score in Python, {rate * process:.0f} to wholetext score; batches of "
          f"{CLIENTS} in one process {single / batch:.1f}: the server reaches {rate * batch:.0%} of it")  # fmt: skip
    print(f"  processor seconds for 1,000: server {front / thousands:.2f}, worker {worker / thousands:.2f}, clients "
          f"{answers.cpu / thousands:.2f}; score in Python {1000 * single_cpu:.2f}, batches {1000 * batch_cpu:.2f}",
          flush=True)  # fmt: skip


def main() -> int:
    names = ("minilm", "comet", "chrf")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1280)
    parser.add_argument("--loop", type=int, default=100)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--comet", type=Path, default=MODELS / "comet-reg-mix")
    parser.add_argument("--metrics", nargs="+", choices=names, default=names)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--memory", type=int, default=20_000)
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    texts = segments()
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before; {CLIENTS} clients")
    metrics = {  # the faster, the more requests
        "minilm": ("sbert@minilm", 1),
        "comet": (f"comet@{arguments.comet}", 2),
        "chrf": ("chrf", 10),
    }
    with tempfile.TemporaryDirectory() as name:
        server = Server(name, arguments.comet, arguments.workers)
        try:
            for label in arguments.metrics if arguments.requests else ():
                metric, times = metrics[label]
                sent = (texts * times)[: arguments.requests * times]
                compare(server, label, metric, sent, arguments.loop, arguments.processes)
            for metric, count in (("chrf", arguments.memory), ("sbert@minilm", arguments.memory // 10)):
                if not count:
                    continue
                many = texts * (max(count, WARM_UP) // len(texts) + 1)
                server.ask(metric, many[: min(count, WARM_UP) // 4])
                print(f"memory (server + worker), {metric}: {server.memory()}")
                for half in (1, 2):
                    server.ask(metric, many[: count // 2])
                    print(f"  after {half * count // 2} requests: {server.memory()}", flush=True)
            print(f"load {os.getloadavg()[0]:.1f} after")
        finally:
            server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
