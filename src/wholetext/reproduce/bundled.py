"""A small EvalSet of the demo corpus, for entries that are tried without their data."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from wholetext.demo import load
from wholetext.io.assembly import Loaded
from wholetext.io.formats.evalset import write
from wholetext.io.formats.scores import write_table
from wholetext.io.text import write_lines
from wholetext.scoring.evaluate import Options, score


@cache
def stand_in(pair: str = "de-en") -> Path:
    """Write the demo corpus as an EvalSet and return its folder, which lasts as long as the process.

    Its judgments, ``stand-in``, are chrF against the reference: they show that an experiment runs,
    not how a metric agrees with people.
    """
    keep = tempfile.TemporaryDirectory(prefix="wholetext-demo-")
    _KEPT.append(keep)
    folder = Path(keep.name) / "demo"
    corpus, outputs = load(pair)
    loaded = Loaded(corpus, outputs)
    write(folder, loaded)
    results = score(loaded, "chrf", options=Options(cache=False))["chrf"]
    rows = np.array([results[output.system].at("row") for output in outputs])
    names = [output.system for output in outputs]
    scores = folder / "human-scores"
    write_table(scores / f"{pair}.stand-in.seg.score", names, rows, gaps=True)
    write_table(scores / f"{pair}.stand-in.sys.score", names, rows.mean(axis=1)[:, None], gaps=True)
    return folder


@cache
def preferences() -> Path:
    """Write the demo's documents as preferences between two of its systems, for the first."""
    keep = tempfile.TemporaryDirectory(prefix="wholetext-preferences-")
    _KEPT.append(keep)
    corpus, (first, second, *_) = load("de-en")
    lines = []
    for doc in corpus.docs:
        (reference,) = doc.refs.values()
        texts = [doc.src or (), reference, first.docs[doc.id], second.docs[doc.id]]
        keys = ("source", "target", "text1", "text2")
        row = {key: " ".join(text) for key, text in zip(keys, texts)}
        pair = {"source_lang": "de", "target_lang": "en", "choice": "text1"}
        lines.append(json.dumps({**row, **pair}, ensure_ascii=False))
    path = Path(keep.name) / "preferences.jsonl"
    write_lines(path, lines)
    return path


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
