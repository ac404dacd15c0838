"""Features of all examples, computed once by a base model that does not change, and kept by content for other runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.learned.forms import Form
from wholetext.files.cache import Cache, content_key, note_damage
from wholetext.scoring.engine import Engine, request_key
from wholetext.types import Request

Features = NDArray[np.float32]
FILE = "features.sqlite"
CHUNK = 1024  # examples whose features are kept at a time, all or none
Tell = Callable[[int, int], None]  # examples done, examples in all


def features_of(form: Form, pairs: Sequence[Request], folder: Path, engine: Engine, tell: Tell) -> Features:
    """(n, width), from the folder's store where they are there already."""
    store = Cache(folder / FILE)
    distinct = list(dict.fromkeys(pairs))
    keys = {pair: content_key(form.id, engine.dtype, request_key("", pair).hex()) for pair in distinct}
    size = 4 * form.width
    found = {key: value for key, value in store.get(list(keys.values())).items() if len(value) == size}
    missing = [pair for pair in distinct if keys[pair] not in found]
    for begin in range(0, len(missing), CHUNK):
        tell(len(distinct) - len(missing) + begin, len(distinct))
        chunk = missing[begin : begin + CHUNK]
        made = form.features(chunk, engine).astype("<f4")  # (chunk, width)
        fresh = {keys[pair]: row.tobytes() for pair, row in zip(chunk, made)}
        store.put("features", fresh.items())
        found.update(fresh)
    tell(len(distinct), len(distinct))
    for note in store.notes:
        note_damage(note)
    store.close()
    whole = np.frombuffer(b"".join(found[keys[pair]] for pair in pairs), dtype="<f4")
    return whole.reshape(len(pairs), form.width).astype(np.float32)
