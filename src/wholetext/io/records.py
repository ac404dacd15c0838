"""Records → Loaded: the one place that interprets rows of tables and objects of JSON.

A record is a mapping of names to values. If its texts are strings, it is a segment; if they are
lists of strings, it is a document. All records of a file are of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import number, read_json, reading
from wholetext.io.assembly import (
    Column,
    DocumentRun,
    Langs,
    Loaded,
    Segments,
    assemble,
    load as load_segments,
    pair,
    runs_of,
)
from wholetext.io.columns import Columns, Key, key_of, settle
from wholetext.io.text import at, clean, stem
from wholetext.notes import Note
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Judgments, Nulls, Output

Text = str | Segments

REALIGNED = "realigned:"  # before a system, in meta: how `wholetext align` aligned its output
NULLS = "nulls:"  # before a system, in meta: what it left out and added, as JSON
_SAMPLE = 200  # records from which the columns are guessed
_NO_SCORE = ("", "None", "nan", "NaN", "NA")


@dataclass(slots=True)
class Record:
    """A parsed record; ``texts["hyp", ""]`` is the output of ``system``, if named."""

    line: int
    doc: str = ""
    system: str = ""
    texts: dict[Key, Any] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    langs: tuple[str, str] = ("", "")
    corpus: str = ""
    whole: bool = False  # a document; otherwise a segment
    human: dict[Key, float] = field(default_factory=dict)  # scores: of ``system``, or by system


def load(
    records: Iterable[tuple[int, Mapping[str, Any]]],
    where: str,
    langs: Langs = None,
    *,
    columns: Columns | None = None,
    corpus: Corpus | None = None,
    outputs: bool = True,
) -> Loaded:
    """Load numbered records; ``langs`` selects a pair (``en-de`` also matches en-de_DE).

    ``columns`` says what some columns hold. ``corpus`` is what these are outputs for. Without
    ``outputs``, a column of an unknown name is never taken for a system.
    """
    numbered = iter(records)
    sample = list(islice(numbered, _SAMPLE))
    names = list(dict.fromkeys(name for _, fields in sample for name in fields))
    keys, notes = settle(
        names,
        [fields for _, fields in sample],
        where,
        columns=columns,
        langs=pair(langs),
        documents=frozenset(corpus.ids) if corpus else (),
        outputs=outputs,
    )
    known = {column: keys.get(column) for column in names}
    chosen, name, unused = LanguagePairs(langs, where), "", dict[str, None]()
    gathered: SegmentRecords | DocumentRecords | None = None
    for line, fields in chain(sample, numbered):
        record = _parse(line, fields, known, where, unused)
        name = name or record.corpus
        if chosen.wants(record) and (record.texts or gathered):
            gathered = gathered or (DocumentRecords if record.whole else SegmentRecords)(where)
            if record.whole != isinstance(gathered, DocumentRecords):
                own, other = ("document", "segment")[:: 1 if record.whole else -1]
                raise InputError(
                    f"this record is a {own}, and the first is a {other}",
                    where=at(where, line),
                    next="write one document per line, or one segment per line",
                )
            gathered.add(record)
    langs = chosen.settled()
    if gathered is None:
        raise InputError(
            f"there is no text here{': no column has it: ' + ', '.join(names) if names else ''}",
            where=where,
            next="texts are called src, ref (or ref:NAME), hyp:SYSTEM, in JSONL also refs and "
            "outputs; --columns source=NAME,reference=NAME,output=NAME names others",
        )
    notes += [f"fields not used: {', '.join(unused)}"] if unused else []
    return replace(
        gathered.loaded(name or stem(where), langs, notes), others=frozenset(chosen.others)
    )


def _parse(
    line: int,
    fields: Mapping[str, Any],
    keys: Mapping[str, Key | None],
    source: str,
    unused: dict[str, None],
) -> Record:
    """Interpret a record by the keys of its columns; add names without a key to ``unused``."""
    where, record = at(source, line), Record(line)
    names, codes = dict[Key, str](), dict[str, str]()
    for name, value in fields.items():
        key = keys[name] if name in keys else key_of(name)
        if key is None:
            unused[name or "(no name)"] = None
            continue
        if key in names:
            raise InputError(
                f"{names[key]!r} and {name!r} are one field",
                where=where,
                next="rename or remove one of them",
            )
        names[key], (kind, label) = name, key
        if value is None:  # the same as absent
            continue
        match kind:
            case "src" | "ref" | "hyp":
                record.texts[kind, label] = _text(value, where)
            case "refs" | "hyps":
                record.texts |= _named(value, kind[:-1], where)
            case "meta":
                record.meta[label] = _name(value, where)
            case "gold" | "human":
                record.human[kind, label] = _score(value, where)
            case "metas":
                record.meta |= {key: _name(fact, where) for key, fact in value.items()}
            case "doc" | "system" | "corpus":
                setattr(record, kind, _name(value, where))
            case "langs":
                record.langs = pair(value, where)
            case _:
                codes[kind] = _name(value, where)
    if len(codes) == 2:
        record.langs = codes["src_lang"], codes["tgt_lang"]
    outputs = [label for kind, label in record.texts if kind == "hyp"]
    kinds = set(map(type, record.texts.values()))
    if len(kinds) > 1 or ((record.system or "" in outputs) and outputs != [""]):
        raise InputError(
            "the texts of this record do not go together",
            where=where,
            next="all texts are strings, or all are lists of segments; 'system' goes with one "
            "'hyp', and neither goes with named outputs",
        )
    record.whole = kinds == {tuple}
    return record


def _text(value: Any, where: str) -> Text:
    if isinstance(value, str):
        return clean(value, where)
    if not isinstance(value, list) or not all(isinstance(segment, str) for segment in value):
        raise InputError(
            f"a text is a string or a list of strings, not {type(value).__name__}",
            where=where,
            next="name the text inside it: --columns output=KEY.KEY"
            if isinstance(value, dict)
            else 'write "" where there is no text',
        )
    return tuple(clean(segment, where) for segment in value)


def _named(value: Any, kind: str, where: str) -> dict[Key, Text]:
    """Read several texts: a mapping of names and texts, or a list, which is numbered."""
    if isinstance(value, list):
        value = {f"{kind}{i}": text for i, text in enumerate(value)}
    if not isinstance(value, dict) or "" in value:
        raise InputError("refs and outputs are objects of names and texts", where=where)
    return {(kind, name): _text(text, where) for name, text in value.items() if text is not None}


def _score(value: Any, where: str) -> float:
    if str(value).strip() in _NO_SCORE:
        return float("nan")
    return number(
        str(value),
        what="a human score",
        where=where,
        next="leave it empty where nobody judged, or name another column: --columns human=NAME",
    )


def _name(value: Any, where: str) -> str:
    if isinstance(value, (list, dict, bool)):
        raise InputError(f"a name must be a text, not {value!r}"[:100], where=where)
    return clean(str(value), where) if value == value else ""  # NaN is the same as absent


class LanguagePairs:
    """The requested language pair, the pairs in the file, and the documents left out."""

    def __init__(self, langs: Langs, where: str) -> None:
        self.requested = pair(langs) if langs is not None else None
        self.where = where
        self.stated: dict[tuple[str, str], bool] = {}  # whether the pair is selected
        self.others: set[str] = set()  # documents left out

    def wants(self, record: Record) -> bool:
        if record.langs == ("", ""):
            return True
        selected = self.requested is None or all(map(same_language, self.requested, record.langs))
        self.stated[record.langs] = selected
        if not selected:
            self.others.add(record.doc)
        return selected

    def settled(self) -> tuple[str, str]:
        """Return the pair of the corpus; none that fits, or several, is an error."""
        selected = [langs for langs, is_selected in self.stated.items() if is_selected]
        if len(selected) > 1 or (self.stated and not selected):
            stated = ", ".join(sorted("-".join(langs) for langs in self.stated))
            raise InputError(
                f"there are several language pairs here: {stated}"
                if selected
                else f"there is no {'-'.join(self.requested or ())} here, only {stated}",
                where=self.where,
                next="choose one of these with -l",
            )
        return selected[0] if selected else self.requested or ("", "")


class SegmentRecords:
    """Records that are segments: each must have the fields of the first."""

    def __init__(self, where: str) -> None:
        self.where, self.lines = where, list[int]()
        self.columns: dict[Key, list[str]] = {}
        self.metas: dict[str, list[str]] = {}
        self.human: list[dict[Key, float]] = []

    def add(self, record: Record) -> None:
        cells = record.texts
        cells |= {("doc", ""): record.doc} if record.doc else {}
        cells |= {("system", ""): record.system} if record.system else {}
        if not self.lines:
            self.columns, self.metas = {key: [] for key in cells}, {key: [] for key in record.meta}
        if cells.keys() != self.columns.keys():
            differing = sorted(cells.keys() ^ self.columns.keys())
            names = ", ".join(":".join(filter(None, key)) for key in differing)
            raise AlignmentError(
                f"this record and the first do not have the same fields: {names}",
                where=at(self.where, record.line),
                next="every segment needs the same source, references and outputs",
            )
        self.lines.append(record.line)
        self.human.append(record.human)
        for key, text in cells.items():
            self.columns[key].append(text)
        for name, values in self.metas.items():
            values.append(record.meta.get(name, ""))

    def loaded(self, corpus: str, langs: tuple[str, str], notes: list[str]) -> Loaded:
        rows = self._systems()
        lead, where = next(iter(rows.values())), self.where
        columns = {key: [texts[i] for i in lead] for key, texts in self.columns.items()}
        if ("doc", "") in columns:
            runs, more = runs_of(columns["doc", ""], where, lines=[self.lines[i] for i in lead])
            notes = [*notes, *more]
        else:
            runs = [DocumentRun("doc1", 0, len(lead))]
            segments = count(len(lead), "segment", "are")
            note = f"no document ids are given: all {segments} taken as one document"
            notes = [*notes, Note("single-document", note)]
        runs = [replace(run, meta=self._meta(lead[run.start])) for run in runs]
        texts = [
            Column(*key, column, where)
            for key, column in columns.items()
            if key[0] in ("src", "ref", "hyp") and key != ("hyp", "")
        ]
        unnamed = self.columns.get(("hyp", ""), [])
        texts += [
            Column("hyp", system, [unnamed[i] for i in places], where)
            for system, places in rows.items()
            if unnamed
        ]
        loaded = load_segments(texts, runs, corpus, langs, notes, where)
        return replace(loaded, judgments=self._judgments(loaded.outputs, rows))

    def _meta(self, row: int) -> dict[str, str]:
        return {name: column[row] for name, column in self.metas.items() if column[row]}

    def _judgments(
        self, outputs: Sequence[Output], rows: Mapping[str, Sequence[int]]
    ) -> tuple[Judgments, ...]:
        """Return human scores by segment: a column beside its system, or one per system."""
        systems = tuple(output.system for output in outputs)
        keys = {key for scores in self.human for key in scores}
        lead, judgments = next(iter(rows.values())), []
        for gold in sorted({label if kind == "gold" else "human" for kind, label in keys}):
            own = [("human", s) if ("human", s) in keys else ("gold", gold) for s in systems]
            values = [
                [self.human[i].get(key, np.nan) for i in rows.get(system, lead)]
                for system, key in zip(systems, own)
            ]
            judgments.append(Judgments(gold, "seg", systems, np.array(values)))
        return tuple(judgments)

    def _systems(self) -> dict[str, Sequence[int]]:
        """Map systems to their rows; every system must have the same segments in the same order."""
        if ("system", "") not in self.columns:
            return {stem(self.where): range(len(self.lines))}
        rows: dict[str, list[int]] = {}
        for i, system in enumerate(self.columns["system", ""]):
            rows.setdefault(system, []).append(i)
        first, lead = next(iter(rows.items()))
        for kind, name in self.columns.keys() - {("system", ""), ("hyp", "")}:
            column = self.columns[kind, name]
            for system, places in rows.items():
                if [column[i] for i in places] != [column[i] for i in lead]:
                    pairs = zip(places, lead)
                    line = next((i for i, j in pairs if column[i] != column[j]), places[-1])
                    raise AlignmentError(
                        f"the segments of system {system!r} differ here from those of {first!r} "
                        f"({kind})",
                        where=at(self.where, self.lines[line]),
                        next="every system needs the same segments in the same order",
                    )
        return {**rows}


class DocumentRecords:
    """Records that are documents; a repeated one only adds the output of another system."""

    def __init__(self, where: str) -> None:
        self.where, self.unnamed = where, False
        self.docs: dict[str, Document] = {}
        self.outputs: dict[str, dict[str, Segments]] = {}
        self.human: dict[str, dict[Key, float]] = {}  # gold → (system, document)

    def add(self, record: Record) -> None:
        where = at(self.where, record.line)
        refs = {name: text for (kind, name), text in record.texts.items() if kind == "ref"}
        self.unnamed = self.unnamed or not record.doc
        name = record.doc or f"doc{len(self.docs) + 1}"
        doc = Document(name, record.texts.get(("src", "")), refs, record.meta)
        earlier = self.docs.setdefault(doc.id, doc)
        outputs = {
            label or record.system or stem(self.where): text
            for (kind, label), text in record.texts.items()
            if kind == "hyp"
        }
        again = [system for system in outputs if doc.id in self.outputs.get(system, ())]
        if again or (earlier is not doc and (earlier.src, earlier.refs) != (doc.src, doc.refs)):
            raise AlignmentError(
                f"document {doc.id!r} is there twice, or with another source or reference",
                where=where,
                next="give each document its own id",
            )
        for system, text in outputs.items():
            self.outputs.setdefault(system, {})[doc.id] = text
        for (kind, label), score in record.human.items():
            gold, systems = (label, [*outputs]) if kind == "gold" else ("human", [label])
            self.human.setdefault(gold, {}).update({(s, doc.id): score for s in systems})

    def loaded(self, corpus: str, langs: tuple[str, str], notes: list[str]) -> Loaded:
        metas = {doc.id: dict(doc.meta) for doc in self.docs.values()}
        outputs = []
        for system, docs in self.outputs.items():
            how, nulls = (
                {doc: meta.pop(key) for doc, meta in metas.items() if key in meta}
                for key in (REALIGNED + system, NULLS + system)
            )
            records = {doc: _nulls(text, len(docs[doc]), self.where) for doc, text in nulls.items()}
            outputs.append(Output(system, docs, how, records))
        documents = [replace(doc, meta=metas[doc.id]) for doc in self.docs.values()]
        if self.unnamed:
            notes = [*notes, Note("unnamed-documents", "no document ids are given")]
        loaded = assemble(Corpus(corpus, langs, tuple(documents)), outputs, notes, self.where)
        systems, ids, missing = tuple(self.outputs), loaded.corpus.ids, float("nan")
        judgments = [
            Judgments(
                gold,
                "doc",
                systems,
                np.array([[scores.get((s, d), missing) for d in ids] for s in systems]),
                tuple(ids),
            )
            for gold, scores in self.human.items()
        ]
        return replace(loaded, judgments=tuple(judgments))


def _nulls(text: str, size: int, where: str) -> Nulls:
    """Parse the omissions and additions of a document of ``size`` segments."""
    with reading(where, "write the file again with `wholetext align`"):
        policy, omitted, added = read_json(text, where=where)
        places = {*omitted, *(place for place, _, _ in added)}
        if policy not in Nulls.POLICIES or not places <= set(range(size)):
            raise ValueError("the record of omissions and additions is invalid")
        return Nulls(tuple(omitted), tuple((place, n, rest) for place, n, rest in added), policy)
