"""WMT XML (2021 and later): source, references and outputs in one file. Entities are never expanded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.text import TextFile, at, stem
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Output

_SHAPE = "WMT XML is dataset / doc / src, ref, hyp / seg"
_LINE_BREAK = re.compile(r"[\r\n]+")


@dataclass
class _Text:
    """One <src>, <ref> or <hyp>: its segments by id (positions, where the file gives no ids)."""

    kind: str
    name: str
    lang: str
    line: int
    segments: dict[str, str] = field(default_factory=dict)


@dataclass
class _Doc:
    id: str
    line: int
    meta: dict[str, str]
    texts: list[_Text] = field(default_factory=list)


def recognise(file: TextFile) -> bool:
    return file.head().startswith("<")


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read WMT XML. Missing segments of references and outputs are empty texts, counted in a warning."""
    found = _parse(file)
    if not found.docs:
        raise InputError("there is no <doc> here", where=file.name, next=_SHAPE)
    missing: dict[str, list[str]] = {}
    own: dict[str, int] = {}
    docs, outputs = [], dict[str, dict[str, tuple[str, ...]]]()
    for doc in found.docs:
        if not doc.texts:
            raise InputError(
                f"document {doc.id!r} has no text at all", where=at(file.name, doc.line)
            )
        lead = min(doc.texts, key=lambda text: ("src", "ref", "hyp").index(text.kind))
        refs = {
            text.name: _aligned(text, lead, doc.id, file.name, missing)
            for text in doc.texts
            if text.kind == "ref"
        }
        src = tuple(lead.segments.values()) if lead.kind == "src" else None
        docs.append(Document(doc.id, src, refs, doc.meta))
        for text in doc.texts:
            if text.kind == "hyp":
                outputs.setdefault(text.name, {})[doc.id] = _aligned(
                    text, lead, doc.id, file.name, missing
                )
                if (
                    len(text.segments) == len(lead.segments)
                    and text.segments.keys() != lead.segments.keys()
                ):
                    own[text.name] = own.get(text.name, 0) + text.segments.keys().isdisjoint(
                        lead.segments
                    )
    notes = [
        f"{what} lacks {count(len(places), 'segment')}, taken as empty text (first: {places[0]})"
        for what, places in missing.items()
    ]
    notes += [
        f"the output of {name!r} has other segment ids than the source in {count(many, 'document')}; "
        "its segments are taken in their order"
        for name, many in own.items()
        if many
    ]
    if found.unused:
        notes.append(f"elements not used: {', '.join(sorted(found.unused))}")
    if found.marked:
        notes.append(
            f"{count(found.marked, 'segment', 'have')} elements inside; the text is kept, the tags are not"
        )
    if found.suites:
        notes.append(f"{count(found.suites, 'test-suite document', 'are')} left out")
    corpus = Corpus(
        found.name or stem(file.name), _langs(found.docs, langs, file.name), tuple(docs)
    )
    return assemble(
        corpus, [Output(system, texts) for system, texts in outputs.items()], notes, file.name
    )


def _aligned(
    text: _Text, lead: _Text, doc: str, name: str, missing: dict[str, list[str]]
) -> tuple[str, ...]:
    """The segments in the order of the source. An output with ids of its own has sentence breaks of its own."""
    strange = [key for key in text.segments if key not in lead.segments]
    if strange and text.kind == "hyp":  # more segments, both numbered from 1, or none of the ids
        numbered = all(
            list(one.segments) == [str(i + 1) for i in range(len(one.segments))]
            for one in (text, lead)
        )
        if numbered or text.segments.keys().isdisjoint(lead.segments):
            return tuple(text.segments.values())
    what = f"reference {text.name!r}" if text.kind == "ref" else f"the output of {text.name!r}"
    if strange:
        raise AlignmentError(
            f"{what} of document {doc!r} has a segment {strange[0]!r} that the source does not have",
            where=at(name, text.line),
            next="number its segments as those of the source; an output "
            "with other sentence breaks has numbers from 1 on without gaps",
        )
    for key in lead.segments:
        if key not in text.segments:
            missing.setdefault(what, []).append(f"document {doc!r}, segment {key}")
    return tuple(text.segments.get(key, "") for key in lead.segments)


def _langs(docs: Sequence[_Doc], langs: Langs, name: str) -> tuple[str, str]:
    """The language pair that the file names, which must be the requested one."""
    codes = []
    for side, kinds in enumerate((("src",), ("ref", "hyp"))):
        there = dict.fromkeys(
            text.lang for doc in docs for text in doc.texts if text.kind in kinds and text.lang
        )
        wanted = pair(langs)[side]
        if len(there) > 1:
            raise InputError(
                f"there are texts in {' and '.join(there)} on one side",
                where=name,
                next="give one file per language pair",
            )
        code = next(iter(there), wanted)
        if wanted and not same_language(wanted, code):
            raise InputError(
                f"this file is in {code}, not in {wanted}", where=name, next="check -l"
            )
        codes.append(code)
    return (codes[0], codes[1])


