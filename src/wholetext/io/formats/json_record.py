"""One line of a JSONL file → a Record: the meaning of each key, and faults of a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.io.segments import FIELDS, Key
from wholetext.io.text import at, clean
from wholetext.text import pair_of

Text = str | tuple[str, ...]  # one segment, or all segments of a document
# WMT: a document, "\n\n" between its segments
_WHOLE = frozenset(("src_text", "hypothesis", "tgt_text"))
_ROLES: dict[str, str] = {
    **{name: role for role, names in FIELDS.items() for name in names},
    "src_text": "src",
    **{
        name: name
        for name in (
            *FIELDS["meta"],
            "refs",
            "meta",
            "outputs",
            "src_lang",
            "tgt_lang",
            "langs",
            "corpus",
        )
    },
    "tgt_text": "outputs",
    "lp": "langs",
    "dataset_id": "corpus",
}
# what does not go together in one line
_APART = (("ref", "refs"), ("hyp", "outputs"), ("system", "outputs"))


@dataclass(slots=True)
class Record:
    """The fields of a line; ``texts["hyp", ""]`` is the output of ``system``, if named."""

    line: int
    doc: str = ""
    system: str = ""
    texts: dict[Key, Text] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    langs: tuple[str, str] = ("", "")
    corpus: str = ""
    whole: bool = False  # the line is a document; otherwise it is a segment

    def strings(self) -> Iterator[str]:
        yield from (self.doc, self.system, self.corpus, *self.langs, *self.meta.values())
        for (_, name), text in self.texts.items():
            yield name
            yield from (text,) if isinstance(text, str) else text


class Parser:
    """The reader of lines of a file; lines with the same keys share an analysis."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.unused: dict[str, None] = {}
        self._shapes: dict[tuple[str, ...], dict[str, str]] = {}

    def parse(self, line: str, number: int) -> Record:
        """Read one line; its texts are either all segments or all documents."""
        where = at(self.name, number)
        fields = read_json(line, where=where, next="write one JSON object per line, each key once")
        if not isinstance(fields, dict):
            raise InputError(
                f"expected a JSON object on each line, got {_kind(fields)}",
                where=where,
                next="jq -c '.[]' FILE.json > FILE.jsonl makes lines of a JSON list",
            )
        if None in fields.values():  # null is the same as absent
            fields = {key: value for key, value in fields.items() if value is not None}
        keys = tuple(fields)
        roles = self._shapes.get(keys)
        if roles is None:
            roles = self._shapes[keys] = self._shape(keys, where)
        texts = _Texts(where, split=not _WHOLE.isdisjoint(keys))
        record = Record(number)
        facts: dict[str, Any] = {}
        for role, key in roles.items():
            value = fields[key]
            match role:
                case "src" | "hyp":
                    record.texts[role, ""] = texts.one(value)
                case "ref":
                    record.texts["ref", "ref"] = texts.one(value)
                case "refs" | "outputs":
                    record.texts |= texts.named(value, "ref" if role == "refs" else "hyp")
                case "doc":
                    record.doc = texts.name(value, "document id")
                case "system":
                    record.system = texts.name(value, "system")
                case _:
                    facts[role] = value
        if record.system and ("hyp", "") not in record.texts:
            raise InputError(
                f"this line names a system ({record.system!r}) but has no hyp", where=where
            )
        if facts:
            _facts(record, facts, texts)
        record.whole = texts.kind is tuple
        if "\\u0000" in line:  # the one thing that JSON can hold and a text cannot
            for text in record.strings():
                clean(text, where)
        return record

    def _shape(self, keys: tuple[str, ...], where: str) -> dict[str, str]:
        """Map roles to keys for a line with these keys."""
        roles: dict[str, str] = {}
        for key in keys:
            role = _ROLES.get(key)
            if role is None:
                self.unused[key] = None
            elif role in roles:
                raise InputError(
                    f"{roles[role]!r} and {key!r} are one field",
                    where=where,
                    next="keep one of them",
                )
            else:
                roles[role] = key
        for role, other in _APART:
            if role in roles and other in roles:
                raise InputError(
                    f"{roles[role]!r} and {roles[other]!r} do not go together",
                    where=where,
                    next="keep one of them",
                )
        return roles


@dataclass(slots=True)
class _Texts:
    """The way in which texts of a line are read."""

    where: str
    split: bool  # strings at empty lines
    kind: type | None = None  # str: segments, tuple: documents

    def one(self, value: Any) -> Text:
        # WMT25: {"refA": {"ref": "…", …}}
        if isinstance(value, dict) and isinstance(value.get("ref"), str):
            value = value["ref"]
        if isinstance(value, list) and all(isinstance(segment, str) for segment in value):
            value = tuple(value)
        elif not isinstance(value, str):
            raise InputError(
                f"a text is a string or a list of strings, not {_kind(value)}", where=self.where
            )
        elif self.split:
            value = tuple(value.split("\n\n"))
        if self.kind not in (None, type(value)):
            raise InputError(
                "some texts of this line are one string, others are lists of segments",
                where=self.where,
                next="write a document with lists everywhere, or a segment with strings everywhere",
            )
        self.kind = type(value)
        return cast(Text, value)

    def named(self, value: Any, kind: str) -> dict[Key, Text]:
        """Read several texts: an object of names and texts, or a list, which is numbered."""
        if isinstance(value, dict):
            if "" in value:
                raise InputError("a reference or system here has an empty name", where=self.where)
            return {
                (kind, name): self.one(text) for name, text in value.items() if text is not None
            }
        if isinstance(value, list):
            return {(kind, f"{kind}{i}"): self.one(text) for i, text in enumerate(value)}
        raise InputError(
            f"refs and outputs are objects of names and texts, not {_kind(value)}", where=self.where
        )

    def name(self, value: Any, what: str) -> str:
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
        raise InputError(f"the {what} must be a text, not {_kind(value)}", where=self.where)


def _facts(record: Record, values: dict[str, Any], texts: _Texts) -> None:
    """Read everything but the texts."""
    record.corpus = texts.name(values.get("corpus", ""), "corpus")
    langs = values.get("langs", ["", ""])
    if isinstance(langs, str):
        with suppress(ValueError):
            langs = list(pair_of(langs))
    if (
        not isinstance(langs, list)
        or len(langs) != 2
        or not all(isinstance(code, str) for code in langs)
    ):
        raise InputError('languages are written "de-en" or ["de", "en"]', where=texts.where)
    if "src_lang" in values and "tgt_lang" in values:
        langs = [values["src_lang"], values["tgt_lang"]]
    record.langs = (texts.name(langs[0], "language"), texts.name(langs[1], "language"))
    meta = values.get("meta", {})
    if not isinstance(meta, dict):
        raise InputError("meta must be an object of names and texts", where=texts.where)
    for key, value in (
        *meta.items(),
        *((key, values[key]) for key in FIELDS["meta"] if key in values),
    ):
        if isinstance(value, (str, int, float)):
            record.meta[key] = str(value)


def _kind(value: Any) -> str:
    for kind, name in (
        (dict, "an object"),
        (list, "a list"),
        (str, "a string"),
        (bool, "true or false"),
    ):
        if isinstance(value, kind):
            return name
    return "a number"
