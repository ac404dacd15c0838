"""Files of a run folder: run.json, texts.jsonl, statsN.npz, detailsN.json; results.jsonl is an export.

Each file is compared with its SHA-256 in run.json. Any fault is one RunError that names the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError
from wholetext.files.parsing import read_json, reading
from wholetext.scoring.significance.compare import Comparison, Significance, SystemResult
from wholetext.scoring.significance.power import Power
from wholetext.scoring.significance.resample import Interval
from wholetext.scoring.significance.verdicts import SAME, UNTESTED
from wholetext.types import (
    Corpus,
    Document,
    FloatArray,
    IntArray,
    Metric,
    Output,
    Rows,
    Scores,
    Signature,
)

FORMAT = 1
AGAIN = "score again into a new folder"
DAMAGED = (AGAIN, RunError, "the run folder is damaged")  # what ``reading`` makes of any fault
Stats = tuple[Rows, FloatArray, IntArray | None]  # rows, their statistics, their lost tokens
_dumped = json.JSONEncoder(ensure_ascii=False).encode


def _need(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def read_file(path: Path, digests: Mapping[str, str]) -> bytes:
    """The bytes of a file; an error if it is missing or was changed."""
    if not path.is_file():
        raise RunError(
            f"{path.name} is missing",
            where=str(path.parent),
            next="give a folder that `wholetext score --out` wrote",
        )
    with reading(str(path), *DAMAGED):
        data = path.read_bytes()
        _need(
            digests.get(path.name) in (None, hashlib.sha256(data).hexdigest()),
            "the file was changed since it was written (its SHA-256 differs)",
        )
    return data


def _json(data: bytes, path: Path) -> Any:
    return read_json(data, where=str(path), next=AGAIN, error=RunError, constants=True)


# ---------------------------------------------------------------- run.json


def seal(head: Mapping[str, Any]) -> str:
    """The text of run.json, with a checksum of everything else in it."""
    content = json.loads(json.dumps({key: head[key] for key in head if key != "sha256"}))
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({**content, "sha256": checksum}, ensure_ascii=False, indent=1) + "\n"


def read_head(folder: Path) -> dict[str, Any]:
    """run.json; folders of 0.1.0 have neither checksum nor list of files."""
    path = folder / "run.json"
    head = _json(read_file(path, {}), path)
    with reading(str(path), *DAMAGED):
        sealed = head.get("sha256")
        _need(
            sealed in (None, json.loads(seal(head))["sha256"]),
            "the file was changed since it was written (its checksum differs)",
        )
        parquet = any(name.endswith(".parquet") for name in head.get("files") or ())
        if head["format"] != FORMAT or parquet:
            raise RunError(
                "this run folder is in Parquet, which wholetext 0.2 wrote and this version does not read"
                if parquet
                else f"it has format {head['format']!r}, this version reads {FORMAT}",
                where=str(path),
                next="open it with wholetext 0.2, or score again",
            )
    return dict(head)


def plain(value: Any) -> Any:
    """Convert to nested plain values for JSON; NaN becomes null, infinity a word."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def restored(values: Mapping[str, Any]) -> tuple[Significance, dict[str, Comparison]]:
    """Read back the settings of the tests, and the comparisons by metric."""
    comparisons = {}
    for outcome in values["outcomes"]:
        tested = int(outcome["signature"]["units"]) > 1
        undecided = SAME if tested else UNTESTED
        places = [
            {
                **place,
                **numbers({name: place[name] for name in ("score", "delta", "p", "p_holm")}),
                "interval": Interval(**numbers(place["interval"])),
                "delta_interval": Interval(**numbers(place["delta_interval"])),
                "power": place["power"] and Power(**numbers(place["power"])),
                # 0.2.0 wrote "open", and a rank also where nothing was tested
                "verdict": undecided if place["verdict"] == "open" else place["verdict"],
                "rank": place["rank"] if tested else None,
            }
            for place in outcome["standings"]
        ]
        comparisons[outcome["metric"]] = Comparison(
            **{
                **outcome,
                "standings": tuple(SystemResult(**place) for place in places),
                "p": np.array(outcome["p"], dtype=np.float64),
                "signature": Signature(outcome["signature"]),
                "warnings": tuple(outcome["warnings"]),
                "deltas": np.array(outcome["deltas"], dtype=np.float64),
            }
        )
    return Significance(**values["settings"]), comparisons


def numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as ``plain`` wrote them: null is NaN, a word is infinity."""
    return {
        name: math.nan if value is None else float(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


# ---------------------------------------------------------------- texts


def write_texts(path: Path, corpus: Corpus, outputs: Sequence[Output]) -> None:
    """Write one line per document."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for doc in corpus.docs:
            texts = {
                "doc": doc.id,
                "src": doc.src,
                "refs": dict(doc.refs),
                "meta": dict(doc.meta),
                "outputs": {output.system: output.docs[doc.id] for output in outputs},
            }
            out.write(_dumped(texts) + "\n")


