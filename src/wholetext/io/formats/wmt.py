"""WMT25 and WMT26: test sets (``src_text``, ``refs``) and files of a system (``hypothesis``).

A document is one string; ``markup`` divides it. Ids state pair and domain:
``en-ar_EG_#_news_#_NAME`` (WMT25), ``WMT26_###_news_###_eng_Latn_###_isl_Latn_###_NAME``. Other
keys of a test set are kept in ``Document.meta``: strings under their names, other values as JSON
under ``wmt:value:KEY``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, choices
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, pair
from wholetext.io.formats.jsonl import objects
from wholetext.io.markup import DIVISIONS, division, split
from wholetext.io.records import DocumentRecords, Key, LanguagePairs, Record
from wholetext.io.text import FilePath, TextFile, at, clean, opened, stem
from wholetext.text import pair_of, same_language
from wholetext.types import Corpus, Document

BY, KEYS = "wmt:segments", "wmt:keys"  # in meta: the division of a source, its JSON keys
VALUE = "wmt:value:"  # in meta, before a key whose value is not a string
_USED = frozenset(("doc_id", "src_lang", "tgt_lang", "src_text", "refs", "hypothesis", "metadata"))
_USUAL = {"news": "p", "social": "p", "software": "json", "speech": "lines"}  # WMT26, by domain
_ID = re.compile(r'(?<!\\)"doc_id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_KEY = re.compile(r'(?<!\\)"(\w+)"\s*:')
# JSONL that is not WMT's
_OURS = frozenset(("system", "src", "source", "hyp", "outputs", "lp", "langs", "corpus"))


def recognise(file: TextFile) -> bool:
    return bool(_keys(file))


def _keys(file: TextFile) -> frozenset[str]:
    """Return the keys of the first line if they are WMT's."""
    line = file.head().split("\n", 1)[0]
    if not line.startswith("{"):
        return frozenset()
    try:
        keys = frozenset(read_json(line))
    except InputError:  # broken, or longer than what can be seen of it
        keys = frozenset(_KEY.findall(line))
    wmt = "doc_id" in keys and keys & {"src_text", "hypothesis"} and not keys & _OURS
    return keys if wmt else frozenset()


def read(
    file: TextFile,
    langs: Langs = None,
    *,
    segments: str = "auto",
    corpus: Corpus | None = None,
    system: str = "",
) -> Loaded:
    """Read a test set or the output of one system.

    ``langs`` selects a language pair, ``segments`` is how documents are divided (``auto``: by the
    content of the source). ``corpus`` is the test set of an output, ``system`` its name (default:
    the file's).
    """
    if segments not in DIVISIONS:
        raise InputError(
            f"there is no way {segments!r} to divide documents",
            where=file.name,
            next=choices(segments, DIVISIONS),
        )
    known = {doc.id: doc for doc in corpus.docs} if corpus else {}
    chosen, documents = LanguagePairs(langs, file.name), DocumentRecords(file.name)
    reader = _Reader(segments, system or stem(file.name), known)
    for number, fields in objects(file):
        where, doc = at(file.name, number), fields.get("doc_id")
        if not isinstance(doc, str) or not doc.strip():
            raise InputError(
                "this line has no doc_id",
                where=where,
                next='write {"doc_id": "…", "hypothesis": "…"} on each line',
            )
        stated = str(fields.get("src_lang") or ""), str(fields.get("tgt_lang") or "")
        record = Record(number, doc, langs=stated if all(stated) else facts(doc)[0], whole=True)
        if doc in known or chosen.wants(record):
            reader.fill(record, fields, where)
            documents.add(record)
    pairs = corpus.langs if corpus and documents.docs.keys() & known.keys() else chosen.settled()
    loaded = documents.loaded(reader.corpus or stem(file.name), pairs, reader.notes)
    return replace(loaded, others=frozenset(chosen.others))


def facts(doc: str) -> tuple[tuple[str, str], str, bool]:
    """Return language pair and domain (or ``""``) of a document id, and if it is of WMT26."""
    parts = doc.split("_###_")
    if len(parts) >= 5 and all(parts[:4]):
        return (parts[2], parts[3]), parts[1], True
    parts = doc.split("_#_")
    if len(parts) >= 3:
        try:
            return pair_of(parts[0]), parts[1], False
        except ValueError:
            pass
    return ("", ""), "", False


