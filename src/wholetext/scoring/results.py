"""Results ⇄ run folder: what `score` leaves behind and every later verb reads, without loading a model."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from wholetext.errors import MissingExtra, RunError, choices, count
from wholetext.files.output_folder import Kind, changing, check, current, locked
from wholetext.files.parsing import read_json
from wholetext.files.storage import sha256
from wholetext.notebook.run_table import RunTable
from wholetext.notes import merged
from wholetext.scoring.run_schema import (
    AGAIN,
    FORMAT,
    Arrays,
    Place,
    check_details,
    check_document,
    check_head,
    check_reduction,
    check_rows,
    listed,
    seal,
)
from wholetext.scoring.stores import columnar, json_lines
from wholetext.spec import given_parameters
from wholetext.types import Corpus, Document, Level, Metric, Output, Rows, Scores, Signature
from wholetext.version import __version__

Store = Literal["auto", "jsonl", "parquet"]
ROWS = 1_000_000  # from which ``auto`` is Parquet
LEVELS: tuple[Level, ...] = ("corpus", "doc", "row")


@dataclass(frozen=True, eq=False, repr=False)
class Results(RunTable):
    """Everything one run produced: spec → system → Scores, with the texts and the warnings."""

    corpus: Corpus
    outputs: tuple[Output, ...]
    scores: Mapping[str, Mapping[str, Scores]]
    warnings: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # requests, distinct, cached, computed
    flags: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # system → suspicious texts
    comparison: Mapping[str, Any] = field(default_factory=dict)  # of systems, in the form of scoring.comparison
    environment: Mapping[str, str] = field(default_factory=dict)  # device, and versions of what computes
    spell: Callable[[str], str] = field(default=str, repr=False)  # a spec however written → as ``scores`` has it

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything to read with the scores: the warnings of the run and the notes of its scores."""
        of_scores = merged({spec: {system: one.remarks for system, one in by_system.items()}
                            for spec, by_system in self.scores.items()})
        return tuple(dict.fromkeys((*self.warnings, *of_scores)))

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(output.system for output in self.outputs)

    def __getitem__(self, spec: str) -> Mapping[str, Scores]:
        """System → scores under a spec, however it is written: aliases and spelled-out defaults will do."""
        found = self.scores.get(spec) or self.scores.get(self.spell(spec))
        if found is None:
            raise RunError(f"there are no scores of {spec!r} here", next=choices(spec, self.scores))
        return found

    def __iter__(self) -> Iterator[str]:
        """The specs, as of a mapping: ``for spec, by_system in results.items()`` has the scores too."""
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __contains__(self, spec: object) -> bool:
        return spec in self.scores or (isinstance(spec, str) and self.spell(spec) in self.scores)

    def items(self) -> ItemsView[str, Mapping[str, Scores]]:
        """(spec, system → scores) of every metric."""
        return self.scores.items()

    def save(self, folder: Path | str, *, overwrite: bool = False) -> None:
        """Write a run folder, as `wholetext score --out` does; ``Results.load`` and every command read it."""
        if not overwrite and run_file(Path(folder), "run.json").exists():
            raise RunError("there is a run here already", where=str(folder),
                           next="choose another folder, or replace it with overwrite=True")
        write_run(self, folder)

    @classmethod
    def load(cls, folder: Path | str) -> Results:
        """Read a run folder; the same as ``wholetext.open_run``."""
        import wholetext  # public functions of higher layers, found by name when they are called

        return wholetext.open_run(folder)

    def by_domain(self, spec: str, output: str | None = None) -> dict[str, dict[str, float]]:
        """System → domain → score of the documents that are in it (``meta["domain"]``); of another output if named."""
        domains = np.array([doc.meta.get("domain", "") for doc in self.corpus.docs])
        found = {}
        for system, scores in self[spec].items():
            column, totals = scores.outputs.index(output) if output else 0, scores.totals()
            with np.errstate(invalid="ignore", divide="ignore"):
                found[system] = {name: float(scores.reduce(totals[domains == name].sum(axis=0))[..., column])
                                 for name in dict.fromkeys(domains.tolist()) if name}
        return found


def write_run(results: Results, folder: Path | str, more: Mapping[str, str] | None = None, store: Store = "auto"
              ) -> None:
    """Write a run folder, with ``more`` text files by name. An older run in it is replaced, all of it or nothing; files
    that wholetext did not write stay. ``store``: JSON lines and NumPy archives, or Parquet; see ``store_of``.
    """
    chosen, note = store_of(results, store)
    results = replace(results, warnings=tuple(dict.fromkeys((*results.warnings, *([note] if note else [])))))
    with changing(Path(folder), RUN) as staged:
        for name, text in (more or {}).items():
            (staged / name).write_text(text, "utf-8")
        _write_files(results, staged, parquet=chosen == "parquet")


