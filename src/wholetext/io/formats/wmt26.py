"""WMT26's evaluation task: items (``mteval-test26.jsonl``, one segment per line), and submissions.

An item id is ``KIND_###_SOURCE_###_TARGET_###_DOMAIN_###_DOCUMENT_###_SEGMENT``, with FLORES codes
in official items and two-letter codes in challenge items. The id of a document is that of its items
without the segment; ``Document.meta`` has the segments' numbers as the file writes them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wholetext.errors import InputError, count
from wholetext.files.parsing import integer, read_json
from wholetext.io.assembly import Langs, Loaded, assemble, chosen_pair, pair
from wholetext.io.formats.jsonl import first_keys, objects
from wholetext.io.text import FilePath, TextFile, at, clean, opened, stem
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Nulls, Output

KINDS = ("official", "challenge")
SEVERITIES = ("major", "minor")
TASKS = ("task1_pred", "task2_pred")
SEGMENTS, REF_TYPE = "wmt26:segments", "ref_type"  # in meta
_SEPARATOR = "_###_"
_ID = "an id is official_###_eng_Latn_###_deu_Latn_###_DOMAIN_###_DOCUMENT_###_SEGMENT"
_ITEM = '{"item_id": "…", "src": "…", "ref": {"text": "…", "type": "…"}, "hyps": {"SYSTEM": "…"}}'
_ERROR = (
    'write {"errors": [{"start": 0, "end": 4, "severity": "major", "category": "accuracy"}], '
    '"omission": null, "instruction_fault": null}, in characters of the output, end excluded'
)


@dataclass(frozen=True)
class WmtItem:
    """A segment: its source, its reference and the outputs of some systems."""

    id: str
    langs: tuple[str, str]
    domain: str
    segment: str  # its number in the document, as the file writes it
    src: str
    ref: str | None
    ref_type: str
    hyps: Mapping[str, str]
    where: str

    @property
    def doc(self) -> str:
        return self.id.rpartition(_SEPARATOR)[0]


def item_id(doc: str, segment: str) -> str:
    """Return the id of a segment of a document."""
    return f"{doc}{_SEPARATOR}{segment}"


def recognise(file: TextFile) -> bool:
    """Tell items and submissions of WMT26 by the keys of the first line."""
    keys = first_keys(file)
    return "item_id" in keys and bool(keys & {"hyps", *TASKS})


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read the items of a language pair; documents are those of the ids, in order of segments.

    A system without an output for an item is not scored there.
    """
    by_doc, pairs, others = dict[str, list[WmtItem]](), dict[tuple[str, str], None](), set[str]()
    requested = None if langs is None else pair(langs, file.name)
    for item in _items(file):
        if not any(all(map(same_language, item.langs, known)) for known in pairs):
            pairs[item.langs] = None
        if requested and not all(map(same_language, requested, item.langs)):
            others.add(item.doc)
        else:
            by_doc.setdefault(item.doc, []).append(item)
    name = chosen_pair(langs, ["-".join(known) for known in pairs], file.name)
    for items in by_doc.values():
        items.sort(key=lambda item: int(item.segment))
    ordered = [item for items in by_doc.values() for item in items]
    systems = dict.fromkeys(system for item in ordered for system in item.hyps)
    docs = tuple(_document(doc, items) for doc, items in by_doc.items())
    outputs = [_output(system, by_doc) for system in systems]
    corpus = Corpus(stem(file.name), pair(name), docs)
    loaded = assemble(corpus, outputs, _notes(by_doc, ordered, outputs), file.name)
    return replace(loaded, others=frozenset(others))


def read_items(path: FilePath) -> dict[str, WmtItem]:
    """Return all items of a file by id, in its order."""
    with opened(path) as file:
        return {item.id: item for item in _items(file)}


def _items(file: TextFile) -> Iterator[WmtItem]:
    lines: dict[tuple[str, int], str] = {}
    for number, fields in objects(file):
        where = at(file.name, number)
        item = _item(fields, where)
        place = item.doc, int(item.segment)
        if place in lines:
            raise InputError(
                f"this segment is there twice: {item.id!r}",
                where=where,
                next=f"remove one of the two; the other is in {lines[place]}",
            )
        lines[place] = where
        yield item


