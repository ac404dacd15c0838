"""The scoring process: runs one job after another, so that models stay loaded."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from wholetext.demo import load as load_demo
from wholetext.errors import InputError, WholetextError, WholetextWarning
from wholetext.files.parsing import printable
from wholetext.files.storage import write_file, writing
from wholetext.io import LineFiles, Loaded, read
from wholetext.reporting.page import report
from wholetext.scoring.comparison import run_json
from wholetext.scoring.evaluate import Options, default_metrics, score
from wholetext.scoring.significance.compare import Significance
from wholetext.serving.intake import json_request
from wholetext.serving.settings import ServeOptions

PAGE = "report"  # the last stage of a job
CACHE = "cache.sqlite"  # of scores, in the data folder
TAKEN = ("taken",)  # the first reply to a task
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """A job as sent to the worker; it reads from the data folder and writes to ``out``."""

    request: Mapping[str, Any]
    out: Path
    options: ServeOptions


def work(pipe: Connection, folder: Path) -> None:
    """Run tasks until the server ends, in an empty folder so that relative paths find nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends this process
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    os.chdir(folder)
    os.environ |= {
        "WHOLETEXT_CACHE": str(folder.parent / CACHE),
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
            task = pipe.recv()
            pipe.send(TAKEN)
        except (EOFError, OSError):
            return
        try:
            answer: tuple[Any, ...] = ("done", run_task(task, progress))
        except WholetextError as fault:
            answer = ("failed", str(fault))
        except MemoryError:
            answer = ("failed", "there is not enough memory for this job")
        except Exception as fault:
            answer = ("failed", f"wholetext failed unexpectedly: {type(fault).__name__}: {fault}")
        pipe.send(answer)


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


def run_task(task: Task, progress: Progress) -> list[str]:
    """Score and compare; write the run folder with its report, results.json and run.zip.

    Returns the metrics that were computed: those of the request, or the default ones.
    """
    data, request = task.options.folder, task.request
    if "body" in request:  # too large for the server to decode
        request = {**request, **json_request(inside(data, request["body"]), task.options)}
    loaded = load(request, data)
    metrics: Sequence[str] = request["metrics"] or default_metrics(loaded.corpus, loaded.outputs)
    run = task.out / "run"
    results = score(
        loaded,
        metrics,
        options=Options(cache=data / CACHE, progress=progress),
        significance=Significance(baseline=request.get("baseline") or None),
        out=run,
    )
    comparisons = list(results.comparisons.values())
    of_comparisons = [note for comparison in comparisons for note in comparison.warnings]
    notes = list(dict.fromkeys((*results.notes, *of_comparisons)))
    values = run_json(results, comparisons, notes)
    write_file(task.out / "results.json", json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    if request.get("keep", True):
        progress(PAGE, 0, 1)
        report(run)
        pack(run, task.out / "run.zip")
        progress(PAGE, 1, 1)
    return list(results.scores)


def load(request: Mapping[str, Any], data: Path) -> Loaded:
    """The texts of a job: the bundled demo, or files of the data folder."""
    if request.get("demo"):
        corpus, outputs = load_demo(request["demo"])
        return Loaded(corpus, outputs, ())
    files = {
        role: [(name, inside(data, path)) for name, path in entries]
        for role, entries in request["files"].items()
    }
    src, docs, corpus_file = (
        files[role][0][1] if role in files else None for role in ("src", "docs", "corpus")
    )
    lines = LineFiles(
        src=src, docs=docs, corpus=corpus_file, hyps=files.get("hyp", ()), refs=files.get("ref", ())
    )
    return read(lines, langs=request.get("langs") or None)


def inside(data: Path, name: str) -> Path:
    """Resolve a regular file of the data folder; links that lead out of it are refused."""
    path = data / name
    if not path.is_file() or not path.resolve().is_relative_to(data.resolve()):
        raise InputError(
            "this file is not there any more",
            where=name,
            next="choose another file, or upload it again",
        )
    return path


def pack(folder: Path, file: Path) -> None:
    """Write the regular files of a folder to a zip file."""
    with writing(file) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                packed.write(path, printable(f"run/{path.relative_to(folder).as_posix()}"))
