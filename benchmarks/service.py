"""The server against loops of `score`: 64 clients that send single segments, on MiniLM and a small COMET checkpoint.

python benchmarks/service.py [--requests N] [--loop N] [--comet FOLDER] [--memory N]

Three ways to score the same segments of WMT21 de-en, one at a time: `wholetext score` for each (a process), `score` in
Python for each (the model stays loaded), and `POST /v1/score` from 64 clients at once. Ratios are of segments per
second by the clock. The bound is what one process scores in batches of 64, without any server: where the metric
takes most of the time, no server on the same processors is faster. `--memory` sends so many further requests of chrF,
after 10,000 to warm up, and prints the memory of the server and its worker on the way.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from machine import processor

DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
MODELS = Path(__file__).resolve().parents[1] / "tests" / "oracle" / "neural" / "models"
CLIENTS, PROCESSES, WARM_UP = 64, 5, 10_000
SERVE = "import sys; from wholetext.cli.main import main; main(sys.argv[1:])"


def segments() -> list[dict[str, Any]]:
    """Every segment of three systems, none of them twice."""
    root = DATA / "evalsets" / "wmt21.news"
    src = (root / "sources" / "de-en.txt").read_text("utf-8").splitlines()
    ref = next(iter(sorted((root / "references").glob("de-en.ref*.txt")))).read_text("utf-8").splitlines()
    files = sorted((root / "system-outputs" / "de-en").glob("*.txt"))[:3]
    rows = [(hyp, s, r) for file in files for hyp, s, r in zip(file.read_text("utf-8").splitlines(), src, ref)]
    return [{"hyp": hyp, "src": s, "refs": [r]} for hyp, s, r in dict.fromkeys(rows)]


async def client(port: int, metric: str, texts: list[dict[str, Any]], done: list[tuple[float, float]]) -> None:
    """One request after another on one connection; seconds and score of each."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for text in texts:
        body = json.dumps({"texts": [text], "metrics": [metric], "langs": "de-en"}).encode()
        head = f"POST /v1/score HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        begin = time.perf_counter()
        writer.write(head.encode() + body)
        headers = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in headers.lower().split(b"\r\n") if line.startswith(b"content-length"))
        answer = json.loads(await reader.readexactly(int(length.split(b":")[1])))
        done.append((time.perf_counter() - begin, answer["metrics"][0]["scores"][0]))
    writer.close()


async def clients(port: int, metric: str, texts: list[dict[str, Any]]) -> list[list[tuple[float, float]]]:
    shares = [texts[number::CLIENTS] for number in range(CLIENTS)]
    done: list[list[tuple[float, float]]] = [[] for _ in shares]
    await asyncio.gather(*(client(port, metric, share, own) for share, own in zip(shares, done)))
    return done


def command_line(metric: str, texts: list[dict[str, Any]], folder: Path) -> float:
    """Seconds per segment of `wholetext score`, a process for each."""
    begin = time.perf_counter()
    for text in texts:
        for name, line in (("hyp", text["hyp"]), ("src", text["src"]), ("ref", text["refs"][0])):
            (folder / name).write_text(f"{line}\n", "utf-8")
        files = ["-t", folder / "hyp", "-s", folder / "src", "-r", folder / "ref"]
        command = [sys.executable, "-c", SERVE, "score", *map(str, files), "-l", "de-en", "-m", metric, "--no-cache"]
        subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - begin) / len(texts)


def in_process(metric: str, texts: list[dict[str, Any]]) -> tuple[float, list[float]]:
    """Seconds per segment of `score` in Python, and the scores."""
    from wholetext.scoring.evaluate import Options, score

    options, scores = Options(cache=False), []
    for number, text in enumerate([texts[0], *texts]):
        if number == 1:
            begin = time.perf_counter()  # the model is loaded
        sides = {"srcs": [text["src"]], "refs": text["refs"]}
        results = score([text["hyp"]], metric, **sides, langs="de-en", options=options)
        scores.append(float(next(iter(results[metric].values())).at("segment")[0]))
    return (time.perf_counter() - begin) / len(texts), scores[1:]