def store_of(results: Results, store: Store = "auto") -> tuple[Store, str]:
    """The form of a run folder, and a note if it was chosen automatically: Parquet for runs of many rows."""
    rows = sum(len(one.rows) for by_system in results.scores.values() for one in by_system.values())
    if store != "auto" or rows < ROWS:
        return ("jsonl" if store == "auto" else store), ""
    if not columnar.available():
        return "jsonl", (f"{rows:,} rows reopen faster from Parquet: pip install 'wholetext[parquet]' "
                         "writes such run folders")
    return "parquet", f"the run folder is in Parquet, because it has {rows:,} rows; --store jsonl writes JSON lines"


def refuse_unwritable(folder: Path | str, *, overwrite: bool = True, store: Store = "auto") -> None:
    """An error, before any work, where a run folder cannot be written, or has a run and ``overwrite`` is false."""
    if store not in get_args(Store):
        raise RunError(f"there is no form {store!r} of a run folder", next=f"store is {', '.join(get_args(Store))}")
    if store == "parquet" and not columnar.available():
        raise MissingExtra("pyarrow", "parquet")
    check(Path(folder), RUN)
    if not overwrite and run_file(Path(folder), "run.json").exists():
        raise RunError("there is a run here already", where=str(folder),
                       next="choose another --out, or replace it with --overwrite")


def run_file(folder: Path, name: str) -> Path:
    """Where a file of a run folder is: in its place, or still staged where writing was interrupted."""
    return current(folder, name, RunError)


def _written(folder: Path) -> dict[str, str] | None:
    """The files that an earlier run left in a folder; None if its run.json was not written by wholetext."""
    try:
        found = listed(json.loads((folder / "run.json").read_bytes()))
        if found is not None and "grid.json" not in found and (folder / "grid.json").is_file():
            grid = json.loads((folder / "grid.json").read_bytes())  # of a sweep; 0.1.0 did not list it
            found |= {"grid.json": ""} if grid["kind"] == "sweep" and grid["cells"] else {}
        return found
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


_NAMES = re.compile(r"(run|grid|judge-check|stress)\.json|(texts|results)\.(jsonl|parquet)|stats\d+\.(npz|parquet)|"
                    r"details\d+\.json|stress\.jsonl")
RUN = Kind("run folder", _NAMES, _written, RunError)


def _write_files(results: Results, fresh: Path, parquet: bool) -> None:
    if parquet:
        columnar.write_texts(fresh / "texts.parquet", results.corpus, results.outputs)
        columnar.write_results(fresh / "results.parquet", results.scores, LEVELS)
    else:
        json_lines.write_texts(fresh / "texts.jsonl", results.corpus, results.outputs)
        json_lines.write_results(fresh / "results.jsonl", results.scores, LEVELS)
    metrics = []
    for i, (spec, by_system) in enumerate(results.scores.items()):
        if parquet:
            columnar.write_stats(fresh / f"stats{i}.parquet", by_system)
        else:
            json_lines.write_stats(fresh / f"stats{i}.npz", by_system)
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
            "flags": results.flags, "comparison": results.comparison, "environment": dict(results.environment),
            "files": {path.name: sha256(path) for path in sorted(fresh.iterdir())}}
    (fresh / "run.json").write_text(seal(head), "utf-8")


def read_run(folder: Path, metric_of: Callable[[str, tuple[str, str]], Metric]) -> Results:
    """Read a run folder; ``metric_of`` gives the metric behind a spec and a language pair (its ``reduce`` turns
    statistics into scores)."""
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib raises where a name is too long
        is_file = os.path.isfile(folder)  # noqa: PTH113
        raise RunError("this is a file, not a run folder" if is_file else "there is no such folder", where=str(folder),
                       next="give a folder that `wholetext score --out` wrote")
    try:
        with locked(folder, shared=True):
            place = Place(str(folder / "run.json"))
            head = check_head(_json(_Files(folder, {}).read("run.json"), place), place)
            files = _Files(folder, head.get("files"))
            stored = "texts.parquet" in files.left
            corpus, outputs = (columnar.read_texts(files.checked("texts.parquet"), head) if stored else
                               _read_texts(files, head))
            scores = {}
            for i, entry in enumerate(head["metrics"]):
                scores[entry["spec"]] = _read_metric(files, i, entry, metric_of(entry["spec"], corpus.langs), corpus)
            files.check_rest()
    except OSError as fault:
        raise RunError(f"the run folder cannot be read ({fault.strerror or fault})",
                       where=str(fault.filename or folder), next="check its permissions and the disk") from None
    return Results(corpus, outputs, scores, tuple(head["warnings"]), head["counts"], head["flags"],
                   head.get("comparison", {}), head.get("environment", {}))


