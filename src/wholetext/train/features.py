"""Features of all examples, computed once by a base model that does not change, and kept by content for other runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.learned.forms import Form
from wholetext.cache import content_key
from wholetext.engine import Engine, request_key
from wholetext.types import Request

Features = NDArray[np.float32]
CHUNK = 1024  # examples whose features are kept in one file
Tell = Callable[[int, int], None]  # examples done, examples in all


def features_of(form: Form, pairs: Sequence[Request], folder: Path, engine: Engine, tell: Tell) -> Features:
    """(n, width), from files where they are there already; a file holds a chunk and is whole or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    found: Features = np.empty((len(pairs), form.width), dtype=np.float32)
    for begin in range(0, len(pairs), CHUNK):
        chunk = pairs[begin : begin + CHUNK]
        key = content_key(form.id, engine.dtype, [request_key("", pair).hex() for pair in chunk]).hex()
        path = folder / f"{key}.npy"
        made = _kept(path, (len(chunk), form.width))
        if made is None:
            made = form.features(chunk, engine).astype(np.float32)
            _keep(path, made)
        found[begin : begin + len(chunk)] = made
        tell(begin + len(chunk), len(pairs))
    return found


def _kept(path: Path, shape: tuple[int, int]) -> Features | None:
    """A chunk that was computed before; None where there is none, or the file is damaged."""
    try:
        made: Any = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return made if made.shape == shape and made.dtype == np.float32 and np.isfinite(made).all() else None


def _keep(path: Path, made: Features) -> None:
    beside = path.with_suffix(f".{os.getpid()}")
    with beside.open("wb") as file:
        np.save(file, made, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
