"""Run folders in Parquet (pyarrow): texts, scores and statistics by column, so that millions of rows reopen in seconds.

``texts.parquet`` has a row per document, ``results.parquet`` one per score, ``statsN.parquet`` one per row of a metric
and system. Texts are read from the file when they are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import MissingExtra, RunError
from wholetext.files.large_arrays import BLOCK, GrowingArray, blocks
from wholetext.files.parsing import read_json
from wholetext.files.text_store import Column, Segments, Stored, StoredTexts, TextStore
from wholetext.io.stored import StoredDocuments
from wholetext.scoring.run_schema import AGAIN, COLUMNS, Place
from wholetext.types import Corpus, Document, FloatArray, IntArray, Level, Output, Scores

DOCUMENTS = 2048  # of a row group: what is read for one text
PLACES = ("doc", "start", "stop", "weight", "lost_context", "lost_focus")  # columns before the statistics


def available() -> bool:
    """Whether pyarrow is installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    return pyarrow, pyarrow.parquet


# ---------------------------------------------------------------- writing


def write_texts(path: Path, corpus: Corpus, outputs: Sequence[Output]) -> None:
    """One row per document. Columns that every document has are declared as never null."""
    arrow, parquet = _arrow()
    names = list(corpus.docs.reference_names if isinstance(corpus.docs, Stored) else
                 dict.fromkeys(name for doc in corpus.docs for name in doc.refs))
    strings = arrow.list_(arrow.string())
    whole = [("src", corpus.has_source), *((f"ref:{name}", name in corpus.references) for name in names),
             *((f"hyp:{output.system}", True) for output in outputs)]
    schema = arrow.schema([
        arrow.field("doc", arrow.string(), nullable=False), arrow.field("segments", arrow.int64(), nullable=False),
        *(arrow.field(name, strings, nullable=not every) for name, every in whole), ("meta", arrow.string())])

    def row(doc: Document) -> list[Any]:
        meta = json.dumps(dict(doc.meta), ensure_ascii=False) if doc.meta else None
        return [doc.id, len(doc), doc.src, *map(doc.refs.get, names), *(one.docs[doc.id] for one in outputs), meta]

    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for begin in range(0, len(corpus), DOCUMENTS):
            columns = zip(*map(row, corpus.docs[begin : begin + DOCUMENTS]))
            arrays = [arrow.array(column, field.type) for column, field in zip(columns, schema)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def write_results(path: Path, scores: Mapping[str, Mapping[str, Scores]], levels: Sequence[Level]) -> None:
    """One row per score, as in results.jsonl; further outputs of a metric have separate columns."""
    arrow, parquet = _arrow()
    every = [one for by_system in scores.values() for one in by_system.values()]
    more = list(dict.fromkeys(name for one in every for name in one.outputs[1:]))
    name, number = arrow.dictionary(arrow.int32(), arrow.string()), arrow.float64()
    schema = arrow.schema([("metric", name), ("system", name), ("level", name), ("doc", arrow.string()),
                           ("start", arrow.int64()), ("stop", arrow.int64()), ("score", number),
                           *((f"output:{output}", number) for output in more), ("signature", arrow.string())])
    ids = arrow.array(every[0].rows.docs if every else (), arrow.string())
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for one, level in ((one, level) for one in every for level in levels):
            table = one.table(level)  # (items, outputs)
            of_doc = one.rows.doc if level == "row" else np.arange(len(table))
            for some in blocks(table):
                values = table[some]
                columns: dict[str, Any] = {"metric": [one.metric], "system": [one.system], "level": [level]}
                columns = {key: value * len(values) for key, value in columns.items()}
                columns |= {"score": values[:, 0]}
                columns |= {f"output:{output}": values[:, i] for i, output in enumerate(one.outputs) if i}
                columns |= {"signature": [str(one.signature)]} if level == "corpus" else {
                    "doc": ids.take(arrow.array(of_doc[some]))}
                columns |= {"start": one.rows.start[some], "stop": one.rows.stop[some]} if level == "row" else {}
                writer.write_table(_table(columns, schema, len(values)))


def write_stats(path: Path, by_system: Mapping[str, Scores]) -> None:
    """One row per row of a system: where it belongs, what was cut, its statistics; a row group has one system."""
    _, parquet = _arrow()
    width = next(iter(by_system.values())).stats.shape[1]
    with parquet.ParquetWriter(path, _stats_schema(width), compression="zstd") as writer:
        for system, scores in by_system.items():
            rows = scores.rows
            for some in blocks(scores.stats):
                stats = scores.stats[some]
                columns: dict[str, Any] = {"system": [system] * len(stats), "doc": rows.doc[some]}
                columns |= {"start": rows.start[some], "stop": rows.stop[some], "weight": rows.weight[some]}
                if scores.lost is not None:
                    lost = np.asarray(scores.lost[some])
                    columns |= {"lost_context": lost[:, 0], "lost_focus": lost[:, 1]}
                columns |= {f"s{i}": stats[:, i] for i in range(width)}
                writer.write_table(_table(columns, _stats_schema(width), len(stats)))


def _stats_schema(width: int) -> Any:
    arrow, _ = _arrow()
    kinds = [arrow.float64() if name == "weight" else arrow.int64() for name in PLACES]
    return arrow.schema([("system", arrow.dictionary(arrow.int32(), arrow.string())), *zip(PLACES, kinds),
                         *((f"s{i}", arrow.float64()) for i in range(width))])


def _table(columns: Mapping[str, Any], schema: Any, rows: int) -> Any:
    """A table of these columns; null for missing values and NaN."""
    arrow, _ = _arrow()
    arrays = [columns.get(field.name, arrow.nulls(rows, field.type)) for field in schema]
    made = [array if isinstance(array, arrow.Array) else arrow.array(array, from_pandas=True) for array in arrays]
    return arrow.Table.from_arrays([array.cast(field.type) for array, field in zip(made, schema)], schema=schema)


# ---------------------------------------------------------------- reading


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """The module that reads Parquet; whatever it finds wrong with a file is a RunError."""
    arrow, parquet = _arrow()
    try:
        yield parquet
    except (arrow.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, MemoryError) as fault:
        raise RunError(f"the run folder is damaged: it cannot be read as Parquet ({fault})"[:400], where=str(path),
                       next=AGAIN) from None


Stats = tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray, IntArray | None]


