"""WMT25 and WMT26: test sets (``src_text``, ``refs``) and files of a system (``hypothesis``).

A document is one string; ``markup`` divides it. Ids state pair and domain:
``en-ar_EG_#_news_#_NAME`` (WMT25), ``WMT26_###_news_###_eng_Latn_###_isl_Latn_###_NAME``. Other
keys are kept in ``Document.meta`` and written again: strings under their names, other values as
JSON under ``wmt:value:KEY``, those of a system's file under ``wmt:output:SYSTEM``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, choices
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, check_read_back, pair
from wholetext.io.columns import Key
from wholetext.io.formats.jsonl import first_keys, objects
from wholetext.io.markup import DIVISIONS, MarkupParts, division, join, split
from wholetext.io.records import DocumentRecords, LanguagePairs, Record
from wholetext.io.text import FilePath, TextFile, at, clean, file_name, opened, stem, text_writer
from wholetext.notes import Note
from wholetext.text import pair_of, same_language
from wholetext.types import Corpus, Document

BY, KEYS = "wmt:segments", "wmt:keys"  # in meta: the division of a source, its JSON keys
OWN, VALUE, OUTPUT = "wmt:", "wmt:value:", "wmt:output:"
_USUAL = {"news": "p", "social": "p", "software": "json", "speech": "lines"}  # WMT26, by domain
_ID = re.compile(r'(?<!\\)"doc_id"\s*:\s*"((?:[^"\\]|\\.)*)"')
# JSONL that is not WMT's
_OURS = frozenset(("system", "src", "source", "hyp", "outputs", "lp", "langs", "corpus"))


def recognise(file: TextFile) -> bool:
    """Tell WMT's files by the keys of the first line."""
    return bool(_keys(file))


def _keys(file: TextFile) -> frozenset[str]:
    """Return the keys of the first line if they are WMT's."""
    keys = first_keys(file)
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
        with suppress(ValueError):
            return pair_of(parts[0]), parts[1], False
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


def write(path: FilePath, loaded: Loaded) -> None:
    """Write a folder that ``read`` reads: the test set, if any, and a file per system."""
    root, corpus = Path(path), loaded.corpus
    if any(doc.refs or any(doc.src or ()) for doc in corpus.docs):  # else outputs alone
        write_test_set(root / f"{file_name(corpus.id)}.jsonl", corpus)
    for output in loaded.outputs:
        write_output(root / f"{file_name(output.system)}.jsonl", loaded, output.system)


def write_test_set(path: FilePath, corpus: Corpus) -> None:
    """Write source, references and metadata, one document per line."""

    def line(doc: Document) -> str:
        where = f"{path}, document {doc.id!r}"
        pair = {"src_lang": corpus.langs[0], "tgt_lang": corpus.langs[1]}
        src = {} if doc.src is None else {"src_text": _joined(doc, doc.src)}
        refs = {name: _joined(doc, text) for name, text in doc.refs.items()}
        plain = {key: text for key, text in doc.meta.items() if not key.startswith(OWN)}
        others = {
            key.removeprefix(VALUE): read_json(text, where=where)
            for key, text in doc.meta.items()
            if key.startswith(VALUE)
        }
        about = others.pop("refs", {})
        named = {n: {"ref": t, **about[n]} if about.get(n) else t for n, t in refs.items()}
        stated = pair if all(corpus.langs) else {}
        return _json({"doc_id": doc.id, **stated, **src, "refs": named, **plain, **others})

    _write_checked(path, map(line, corpus.docs), Loaded(corpus, ()))


def write_output(path: FilePath, loaded: Loaded, system: str) -> None:
    """Write the output of one system, one document per line."""
    (output,), corpus = loaded.keep([system]).outputs, loaded.corpus

    def line(doc: Document) -> str:
        where = f"{path}, document {doc.id!r}"
        rest = read_json(doc.meta.get(f"{OUTPUT}{system}", "{}"), where=where)
        text = _joined(doc, output.docs[doc.id], system)
        return _json({"doc_id": doc.id, "hypothesis": text, "metadata": {}, **rest})

    bare = replace(corpus, docs=tuple(replace(doc, src=None, refs={}) for doc in corpus.docs))
    lines = map(line, corpus.docs)
    _write_checked(path, lines, Loaded(bare, (output,)), corpus=corpus, system=system)


def _write_checked(path: FilePath, lines: Iterable[str], loaded: Loaded, **options: Any) -> None:
    """Write lines that ``read``, with these options, reads as what is written."""
    text, where = "".join(f"{line}\n" for line in lines), os.fspath(path)
    langs = loaded.corpus.langs if all(loaded.corpus.langs) else None
    file = TextFile(where, clean(text, where).encode("utf-8"))
    check_read_back(loaded, lambda: read(file, langs, **options), where)
    with text_writer(path) as out:
        out.write(text)


