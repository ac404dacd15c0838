"""WMT25 and WMT26: test sets (``src_text``, ``refs``) and files of a system (``hypothesis``).

A document is one string; ``markup`` divides it. Ids state pair and domain:
``en-ar_EG_#_news_#_NAME`` (WMT25), ``WMT26_###_news_###_eng_Latn_###_isl_Latn_###_NAME``. All other
keys are kept in ``Document.meta``: strings under their own names, other values as JSON under
``wmt:value:KEY``, what a system's file has besides its text under ``wmt:output:SYSTEM``, repairs of
its text under ``wmt:repaired:SYSTEM``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import read_json
from wholetext.io.assembly import Langs, Loaded, pair
from wholetext.io.formats.json_record import Record
from wholetext.io.formats.jsonl import NUL, Documents, LanguagePairs
from wholetext.io.markup import DIVISIONS, Parts, division, join, split
from wholetext.io.segments import Key
from wholetext.io.text import FilePath, TextFile, at, clean, file_name, opened, stem, write_text
from wholetext.text import pair_of, same_language
from wholetext.types import Corpus, Document

OWN = "wmt:"  # before what this format keeps in meta for itself
BY, FRAME, VALUE, OUTPUT = f"{OWN}segments", f"{OWN}json", f"{OWN}value:", f"{OWN}output:"
REPAIRED = f"{OWN}repaired:"  # before a system: repairs of its document, for flags of formats
_USUAL = {"news": "p", "social": "p", "software": "json", "speech": "lines"}  # WMT26, by domain
_ID = re.compile(r'(?<!\\)"doc_id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_KEY = re.compile(r'(?<!\\)"(\w+)"\s*:')
# JSONL that is not WMT's
_OURS = frozenset(("system", "src", "source", "hyp", "outputs", "lp", "langs", "corpus"))
BESIDE = (OUTPUT, f"{FRAME}:", REPAIRED)  # metadata in a system's file


def recognise(file: TextFile) -> bool:
    return bool(_keys(file))


def _keys(file: TextFile) -> frozenset[str]:
    """Return the keys of the first line of WMT's among two, of which one may be broken."""
    for line in file.head().split("\n", 2)[:2]:
        if not line.startswith("{"):
            break
        try:
            keys = frozenset(read_json(line))
        except InputError:  # broken, or longer than what can be seen of it
            keys = frozenset(_KEY.findall(line))
        if keys & _OURS:
            break
        if "doc_id" in keys and keys & {"src_text", "hypothesis"}:
            return keys
    return frozenset()


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
            next=did_you_mean(segments, list(DIVISIONS))
            or f"segments is one of {', '.join(DIVISIONS)}",
        )
    known = {doc.id: doc for doc in corpus.docs} if corpus else {}
    chosen, documents = LanguagePairs(langs, file.name), Documents(file.name)
    line = _Line(segments, system or stem(file.name), known)
    for number, text in enumerate(file.lines(), 1):
        if not text.strip():
            raise InputError(
                "this line is blank",
                where=at(file.name, number),
                next="write one JSON object per line",
            )
        fields, where = line.parse(text, at(file.name, number)), at(file.name, number)
        record = Record(
            number,
            fields["doc_id"],
            langs=_langs(fields, where),
            texts={("hyp", ""): ()},
            whole=True,
        )
        if record.doc in known or chosen.wants(record):
            line.fill(record, fields, where)
            documents.add(record)
    pairs, notes = (
        (corpus.langs, []) if corpus and documents.docs.keys() & known.keys() else chosen.settled()
    )
    loaded = documents.loaded(line.corpus or stem(file.name), pairs, [*notes, *line.notes])
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
    tests, systems, other, silent = list[Path](), list[Path](), list[str](), list[str]()
    for entry in sorted(Path(path).iterdir()):
        if entry.name.startswith("."):
            continue
        with opened(entry) as file:
            keys = _keys(file) if entry.is_file() else ()
            if not keys:
                other.append(entry.name)
            elif "src_text" in keys:
                tests.append(entry)
            elif langs is None or _has_pair(file, pair(langs)):
                systems.append(entry)
            else:
                silent.append(stem(entry))
    if len(tests) > 1:
        raise InputError(
            f"there are several test sets here: {', '.join(test.name for test in tests)}",
            where=str(path),
            next="give one of them, and the outputs with -t",
        )
    notes = (
        [f"left out of {path}, not WMT's: {', '.join(other)}"]
        if other and (tests or systems)
        else []
    )
    notes += (
        [f"left out, without documents of {'-'.join(pair(langs))}: {', '.join(silent)}"]
        if silent
        else []
    )
    return tests[0] if tests else None, systems, notes


