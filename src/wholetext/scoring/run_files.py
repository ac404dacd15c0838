"""Files of a run folder: run.json, texts.jsonl, statsN.npz, detailsN.json; results.jsonl is an export.

Each file is compared with the SHA-256 that run.json has of it, and checked once, when it is read.
What is wrong with a file is one RunError that names it.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError, WholetextError
from wholetext.files.parsing import read_json
from wholetext.types import Corpus, Document, FloatArray, IntArray, Level, Output, Rows, Scores

FORMAT = 1
AGAIN = "score again into a new folder"
Stats = tuple[Rows, FloatArray, IntArray | None]  # rows, their statistics, their lost tokens
_dumped = partial(json.dumps, ensure_ascii=False)


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Convert whatever a damaged file raises to one RunError."""
    try:
        yield
    except (WholetextError, OSError):
        raise
    except Exception as fault:
        reason = str(fault) if type(fault) is ValueError else f"{type(fault).__name__}: {fault}"
        raise RunError(
            f"the run folder is damaged: {reason[:300]}", where=str(path), next=AGAIN
        ) from None


def _need(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)


def read_file(folder: Path, name: str, digests: Mapping[str, str]) -> bytes:
    """The bytes of a file; an error if it is missing or was changed."""
    path = folder / name
    if not path.is_file():
        raise RunError(
            f"{name} is missing",
            where=str(folder),
            next="give a folder that `wholetext score --out` wrote",
        )
    data = path.read_bytes()
    with damaged(path):
        _need(
            digests.get(name) in (None, hashlib.sha256(data).hexdigest()),
            "the file was changed since it was written (its SHA-256 differs)",
        )
    return data


def _json(data: bytes, path: Path) -> Any:
    return read_json(data, where=str(path), next=AGAIN, error=RunError, constants=True)


# ---------------------------------------------------------------- run.json


def seal(head: Mapping[str, Any]) -> str:
    """The text of run.json, with a checksum of everything in it."""
    plain = json.loads(json.dumps(head))
    return json.dumps({**plain, "sha256": _checksum(plain)}, ensure_ascii=False, indent=1) + "\n"


def _checksum(head: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(head, sort_keys=True).encode()).hexdigest()


def read_head(folder: Path) -> dict[str, Any]:
    """run.json; folders of 0.1.0 have neither checksum nor list of files."""
    path = folder / "run.json"
    head = _json(read_file(folder, "run.json", {}), path)
    with damaged(path):
        _need(isinstance(head, dict) and "format" in head, "it is not the description of a run")
        if head["format"] != FORMAT:
            raise RunError(
                f"it has format {head['format']!r}, this version reads {FORMAT}",
                where=str(path),
                next="score again with this version",
            )
        content = {key: value for key, value in head.items() if key != "sha256"}
        _need(
            head.get("sha256") in (None, _checksum(content)),
            "the file was changed since it was written (its checksum differs)",
        )
        for name, shape in _HEAD.items():
            _need(_has_shape(head.get(name), shape), f"{name} is missing or has the wrong type")
        systems, specs = head["systems"], [entry["spec"] for entry in head["metrics"]]
        _need(_distinct(systems) and _distinct(specs), "a system or a metric is named twice")
        _need(set(head["flags"]) <= set(systems), "flags are of a system that is not in the run")
        for entry in head["metrics"]:
            _need(
                set(entry["systems"]) <= set(systems)
                and _distinct(entry["systems"])
                and _distinct(entry["outputs"])
                and len(entry["signatures"]) == len(entry["systems"]) > 0 < len(entry["outputs"]),
                f"systems, outputs or signatures of {entry['spec']} do not fit the run",
            )
    if any(name.endswith(".parquet") for name in head.get("files") or ()):
        raise RunError(
            "this run folder is in Parquet, which wholetext 0.2 wrote and this version does not read",
            where=str(folder),
            next="open it with wholetext 0.2, or score again",
        )
    return dict(head)


