"""Run folders in JSON lines (texts and scores) and NumPy archives (statistics): the form for people and small tools."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.scoring.run_schema import Arrays
from wholetext.scoring.stores.columnar import Stats
from wholetext.types import Corpus, FloatArray, Level, Output, Rows, Scores

_TOGETHER = 10_000  # rows that become Python's numbers at a time
_LINES = 100  # written at a time


def write_texts(path: Path, corpus: Corpus, outputs: Sequence[Output]) -> None:
    """One line per document."""
    _write(path, _texts(corpus, outputs))


def _texts(corpus: Corpus, outputs: Sequence[Output]) -> Iterator[str]:
    for doc in corpus.docs:
        yield _json({"doc": doc.id, "src": doc.src, "refs": dict(doc.refs), "meta": dict(doc.meta),
                     "outputs": {output.system: output.docs[doc.id] for output in outputs}})


def write_results(path: Path, scores: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]) -> None:
    """One line per score."""
    _write(path, _lines(scores, levels))


def _lines(every: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]) -> Iterator[str]:
    """One line per score: numbers as numbers, undefined ones as null. Put together from pieces that lines share."""
    for spec, by_system in every.items():
        for system, scores in by_system.items():
            for level in levels:
                start = _json({"metric": spec, "system": system, "level": level})[:-1]
                end = f', "signature": {_json(str(scores.signature))}}}' if level == "corpus" else "}"
                names = [f", {_json(name)}: ".replace("%", "%%") for name in ("score", *scores.outputs[1:])]
                table = scores.table(level)
                finite = bool(np.isfinite(table).all())
                line = "".join(f"{name}%{'r' if finite else 's'}" for name in names)
                for place, values in zip(_places(scores.rows, level), _values(table)):
                    yield start + place + line % tuple(values if finite else map(_number, values)) + end


def _values(table: FloatArray) -> Iterator[list[float]]:
    for begin in range(0, len(table), _TOGETHER):
        yield from table[begin : begin + _TOGETHER].tolist()


def _places(rows: Rows, level: Level) -> Iterator[str]:
    """Where each score belongs, as a piece of JSON."""
    docs = (f', "doc": {_json(name)}' for name in rows.docs)
    if level != "row":
        yield from docs if level == "doc" else [""]
        return
    last, name = -1, ""
    for begin in range(0, len(rows), _TOGETHER):
        part = slice(begin, begin + _TOGETHER)
        for doc, start, stop in zip(rows.doc[part].tolist(), rows.start[part].tolist(), rows.stop[part].tolist()):
            if doc != last:
                last, name = doc, f', "doc": {_json(rows.docs[doc])}'
            yield f'{name}, "start": {start}, "stop": {stop}'


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "null" if math.isnan(value) else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        while some := [*islice(lines, _LINES)]:
            out.write("\n".join(some) + "\n")


def write_stats(path: Path, by_system: Mapping[str, Scores]) -> None:
    """The statistics of a metric, a few arrays per system, in a NumPy archive."""
    arrays: dict[str, Any] = {}
    for j, scores in enumerate(by_system.values()):
        rows = scores.rows
        arrays |= {f"{j}.stats": scores.stats, f"{j}.doc": rows.doc, f"{j}.start": rows.start}
        arrays |= {f"{j}.stop": rows.stop, f"{j}.weight": rows.weight}
        arrays |= {} if scores.lost is None else {f"{j}.lost": scores.lost}
    # as np.savez_compressed, which has no choice of the level: three times as fast, a tenth larger
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
                np.lib.format.write_array(out, array, allow_pickle=False)


def read_stats(arrays: Arrays, systems: int) -> Iterator[Stats]:
    """By system, what ``write_stats`` wrote."""
    for j in range(systems):
        doc, start, stop = (arrays.read(f"{j}.{name}", "iu", 1) for name in ("doc", "start", "stop"))
        weight, stats = arrays.read(f"{j}.weight", "iuf", 1), arrays.read(f"{j}.stats", "iuf", 2)
        yield doc, start, stop, weight, stats, arrays.read(f"{j}.lost", "iu", 2) if arrays.has(f"{j}.lost") else None