def _parse(file: TextFile) -> _Handler:
    handler = _Handler(file.name)
    try:
        for piece in file.chunks():
            handler.parser.Parse(piece, False)
        handler.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(
            f"this is not well-formed XML: {expat.ErrorString(error.code)}",
            where=at(file.name, error.lineno),
            next="xmllint --noout FILE shows what is wrong",
        ) from None
    except (
        LookupError,
        ValueError,
    ) as error:  # an encoding that Python does not know, or that expat cannot use
        raise InputError(
            f"this XML cannot be read: {error}", where=file.name, next="convert it to UTF-8"
        ) from None
    return handler


class _Handler:
    """What expat calls. Entity declarations are refused, so nothing is ever expanded or fetched."""

    def __init__(self, name: str) -> None:
        self.where, self.name, self.docs, self.suites = name, "", list[_Doc](), 0
        self.unused, self.marked = set[str](), 0  # unknown elements; segments with elements inside
        self._doc: _Doc | None = None
        self._text: _Text | None = None
        self._segment: list[str] | None = None
        self._id, self._ids, self._depth = "", set[str](), 0
        self._inside, self._seen = 0, False  # open elements inside the segment; whether it had one
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._entity

    def _fail(self, what: str, next: str = "") -> InputError:
        return InputError(what, where=at(self.where, self.parser.CurrentLineNumber), next=next)

    def _entity(self, *_: object) -> None:
        raise self._fail(
            "this XML declares or uses entities of its own, which is not safe to read",
            "write the characters themselves; no WMT file needs entities",
        )

    def _start(self, tag: str, given: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and tag != "dataset":
            raise self._fail(f"the outermost element is <{tag}>, WMT XML has <dataset>")
        if self._segment is not None:  # the text of other elements belongs to the segment
            if tag in ("dataset", "doc", "src", "ref", "hyp", "seg", "p"):
                raise self._fail(
                    f"there is a <{tag}> inside a <seg>", "close the segment before it"
                )
            self._inside += 1
            self.marked += self._inside == 1 and not self._seen
            self._seen = True
        elif tag == "dataset":
            self.name = given.get("id", "")
        elif tag == "doc":
            self._start_doc(given)
        elif tag in ("src", "ref", "hyp"):
            if self._doc is None or self._text is not None:
                raise self._fail(
                    f"this <{tag}> is not inside a <doc>, or is inside another text", _SHAPE
                )
            self._start_text(tag, given, self._doc)
        elif tag == "seg":
            if self._text is None:
                raise self._fail("this <seg> is not inside a <src>, <ref> or <hyp>", _SHAPE)
            self._id, self._segment = given.get("id", str(len(self._text.segments) + 1)), []
            if self._id in self._text.segments:
                raise self._fail(
                    f"segment id {self._id!r} is used twice in one text",
                    "number the segments apart",
                )
        elif tag not in ("collection", "p"):
            self.unused.add(tag)

    def _start_doc(self, given: dict[str, str]) -> None:
        if self._doc is not None:
            raise self._fail("a <doc> inside a <doc>")
        name = given.get("id", "")
        if not name:
            raise self._fail("this <doc> has no id", "give each document an id")
        meta = {key: given[key] for key in ("domain", "origlang") if given.get(key)}
        self._doc = _Doc(name, self.parser.CurrentLineNumber, meta)
        if "testsuite" in given:
            self.suites += 1
            return
        if name in self._ids:
            raise self._fail(f"document id {name!r} is used twice", "give each document its own id")
        self._ids.add(name)
        self.docs.append(self._doc)

    def _start_text(self, tag: str, given: dict[str, str], doc: _Doc) -> None:
        name = given.get({"src": "", "ref": "translator", "hyp": "system"}[tag], "")
        if tag == "hyp" and not name:
            raise self._fail("this <hyp> does not name its system", 'write <hyp system="NAME">')
        if tag == "ref":
            name = (
                f"ref{name}" if len(name) < 2 else name
            )  # translator="A" is what EvalSets call refA
        if any((text.kind, text.name) == (tag, name) for text in doc.texts):
            raise self._fail(
                f"document {doc.id!r} has two <{tag}> {name}".rstrip(), "keep one of them"
            )
        lang = given.get("lang") or given.get("language", "")
        self._text = _Text(tag, name, lang, self.parser.CurrentLineNumber)
        doc.texts.append(self._text)

    def _characters(self, data: str) -> None:
        if self._segment is not None:
            self._segment.append(data)
        elif self._text is not None and data.strip():
            raise self._fail(
                f"there is text outside the segments: {data.strip()[:40]!r}", "put it into a <seg>"
            )

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._inside:
            self._inside -= 1
        elif tag == "seg" and self._text is not None and self._segment is not None:
            lines = (line.strip() for line in _LINE_BREAK.split("".join(self._segment)))
            self._text.segments[self._id] = " ".join(line for line in lines if line)
            self._segment, self._seen = None, False
        elif tag in ("src", "ref", "hyp"):
            self._text = None
        elif tag == "doc":
            self._doc = None