def read_texts(
    data: bytes, path: Path, head: Mapping[str, Any]
) -> tuple[Corpus, tuple[Output, ...]]:
    """The corpus and the outputs of a run."""
    with reading(str(path), *DAMAGED):
        lines = {entry["doc"]: entry for entry in (_json(line, path) for line in data.splitlines())}
        _need(
            len(lines) == head["documents"],
            f"it has {len(lines)} documents instead of {head['documents']}",
        )
        docs = [
            Document(doc, line["src"], line["refs"], line["meta"]) for doc, line in lines.items()
        ]
        outputs = [
            Output(system, {doc: line["outputs"][system] for doc, line in lines.items()})
            for system in head["systems"]
        ]
        standard = tuple(head.get("standard") or ())
        corpus = Corpus(head["corpus"], tuple(head["langs"]), tuple(docs), standard=standard)
        return corpus, tuple(outputs)


# ---------------------------------------------------------------- statistics and details


def write_stats(path: Path, by_system: Mapping[str, Scores]) -> None:
    """The statistics of a metric, a few arrays per system, in a NumPy archive."""
    arrays: dict[str, Any] = {}
    for j, scores in enumerate(by_system.values()):
        rows = scores.rows
        arrays |= {f"{j}.stats": scores.stats, f"{j}.doc": rows.doc, f"{j}.start": rows.start}
        arrays |= {f"{j}.stop": rows.stop, f"{j}.weight": rows.weight}
        arrays |= {} if scores.lost is None else {f"{j}.lost": scores.lost}
    np.savez_compressed(path, **arrays)


def read_stats(
    data: bytes, path: Path, entry: Mapping[str, Any], corpus: Corpus, metric: Metric
) -> list[Stats]:
    """Read what ``write_stats`` wrote, by system; the metric must accept the statistics."""
    systems, outputs = len(entry["systems"]), len(entry["outputs"])
    with reading(str(path), *DAMAGED), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return [_read_system(arrays, j, outputs, corpus, metric.reduce) for j in range(systems)]


def _read_system(
    arrays: Any, j: int, outputs: int, corpus: Corpus, reduce: Callable[[FloatArray], FloatArray]
) -> Stats:
    columns = [arrays[f"{j}.{name}"] for name in ("doc", "start", "stop", "weight")]
    rows = Rows(corpus.ids, corpus.sizes, *columns)
    stats, lost = arrays[f"{j}.stats"], arrays.get(f"{j}.lost")
    with np.errstate(all="ignore"):
        reduced = np.asarray(reduce(stats.sum(axis=0)))
    _need(
        all(column.shape == (len(stats),) for column in columns)
        and (lost is None or lost.shape == (len(stats), 2))
        and reduced.shape == (outputs,)
        and np.isfinite(stats).all()
        and np.isfinite(rows.weight).all()
        and (rows.weight >= 0).all()
        and (rows.doc >= 0).all()
        and (np.diff(rows.doc) >= 0).all()
        and ((rows.start >= 0) & (rows.start <= rows.stop)).all()
        and (rows.stop <= rows.sizes[rows.doc]).all(),
        "statistics and rows do not fit the metric and the documents",
    )
    return rows, stats, lost


def read_details(data: bytes, path: Path, sizes: Sequence[int]) -> list[list[Any]]:
    """detailsN.json: by system, an object or null per row, or none at all."""
    details = _json(data, path)
    with reading(str(path), *DAMAGED):
        _need(
            len(details) == len(sizes)
            and all(len(facts) in (0, size) for facts, size in zip(details, sizes))
            and all(isinstance(row, dict | None) for facts in details for row in facts),
            "it does not have an object or null for every row of every system",
        )
    return list(details)


# ---------------------------------------------------------------- the export


def write_results(path: Path, every: Mapping[str, Mapping[str, Scores]]) -> None:
    """Write one line per score: corpus, documents, rows."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for scores in (scores for by_system in every.values() for scores in by_system.values()):
            rows, names = scores.rows, ("score", *scores.outputs[1:])
            spans = zip(rows.doc.tolist(), rows.start.tolist(), rows.stop.tolist())
            places: dict[Any, list[dict[str, Any]]] = {
                "corpus": [{}],
                "doc": [{"doc": doc} for doc in rows.docs],
                "row": [{"doc": rows.docs[i], "start": a, "stop": b} for i, a, b in spans],
            }
            for level in places:
                start = {"metric": scores.metric, "system": scores.system, "level": level}
                end = {"signature": str(scores.signature)} if level == "corpus" else {}
                for place, numbers in zip(places[level], scores.table(level).tolist()):
                    defined = (None if number != number else number for number in numbers)
                    out.write(
                        _dumped({**start, **place, **dict(zip(names, defined)), **end}) + "\n"
                    )
