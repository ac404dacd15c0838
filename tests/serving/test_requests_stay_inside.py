"""Whatever a request names, nothing is fetched and nothing is written outside the data folder."""

from __future__ import annotations

import json
import os
import re
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from tests.serving.serving_material import DOCUMENTS
from wholetext.errors import WholetextError
from wholetext.registry import catalogue, scorer
from wholetext.serving.scheduler import Worker
from wholetext.serving.settings import ServeOptions, allowed_metric

# what a process writes is listed by a hook that its interpreter installs before anything else
HOOK = """
import os, sys
log = os.open(os.environ["WRITTEN"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def note(event, args):
    writes = event == "open" and isinstance(args[0], (str, bytes)) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in ("os.mkdir", "os.rename", "os.symlink", "sqlite3.connect"):
        path = args[1] if event == "os.rename" else args[0]
        os.write(log, os.path.abspath(os.fsdecode(path)).encode() + b"\\n")
sys.addaudithook(note)
"""
NAMES = ("x", "../x", "/etc/passwd", "~/x", "org/model", "http://127.0.0.1:9/x", "spacy/xx", "given/notes", "wordnet",
         "glove", "en", "flores200")  # fmt: skip


OPTIONS: dict[Any, tuple[Any, ...]] = {str: NAMES, bool: ("true", "false"), int: (0, 1, 3), float: (0, 0.5)}


def values(kind: Any) -> list[Any]:
    """Values to try of a parameter: all where they are listed, else some of its type."""
    if get_origin(kind) is Literal:
        return [str(value).lower() if isinstance(value, bool) else value for value in get_args(kind)]
    parts = get_args(kind)
    return [value for part in parts for value in values(part)] if parts else [*OPTIONS.get(kind, ("none",))]


def specs() -> Iterator[str]:
    for name in catalogue()["metrics"]:
        if name.startswith("judge-"):
            continue
        metric = type(scorer(name).metric)
        hints = get_type_hints(metric)
        yield name
        for field in fields(metric):
            for value in dict.fromkeys(values(hints[field.name])):
                plain = re.fullmatch(r"[\w.+-]+", str(value))
                yield f"{name}({field.name}={value})" if plain else f'{name}({field.name}="{value}")'


@pytest.mark.long
def test_no_parameter_of_any_metric_leaves_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("data/work", "home", "here"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    options = ServeOptions(data=tmp_path / "data")
    (options.folder / "documents.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in DOCUMENTS))
    called: list[object] = []  # of a proxy that answers nobody
    server = socketserver.TCPServer(("127.0.0.1", 0), lambda request, *_: called.append(request))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_address[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("HOME", "XDG_CACHE_HOME", "HF_HOME", "SACREBLEU", "NLTK_DATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WRITTEN", str(tmp_path / "written"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(tmp_path / "here")

    allowed: dict[str, str] = {}
    for spec in specs():
        try:
            allowed.setdefault(allowed_metric(spec, options), spec)
        except WholetextError as refused:
            assert refused.next, spec
    assert "bleu(tokenize=flores200)" in allowed and len(allowed) > 200
    assert not [spec for spec in allowed if "/" in spec or "~" in spec]

    worker, states = Worker(options), list[Any]()
    try:
        for spec in allowed:
            files = {"corpus": [["x", "documents.jsonl"]]}
            request = {"files": files, "metrics": [spec], "langs": "de-en", "keep": False}
            message = (request, options.folder / "out" / str(len(states)))
            try:
                states.append(worker.ask(message, lambda: False))
            except WholetextError as fault:
                states.append("failed")
                assert "unexpectedly" not in fault.what, (spec, fault)
    finally:
        worker.kill()
    assert len(states) - states.count("failed") > 100
    server.shutdown()
    server.server_close()
    assert not called
    written = {*(tmp_path / "written").read_text().splitlines()} - {"/dev/null"}
    assert not [path for path in written if not Path(path).is_relative_to(options.folder)]
    assert not [*(tmp_path / "home").rglob("*"), *(tmp_path / "here").rglob("*")]
