"""A small EvalSet of the demo corpus, for entries that are tried without their data."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from wholetext.demo import load
from wholetext.io.assembly import Loaded
from wholetext.io.formats.evalset import write
from wholetext.io.formats.scores import write_table
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


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