def _item(fields: Mapping[str, Any], where: str) -> WmtItem:
    name, src, hyps = (fields.get(key) for key in ("item_id", "src", "hyps"))  # type: Any, Any, Any
    if hyps is None and any(task in fields for task in TASKS):
        raise InputError(
            "this is a submission, which has no texts",
            where=where,
            next="give the items, mteval-test26.jsonl",
        )
    ref: Any = fields.get("ref") or {}
    parts = name.split(_SEPARATOR) if isinstance(name, str) else []
    if len(parts) != 6 or not all(map(str.strip, parts)) or parts[0] not in KINDS:
        raise InputError(f"this is not an item id: {name!r}"[:200], where=where, next=_ID)
    _, source, target, domain, _, segment = parts
    integer(segment, what="the number of a segment", low=0, where=where, next=_ID)
    named = isinstance(ref, dict) and isinstance(hyps, dict) and "" not in hyps
    texts: list[Any] = (
        [src, *(text for text in hyps.values() if text is not None)] if named else [None]
    )
    texts += [ref[key] for key in ("text", "type") if ref.get(key) is not None] if named else []
    if not all(isinstance(text, str) for text in texts):
        raise InputError(
            "this item has no texts, or they are not strings", where=where, next=f"write {_ITEM}"
        )
    clean("".join((name, *texts)), where)
    outputs = {system: text for system, text in hyps.items() if text is not None}
    about = ref.get("text"), ref.get("type") or ""
    return WmtItem(name, (source, target), domain, segment, src, *about, outputs, where)


def _document(doc: str, items: list[WmtItem]) -> Document:
    meta = {"domain": items[0].domain, "kind": doc.split(_SEPARATOR)[0]}
    meta[SEGMENTS] = json.dumps([item.segment for item in items])
    refs = [item.ref for item in items if item.ref is not None]
    types = [item.ref_type for item in items]
    if any(types):
        meta[REF_TYPE] = types[0] if len(set(types)) == 1 else json.dumps(types)
    complete = {"ref": tuple(refs)} if len(refs) == len(items) else {}
    return Document(doc, tuple(item.src for item in items), complete, meta)


def _output(system: str, by_doc: Mapping[str, list[WmtItem]]) -> Output:
    texts = {doc: [item.hyps.get(system) for item in items] for doc, items in by_doc.items()}
    gone = {doc: [i for i, text in enumerate(of) if text is None] for doc, of in texts.items()}
    return Output(
        system,
        {doc: tuple(text or "" for text in of) for doc, of in texts.items()},
        nulls={doc: Nulls(tuple(places), (), "drop") for doc, places in gone.items() if places},
    )


def _notes(
    by_doc: Mapping[str, list[WmtItem]], ordered: list[WmtItem], outputs: list[Output]
) -> Iterator[str]:
    """State what a reader of scores must know: kinds, gaps, references, missing outputs."""
    total, of = len(ordered), f"of {count(len(ordered), 'item')}"
    kinds = Counter(doc.split(_SEPARATOR)[0] for doc in by_doc)
    if len(kinds) > 1:
        numbers = " and ".join(f"{number} {kind}" for kind, number in kinds.items())
        yield f"{numbers} documents are read as one corpus"
    gaps = [doc for doc, items in by_doc.items() if _has_gap(items)]
    if gaps:
        yield (
            f"{count(len(gaps), 'document', 'have')} gaps between the numbers of segments "
            f"(first: {gaps[0]!r}): the segments around a gap are read as neighbours"
        )
    types = Counter(item.ref_type or "no type" for item in ordered if item.ref is not None)
    for kind, number in types.items():
        yield f"the references of {number} {of} are of the type {kind!r}"
    if types and types.total() < total:
        partial = [doc for doc, items in by_doc.items() if any(item.ref is None for item in items)]
        yield (
            f"{total - types.total()} {of} have no reference: "
            f"{count(len(partial), 'document', 'are')} read without one (first: {partial[0]!r})"
        )
    for output in outputs:
        if missing := sum(len(nulls.omitted) for nulls in output.nulls.values()):
            yield f"{output.system!r} has no output for {missing} {of}: they are not scored"


