"""What the files of a run folder must look like: types, sizes and ranges that everything after reading relies on."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.errors import RunError
from wholetext.types import FloatArray, Rows

FORMAT = 1
COLUMNS = 4096  # statistics per row, at most; the metrics here have fewer than 200
AGAIN = "score again into a new folder"


@dataclass(frozen=True)
class Place:
    """The file that is being checked."""

    where: str

    def need(self, condition: object, what: str) -> None:
        if not condition:
            raise self.fault(what)

    def fault(self, what: str) -> RunError:
        return RunError(f"the run folder is damaged: {what}", where=self.where, next=AGAIN)


def seal(head: Mapping[str, Any]) -> str:
    """The text of run.json, with a checksum of everything in it."""
    plain = json.loads(json.dumps(head))
    return json.dumps({**plain, "sha256": _checksum(plain)}, ensure_ascii=False, indent=1) + "\n"


def check_head(head: Any, place: Place) -> dict[str, Any]:
    """run.json; folders of 0.1.0 have neither checksum nor list of files."""
    place.need(isinstance(head, dict) and "format" in head, "it is not the description of a run")
    if head["format"] != FORMAT:
        raise RunError(f"it has format {head['format']!r}, this version reads {FORMAT}", where=place.where,
                       next="score again with this version")
    if "sha256" in head:
        place.need(head["sha256"] == _checksum({key: head[key] for key in head if key != "sha256"}),
                   "the file was changed since it was written (its checksum differs)")
    for name, shape in _HEAD.items():
        place.need(name in head and has_shape(head[name], shape), f"{name} is missing or has the wrong type")
    place.need(len(set(head["systems"])) == len(head["systems"]), "a system is named twice")
    place.need(set(head["flags"]) <= set(head["systems"]), "flags are of a system that is not in the run")
    for entry in head["metrics"]:
        for name, shape in _METRIC.items():
            good = name in entry and has_shape(entry[name], shape)
            place.need(good, f"{name} of a metric is missing or has the wrong type")
        place.need(set(entry["systems"]) <= set(head["systems"]) and len(set(entry["systems"])) == len(entry["systems"])
                   > 0, f"the systems of {entry['spec']} are not those of the run")
        place.need(has_shape(entry.get("notes", []), [str]), f"the notes of {entry['spec']} are not a list of texts")
        place.need(len(entry["signatures"]) == len(entry["systems"]), f"{entry['spec']} needs one signature per system")
    place.need(isinstance(head.get("comparison", {}), dict), "the comparison has the wrong type")
    specs = [entry["spec"] for entry in head["metrics"]]
    place.need(len(set(specs)) == len(specs), "a metric occurs twice")
    return dict(head)


def listed(head: Any) -> dict[str, str] | None:
    """The files of a run with their SHA-256 ("" if unknown), from run.json; None if wholetext did not write it."""
    if not has_shape(head, _OWN):
        return None
    files = head.get("files")
    if files is None:  # of 0.1.0, which listed no files
        numbers = range(len(head["metrics"]))
        return dict.fromkeys(["run.json", "texts.jsonl", "results.jsonl", *(f"stats{i}.npz" for i in numbers),
                              *(f"details{i}.json" for i in numbers)], "")
    return {"run.json": "", **files} if has_shape(files, {str: str}) else None


def check_document(entry: Any, systems: Sequence[str], place: Place) -> dict[str, Any]:
    """A line of texts.jsonl."""
    place.need(isinstance(entry, dict) and set(entry) >= _DOCUMENT, "a line is not a document")
    place.need(isinstance(entry["doc"], str), "a document's name is not text")
    name = entry["doc"]
    place.need(entry["src"] is None or has_shape(entry["src"], [str]), f"the source of {name!r} is not a list of texts")
    place.need(isinstance(entry["meta"], dict), f"meta of {name!r} has the wrong type")
    for what in ("refs", "outputs"):
        place.need(has_shape(entry[what], {str: [str]}), f"the {what} of {name!r} are not lists of texts")
    place.need(set(entry["outputs"]) == set(systems), f"{name!r} does not have the outputs of the run's systems")
    return dict(entry)


def check_details(details: Any, sizes: Sequence[int], place: Place) -> list[list[Any]]:
    """detailsN.json: by system, one object or null a row, or none at all."""
    place.need(isinstance(details, list) and len(details) == len(sizes), "it does not have one list per system")
    for one, size in zip(details, sizes):
        place.need(isinstance(one, list) and len(one) in (0, size), "it does not have one entry per row")
        place.need(all(fact is None or isinstance(fact, dict) for fact in one), "an entry is not an object")
        place.need(all(has_shape(fact.get(key, []), [str]) for fact in one if fact for key in ("notes", "said")),
                   "notes are not a list of texts")
    return list(details)


# ---------------------------------------------------------------- statistics


class Arrays:
    """The arrays of a statsN.npz, each header checked before the array is read."""

    def __init__(self, data: bytes, most: int, place: Place) -> None:
        self.most, self.place = most, place  # rows, at most
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError) as fault:
            raise place.fault(f"it is not a NumPy archive ({fault})") from None

    def read(self, name: str, kinds: str, dimensions: int) -> Any:
        """The array of a name, of some kinds of numbers."""
        try:
            with self.archive.open(f"{name}.npy") as file:
                version = np.lib.format.read_magic(file)
                header = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
                    np.lib.format.read_array_header_2_0)
                shape, fortran, dtype = header(file)
                self.place.need(dtype.kind in kinds and dtype.itemsize <= 8 and not dtype.hasobject,
                                f"{name} holds {dtype}")
                self.place.need(len(shape) == dimensions and shape[0] <= self.most and max(shape[1:], default=1)
                                <= COLUMNS, f"{name} has the shape {shape}")
                size = math.prod(shape) * dtype.itemsize
                data = file.read(size + 1)
        except KeyError:
            raise self.place.fault(f"{name} is missing") from None
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, TypeError, SyntaxError, RuntimeError,
                NotImplementedError, MemoryError, OverflowError) as fault:
            raise self.place.fault(f"{name} cannot be read ({type(fault).__name__}: {fault})"[:300]) from None
        self.place.need(len(data) == size, f"{name} does not have its declared size")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C").copy()

    def has(self, name: str) -> bool:
        return f"{name}.npy" in self.archive.namelist()


def check_rows(rows: Rows, stats: FloatArray, place: Place) -> None:
    """Rows as ``Rows`` promises them; anything else would give wrong numbers later, or none."""
    columns = (rows.doc, rows.start, rows.stop, rows.weight)
    place.need(all(column.shape == (len(stats),) for column in columns), "statistics and rows have different lengths")
    inside = (rows.doc >= 0) & (rows.doc < len(rows.docs))
    place.need(inside.all() and (np.diff(rows.doc) >= 0).all(), "rows are out of order")
    place.need(((rows.start >= 0) & (rows.start <= rows.stop) & (rows.stop <= rows.sizes[rows.doc])).all(),
               "rows are outside their documents")
    place.need(np.isfinite(stats).all() and np.isfinite(rows.weight).all() and (rows.weight >= 0).all(),
               "statistics or weights are not finite numbers")


def check_reduction(reduce: Callable[[FloatArray], FloatArray], stats: FloatArray, outputs: int, place: Place) -> None:
    """Whether a metric can turn these statistics into its outputs."""
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(reduce(stats.sum(axis=0)))
    except Exception as fault:  # metrics may index and reshape statistics in any way
        raise place.fault(f"the metric cannot use these statistics ({type(fault).__name__}: {fault})") from None
    place.need(found.shape == (outputs,) and found.dtype.kind == "f", "the statistics are not those of this metric")


# ---------------------------------------------------------------- shapes of JSON values


def has_shape(value: Any, shape: Any) -> bool:
    """Whether a value has a shape: a type, [one for each], {str: one for each value}, one by key, or a test."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(one, shape[0]) for one in value)
    if isinstance(shape, dict) and str in shape:
        return isinstance(value, dict) and all(has_shape(one, shape[str]) for one in value.values())
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(has_shape(value.get(key), one) for key, one in shape.items())
    return isinstance(value, shape) if isinstance(shape, type) else bool(shape(value))


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _bound(text: Any) -> bool:
    try:
        return isinstance(text, str) and len(text) < 100 and not math.isnan(float(text))
    except ValueError:
        return False


def _pair(shape: Any) -> Callable[[Any], bool]:
    return lambda value: has_shape(value, [shape]) and len(value) == 2


_FLAG = {
    "kind": str, "note": str, "doc": lambda x: x is None or isinstance(x, str),
    "segment": lambda x: x is None or _count(x),
}  # fmt: skip
_HEAD = {
    "corpus": str, "langs": _pair(str), "documents": _count, "systems": [str], "metrics": [dict], "warnings": [str],
    "counts": {str: _count}, "flags": {str: [_FLAG]},
}  # fmt: skip
_METRIC = {
    "spec": str, "systems": [str], "details": bool, "higher_is_better": bool, "range": _pair(_bound),
    "outputs": lambda x: has_shape(x, [str]) and len(set(x)) == len(x) > 0, "signatures": [dict],
}  # fmt: skip
_OWN = {"wholetext": str, "format": int, "systems": [str], "metrics": [dict]}  # identifies a run.json of wholetext
_DOCUMENT = {"src", "refs", "meta", "outputs", "doc"}


def _checksum(head: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(head, sort_keys=True).encode()).hexdigest()