def folder(path: FilePath, langs: Langs = None) -> tuple[Path | None, list[Path], list[str]]:
    """List the test set and system files of a folder; note other files and other pairs."""
    tests, systems, other = list[Path](), list[Path](), list[str]()
    for entry in sorted(Path(path).glob("[!.]*")):
        with opened(entry) as file:
            keys = _keys(file) if entry.is_file() else ()
            if "src_text" in keys:
                tests.append(entry)
            elif keys and (langs is None or _has_pair(file, pair(langs))):
                systems.append(entry)
            else:
                other.append(entry.name)
    if len(tests) > 1:
        raise InputError(
            f"there are several test sets here: {', '.join(test.name for test in tests)}",
            where=str(path),
            next="give one of them, and the outputs with -t",
        )
    note = f"left out of {path}, not WMT's or without this language pair: {', '.join(other)}"
    return tests[0] if tests else None, systems, [note] if other and (tests or systems) else []


def _has_pair(file: TextFile, langs: tuple[str, str]) -> bool:
    """Tell whether any document is of this pair, or states none."""
    ids = (match[1] for match in map(_ID.search, file.lines()) if match)
    pairs = (facts(doc)[0] for doc in ids)
    return any(not all(stated) or all(map(same_language, langs, stated)) for stated in pairs)


@dataclass
class _Reader:
    """The reader of the lines of a file; ``notes`` lists repairs by document and side."""

    segments: str
    system: str
    known: Mapping[str, Document]  # the documents of the test set
    notes: list[str] = field(default_factory=list)
    corpus: str = ""  # as the file names it

    def fill(self, record: Record, fields: dict[str, Any], where: str) -> None:
        """Read texts and metadata of a selected document."""
        texts: dict[Key, Any] = {("src", ""): fields.get("src_text")}
        for name, ref in (fields.get("refs") or {}).items():
            texts["ref", name] = ref.get("ref") if isinstance(ref, dict) else ref
        texts["hyp", ""] = fields.get("hypothesis")
        texts = {key: text for key, text in texts.items() if text is not None}
        record.system = self.system if ("hyp", "") in texts else ""
        if not texts or not all(isinstance(text, str) for text in texts.values()):
            raise InputError(
                "there is no text in this line, or it is not a string",
                where=where,
                next="texts are src_text, refs, hypothesis",
            )
        self.corpus = self.corpus or str(fields.get("dataset_id") or "")
        others = {key: value for key, value in fields.items() if value and key not in _USED}
        for key, value in others.items():
            if isinstance(value, str):
                record.meta[key] = value
            else:
                record.meta[f"{VALUE}{key}"] = json.dumps(value, ensure_ascii=False)
        domain = fields.get("domain") or facts(record.doc)[1]
        record.meta |= {"domain": str(domain)} if domain else {}
        self._divide(record, texts, where)

    def _divide(self, record: Record, texts: dict[Key, str], where: str) -> None:
        """Divide texts like the first: the source of a test set, or that of ``known``."""
        meta = self.known[record.doc].meta if record.doc in self.known else {}
        by, keys = meta.get(BY, ""), tuple(json.loads(meta.get(KEYS, "[]")))
        for (kind, name), text in texts.items():
            side = {"src": "source", "ref": f"reference {name}"}.get(kind, self.system)
            remarks = []
            if not by:
                by, guessed = self._by(record.doc, text)
                remarks += ["of an unknown domain: divided by line (--segments)"] if guessed else []
            parts = split(clean(text, where), by, keys)
            record.texts[kind, name] = parts.segments
            record.meta |= {BY: by}
            if remarks := [*remarks, *parts.repairs]:
                self.notes.append(f"{side}, document {record.doc!r}: {'; '.join(remarks)}")
            if parts.keys and not keys:
                keys = parts.keys
                record.meta |= {KEYS: json.dumps(keys)}

    def _by(self, doc: str, text: str) -> tuple[str, bool]:
        """Return the division of a document's first text, and whether it is a guess."""
        if self.segments != "auto":
            return self.segments, False
        _, domain, wmt26 = facts(doc)
        by = division(text, lines=wmt26)
        return (_USUAL.get(domain, by), domain not in _USUAL) if by == "lines" else (by, False)
