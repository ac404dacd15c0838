"""One line of a JSONL file → a Record: which key means what, and every way in which a line can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import InputError
from wholetext.io import records
from wholetext.io.text import at, clean

Text = str | tuple[str, ...]  # one segment, or all segments of a document
_WHOLE = frozenset(("src_text", "hypothesis", "tgt_text"))  # WMT: a document in one string, "\n\n" between its segments
_ROLES: dict[str, str] = {
    **dict.fromkeys(records.DOC, "doc"), **dict.fromkeys((*records.SRC, "src_text"), "src"),
    **dict.fromkeys(records.REF, "ref"), **dict.fromkeys(records.HYP, "hyp"), **dict.fromkeys(records.SYSTEM, "system"),
    **{name: name for name in (*records.META, "refs", "meta", "src_lang", "tgt_lang")}, "outputs": "outputs",
    "tgt_text": "outputs", "lp": "langs", "langs": "langs", "corpus": "corpus", "dataset_id": "corpus"}


@dataclass(slots=True)
class Record:
    """What one line says. ``outputs[""]`` is an output whose system the line does not name."""

    line: int
    doc: str = ""
    src: Text | None = None
    refs: dict[str, Text] = field(default_factory=dict)
    outputs: dict[str, Text] = field(default_factory=dict)
    system: str = ""
    meta: dict[str, str] = field(default_factory=dict)
    langs: tuple[str, str] = ("", "")
    corpus: str = ""
    unused: tuple[str, ...] = ()

    def texts(self) -> Iterator[Text]:
        if self.src is not None:
            yield self.src
        yield from self.refs.values()
        yield from self.outputs.values()

    @property
    def empty(self) -> bool:
        """No text at all: the line that names the corpus and its languages."""
        return next(self.texts(), None) is None

    @property
    def whole(self) -> bool:
        """Whether the line is a document; otherwise it is a segment."""
        return isinstance(next(self.texts()), tuple)


def parse(line: str, number: int, name: str) -> Record:
    """Read one line; the record says nothing twice and its texts are either all segments or all documents."""
    where = at(name, number)
    given = _object(line, where)
    fields: dict[str, Any] = {}
    for key, value in given.items():
        role = _ROLES.get(key)
        if role is None or value is None:
            continue
        if role in fields:
            raise InputError(f"{key!r} and another key of this line say the same", where=where, next="keep one of them")
        fields[role] = value
    for one, several in (("ref", "refs"), ("hyp", "outputs"), ("system", "outputs")):
        if one in fields and several in fields:
            raise InputError(f"{one!r} and {several!r} do not go together", where=where, next="keep one of them")
    texts = _Texts(where, split=not _WHOLE.isdisjoint(given), check="\\u" in line)
    record = Record(number, unused=tuple(key for key in given if key not in _ROLES))
    if "src" in fields:
        record.src = texts.one(fields["src"])
    record.refs = texts.named({"ref": fields["ref"]} if "ref" in fields else fields.get("refs", {}), "ref")
    record.outputs = texts.named(fields.get("outputs", {}), "hyp")
    if "hyp" in fields:
        record.system = _name(fields.get("system", ""), "system", where)
        record.outputs = {record.system: texts.one(fields["hyp"])}
    _facts(record, fields, where)
    if len({isinstance(text, tuple) for text in record.texts()}) > 1:
        raise InputError("some texts of this line are one string and others are lists of segments", where=where,
                         next="write a document with lists everywhere, or a segment with strings everywhere")
    return record


def _facts(record: Record, fields: dict[str, Any], where: str) -> None:
    """Everything but the texts."""
    record.doc = _name(fields.get("doc", ""), "document id", where)
    record.corpus = _name(fields.get("corpus", ""), "corpus", where)
    if "langs" in fields:
        langs = fields["langs"].split("-", 1) if isinstance(fields["langs"], str) else fields["langs"]
        if not isinstance(langs, list) or len(langs) != 2 or not all(isinstance(code, str) for code in langs):
            raise InputError('languages are written "de-en" or ["de", "en"]', where=where)
        record.langs = (langs[0], langs[1])
    if "src_lang" in fields and "tgt_lang" in fields:
        record.langs = (_name(fields["src_lang"], "language", where), _name(fields["tgt_lang"], "language", where))
    meta = fields.get("meta", {})
    if not isinstance(meta, dict):
        raise InputError("meta must be an object of names and texts", where=where)
    for key, value in (*meta.items(), *((key, fields[key]) for key in records.META if key in fields)):
        if isinstance(value, (str, int, float)):
            record.meta[key] = clean(str(value), where)


@dataclass(frozen=True)
class _Texts:
    """How texts of a line are read: ``split`` strings at empty lines, ``check`` what escapes may have brought in."""

    where: str
    split: bool
    check: bool

    def one(self, value: Any) -> Text:
        if isinstance(value, dict) and isinstance(value.get("ref"), str):  # WMT25: {"refA": {"ref": "…", …}}
            value = value["ref"]
        if isinstance(value, str):
            if self.check:
                clean(value, self.where)
            return tuple(value.split("\n\n")) if self.split else value
        if isinstance(value, list) and all(isinstance(segment, str) for segment in value):
            if self.check:
                for segment in value:
                    clean(segment, self.where)
            return tuple(value)
        raise InputError(f"a text is a string or a list of strings, not {_kind(value)}", where=self.where)

    def named(self, value: Any, name: str) -> dict[str, Text]:
        """Several texts: an object name → text, or a list, whose texts are numbered."""
        if isinstance(value, dict):
            if "" in value:
                raise InputError("a reference or system here has an empty name", where=self.where)
            return {clean(key, self.where): self.one(text) for key, text in value.items() if text is not None}
        if isinstance(value, list):
            return {f"{name}{i}": self.one(text) for i, text in enumerate(value)}
        raise InputError(f"refs and outputs are objects of names and texts, not {_kind(value)}", where=self.where)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line, object_pairs_hook=_unique)
    except _Twice as error:
        raise InputError(f"the key {error.args[0]!r} is there twice", where=where, next="keep one of them") from None
    except json.JSONDecodeError as error:
        raise InputError(f"this is not JSON: {error.msg} (column {error.colno})", where=where,
                         next="write one JSON object per line") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or thousands of brackets
        raise InputError(f"this JSON cannot be read: {error}", where=where) from None
    if not isinstance(value, dict):
        raise InputError(f"a JSON object is wanted on each line, not {_kind(value)}", where=where,
                         next="jq -c '.[]' FILE.json > FILE.jsonl makes lines of a JSON list")
    return value


class _Twice(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return made


def _name(value: Any, what: str, where: str) -> str:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return clean(str(value), where)
    raise InputError(f"the {what} must be a text, not {_kind(value)}", where=where)


def _kind(value: Any) -> str:
    names: dict[Callable[..., Any], str] = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "a number")  # type: ignore[arg-type]
