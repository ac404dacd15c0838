"""WMT XML (2021 and later): source, references and outputs in one file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.text import TextFile, at, stem
from wholetext.text import same_language
from wholetext.types import Corpus, Document, Output

_SHAPE = "WMT XML is dataset / doc / src, ref, hyp / seg"
_TEXTS = ("src", "ref", "hyp")
_NAMES = {"ref": "translator", "hyp": "system"}  # attributes
_LINE_BREAK = re.compile(r"[\r\n]+")
Key = tuple[str, str]  # kind and name of a text
Text = dict[str, str]  # segments by id (by position where ids are absent)


def recognise(file: TextFile) -> bool:
    """Tell XML by its first character."""
    return file.head().startswith("<")


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read WMT XML; missing segments of references and outputs are empty, with a note."""
    root = _parse(file)
    elements = [*root.iter("doc")]
    regular = [element for element in elements if element.get("testsuite") is None]
    missing: dict[str, list[str]] = {}
    docs, outputs = list[Document](), dict[str, dict[str, tuple[str, ...]]]()
    for element in regular:
        doc, named = element.get("id") or "", list(_texts(element, file.name))
        texts = dict(named)
        if not doc or not texts or len(texts) < len(named):
            raise _fault("a <doc> has no id, no text, or two texts of one name", element, file.name)
        lead = texts[min(texts, key=lambda key: _TEXTS.index(key[0]))]
        for (kind, name), text in texts.items():
            side = f"reference {name!r}" if kind == "ref" else f"the output of {name!r}"
            extra = [key for key in text if key not in lead]
            if extra:
                raise AlignmentError(
                    f"{side} of document {doc!r} has a segment {extra[0]!r} that the source does "
                    "not have",
                    where=at(file.name, element.sourceline),
                    next="number its segments as those of the source; "
                    "an output with other sentence breaks can be given as JSONL",
                )
            gaps = [f"document {doc!r}, segment {key}" for key in lead if key not in text]
            missing.setdefault(side, []).extend(gaps)
            texts[kind, name] = {key: text.get(key, "") for key in lead}
        segments = {key: tuple(text.values()) for key, text in texts.items()}
        refs = {name: text for (kind, name), text in segments.items() if kind == "ref"}
        meta = {key: element.get(key) for key in ("domain", "origlang") if element.get(key)}
        docs.append(Document(doc, segments.get(("src", "")), refs, meta))
        for kind, name in texts:
            if kind == "hyp":
                outputs.setdefault(name, {})[doc] = segments[kind, name]
    notes = [
        f"{side} lacks {count(len(places), 'segment')}, taken as empty text (first: {places[0]})"
        for side, places in missing.items()
        if places
    ]
    if suites := len(elements) - len(docs):
        notes.append(f"{count(suites, 'test-suite document', 'are')} left out")
    pair_of_file = _langs(regular, langs, file.name)
    corpus = Corpus(root.get("id") or stem(file.name), pair_of_file, tuple(docs))
    systems = [Output(system, by_doc) for system, by_doc in outputs.items()]
    return assemble(corpus, systems, notes, file.name)


def _parse(file: TextFile) -> Any:
    """Return the root element; a document type, which may define entities, is refused."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        parser.feed(file.read())
        root = parser.close()
    except etree.XMLSyntaxError as error:
        raise InputError(
            f"this is not well-formed XML: {error.msg}",
            where=at(file.name, error.lineno or 1),
            next="xmllint --noout FILE shows what is wrong",
        ) from None
    if root.getroottree().docinfo.doctype or root.tag != "dataset":
        raise _fault("there is a document type declaration, or no <dataset>", root, file.name)
    return root


def _texts(doc: Any, name: str) -> Iterator[tuple[Key, Text]]:
    for element in doc.iterchildren(*_TEXTS):
        kind = element.tag
        label = element.get(_NAMES[kind]) or "" if kind in _NAMES else ""
        if kind == "ref" and len(label) < 2:
            label = f"ref{label}"  # translator="A" is refA in EvalSets
        text: Text = {}
        for segment in element.iter("seg"):
            key = segment.get("id") or str(len(text) + 1)
            if key in text:
                raise _fault(f"segment id {key!r} is used twice in one text", segment, name)
            lines = map(str.strip, _LINE_BREAK.split("".join(segment.itertext())))
            text[key] = " ".join(filter(None, lines))
        if kind == "hyp" and not label:
            raise _fault("this <hyp> does not name its system", element, name)
        yield (kind, label), text


def _langs(docs: Sequence[Any], langs: Langs, name: str) -> tuple[str, str]:
    """Return the language pair of the file, which must be the requested one."""
    codes = []
    for requested, kinds in zip(pair(langs), (("src",), ("ref", "hyp"))):
        elements = [element for doc in docs for element in doc.iterchildren(*kinds)]
        stated = dict.fromkeys(e.get("lang") or e.get("language") for e in elements)
        stated.pop(None, None)
        code = next(iter(stated), requested)
        if len(stated) > 1 or (requested and not same_language(requested, code)):
            raise InputError(
                f"one side is in {' and '.join(stated)}, not in {requested or 'one language'}",
                where=name,
                next="check -l; give one file per language pair",
            )
        codes.append(code)
    return (codes[0], codes[1])


def _fault(what: str, element: Any, name: str) -> InputError:
    return InputError(what, where=at(name, element.sourceline), next=_SHAPE)
