"""Run folders in JSON lines (texts and scores) and NumPy archives (statistics): the form for people and small tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.scoring.run_schema import Arrays
from wholetext.scoring.stores.columnar import Stats
from wholetext.types import Corpus, Level, Output, Scores


def write_texts(path: Path, corpus: Corpus, outputs: Sequence[Output]) -> None:
    """One line per document."""
    _write(path, _texts(corpus, outputs))


def _texts(corpus: Corpus, outputs: Sequence[Output]) -> Iterator[dict[str, Any]]:
    for doc in corpus.docs:
        yield {"doc": doc.id, "src": doc.src, "refs": dict(doc.refs), "meta": dict(doc.meta),
               "outputs": {output.system: output.docs[doc.id] for output in outputs}}


def write_results(path: Path, scores: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]) -> None:
    """One line per score."""
    _write(path, _lines(scores, levels))


def _lines(every: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]) -> Iterator[dict[str, Any]]:
    """One line per score: numbers as numbers, undefined ones as null."""
    for spec, by_system in every.items():
        for system, scores in by_system.items():
            for level in levels:
                table = scores.table(level)
                for i, values in enumerate(table):
                    line: dict[str, Any] = {"metric": spec, "system": system, "level": level}
                    if level == "row":
                        row = scores.rows[i]
                        line |= {"doc": row.doc, "start": row.start, "stop": row.stop}
                    elif level == "doc":
                        line |= {"doc": scores.rows.docs[i]}
                    numbers = [None if np.isnan(value) else float(value) for value in values]
                    line |= {"score": numbers[0], **dict(zip(scores.outputs[1:], numbers[1:]))}
                    if level == "corpus":
                        line |= {"signature": str(scores.signature)}
                    yield line


def _write(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def write_stats(path: Path, by_system: Mapping[str, Scores]) -> None:
    """The statistics of a metric, a few arrays per system, in a NumPy archive."""
    arrays: dict[str, Any] = {}
    for j, scores in enumerate(by_system.values()):
        rows = scores.rows
        arrays |= {f"{j}.stats": scores.stats, f"{j}.doc": rows.doc, f"{j}.start": rows.start}
        arrays |= {f"{j}.stop": rows.stop, f"{j}.weight": rows.weight}
        arrays |= {} if scores.lost is None else {f"{j}.lost": scores.lost}
    np.savez_compressed(path, **arrays)


def read_stats(arrays: Arrays, systems: int) -> Iterator[Stats]:
    """By system, what ``write_stats`` wrote."""
    for j in range(systems):
        doc, start, stop = (arrays.read(f"{j}.{name}", "iu", 1) for name in ("doc", "start", "stop"))
        weight, stats = arrays.read(f"{j}.weight", "iuf", 1), arrays.read(f"{j}.stats", "iuf", 2)
        yield doc, start, stop, weight, stats, arrays.read(f"{j}.lost", "iu", 2) if arrays.has(f"{j}.lost") else None