def _distinct(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


def _has_shape(value: Any, shape: Any) -> bool:
    """Whether a value has a shape: a type, a predicate, [items], {str: values} or {key: value}."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has_shape(item, shape[0]) for item in value)
    if isinstance(shape, dict):
        parts = value if isinstance(value, dict) and str in shape else shape
        return isinstance(value, dict) and all(
            _has_shape(value.get(key), shape.get(str, shape.get(key))) for key in parts
        )
    return isinstance(value, shape) if isinstance(shape, type) else bool(shape(value))


def _optional(shape: Any) -> Callable[[Any], bool]:
    return lambda value: value is None or _has_shape(value, shape)


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _pair(value: Any) -> bool:
    return _has_shape(value, [str]) and len(value) == 2


def _range(value: Any) -> bool:
    return _pair(value) and not any(math.isnan(float(bound)) for bound in value)


_FLAG = {"kind": str, "note": str, "doc": _optional(str), "segment": _optional(_count)}
_METRIC = {
    "spec": str,
    "systems": [str],
    "details": bool,
    "higher_is_better": bool,
    "range": _range,
    "outputs": [str],
    "signatures": [dict],
    "notes": _optional([str]),
}
_HEAD = {
    "corpus": str,
    "langs": _pair,
    "documents": _count,
    "systems": [str],
    "metrics": [_METRIC],
    "warnings": [str],
    "counts": {str: _count},
    "flags": {str: [_FLAG]},
    "comparison": _optional(dict),
    "files": _optional({str: str}),
    "environment": _optional(dict),
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
    docs: list[Document] = []
    outputs: dict[str, dict[str, tuple[str, ...]]] = {system: {} for system in head["systems"]}
    with damaged(path):
        for line in data.splitlines():
            entry = _json(line, path)
            _need(
                _has_shape(entry, _DOCUMENT) and set(entry["outputs"]) == set(outputs),
                f"line {len(docs) + 1} is not a document with the outputs of the run's systems",
            )
            docs.append(Document(entry["doc"], entry["src"], entry["refs"], entry["meta"]))
            for system, text in entry["outputs"].items():
                outputs[system][entry["doc"]] = tuple(text)
        _need(
            len(docs) == head["documents"],
            f"it has {len(docs)} documents instead of {head['documents']}",
        )
        _need(_distinct([doc.id for doc in docs]), "a document occurs twice")
    corpus = Corpus(head["corpus"], (head["langs"][0], head["langs"][1]), tuple(docs))
    return corpus, tuple(Output(name, texts) for name, texts in outputs.items())


_DOCUMENT = {
    "doc": str,
    "src": _optional([str]),
    "meta": dict,
    "refs": {str: [str]},
    "outputs": {str: [str]},
}


# ---------------------------------------------------------------- statistics and details


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


def read_stats(
    data: bytes,
    path: Path,
    entry: Mapping[str, Any],
    corpus: Corpus,
    reduce: Callable[[FloatArray], FloatArray],
) -> list[Stats]:
    """Read what ``write_stats`` wrote, by system; ``reduce`` must accept the statistics."""
    with damaged(path), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return [
            _read_system(arrays, j, len(entry["outputs"]), corpus, reduce)
            for j in range(len(entry["systems"]))
        ]


def _read_system(
    arrays: Any, j: int, outputs: int, corpus: Corpus, reduce: Callable[[FloatArray], FloatArray]
) -> Stats:
    columns = [arrays[f"{j}.{name}"] for name in ("doc", "start", "stop", "weight")]
    stats, lost = arrays[f"{j}.stats"], arrays.get(f"{j}.lost")
    _need(
        all(column.shape == (len(stats),) for column in columns)
        and stats.ndim == 2
        and (lost is None or lost.shape == (len(stats), 2)),
        "statistics and rows have different lengths",
    )
    _need(
        all(column.dtype.kind == "i" for column in columns[:3])
        and columns[3].dtype.kind in "iuf"
        and stats.dtype.kind in "iuf"
        and (lost is None or lost.dtype.kind in "iu"),
        "an array has the wrong type",
    )
    rows = Rows(corpus.ids, corpus.sizes, *columns)
    _need(
        ((rows.doc >= 0) & (rows.doc < len(rows.docs))).all()
        and (np.diff(rows.doc) >= 0).all()
        and (
            (rows.start >= 0) & (rows.start <= rows.stop) & (rows.stop <= rows.sizes[rows.doc])
        ).all(),
        "rows are out of order or outside their documents",
    )
    _need(
        np.isfinite(stats).all() and np.isfinite(rows.weight).all() and (rows.weight >= 0).all(),
        "statistics or weights are not finite numbers",
    )
    with np.errstate(all="ignore"):
        reduced = np.asarray(reduce(stats.sum(axis=0)))
    _need(
        reduced.shape == (outputs,) and reduced.dtype.kind == "f",
        "the statistics are not those of this metric",
    )
    return rows, stats, lost


def read_details(data: bytes, path: Path, sizes: Sequence[int]) -> list[list[Any]]:
    """detailsN.json: by system, an object or null per row, or none at all."""
    details = _json(data, path)
    with damaged(path):
        _need(
            _has_shape(details, [[_optional(_DETAIL)]])
            and len(details) == len(sizes)
            and all(len(facts) in (0, size) for facts, size in zip(details, sizes)),
            "it does not have an object or null for every row of every system",
        )
    return list(details)


_DETAIL = {"notes": _optional([str]), "said": _optional([str])}


# ---------------------------------------------------------------- the export


def write_results(
    path: Path, every: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]
) -> None:
    """Write one line per score, composed from parts that lines share."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for spec, by_system in every.items():
            for system, scores in by_system.items():
                for level in levels:
                    start = _dumped({"metric": spec, "system": system, "level": level})[:-1]
                    signature = f', "signature": {_dumped(str(scores.signature))}'
                    end = f"{signature if level == 'corpus' else ''}}}\n"
                    outputs = ("score", *scores.outputs[1:])
                    names = [f", {_dumped(name)}: ".replace("%", "%%") for name in outputs]
                    table = scores.table(level)
                    finite = bool(np.isfinite(table).all())
                    line = "".join(f"{name}%{'r' if finite else 's'}" for name in names)
                    for place, numbers in zip(_places(scores.rows, level), table):
                        values = numbers.tolist()
                        values = values if finite else map(_number, values)
                        out.write(start + place + line % tuple(values) + end)


def _places(rows: Rows, level: Level) -> Iterator[str]:
    """Yield where each score belongs, as a piece of JSON."""
    docs = [f', "doc": {_dumped(name)}' for name in rows.docs]
    if level != "row":
        yield from docs if level == "doc" else [""]
        return
    for doc, start, stop in zip(rows.doc, rows.start, rows.stop):
        yield f'{docs[doc]}, "start": {start}, "stop": {stop}'


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "null" if math.isnan(value) else _dumped(value)
