"""A cache file that was damaged on disk never changes a score."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import CacheError
from wholetext.files.cache import Cache, content_key, remembered

SPECS = ["chrf", "bleu", "context(prev=1):ter"]
DOCS = tuple(wt.Document(f"d{k}", None, {"r": tuple(f"sentence {i} of {k}, here" for i in range(4))}) for k in range(4))
CORPUS = wt.Corpus("c", ("de", "en"), DOCS)
OUTPUT = wt.Output("s", {doc.id: tuple(f"the sentence {i} in {doc.id}" for i in range(4)) for doc in DOCS})


def scored(cache: Path | bool) -> tuple[dict[str, list[list[float]]], wt.Results]:
    found = wt.score(wt.Loaded(CORPUS, [OUTPUT]), SPECS, options=wt.Options(cache=cache, flags=False))
    return {spec: by["s"].stats.tolist() for spec, by in found.scores.items()}, found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "cache.sqlite"
    scored(path)
    return path


def test_single_damaged_bytes_never_change_a_score(filled: Path, tmp_path: Path) -> None:
    clean, whole = scored(False)[0], filled.read_bytes()
    rng, path, refused = np.random.default_rng(25), tmp_path / "cache.sqlite", 0
    used = np.flatnonzero(np.frombuffer(whole, np.uint8))  # most of a small file is empty
    for place in [*range(16, 40, 8), *rng.choice(used, 30, replace=False)]:
        bad = bytearray(whole)
        bad[place] ^= int(rng.integers(1, 256))
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        path.write_bytes(bytes(bad))
        try:
            assert scored(path)[0] == clean, place
        except CacheError as fault:
            assert str(path) in str(fault) and "--no-cache" in fault.next
            refused += 1
    assert refused < 15


@pytest.mark.parametrize("where", [".", "x" * 300])
def test_a_place_where_no_cache_can_be(tmp_path: Path, where: str) -> None:
    with pytest.raises(CacheError, match="--no-cache"):
        Cache(tmp_path / where)


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from wholetext.files.cache import Cache, content_key
from wholetext.errors import CacheError
cache = Cache(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    cache.put("k", [(content_key(i), bytes(1000)) for i in range(1000)])
except CacheError as fault:
    print(fault)
"""
    path = tmp_path / "cache.sqlite"
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, env={**os.environ})
    assert "cannot be used" in done.stdout and "--no-cache" in done.stdout, done.stderr


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(CacheError, match=r"cache\.sqlite: the cache cannot be used .*\n  → delete the file"):
        Cache(path)
    monkeypatch.setenv("WHOLETEXT_CACHE", str(path))
    assert remembered("kind", content_key("x"), lambda: b"made") == b"made"


def test_a_new_file_opened_at_once(tmp_path: Path) -> None:
    """The change to a write-ahead log does not wait by itself: without our wait about 1 in 70 fails here."""
    start = Barrier(4)

    def open_and_close(path: Path) -> None:
        start.wait()
        Cache(path).close()

    with ThreadPoolExecutor(4) as threads:
        for number in range(100):
            list(threads.map(open_and_close, [tmp_path / f"{number}.sqlite"] * 4))