def about_output(doc: Document) -> dict[str, str]:
    """Return the metadata that a system's file added to a document."""
    return {key: text for key, text in doc.meta.items() if key.startswith((OUTPUT, f"{KEYS}:"))}


def _joined(doc: Document, segments: Sequence[str], system: str = "") -> str:
    keys = json.loads(doc.meta.get(f"{KEYS}:{system}", doc.meta.get(KEYS, "[]")))
    return join(segments, doc.meta.get(BY, "blank"), keys)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _has_pair(file: TextFile, langs: tuple[str, str]) -> bool:
    """Tell whether any document is of this pair, or states none."""
    for line in file.lines():
        doc = _ID.search(line)
        stated = facts(doc[1])[0] if doc else ("", "")
        if not all(stated) or all(map(same_language, langs, stated)):
            return True
    return False


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
        refs, outputs = fields.get("refs") or {}, fields.get("tgt_text") or {}
        refs = {f"ref{i}": ref for i, ref in enumerate(refs)} if isinstance(refs, list) else refs
        if fields.get("hypothesis") is not None:
            record.system, outputs = self.system, {"": fields["hypothesis"]}
        sides: dict[Key, Any] = {
            ("src", ""): fields.get("src_text"),
            **{("ref", n): r.get("ref") if isinstance(r, dict) else r for n, r in refs.items()},
            **{("hyp", name): text for name, text in outputs.items()},
        }
        texts = {key: text for key, text in sides.items() if text is not None}
        if not texts or not all(isinstance(text, str) for text in texts.values()):
            raise InputError(
                "there is no text in this line, or it is not a string",
                where=where,
                next="texts are src_text, refs, hypothesis",
            )
        self.corpus = self.corpus or str(fields.get("dataset_id") or "")
        used = ("doc_id", "src_lang", "tgt_lang", "src_text", "refs", "tgt_text", "hypothesis")
        rest = {key: value for key, value in fields.items() if key not in used and value}
        about = {
            name: {key: value for key, value in ref.items() if key != "ref"}
            for name, ref in refs.items()
            if isinstance(ref, dict)
        }
        rest |= {"refs": about} if any(about.values()) else {}
        if record.system and rest:
            record.meta = {f"{OUTPUT}{self.system}": _json(rest)}
        elif not record.system:
            plain = {key: value for key, value in rest.items() if isinstance(value, str)}
            others = {f"{VALUE}{key}": _json(rest[key]) for key in rest.keys() - plain.keys()}
            record.meta = {**plain, **others}
        domain = fields.get("domain") or facts(record.doc)[1]
        record.meta |= {"domain": str(domain)} if domain else {}
        self._divide(record, texts, where)

    def _divide(self, record: Record, texts: dict[Key, str], where: str) -> None:
        """Divide texts like the first: the source of a test set, or that of ``known``."""
        doc = self.known.get(record.doc)
        sourced = doc is not None and any((*(doc.src or ()), *doc.refs))
        like = None
        if doc is not None:
            keys = tuple(json.loads(doc.meta.get(KEYS, "[]")))
            source = doc.src if doc.src is not None else next(iter(doc.refs.values()), ())
            like = MarkupParts(source if sourced else (), doc.meta.get(BY, "blank"), keys)
        for (kind, name), text in texts.items():
            by = self._by(record.doc, clean(text, where), like if sourced or record.texts else None)
            parts = split(text, by, like)
            record.texts[kind, name] = parts.segments
            side = {"src": "source", "ref": f"reference {name}"}.get(kind, name or self.system)
            remarks = [*parts.repairs]
            unknown = self.segments == "auto" and facts(record.doc)[1] not in _USUAL
            if by == "lines" and unknown and (like is None or like.by != by):
                remarks.append("of an unknown domain, without <p>: divided by line (--segments)")
            if remarks:
                subject = f"{side}, document {record.doc!r}"
                self.notes.append(Note("markup", "; ".join(remarks), subject, group=side))
            if like is None:
                record.meta |= {BY: by} if by != "blank" else {}
                record.meta |= {KEYS: json.dumps(parts.keys)} if parts.keys else {}
                like = replace(parts, by=by)
            elif kind == "hyp" and parts.keys != like.keys:
                record.meta[f"{KEYS}:{name or self.system}"] = json.dumps(parts.keys)

    def _by(self, doc: str, text: str, like: MarkupParts | None) -> str:
        if self.segments != "auto":
            return self.segments
        _, domain, wmt26 = facts(doc)
        own = division(text, lines=wmt26)
        if like is None or (wmt26 and like.by == "blank"):  # unknown for a corpus of another format
            return _USUAL.get(domain, own) if own == "lines" else own
        return own if own == "p" and like.by in ("lines", "blank") else like.by
