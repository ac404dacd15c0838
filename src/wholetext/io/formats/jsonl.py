"""JSONL: one document or segment per line, with keys of wholetext or of WMT."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import replace
from typing import TextIO, cast

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.formats.json_record import Parser, Record
from wholetext.io.segments import Key, Segments, load_records
from wholetext.io.text import FilePath, TextFile, at, clean, stem, write_text
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Nulls, Output

REALIGNED = (
    "realigned:"  # before a system's name, in meta: how `wholetext align` aligned its output
)
NULLS = "nulls:"  # before a system's name, in meta: what it found left out and added, as JSON
NUL = re.compile(r"(?<!\\)(\\\\)*\\u0000")  # a NUL as JSON writes it, not a text about one


def recognise(file: TextFile) -> bool:
    return file.head().startswith("{")


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read JSONL; ``langs`` selects a language pair (``en-de`` also matches en-de_DE)."""
    chosen = LanguagePairs(langs, file.name)
    gathered: _Segments | Documents | None = None
    corpus, parser, blank = "", Parser(file.name), 0
    for number, line in enumerate(file.lines(), 1):
        if not line.strip():
            blank = blank or number
            continue
        if blank:
            raise InputError(
                "this line is blank",
                where=at(file.name, blank),
                next="write one JSON object per line",
            )
        record = parser.parse(line, number)
        corpus = corpus or record.corpus
        if not chosen.wants(record) or (not record.texts and record.line == 1):
            continue
        if not record.texts:
            raise InputError(
                "there is no text in this line",
                where=at(file.name, record.line),
                next="texts are called src, refs, outputs (WMT: src_text, refs, hypothesis)",
            )
        if gathered is None:
            gathered = Documents(file.name) if record.whole else _Segments(file.name, record)
        gathered.add(record)
    pair_of_file, more = chosen.settled()
    if gathered is None:
        raise InputError(
            "there is no text here", where=file.name, next="check that this is the file you meant"
        )
    notes = [f"keys not used: {', '.join(parser.unused)}"] if parser.unused else []
    loaded = gathered.loaded(corpus or stem(file.name), pair_of_file, notes + more)
    return replace(loaded, others=frozenset(chosen.others))


def write(path: FilePath, loaded: Loaded) -> None:
    """Write a line that names the corpus, then one document per line; ``read`` restores it."""
    corpus, outputs = loaded.corpus, loaded.outputs
    name = os.fspath(path)

    def line(value: dict[str, object], number: int) -> str:
        text = json.dumps(value, ensure_ascii=False)
        return clean("\0" if NUL.search(text) else text, at(name, number))

    def lines(out: TextIO) -> None:
        out.write(line({"corpus": corpus.id, "langs": list(corpus.langs)}, 1) + "\n")
        for number, doc in enumerate(corpus.docs, 2):
            texts = {
                "refs": dict(doc.refs),
                "outputs": {output.system: output.docs[doc.id] for output in outputs},
            }
            how = {
                f"{REALIGNED}{output.system}": output.realigned[doc.id]
                for output in outputs
                if doc.id in output.realigned
            }
            nulls = {
                f"{NULLS}{output.system}": json.dumps(
                    [record.policy, record.omitted, record.added], ensure_ascii=False
                )
                for output in outputs
                if (record := output.nulls.get(doc.id))
            }
            meta = {**doc.meta, **how, **nulls}
            value = {
                "doc": doc.id,
                **({} if doc.src is None else {"src": doc.src}),
                **texts,
                "meta": meta,
            }
            out.write(line({key: part for key, part in value.items() if part != {}}, number) + "\n")

    write_text(path, lines)


def _nulls(text: str, size: int, where: str) -> Nulls:
    """Parse the omissions and additions of a document of ``size`` segments."""
    again = "write the file again with `wholetext align`"
    match read_json(text, where=where, next=again):
        case ["count" | "worst" | "drop" as policy, [*omitted], [*added]] if all(
            type(at) is int and 0 <= at < size for at in omitted
        ) and all(
            isinstance(entry, list)
            and len(entry) == 3
            and type(entry[0]) is int
            and 0 <= entry[0] < size
            and type(entry[1]) is int
            and entry[1] > 0
            and isinstance(entry[2], str)
            for entry in added
        ):
            return Nulls(
                tuple(omitted), tuple((at, number, rest) for at, number, rest in added), policy
            )
    raise InputError("the record of omissions and additions is invalid", where=where, next=again)


class LanguagePairs:
    """The requested language pair, the pairs in the file, and the documents left out."""

    def __init__(self, langs: Langs, where: str) -> None:
        self.wanted = pair(langs) if langs is not None else None
        self.where = where
        self.found: dict[tuple[str, str], bool] = {}
        self.others: set[str] = set()
        self.lines: Counter[tuple[str, str]] = Counter()  # lines with text, by the pair they state

    def wants(self, record: Record) -> bool:
        self.lines[record.langs] += bool(record.texts)
        if record.langs == ("", ""):
            return True
        selected = self.wanted is None or all(map(same_language, self.wanted, record.langs))
        self.found[record.langs] = selected
        if not selected:
            self.others.add(record.doc)
        return selected

    def settled(self) -> tuple[tuple[str, str], list[str]]:
        """Return the pair of the corpus, and notes; no pair, or several, is an error."""
        selected = [langs for langs, is_selected in self.found.items() if is_selected]
        stated = ", ".join(sorted("-".join(langs) for langs in self.found))
        if len(selected) > 1:
            raise InputError(
                f"there are several language pairs here: {stated}",
                where=self.where,
                next="choose one, e.g. -l " + "-".join(selected[0]),
            )
        if self.found and not selected:
            raise InputError(
                f"there is no {'-'.join(self.wanted or ())} here, only {stated}",
                where=self.where,
                next="choose one of these with -l",
            )
        chosen, silent = selected[0] if selected else self.wanted or ("", ""), self.lines["", ""]
        if not silent or silent == self.lines.total():
            return chosen, []
        lines = count(silent, "line", "state")
        return chosen, [f"{lines} no language pair, taken as {'-'.join(chosen)}, as others state"]