class _Files:
    """The files of a run folder, each compared with the SHA-256 that run.json has of it."""

    def __init__(self, folder: Path, listed: Mapping[str, str] | None) -> None:
        self.folder, self.left = folder, dict(listed or {})

    def read(self, name: str) -> bytes:
        path = run_file(self.folder, name)
        if not path.is_file():
            raise RunError(f"{name} is missing", where=str(self.folder),
                           next="give a folder that `wholetext score --out` wrote")
        data = path.read_bytes()
        wanted = self.left.pop(name, None)
        Place(str(path)).need(wanted in (None, hashlib.sha256(data).hexdigest()), _CHANGED)
        return data

    def checked(self, name: str) -> Path:
        """The place of a file that is too large to be read at once."""
        path = run_file(self.folder, name)
        place = Place(str(path))
        place.need(path.is_file(), "the file is missing")
        place.need(self.left.pop(name, "") == sha256(path), _CHANGED)
        return path

    def check_rest(self) -> None:
        """Compare the files that nothing here reads."""
        for name, wanted in self.left.items():
            path = run_file(self.folder, name)
            Place(str(path)).need(RUN.names.fullmatch(name) and path.is_file(), "the file is missing")
            Place(str(path)).need(sha256(path) == wanted, _CHANGED)


_CHANGED = "the file was changed since it was written (its SHA-256 differs)"


def _json(data: bytes, place: Place) -> Any:
    return read_json(data, where=place.where, next=AGAIN, error=RunError, constants=True)


def _read_metric(
    files: _Files, i: int, entry: dict[str, Any], metric: Metric, corpus: Corpus
) -> dict[str, Scores]:
    docs, sizes = corpus.ids, corpus.sizes
    most = 1000 + 16 * (len(docs) + int(sizes.sum()))  # rows of a system
    parquet = f"stats{i}.parquet" in files.left
    place = Place(str(files.folder / f"stats{i}.{'parquet' if parquet else 'npz'}"))
    every = (columnar.read_stats(files.checked(f"stats{i}.parquet"), entry["systems"], most) if parquet else
             json_lines.read_stats(Arrays(files.read(f"stats{i}.npz"), most, place), len(entry["systems"])))
    found = {}
    given = given_parameters(entry["spec"])
    for j, (system, (doc, start, stop, weight, stats, lost)) in enumerate(zip(entry["systems"], every)):
        rows = Rows(docs, sizes, doc, start, stop, weight)
        check_rows(rows, stats, place)
        check_reduction(metric.reduce, stats, len(entry["outputs"]), place)
        place.need(lost is None or lost.shape == (len(stats), 2), "lost tokens are not given for every row")
        found[system] = Scores(
            metric=entry["spec"], system=system, rows=rows, stats=stats,
            reduce=metric.reduce, reduce_rows=metric.reduce_rows, reduce_docs=metric.reduce_docs,
            outputs=tuple(entry["outputs"]),
            higher_is_better=entry["higher_is_better"], range=(float(entry["range"][0]), float(entry["range"][1])),
            signature=Signature(entry["signatures"][j], given), lost=lost, stated=tuple(entry.get("notes", ())),
            decimals=metric.decimals,
        )
    if entry["details"]:
        place = Place(str(files.folder / f"details{i}.json"))
        lengths = [len(scores.stats) for scores in found.values()]
        details = check_details(_json(files.read(f"details{i}.json"), place), lengths, place)
        found = {system: replace(found[system], details=tuple(some)) for system, some in zip(found, details)}
    return found


@contextmanager
def damaged_details(scores: Scores) -> Iterator[None]:
    """Each metric defines the shape of its details, so damage is detected only where they are used."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as fault:
        raise RunError(f"the details of {scores.metric} for {scores.system} are damaged "
                       f"({type(fault).__name__}: {fault})", next=AGAIN) from None


def _read_texts(files: _Files, head: dict[str, Any]) -> tuple[Corpus, tuple[Output, ...]]:
    docs, place = [], Place(str(files.folder / "texts.jsonl"))
    outputs: dict[str, dict[str, tuple[str, ...]]] = {system: {} for system in head["systems"]}
    for line in files.read("texts.jsonl").splitlines():
        entry = check_document(_json(line, place), head["systems"], place)
        docs.append(Document(entry["doc"], entry["src"], entry["refs"], entry["meta"]))
        for system, text in entry["outputs"].items():
            outputs[system][entry["doc"]] = tuple(text)
    place.need(len(docs) == head["documents"], f"it has {count(len(docs), 'document')} instead of {head['documents']}")
    place.need(len({doc.id for doc in docs}) == len(docs), "a document occurs twice")
    langs = (head["langs"][0], head["langs"][1])
    return Corpus(head["corpus"], langs, tuple(docs)), tuple(Output(name, text) for name, text in outputs.items())
