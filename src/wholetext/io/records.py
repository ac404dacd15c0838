"""Records (rows of a TSV, lines of a JSONL) gathered by column: names of the fields, and systems one under another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.segments import Column, DocumentRun, TextColumns, runs_of
from wholetext.io.text import at, stem
from wholetext.types import Corpus

# What a field may be called, by what it is. `target` is the reference in WMT24++ and EvalSet files.
DOC = ("doc", "doc_id", "docid", "document", "document_id")
SRC = ("src", "source")
REF = ("ref", "reference", "target")
HYP = ("hyp", "hypothesis", "mt", "translation")
SYSTEM = ("system",)
META = ("domain", "origlang", "collection_id")


@dataclass
class RecordTable:
    """Segments by column, all columns equally long, and the line that each is from."""

    where: str
    lines: Sequence[int]
    docs: list[str] = field(default_factory=list)
    src: list[str] = field(default_factory=list)
    refs: dict[str, list[str]] = field(default_factory=dict)
    hyps: dict[str, list[str]] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)

    def loaded(self, corpus: str, langs: Langs, notes: Sequence[str]) -> Loaded:
        """The corpus and outputs these segments make up."""
        table, notes = self._folded() if self.systems else self, list(notes)
        columns = TextColumns(
            Column("", table.src, self.where) if table.src else None,
            tuple(Column(name, texts, self.where) for name, texts in table.refs.items()),
            tuple(Column(name, texts, self.where) for name, texts in table.hyps.items()))
        if not columns.all():
            raise InputError("there is no text here", where=self.where, next="check that this is the file you meant")
        length = len(columns.all()[0].texts)
        if table.docs:
            runs, more = runs_of(table.docs, self.where, lines=table.lines)
            notes += more
        else:
            runs = [DocumentRun("doc1", 0, length)]
            notes.append(f"no document ids are given: all {length} segments are taken as one document")
        runs = [replace(run, meta={key: values[run.start] for key, values in table.metas.items() if values[run.start]})
                for run in runs]
        docs = columns.documents(runs)
        return assemble(Corpus(corpus or stem(self.where), pair(langs), docs), columns.outputs(runs), notes, self.where)

    def _folded(self) -> RecordTable:
        """One column per system, where the records of several systems stand one under another.

        Every system must have the same segments in the same order: the same document ids, sources and references.
        """
        rows: dict[str, list[int]] = {}
        for i, system in enumerate(self.systems):
            if not system.strip():
                raise InputError("there is no system name here", where=at(self.where, self.lines[i]))
            rows.setdefault(system, []).append(i)
        (name, lead), *others = rows.items()
        shared = {"document id": self.docs, "source": self.src,
                  **{f"reference {ref!r}": texts for ref, texts in self.refs.items()}}
        for other, mine in others:
            if len(mine) != len(lead):
                raise AlignmentError(f"system {name!r} has {len(lead)} segments but {other!r} has {len(mine)}",
                                     where=self.where, next="every system needs the same segments in the same order")
            for what, texts in shared.items():
                self._compare(what, texts, lead, mine)
        hyps = next(iter(self.hyps.values()))
        return RecordTable(self.where, [self.lines[i] for i in lead], _take(self.docs, lead), _take(self.src, lead),
                     {ref: _take(texts, lead) for ref, texts in self.refs.items()},
                     {system: _take(hyps, mine) for system, mine in rows.items()}, [],
                     {key: _take(values, lead) for key, values in self.metas.items()})

    def _compare(self, what: str, texts: Sequence[str], lead: Sequence[int], mine: Sequence[int]) -> None:
        if not texts:
            return
        for a, b in zip(lead, mine):
            if texts[a] != texts[b]:
                raise AlignmentError(
                    f"the {what} of system {self.systems[b]!r} here is not that of {self.systems[a]!r} "
                    f"in line {self.lines[a]}", where=at(self.where, self.lines[b]),
                    next="every system needs the same segments in the same order")


def _take(texts: Sequence[str], rows: Sequence[int]) -> list[str]:
    return [texts[i] for i in rows] if texts else []
