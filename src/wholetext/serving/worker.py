"""The scoring process: runs one job after another, so that models stay loaded."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from wholetext.demo import load as load_demo
from wholetext.errors import WholetextError, WholetextWarning
from wholetext.files.storage import write_file
from wholetext.io import LineFiles, Loaded, read
from wholetext.reporting.page import PageOptions, report
from wholetext.scoring.comparison import run_json
from wholetext.scoring.evaluate import Options, default_metrics, score
from wholetext.scoring.significance.compare import Significance
from wholetext.scoring.single import score_texts
from wholetext.serving.settings import ServeOptions

CACHE = "cache.sqlite"  # of scores, in the data folder


def work(pipe: Connection, options: ServeOptions) -> None:
    """Run jobs, received as (request, folder for results), until the server ends.

    Without a folder they are small requests, answered at once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends this process
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    folder = options.folder / "work"
    os.chdir(folder)  # it is empty: relative paths lead to nothing
    os.environ |= {
        "WHOLETEXT_CACHE": str(options.folder / CACHE),
        "TMPDIR": str(folder),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }  # requests write to the data folder only, and download nothing
    sys.addaudithook(_refuse_network)
    warnings.simplefilter("ignore", WholetextWarning)  # notes are in the results
    sending = threading.Lock()  # metrics may report progress from several threads

    def progress(stage: str, done: int, total: int) -> None:
        with sending:
            pipe.send(("progress", stage, done, total))

    while True:
        try:
            request, out = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answers = run_batch(request) if out is None else []
            if out is not None:
                run_job(request, out, options, progress)
            pipe.send(("answer", answers))
        except Exception as fault:
            pipe.send(("error", _clear(fault)))


def _clear(fault: Exception) -> WholetextError:
    if isinstance(fault, WholetextError):
        return fault
    return WholetextError(f"wholetext failed unexpectedly: {type(fault).__name__}: {fault}")


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Keep libraries from downloading anything, whatever a request names."""
    if event == "socket.getaddrinfo" or (
        event == "socket.connect" and not isinstance(args[1], (str, bytes))  # a local socket
    ):
        raise PermissionError(errno.EPERM, "the server does not use the network for a request")


def _end_with_the_server() -> None:
    """Exit when the server is killed, instead of continuing its job."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def run_batch(requests: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Answers to small requests, or the error of each; those that ask for the same are scored together."""
    groups: dict[Any, list[int]] = {}
    for at, request in enumerate(requests):
        groups.setdefault((tuple(request["metrics"]), request["how"]), []).append(at)
    answers: dict[int, Any] = {}
    for members in groups.values():
        try:
            scored = _scored([requests[at] for at in members])
        except Exception as fault:
            alone = [run_batch([requests[at]])[0] for at in members] if len(members) > 1 else []
            scored = alone or [_clear(fault)]
        answers.update(zip(members, scored))
    return [answers[at] for at in range(len(requests))]


def _scored(requests: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Score requests with the metrics of the first; an answer in JSON for each."""
    texts = list(chain.from_iterable(request["texts"] for request in requests))
    metrics, notes = score_texts(texts, requests[0]["metrics"], requests[0]["how"])
    answers, end = [], 0
    for request in requests:
        begin, end = end, end + len(request["texts"])
        own = [{**vars(scores), "scores": scores.scores[begin:end]} for scores in metrics]
        numbered = enumerate(notes[begin:end], 1)
        said = [f"text {number}: {note}" for number, some in numbered for note in some]
        answers.append(json.dumps({"metrics": own, "notes": said}).encode())
    return answers


def run_job(
    request: Mapping[str, Any],
    out: Path,
    options: ServeOptions,
    progress: Callable[[str, int, int], None],
) -> None:
    """Score and compare; write the run folder with its report, results.json and run.zip."""
    data = options.folder
    loaded = load(request, data)
    results = score(
        loaded,
        request["metrics"] or default_metrics(loaded.corpus, loaded.outputs),
        options=Options(cache=data / CACHE, progress=progress),
        significance=Significance(baseline=request.get("baseline") or None),
        out=out / "run",
    )
    comparisons = list(results.comparisons.values())
    of_comparisons = [note for comparison in comparisons for note in comparison.warnings]
    notes = list(dict.fromkeys((*results.notes, *of_comparisons)))
    values = run_json(results, comparisons, notes)
    write_file(out / "results.json", json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    if request.get("keep", True):
        progress("report", 0, 1)
        report(out / "run", options=PageOptions(title=request.get("title", "")))
        shutil.make_archive(str(out / "run"), "zip", out, "run")


def load(request: Mapping[str, Any], data: Path) -> Loaded:
    """The texts of a job: the bundled demo, or files of the data folder."""
    if request.get("demo"):
        corpus, outputs = load_demo(request["demo"])
        return Loaded(corpus, outputs, ())
    files = {
        role: [(name, data / path) for name, path in entries]
        for role, entries in request["files"].items()
    }
    single = {role: files[role][0][1] for role in ("src", "docs", "corpus") if role in files}
    lines = LineFiles(hyps=files.get("hyp", ()), refs=files.get("ref", ()), **single)
    return read(lines, langs=request.get("langs") or None)