class _Segments:
    """Lines that are segments: every line must have the same fields as the first."""

    def __init__(self, where: str, first: Record) -> None:
        self.where, self.first, self.lines = where, first, list[int]()
        self.keys = _cells(first).keys()
        self.columns: dict[Key, list[str]] = {
            key: [] for key in (*self.keys, *(("meta", name) for name in first.meta))
        }

    def add(self, record: Record) -> None:
        where = at(self.where, record.line)
        if record.whole:
            raise InputError(
                "this line is a document, but the first line is a segment",
                where=where,
                next="write one document per line, or one segment per line",
            )
        cells = _cells(record)
        if cells.keys() != self.keys:
            lacks = _words(self.keys - cells.keys())
            what = f"has no {lacks[0]}" if lacks else f"has a {_words(cells.keys() - self.keys)[0]}"
            raise AlignmentError(
                f"this line {what}, unlike line {self.first.line}",
                where=where,
                next="every segment needs the same source, references and outputs",
            )
        self.lines.append(record.line)
        for key, text in cells.items():
            self.columns[key].append(text)
        for name in self.first.meta:
            self.columns["meta", name].append(record.meta.get(name, ""))

    def loaded(self, corpus: str, langs: tuple[str, str], notes: list[str]) -> Loaded:
        return load_records(self.columns, self.lines, corpus, langs, notes, self.where)


def _cells(record: Record) -> dict[Key, str]:
    """Return the fields of a line that is a segment."""
    cells = dict(cast("dict[Key, str]", record.texts))  # not a whole document, so strings
    if record.doc:
        cells["doc", ""] = record.doc
    if record.system:
        cells["system", ""] = record.system
    return cells


def _words(keys: set[Key]) -> list[str]:
    """Describe fields in words."""
    words = {
        "doc": "document id",
        "src": "source",
        "system": "system",
        "ref": "reference {!r}",
        "hyp": "output of {!r}",
    }
    ordered = sorted(keys, key=lambda key: (list(words).index(key[0]), key[1]))
    return [
        "output" if (kind, name) == ("hyp", "") else words[kind].format(name)
        for kind, name in ordered
    ]


class Documents:
    """Lines that are documents; a repeated one only adds the output of another system."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.lines: dict[str, int] = {}
        self.docs: dict[str, Document] = {}
        self.outputs: dict[str, dict[str, Segments]] = {}

    def add(self, record: Record) -> None:
        where = at(self.where, record.line)
        if not record.whole:
            raise InputError(
                "this line is a segment, but the first line is a document",
                where=where,
                next="write one document per line, or one segment per line",
            )
        texts: dict[Key, Segments] = record.texts  # type: ignore[assignment]  # of a whole document
        refs = {name: text for (kind, name), text in texts.items() if kind == "ref"}
        doc = Document(
            record.doc or f"doc{len(self.lines) + 1}", texts.get(("src", "")), refs, record.meta
        )
        earlier = self.docs.get(doc.id)
        if earlier is None:
            self.docs[doc.id] = doc
            self.lines[doc.id] = record.line
        elif not record.system:
            raise InputError(
                f"document {doc.id!r} was already in line {self.lines[doc.id]}",
                where=where,
                next="give each document its own id; "
                "a line that is a segment has hyp, not hypothesis",
            )
        elif (doc.src is not None and doc.src != earlier.src) or any(
            earlier.refs.get(name) != text for name, text in refs.items()
        ):
            raise AlignmentError(
                f"document {doc.id!r} has another source or reference in line {self.lines[doc.id]}",
                where=where,
                next="give each document its own id",
            )
        for (kind, name), text in texts.items():
            if kind == "hyp":
                system = name or record.system
                docs = self.outputs.setdefault(system or stem(self.where), {})
                if doc.id in docs:
                    raise InputError(
                        f"document {doc.id!r} was already given for system {system!r}", where=where
                    )
                docs[doc.id] = text

    def loaded(self, corpus: str, langs: tuple[str, str], notes: list[str]) -> Loaded:
        outputs = []
        for system, docs in self.outputs.items():
            how, nulls = (
                {
                    doc.id: doc.meta[f"{kind}{system}"]
                    for doc in self.docs.values()
                    if f"{kind}{system}" in doc.meta
                }
                for kind in (REALIGNED, NULLS)
            )
            outputs.append(
                Output(
                    system,
                    docs,
                    how,
                    {
                        doc: _nulls(text, len(docs.get(doc, ())), at(self.where, self.lines[doc]))
                        for doc, text in nulls.items()
                    },
                )
            )
        names = {f"{kind}{system}" for kind in (REALIGNED, NULLS) for system in self.outputs}
        documents = [
            replace(doc, meta={key: value for key, value in doc.meta.items() if key not in names})
            if names & doc.meta.keys()
            else doc
            for doc in self.docs.values()
        ]
        return assemble(Corpus(corpus, langs, tuple(documents)), outputs, notes, self.where)
