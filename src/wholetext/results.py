"""Results ⇄ run folder: what `score` leaves behind and every later verb reads, without loading a model."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError, did_you_mean
from wholetext.types import Corpus, Document, FloatArray, Level, Metric, Output, Rows, Scores, Signature
from wholetext.version import __version__

FORMAT = 1
LEVELS: tuple[Level, ...] = ("corpus", "doc", "row")


@dataclass(frozen=True, eq=False)
class Results:
    """Everything one run produced: spec → system → Scores, with the texts and the warnings."""

    corpus: Corpus
    outputs: tuple[Output, ...]
    scores: Mapping[str, Mapping[str, Scores]]
    warnings: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # requests, distinct, cached, computed
    flags: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # system → suspicious texts
    environment: Mapping[str, str] = field(default_factory=dict)  # device, and versions of what computes
    spell: Callable[[str], str] = field(default=str, repr=False)  # a spec however written → as ``scores`` has it

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(output.system for output in self.outputs)

    def __getitem__(self, spec: str) -> Mapping[str, Scores]:
        """System → scores under a spec, however it is written: aliases and spelled-out defaults will do."""
        found = self.scores.get(spec) or self.scores.get(self.spell(spec))
        if found is None:
            known = list(self.scores)
            raise RunError(f"there are no scores of {spec!r} here",
                           next=did_you_mean(spec, known) or f"there are some of {', '.join(known)}")
        return found


def write_run(results: Results, folder: Path | str) -> None:
    """Write a run folder; it appears whole or not at all, and an older run of that name is replaced."""
    folder, fresh = Path(folder).resolve(), fresh_folder(folder)
    older = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        _write_files(results, fresh)
        if folder.exists():
            folder.rename(older)
        fresh.rename(folder)
    except OSError as fault:
        if older.exists() and not folder.exists():
            older.rename(folder)
        raise _unwritable(folder, fault) from fault
    except UnicodeEncodeError as fault:
        raise RunError(f"a text cannot be written as UTF-8 ({fault.reason}: {fault.object[fault.start]!r})",
                       where=str(folder), next="the text was cut inside a character: repair it") from fault
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    shutil.rmtree(older, ignore_errors=True)


def fresh_folder(folder: Path | str) -> Path:
    """An empty folder beside ``folder``, which a run will be; an error where a run cannot be written there."""
    folder = Path(folder).resolve()
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        if folder.exists() and not (folder / "run.json").exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunError("this exists and is not a run folder", where=str(folder), next="choose another --out")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
    except OSError as fault:
        raise _unwritable(folder, fault) from fault
    return fresh


def _unwritable(folder: Path, fault: OSError) -> RunError:
    return RunError(f"the run folder cannot be written ({fault.strerror or fault})", where=str(folder),
                    next="choose another --out")


def _write_files(results: Results, fresh: Path) -> None:
    _write_lines(fresh / "texts.jsonl", _texts(results))
    _write_lines(fresh / "results.jsonl", _lines(results))
    metrics = []
    for i, (spec, by_system) in enumerate(results.scores.items()):
        arrays: dict[str, Any] = {}
        for j, scores in enumerate(by_system.values()):
            rows = scores.rows
            arrays |= {f"{j}.stats": scores.stats, f"{j}.doc": rows.doc, f"{j}.start": rows.start}
            arrays |= {f"{j}.stop": rows.stop, f"{j}.weight": rows.weight}
            arrays |= {} if scores.lost is None else {f"{j}.lost": scores.lost}
        np.savez_compressed(fresh / f"stats{i}.npz", **arrays)
        details = [list(scores.details) for scores in by_system.values()]
        if any(details):
            (fresh / f"details{i}.json").write_text(json.dumps(details, ensure_ascii=False), "utf-8")
        first = next(iter(by_system.values()))
        metrics.append({
            "spec": spec, "systems": list(by_system), "details": any(details), "outputs": first.outputs,
            "higher_is_better": first.higher_is_better, "range": [str(bound) for bound in first.range],
            "notes": first.stated, "signatures": [dict(scores.signature) for scores in by_system.values()],
        })
    head = {"format": FORMAT, "wholetext": __version__, "corpus": results.corpus.id, "langs": results.corpus.langs,
            "documents": len(results.corpus),
            "systems": results.systems, "metrics": metrics, "warnings": results.warnings, "counts": results.counts,
            "flags": results.flags, "environment": dict(results.environment)}
    (fresh / "run.json").write_text(json.dumps(head, ensure_ascii=False, indent=1), "utf-8")


def read_run(folder: Path, metric_of: Callable[[str, tuple[str, str]], Metric]) -> Results:
    """Read a run folder; ``metric_of`` gives the metric behind a spec and a language pair (its ``reduce`` turns
    statistics into scores)."""
    if not folder.is_dir():
        raise RunError("there is no such folder", where=str(folder),
                       next="give a folder that `wholetext score --out` wrote")
    try:
        head = json.loads((folder / "run.json").read_text("utf-8"))
        if head["format"] != FORMAT:
            raise RunError(f"it has format {head['format']}, this version reads {FORMAT}", where=str(folder),
                           next="score again with this version")
        corpus, outputs = _read_texts(folder / "texts.jsonl", head)
        scores = {}
        for i, entry in enumerate(head["metrics"]):
            scores[entry["spec"]] = _read_metric(folder, i, entry, metric_of(entry["spec"], corpus.langs), corpus)
        return Results(corpus, outputs, scores, tuple(head["warnings"]), head["counts"], head["flags"],
                       head.get("environment", {}))
    except FileNotFoundError as fault:
        raise RunError(f"{Path(fault.filename).name} is missing", where=str(folder),
                       next="give a folder that `wholetext score --out` wrote") from None
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, EOFError, OSError, RecursionError, zlib.error,
            zipfile.BadZipFile) as fault:
        raise RunError(f"the run folder is damaged ({type(fault).__name__}: {fault})", where=str(folder),
                       next="score again") from fault


def _read_metric(
    folder: Path, i: int, entry: dict[str, Any], metric: Metric, corpus: Corpus
) -> dict[str, Scores]:
    docs = tuple(doc.id for doc in corpus.docs)
    sizes = np.array([len(doc) for doc in corpus.docs], dtype=np.int64)
    path = folder / f"details{i}.json"
    details = json.loads(path.read_text("utf-8")) if entry["details"] else [[] for _ in entry["systems"]]
    found = {}
    with np.load(folder / f"stats{i}.npz", allow_pickle=False) as arrays:
        for j, system in enumerate(entry["systems"]):
            rows = Rows(docs, sizes, *(arrays[f"{j}.{name}"] for name in ("doc", "start", "stop", "weight")))
            stats = arrays[f"{j}.stats"]
            _check_rows(rows, stats)
            found[system] = Scores(
                metric=entry["spec"], system=system, rows=rows, stats=stats,
                reduce=metric.reduce, reduce_rows=metric.reduce_rows, outputs=tuple(entry["outputs"]),
                higher_is_better=entry["higher_is_better"], range=(float(entry["range"][0]), float(entry["range"][1])),
                signature=Signature(entry["signatures"][j]), details=tuple(details[j]),
                lost=arrays.get(f"{j}.lost"), stated=tuple(entry.get("notes", ())),
            )
    return found


def _check_rows(rows: Rows, stats: FloatArray) -> None:
    """Rows as ``Rows`` promises them; anything else would give wrong numbers later, or none."""
    columns = (rows.doc, rows.start, rows.stop, rows.weight)
    if stats.ndim != 2 or any(column.shape != (len(stats),) for column in columns):
        raise ValueError("the statistics and their rows do not go together")
    inside = (rows.doc >= 0) & (rows.doc < len(rows.docs))
    if not inside.all() or (np.diff(rows.doc) < 0).any():
        raise ValueError("rows are out of order")
    if not ((rows.start >= 0) & (rows.start <= rows.stop) & (rows.stop <= rows.sizes[rows.doc])).all():
        raise ValueError("rows lie outside of their documents")


def _texts(results: Results) -> Iterator[dict[str, Any]]:
    for doc in results.corpus.docs:
        yield {"doc": doc.id, "src": doc.src, "refs": dict(doc.refs), "meta": dict(doc.meta),
               "outputs": {output.system: output.docs[doc.id] for output in results.outputs}}


def _read_texts(path: Path, head: dict[str, Any]) -> tuple[Corpus, tuple[Output, ...]]:
    docs = []
    outputs: dict[str, dict[str, tuple[str, ...]]] = {system: {} for system in head["systems"]}
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            entry = json.loads(line)
            src = None if entry["src"] is None else tuple(entry["src"])
            refs = {name: tuple(text) for name, text in entry["refs"].items()}
            docs.append(Document(entry["doc"], src, refs, entry["meta"]))
            for system, text in entry["outputs"].items():
                outputs[system][entry["doc"]] = tuple(text)
    if len(docs) != head["documents"]:
        raise ValueError(f"texts.jsonl has {len(docs)} documents instead of {head['documents']}")
    langs = (head["langs"][0], head["langs"][1])
    return Corpus(head["corpus"], langs, tuple(docs)), tuple(Output(name, text) for name, text in outputs.items())


def _lines(results: Results) -> Iterator[dict[str, Any]]:
    """One line per score: numbers as numbers, undefined ones as null."""
    for spec, by_system in results.scores.items():
        for system, scores in by_system.items():
            for level in LEVELS:
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


def _write_lines(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
