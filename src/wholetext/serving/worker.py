"""The process that scores: one job after another, so that models stay loaded between them."""

from __future__ import annotations

import json
import os
import signal
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
from wholetext.scoring.comparison import compare_run, run_json
from wholetext.scoring.defaults import default_metrics
from wholetext.scoring.evaluate import Options
from wholetext.scoring.run import make_run
from wholetext.scoring.significance.compare import Significance

PAGE, CACHE = (
    "report",
    "cache.sqlite",
)  # the stage after all others; the cache of scores, in the data folder
TAKEN = ("taken",)  # the first answer to a task
Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Task:
    """A job as the worker gets it: what to read, and folders of the data folder to write to."""

    request: Mapping[str, Any]
    out: Path
    data: Path  # what is read is in it


def work(pipe: Connection, folder: Path) -> None:
    """Run tasks until the server ends, in an empty folder: relative file names in specs find nothing."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the server, which ends this process
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    os.chdir(folder)
    os.environ |= {
        "WHOLETEXT_CACHE": str(folder.parent / CACHE),
        "TMPDIR": str(folder),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
    }  # requests write to the data folder only, and download nothing
    warnings.simplefilter("ignore", WholetextWarning)  # notes are in the results
    one_at_a_time = threading.Lock()  # metrics may tell of progress from several threads

    def say(stage: str, done: int, total: int) -> None:
        with one_at_a_time:
            pipe.send(("progress", stage, done, total))

    while True:
        try:
            task = pipe.recv()
            pipe.send(TAKEN)
        except (EOFError, OSError):
            return
        try:
            answer: tuple[Any, ...] = ("done", run_task(task, say))
        except WholetextError as fault:
            answer = ("failed", str(fault))
        except MemoryError:
            answer = ("failed", "there is not enough memory for this job")
        except Exception as fault:
            answer = ("failed", f"wholetext failed unexpectedly: {type(fault).__name__}: {fault}")
        pipe.send(answer)


def _end_with_the_server() -> None:
    """Exit when the server is killed, instead of continuing its job."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def run_task(task: Task, say: Say) -> list[str]:
    """Score, compare, and write the run folder with its report, the run as JSON and the folder as a zip file.

    Returns the metrics; without any in the request, the default ones.
    """
    loaded = load(task.request, task.data)
    metrics: Sequence[str] = task.request["metrics"] or default_metrics(
        loaded.corpus, loaded.outputs
    )
    run = task.out / "run"
    results = make_run(
        loaded,
        metrics,
        Options(cache=task.data / CACHE, progress=say),
        Significance(baseline=task.request.get("baseline") or None),
        out=run,
    )
    comparisons = compare_run(results)[1]
    found = run_json(results, [comparisons[spec] for spec in results.scores])
    write_file(task.out / "results.json", json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    if task.request.get("keep", True):
        say(PAGE, 0, 1)
        report(run)
        pack(run, task.out / "run.zip")
        say(PAGE, 1, 1)
    return list(results.scores)


def load(request: Mapping[str, Any], data: Path) -> Loaded:
    """The texts of a job: the bundled demo, or files of the data folder."""
    if request.get("demo"):
        corpus, outputs = load_demo(request["demo"])
        return Loaded(corpus, outputs, ())
    files = {
        role: [(name, inside(data, path)) for name, path in some]
        for role, some in request["files"].items()
    }
    src, docs, corpus_file = (
        files[role][0][1] if role in files else None for role in ("src", "docs", "corpus")
    )
    given = LineFiles(
        src=src, docs=docs, corpus=corpus_file, hyps=files.get("hyp", ()), refs=files.get("ref", ())
    )
    return read(given, langs=request.get("langs") or None)


def inside(data: Path, name: str) -> Path:
    """A regular file of the data folder; a link that leads out of it is none."""
    path = data / name
    if not path.is_file() or not path.resolve().is_relative_to(data.resolve()):
        raise InputError(
            "this file is not there any more",
            where=name,
            next="choose another file, or upload it again",
        )
    return path


def pack(folder: Path, file: Path) -> None:
    """The regular files of a folder as a zip file."""
    with writing(file) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                packed.write(path, printable(f"run/{path.relative_to(folder).as_posix()}"))
