"""The consistency sets of Voita et al. 2019 (deixis, lexical cohesion, ellipsis): four sentences joined by ``_eos``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Wanted

_MARK = " _eos "


def matches(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"dst", "true_ind"} <= set(data[0])


def read(data: Any, path: Path, wanted: Wanted) -> ContrastSet:
    """Each candidate keeps the context it is written with: in some sets the variants differ there as well."""
    if not matches(data):
        raise InputError("expected a list of objects with \"src\", \"dst\" and \"true_ind\"", where=str(path))
    items = []
    for at, one in enumerate(data):
        fields = Fields(one, f"{path}, item {at}")
        *source, current = fields.text("src").split(_MARK)
        texts, right = list(fields.texts("dst")), fields.number("true_ind")
        if right is None or not 0 <= right < len(texts):
            raise fields.fault("true_ind", f"a number from 0 to {len(texts) - 1}")
        texts.insert(0, texts.pop(right))
        candidates = []
        for text in texts:
            *before, last = text.split(_MARK)
            candidates.append(Candidate(last, tuple(before)))
        items.append(fields.item(id=f"{path.stem}-{at}", src=current, src_context=tuple(source), type=path.stem,
                                 candidates=tuple(candidates), distance=fields.number("ctx_dist")))
    return ContrastSet(path.stem, wanted.langs or ("en", "ru"), tuple(items))
