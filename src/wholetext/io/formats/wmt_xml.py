"""WMT XML (2021 and later): source, references and outputs in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.text import TextFile, at, stem
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Output

_SHAPE = "WMT XML is dataset / doc / src, ref, hyp / seg"
_TEXTS = ("src", "ref", "hyp")
_NAMES = {"ref": "translator", "hyp": "system"}  # attributes
_PARENTS = {"doc": ("dataset",), **dict.fromkeys(_TEXTS, ("doc",)), "p": _TEXTS, "seg": _TEXTS}
_KNOWN = {"dataset", "collection", *_PARENTS}
_LINE_BREAK = re.compile(r"[\r\n]+")


@dataclass
class _Text:
    """A ``<src>``, ``<ref>`` or ``<hyp>``: segments by id (by position where ids are absent)."""

    kind: str
    name: str
    lang: str
    line: int
    segments: dict[str, str]

    def __str__(self) -> str:
        return f"reference {self.name!r}" if self.kind == "ref" else f"the output of {self.name!r}"


def recognise(file: TextFile) -> bool:
    return file.head().startswith("<")


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read WMT XML; missing segments of references and outputs are empty, with a note."""
    root = _parse(file)
    notes, elements = _checked(root, file.name), [*root.iter("doc")]
    missing: dict[str, list[str]] = {}
    renumbered: dict[str, int] = {}
    docs, outputs = list[Document](), dict[str, dict[str, tuple[str, ...]]]()
    texts: list[_Text] = []
    for element in elements:
        if element.get("testsuite") is not None:
            continue
        doc = element.get("id") or ""
        sides = list(_texts(element, file.name))
        if not doc or not sides:
            raise _fault("this <doc> has no id or no text", element, file.name)
        lead = min(sides, key=lambda text: _TEXTS.index(text.kind))
        aligned = {
            (text.kind, text.name): _aligned(text, lead, doc, file.name, missing) for text in sides
        }
        refs = {name: segments for (kind, name), segments in aligned.items() if kind == "ref"}
        meta = {key: element.get(key) for key in ("domain", "origlang") if element.get(key)}
        docs.append(Document(doc, aligned.get(("src", "")), refs, meta))
        for text in sides:
            if text.kind == "hyp":
                outputs.setdefault(text.name, {})[doc] = aligned["hyp", text.name]
                if len(text.segments) == len(lead.segments) and text.segments:
                    own_ids = text.segments.keys().isdisjoint(lead.segments)
                    renumbered[text.name] = renumbered.get(text.name, 0) + own_ids
        texts += sides
    missed = [
        f"{side} lacks {count(len(places), 'segment')}, taken as empty text (first: {places[0]})"
        for side, places in missing.items()
    ]
    missed += [
        f"the output of {name!r} has other segment ids than the source in "
        f"{count(number, 'document')}; its segments are taken in their order"
        for name, number in renumbered.items()
        if number
    ]
    if suites := len(elements) - len(docs):
        notes.append(f"{count(suites, 'test-suite document', 'are')} left out")
    corpus = Corpus(root.get("id") or stem(file.name), _langs(texts, langs, file.name), tuple(docs))
    systems = [Output(system, segments) for system, segments in outputs.items()]
    return assemble(corpus, systems, [*missed, *notes], file.name)