def _has_gap(items: list[WmtItem]) -> bool:
    first, last = int(items[0].segment), int(items[-1].segment)
    return first > 1 or last - first >= len(items)


# ---------------------------------------------------------------- submissions


def read_submission(
    path: FilePath, items: Mapping[str, WmtItem], *, partial: bool = False
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the checked lines of a submission by item, and notes.

    A complete submission has all items in their order. With ``partial``, any of them may be absent,
    and a last line that was not written to its end is left out, with a note.
    """
    with opened(path) as file:
        return parse_submission(file.read(), os.fspath(path), items, partial=partial)


def parse_submission(
    data: bytes, name: str, items: Mapping[str, WmtItem], *, partial: bool = False
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Parse and check a submission, as ``read_submission`` does."""
    predictions, notes = dict[str, dict[str, Any]](), list[str]()
    whole, _, rest = data.rpartition(b"\n")
    if partial and rest.strip():
        try:
            read_json(rest)
        except InputError:
            data = whole
            notes.append(f"{name}: the last line was not written to its end, and is written again")
    for number, fields in objects(TextFile(name, data)):
        where, key = at(name, number), fields.get("item_id")
        if not isinstance(key, str) or key not in items:
            raise InputError(
                f"the items do not have {key!r}"[:200], where=where, next="check the file of items"
            )
        if key in predictions:
            raise InputError(f"this item is there twice: {key!r}", where=where, next="remove one")
        for task in TASKS:
            _check_task(task, fields.get(task), items[key], f"{where}, {task}")
        predictions[key] = fields
    if not partial and list(predictions) != list(items):
        absent = next((key for key in items if key not in predictions), "")
        raise InputError(
            f"item {absent!r} is missing" if absent else "the items are in another order",
            where=name,
            next="complete it with `wholetext convert RUN FILE --to wmt26 --items ITEMS`",
        )
    return predictions, notes


def _check_task(task: str, values: Any, item: WmtItem, where: str) -> None:
    if values is not None and not isinstance(values, dict):
        raise InputError("predictions are objects by system", where=where, next=_ERROR)
    for system, value in (values or {}).items():
        if system not in item.hyps:
            raise InputError(
                f"this item has no output of {system!r}",
                where=where,
                next=f"systems: {', '.join(item.hyps)}",
            )
        if value is not None and task == "task1_pred":
            _check_errors(value, item.hyps[system], f"{where}, {system}")
        elif value is not None and not (type(value) in (int, float) and 0 <= value <= 100):
            raise InputError(
                f"a score is a number from 0 to 100, or null, not {value!r}"[:100],
                where=f"{where}, {system}",
                next="leave it null where there is none",
            )


def _check_errors(value: Any, text: str, where: str) -> None:
    fields = value if isinstance(value, dict) else {}
    errors, fault = fields.get("errors"), fields.get("instruction_fault")
    faults = {
        "there is no list of errors": not isinstance(errors, list),
        "omission is major, minor or null": fields.get("omission") not in (None, *SEVERITIES),
        "instruction_fault is a string or null": fault is not None and not isinstance(fault, str),
    }
    for error in errors if isinstance(errors, list) else ():
        parts = error if isinstance(error, dict) else {}
        start, end = parts.get("start"), parts.get("end")  # type: Any, Any
        whole = type(start) is int and type(end) is int
        faults |= {
            f"{start!r} to {end!r} is not a part of the output, which has {len(text)} characters"[
                :200
            ]: not (whole and 0 <= start < end <= len(text)),
            "a severity is major or minor": parts.get("severity") not in SEVERITIES,
            "an error has no category": not isinstance(parts.get("category"), str),
        }
        if any(faults.values()):
            break
    for fault, holds in faults.items():
        if holds:
            raise InputError(fault, where=where, next=_ERROR)