def in_batches(metric: str, texts: list[dict[str, Any]]) -> float:
    """Seconds per segment where as many are scored at a time as there are clients, in this process."""
    from wholetext.scoring.single import Treatment, read_texts, score_texts

    read = read_texts(texts)
    score_texts(read[:CLIENTS], [metric], Treatment("de-en"))
    begin = time.perf_counter()
    for at in range(0, len(read), CLIENTS):
        score_texts(read[at : at + CLIENTS], [metric], Treatment("de-en"))
    return (time.perf_counter() - begin) / len(read)


def memory(server: psutil.Process) -> str:
    parts = [process.memory_info().rss / 2**20 for process in (server, *server.children(recursive=True))]
    return " + ".join(f"{part:.0f}" for part in parts if part > 30) + " MB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1280)
    parser.add_argument("--loop", type=int, default=100)
    parser.add_argument("--comet", type=Path, default=MODELS / "comet-reg-mix")
    parser.add_argument("--memory", type=int, default=20_000)
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    texts = segments()
    load = os.getloadavg()[0]
    print(f"{processor()}, {os.cpu_count()} processors, load {load:.1f} before; {CLIENTS} clients")
    metrics = {"sbert@minilm": "sbert@minilm", "comet, small checkpoint": f"comet@{arguments.comet}", "chrf": "chrf"}
    with tempfile.TemporaryDirectory() as name:
        command = ["serve", "--port", "0", "--data", f"{name}/data", "--allow-model", str(arguments.comet)]
        server = subprocess.Popen([sys.executable, "-c", SERVE, *command], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().split("   ")[0].rstrip("/").rpartition(":")[2])
            for label, metric in metrics.items():
                asyncio.run(clients(port, metric, texts[:CLIENTS]))  # loads the model
                part = texts[: arguments.requests]
                begin = time.perf_counter()
                done = asyncio.run(clients(port, metric, part))
                rate = len(part) / (time.perf_counter() - begin)
                latency = np.percentile([seconds for own in done for seconds, _ in own], [50, 99]) * 1000
                single, expected = in_process(metric, part[: arguments.loop])
                batch = in_batches(metric, part[: 4 * arguments.loop])
                processes = command_line(metric, part[:PROCESSES], Path(name))
                made = [done[at % CLIENTS][at // CLIENTS][1] for at in range(len(expected))]
                print(f"{label}: server {rate:.0f}/s over {len(part)} requests, p50 {latency[0]:.0f} ms, "
                      f"p99 {latency[1]:.0f} ms; score in Python {1 / single:.0f}/s over {len(expected)}; "
                      f"wholetext score {1 / processes:.2f}/s over {PROCESSES}")  # fmt: skip
                print(f"  ratio {rate * single:.1f} to score in Python, {rate * processes:.0f} to wholetext score; "
                      f"largest difference of scores {np.abs(np.subtract(made, expected)).max():.1e}")  # fmt: skip
                print(f"  bound: {1 / batch:.0f}/s in batches of {CLIENTS} in one process, ratio {single / batch:.1f} "
                      f"to score in Python; the server reaches {rate * batch:.0%} of it", flush=True)  # fmt: skip
            process, sent = psutil.Process(server.pid), 0
            if arguments.memory:
                asyncio.run(clients(port, "chrf", (texts * 10)[:WARM_UP]))
            print(f"memory (server + worker): {memory(process)}")
            while sent < arguments.memory:
                most = min(arguments.memory // 4 + 1, arguments.memory - sent)
                share = (texts * (most // len(texts) + 1))[:most]
                begin = time.perf_counter()
                asyncio.run(clients(port, "chrf", share))
                sent += len(share)
                rate = len(share) / (time.perf_counter() - begin)
                print(f"  after {sent} requests of chrF: {memory(process)}; {rate:.0f}/s", flush=True)
            print(f"load {os.getloadavg()[0]:.1f} after")
        finally:
            server.terminate()
            server.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