def read_stats(path: Path, systems: Sequence[str], most: int) -> list[Stats]:
    """By system: document, start, stop and weight of rows, statistics, lost tokens. ``most``: rows of a system."""
    place, found = Place(str(path)), {system: (GrowingArray(), GrowingArray(), GrowingArray()) for system in systems}
    with _reading(path) as parquet, parquet.ParquetFile(path) as file:
        width = len(file.schema_arrow) - len(PLACES) - 1
        place.need(0 < width <= COLUMNS and file.schema_arrow.equals(_stats_schema(width)),
                   "its columns are not those of statistics")
        place.need(file.metadata.num_rows <= most * len(systems), "it has more rows than the documents allow")
        for group in range(file.num_row_groups):
            place.need(file.metadata.row_group(group).num_rows <= BLOCK, "a row group is too large")
            table = file.read_row_group(group)
            names = table["system"].unique().to_pylist()
            place.need(len(names) == 1 and names[0] in found, "a row group is not of one system of the run")
            values = [table[i].to_numpy() for i in range(1, len(table.columns))]
            place.need(not any(table[i].null_count for i in (1, 2, 3, 4, *range(7, 7 + width))), "a number is missing")
            rows, lost, stats = found[names[0]]
            rows.append(np.column_stack(values[:4]))
            stats.append(np.column_stack(values[6:]))
            if not table["lost_context"].null_count and not table["lost_focus"].null_count:
                lost.append(np.column_stack(values[4:6]))
    return [_stats(rows.array(), stats.array(), lost.array(), place) for rows, lost, stats in found.values()]