def write(path: FilePath, loaded: Loaded) -> None:
    """Write a folder that ``read`` reads: the test set, if any, and a file per system."""
    root, corpus = Path(path), loaded.corpus
    if not _is_bare(corpus):
        write_test_set(root / f"{file_name(corpus.id)}.jsonl", corpus)
    for output in loaded.outputs:
        if output.system == corpus.id and not _is_bare(corpus):
            raise InputError(
                f"test set and system are both named {corpus.id!r}",
                where=str(root),
                next="rename the system",
            )
        write_output(root / f"{file_name(output.system)}.jsonl", loaded, output.system)


def write_test_set(path: FilePath, corpus: Corpus) -> None:
    """Write source, references and ``meta``, one document per line."""

    def value(doc: Document) -> dict[str, Any]:
        like, where = _like(doc), f"{path}, document {doc.id!r}"
        meta: dict[str, Any] = {
            key: text for key, text in doc.meta.items() if not key.startswith(OWN)
        }
        meta |= {
            key.removeprefix(VALUE): read_json(text, where=where)
            for key, text in doc.meta.items()
            if key.startswith(VALUE)
        }
        extra = meta.pop("refs", {})
        texts = {name: join(text, like.by, like, where=where) for name, text in doc.refs.items()}
        refs = {
            name: {"ref": text, **extra[name]} if name in extra else text
            for name, text in texts.items()
        }
        src = {} if doc.src is None else {"src_text": join(doc.src, like.by, like, where=where)}
        langs = (
            {"src_lang": corpus.langs[0], "tgt_lang": corpus.langs[1]} if all(corpus.langs) else {}
        )
        return {"doc_id": doc.id, **langs, **src, "refs": refs, **meta}

    _write(path, map(value, corpus.docs))


def write_output(path: FilePath, loaded: Loaded, system: str) -> None:
    """Write the output of one system, one document per line."""
    (output,) = loaded.keep([system]).outputs
    bare = _is_bare(loaded.corpus)

    def value(doc: Document) -> dict[str, Any]:
        where = f"{path}, document {doc.id!r}"
        like = replace(_like(doc), frame=doc.meta.get(f"{FRAME}:{system}", doc.meta.get(FRAME, "")))
        like = replace(like, segments=()) if bare else like
        text = join(output.docs[doc.id], like.by, like, repair=True, where=where)
        return {
            "doc_id": doc.id,
            "hypothesis": text,
            "metadata": {},
            **read_json(doc.meta.get(f"{OUTPUT}{system}", "{}"), where=where),
        }

    _write(path, map(value, loaded.corpus.docs))


def _write(path: FilePath, values: Iterator[dict[str, Any]]) -> None:
    write_text(
        path,
        lambda out: out.writelines(
            clean("\0" if NUL.search(text) else text, str(path)) + "\n"
            for text in map(_json, values)
        ),
    )