def _parse(file: TextFile) -> Any:
    """Return the root element; a document type, which may define entities, is refused."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        for piece in file.chunks():
            parser.feed(piece)
        root = parser.close()
    except etree.XMLSyntaxError as error:
        raise InputError(
            f"this is not well-formed XML: {error.msg}",
            where=at(file.name, error.lineno or 1),
            next="xmllint --noout FILE shows what is wrong",
        ) from None
    if root.getroottree().docinfo.doctype:
        raise InputError(
            "this XML has a document type declaration, which can define entities: not safe to read",
            where=at(file.name, 1),
            next="remove the <!DOCTYPE …>; no WMT file needs entities of its own",
        )
    return root


def _checked(root: Any, name: str) -> list[str]:
    """Check the nesting of elements; return notes on those that are not used."""
    if root.tag != "dataset":
        raise _fault(f"the outermost element is <{root.tag}>, WMT XML has <dataset>", root, name)
    unused, marked = set[str](), 0
    for element in root.iter():
        ancestors = (parent.tag for parent in element.iterancestors())
        inside = next((tag for tag in ancestors if tag in _KNOWN - {"collection", "p"}), "")
        if element.tag in _PARENTS and inside not in _PARENTS[element.tag]:
            raise _fault(f"there is a <{element.tag}> inside a <{inside}>", element, name)
        if element.tag not in _KNOWN and inside != "seg":
            unused.add(element.tag)
        marked += element.tag == "seg" and len(element) > 0
        if element.tag in _TEXTS and (loose := "".join(_loose(element)).strip()):
            raise _fault(f"there is text outside the segments: {loose[:40]!r}", element, name)
    notes = [f"elements not used: {', '.join(sorted(unused))}"] if unused else []
    if marked:
        segments = count(marked, "segment", "have")
        notes.append(f"{segments} elements inside; the text is kept, the tags are not")
    return notes


def _loose(element: Any) -> Iterator[str]:
    """Yield the text of an element that is in no segment."""
    yield element.text or ""
    for child in element:
        if child.tag != "seg":
            yield from _loose(child)
        yield child.tail or ""


def _texts(doc: Any, name: str) -> Iterator[_Text]:
    seen = set[tuple[str, str]]()
    for element in doc.iter(*_TEXTS):
        kind = element.tag
        label = element.get(_NAMES[kind]) or "" if kind in _NAMES else ""
        if kind == "ref" and len(label) < 2:
            label = f"ref{label}"  # translator="A" is refA in EvalSets
        if kind == "hyp" and not label:
            raise _fault("this <hyp> does not name its system", element, name)
        if (kind, label) in seen:
            raise _fault(f"a document has two <{kind}> {label}".rstrip(), element, name)
        seen.add((kind, label))
        segments: dict[str, str] = {}
        for segment in element.iter("seg"):
            key = segment.get("id") or str(len(segments) + 1)
            if key in segments:
                raise _fault(f"segment id {key!r} is used twice in one text", segment, name)
            lines = (line.strip() for line in _LINE_BREAK.split("".join(segment.itertext())))
            segments[key] = " ".join(line for line in lines if line)
        lang = element.get("lang") or element.get("language") or ""
        yield _Text(kind, label, lang, element.sourceline, segments)


def _aligned(
    text: _Text, lead: _Text, doc: str, name: str, missing: dict[str, list[str]]
) -> tuple[str, ...]:
    """Order segments as in the source; other ids mean other sentence breaks of an output."""
    extra = [key for key in text.segments if key not in lead.segments]
    if extra and text.kind == "hyp":  # more segments, both numbered from 1, or entirely other ids
        numbered = all(
            list(side.segments) == [str(i + 1) for i in range(len(side.segments))]
            for side in (text, lead)
        )
        if numbered or text.segments.keys().isdisjoint(lead.segments):
            return tuple(text.segments.values())
    if extra:
        raise AlignmentError(
            f"{text} of document {doc!r} has a segment {extra[0]!r} that the source does not have",
            where=at(name, text.line),
            next="number its segments as those of the source; an output "
            "with other sentence breaks has numbers from 1 on without gaps",
        )
    for key in lead.segments:
        if key not in text.segments:
            missing.setdefault(str(text), []).append(f"document {doc!r}, segment {key}")
    return tuple(text.segments.get(key, "") for key in lead.segments)


def _langs(texts: Sequence[_Text], langs: Langs, name: str) -> tuple[str, str]:
    """Return the language pair of the file, which must be the requested one."""
    codes = []
    for requested, kinds in zip(pair(langs), (("src",), ("ref", "hyp"))):
        stated = dict.fromkeys(text.lang for text in texts if text.kind in kinds and text.lang)
        if len(stated) > 1:
            raise InputError(
                f"there are texts in {' and '.join(stated)} on one side",
                where=name,
                next="give one file per language pair",
            )
        code = next(iter(stated), requested)
        if requested and not same_language(requested, code):
            raise InputError(
                f"this file is in {code}, not in {requested}", where=name, next="check -l"
            )
        codes.append(code)
    return (codes[0], codes[1])


def _fault(what: str, element: Any, name: str) -> InputError:
    return InputError(what, where=at(name, element.sourceline), next=_SHAPE)