def _stats(rows: FloatArray, stats: FloatArray, lost: IntArray, place: Place) -> Stats:
    place.need(len(rows), "a system has no rows")
    doc, start, stop = (rows[:, i].astype(np.int64) for i in range(3))
    return doc, start, stop, rows[:, 3].copy(), stats, lost if len(lost) else None


class ParquetTexts(TextStore):
    """The texts of a run; one row group is held."""

    def __init__(self, path: Path, systems: Sequence[str], documents: int) -> None:
        self.path, self._group = path, -1
        self._table: Any = None
        place = Place(str(path))
        with _reading(path) as parquet:
            file = self._file = parquet.ParquetFile(path)
            kinds = {field.name: str(field.type) for field in file.schema_arrow}
            names = [name for name in kinds if name.startswith(("ref:", "hyp:")) or name == "src"]
            wanted = {"doc": "string", "segments": "int64", "meta": "string", **dict.fromkeys(names, _STRINGS)}
            place.need(kinds == wanted and "src" in kinds, "its columns are not those of texts")
            place.need({name[4:] for name in names if name.startswith("hyp:")} == set(systems),
                       "it does not have the outputs of the run's systems")
            head = file.read(["doc", "segments"])
            ids = head["doc"].to_pylist()
            self._sizes: IntArray = head["segments"].to_numpy().astype(np.int64)
            self._starts = np.cumsum([0, *(file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))])
            self.columns = {_column(name): not file.schema_arrow.field(name).nullable for name in names}
        place.need(len(ids) == documents, f"it has {len(ids)} documents instead of {documents}")
        self.numbers = {doc: number for number, doc in enumerate(ids)}
        place.need(len(self.numbers) == len(ids) and None not in self.numbers, "a document occurs twice")
        place.need(len(self._sizes) == 0 or self._sizes.min() >= 0, "a document has a negative number of segments")

    @property
    def sizes(self) -> IntArray:
        return self._sizes

    def has(self, column: Column, number: int) -> bool:
        return self.columns.get(column, False) or self.text(column, number) is not None

    def text(self, column: Column, number: int) -> Segments | None:
        if column not in self.columns:
            return None
        found = self._cell(_name(column), number)
        size, place = int(self._sizes[number]), Place(str(self.path))
        place.need(found is not None or not self.columns[column], "a text is missing")
        place.need(found is None or (None not in found and (column[0] == "hyp" or len(found) == size)),
                   "a text has other segments than its document")
        return None if found is None else tuple(found)

    def meta(self, number: int) -> Mapping[str, str]:
        place, found = Place(str(self.path)), self._cell("meta", number)
        meta = {} if found is None else read_json(found, where=place.where, next=AGAIN, error=RunError)
        place.need(isinstance(meta, dict), "meta of a document has the wrong type")
        return dict(meta)

    def _cell(self, name: str, number: int) -> Any:
        group = int(np.searchsorted(self._starts, number, "right")) - 1
        if group != self._group:
            with _reading(self.path):
                self._group, self._table = group, self._file.read_row_group(group)
        return self._table[name][number - int(self._starts[group])].as_py()


_STRINGS = "list<element: string>"


def _column(name: str) -> Column:
    kind, _, rest = name.partition(":")
    return kind, rest


def _name(column: Column) -> str:
    return f"{column[0]}:{column[1]}" if column[0] != "src" else "src"


def read_texts(path: Path, head: Mapping[str, Any]) -> tuple[Corpus, tuple[Output, ...]]:
    """The corpus and outputs of a run; their texts stay on disk."""
    store = ParquetTexts(path, head["systems"], head["documents"])
    corpus = Corpus(head["corpus"], (head["langs"][0], head["langs"][1]), StoredDocuments(store))
    return corpus, tuple(Output(system, StoredTexts(store, ("hyp", system))) for system in head["systems"])