@dataclass
class _Line:
    """The reader of the lines of a file; ``notes`` lists repairs by document and side."""

    segments: str
    system: str
    known: Mapping[str, Document]  # the documents of the test set
    notes: list[str] = field(default_factory=list)
    corpus: str = ""  # as the file names it

    def parse(self, text: str, where: str) -> dict[str, Any]:
        fields = read_json(text, where=where, next="write one JSON object per line, each key once")
        if (
            not isinstance(fields, dict)
            or not isinstance(fields.get("doc_id"), str)
            or not fields["doc_id"].strip()
        ):
            raise InputError(
                "this line has no doc_id",
                where=where,
                next='write {"doc_id": "…", "hypothesis": "…"} on each line',
            )
        clean("\0" if NUL.search(text) else "", where)
        # null is the same as absent
        return {key: value for key, value in fields.items() if value is not None}

    def fill(self, record: Record, fields: dict[str, Any], where: str) -> None:
        """Read texts and metadata of a selected document."""
        rest = {
            key: value
            for key, value in fields.items()
            if key not in ("doc_id", "src_lang", "tgt_lang")
        }
        self.corpus = self.corpus or str(rest.get("dataset_id", ""))
        refs = rest.pop("refs", {})
        refs = {f"ref{i}": ref for i, ref in enumerate(refs)} if isinstance(refs, list) else refs
        record.system = self.system if "hypothesis" in rest else ""
        outputs = {"": rest.pop("hypothesis")} if record.system else rest.pop("tgt_text", {})
        if not isinstance(refs, dict) or not isinstance(outputs, dict) or "" in refs:
            raise InputError(
                "references (and tgt_text) are objects of names and texts", where=where
            )
        plain = {
            name: ref["ref"] if isinstance(ref, dict) and "ref" in ref else ref
            for name, ref in refs.items()
            if ref is not None
        }
        extra = {
            name: {key: value for key, value in ref.items() if key != "ref"}
            for name, ref in refs.items()
            if isinstance(ref, dict)
        }
        texts: dict[Key, Any] = {("src", ""): rest.pop("src_text")} if "src_text" in rest else {}
        texts |= {("ref", name): text for name, text in plain.items()}
        bare = not texts
        texts |= {("hyp", name): text for name, text in outputs.items()}
        if not texts:
            raise InputError(
                "there is no text in this line",
                where=where,
                next="texts are src_text, refs, hypothesis",
            )
        if bare:
            record.meta = {f"{OUTPUT}{self.system}": _json(rest)} if any(rest.values()) else {}
        else:
            rest |= {"refs": extra} if any(extra.values()) else {}
            record.meta = {
                key if _is_plain(key, value) else f"{VALUE}{key}": value
                if _is_plain(key, value)
                else _json(value)
                for key, value in rest.items()
            }
        domain = rest.get("domain") or facts(record.doc)[1]
        record.meta |= {"domain": domain} if isinstance(domain, str) and domain else {}
        self._divide(record, texts, where)

    def _divide(self, record: Record, texts: dict[Key, Any], where: str) -> None:
        """Divide texts like the first: the source of a test set, or that of ``known``."""
        doc, like = self.known.get(record.doc), None
        sourced = doc is not None and any((*(doc.src or ()), *doc.refs))
        if doc is not None:
            like = _like(doc) if sourced else replace(_like(doc), segments=())
        record.texts = {}
        for (kind, name), text in texts.items():
            if isinstance(text, list) and all(isinstance(segment, str) for segment in text):
                record.texts[kind, name] = tuple(clean(segment, where) for segment in text)
                continue
            if not isinstance(text, str):
                raise InputError(
                    "a text is a string",
                    where=where,
                    next=f"check the {kind} of document {record.doc!r}",
                )
            by = self._by(record, clean(text, where), like if sourced or record.texts else None)
            parts = split(text, by, like, repair=kind == "hyp")
            record.texts[kind, name] = parts.segments
            side = {"src": "source", "ref": f"reference {name}"}.get(kind, name or self.system)
            if parts.repairs:
                self.notes.append(f"{side}, document {record.doc!r}: {'; '.join(parts.repairs)}")
            if parts.repairs and kind == "hyp":
                record.meta[f"{REPAIRED}{name or self.system}"] = "\n".join(parts.repairs)
            if like is None:
                record.meta |= {BY: by} if by != "blank" else {}
                record.meta |= {FRAME: parts.frame} if parts.frame else {}
                like = replace(parts, by=by)
            elif parts.frame and parts.frame != like.frame and kind == "hyp":
                record.meta[f"{FRAME}:{name or self.system}"] = parts.frame

    def _by(self, record: Record, text: str, like: Parts | None) -> str:
        if self.segments != "auto":
            return self.segments
        _, domain, wmt26 = facts(record.doc)
        own = division(text, lines=wmt26)
        if like is None or (wmt26 and like.by == "blank"):  # unknown for a corpus of another format
            return _USUAL.get(domain, own) if own == "lines" else own
        return own if own == "p" and like.by in ("lines", "blank") else like.by


def _like(doc: Document) -> Parts:
    """Return the division of the source of a document."""
    segments = doc.src if doc.src is not None else next(iter(doc.refs.values()), ())
    return Parts(segments, doc.meta.get(BY, "blank"), doc.meta.get(FRAME, ""))


def _langs(fields: Mapping[str, Any], where: str) -> tuple[str, str]:
    stated = (fields.get("src_lang"), fields.get("tgt_lang"))
    if any(code is not None and not isinstance(code, str) for code in stated):
        raise InputError("src_lang and tgt_lang are language codes", where=where)
    return (stated[0], stated[1]) if stated[0] and stated[1] else facts(fields["doc_id"])[0]


def _is_plain(key: str, value: object) -> bool:
    return isinstance(value, str) and not key.startswith(OWN)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_bare(corpus: Corpus) -> bool:
    """Tell whether there are outputs alone: no reference, and at most an empty source."""
    return not any(doc.refs or any(doc.src or ()) for doc in corpus.docs)


def _has_pair(file: TextFile, langs: tuple[str, str]) -> bool:
    """Tell whether any document is of this pair, or states none."""
    for line in file.lines():
        doc = _ID.search(line)
        stated = facts(doc[1])[0] if doc else ("", "")
        if not all(stated) or all(map(same_language, langs, stated)):
            return True
    return False
