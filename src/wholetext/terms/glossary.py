"""Glossaries: TSV, CSV, the JSON of WMT's terminology tasks, TBX."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from wholetext.errors import InputError, count, known
from wholetext.files.parsing import read_json, reading
from wholetext.io.text import FilePath, TextFile, opened
from wholetext.text import code_of

SEVERAL = "|"  # divides the renditions in a cell of a table
HEADERS = frozenset(
    {"source", "src", "source term", "term", "target", "tgt", "target term", "translation"}
)
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_JSON = 'write {"source term": ["rendition", …], …}'
_LAYOUT = "a glossary has a source term and a translation in each line, divided by a tab"


class Term(NamedTuple):
    """A source term and its accepted renditions."""

    source: str
    targets: tuple[str, ...]


class Glossary(NamedTuple):
    """Terms in the order of the file, and what was guessed or left out."""

    terms: tuple[Term, ...]
    notes: tuple[str, ...] = ()


class _Entry(NamedTuple):
    source: str
    target: str
    where: str


def read_glossary(
    path: FilePath, langs: tuple[str, str] = ("", ""), part: str = "proper"
) -> Glossary:
    """Read a glossary; several entries of a source term are renditions, each of which counts.

    Args:
        path: A table (TSV, CSV: source, target, ``|`` between several targets), JSON
            (``{source: target or [targets]}``, or such objects by name as WMT ships them), or TBX.
        langs: Source and target language; TBX needs them where it has more than two.
        part: The object of a WMT file that is read.
    """
    notes: list[str] = []
    with opened(path) as file:
        head = file.head()
        if head.startswith("{"):
            content = read_json(file.read(), where=file.name, next=_JSON)
            entries = list(_json_entries(content, part, file.name))
        elif head.startswith("<"):
            entries = list(_tbx_entries(file, langs))
        else:
            entries = list(_table_entries(file, notes))
    for entry in entries:
        if not entry.source or not entry.target:
            raise InputError(
                f"an entry without a {'target' if entry.source else 'source'} term",
                where=entry.where,
                next="complete it, or delete it",
            )
    if not entries:
        raise InputError("the glossary has no terms", where=str(path), next=_LAYOUT)
    repeated = [pair for pair, n in Counter((e.source, e.target) for e in entries).items() if n > 1]
    if repeated:
        first = " → ".join(repeated[0])
        notes.append(f"the glossary repeats {count(len(repeated), 'pair')} of terms, first {first}")
    terms: dict[str, dict[str, None]] = {}
    for entry in entries:
        terms.setdefault(entry.source, {})[entry.target] = None
    return Glossary(tuple(Term(source, tuple(t)) for source, t in terms.items()), tuple(notes))


def _table_entries(file: TextFile, notes: list[str]) -> Iterator[_Entry]:
    lines = list(file.lines())
    sample = next(filter(str.strip, lines), "")
    mark = next((mark for mark in "\t;," if mark in sample), "\t")
    # beside tabs, quotation marks are text
    quoting: Literal[0, 3] = csv.QUOTE_NONE if mark == "\t" else csv.QUOTE_MINIMAL
    rows, columns = csv.reader(lines, delimiter=mark, quoting=quoting), 2
    for row in rows:
        number, cells = rows.line_num, [cell.strip() for cell in row]
        if not any(cells):
            continue
        if number == 1 and {cell.casefold() for cell in cells[:2]} <= HEADERS:
            notes.append(f"the first line of the glossary is its header: {', '.join(cells)}")
            continue
        where = f"{file.name}:{number}"
        if len(cells) < 2:
            raise InputError("a line with one column", where=where, next=_LAYOUT)
        columns = max(columns, len(cells))
        for target in cells[1].split(SEVERAL):
            yield _Entry(cells[0], target.strip(), where)
    if columns > 2:
        notes.append(f"of {columns} columns of the glossary the first two are read")


def _json_entries(content: Any, part: str, where: str) -> Iterator[_Entry]:
    if content and all(isinstance(value, dict) for value in content.values()):
        content = content[known("part", part, content, where=where)]
    for source, targets in content.items():
        listed = targets if isinstance(targets, list) else [targets]
        if not all(isinstance(target, str) for target in listed):
            raise InputError(
                f"the renditions of {source!r} are not text",
                where=where,
                next=_JSON,
            )
        for target in listed or [""]:
            yield _Entry(source.strip(), target.strip(), f"{where}: {source!r}")


def _tbx_entries(file: TextFile, langs: tuple[str, str]) -> Iterator[_Entry]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    with reading(file.name, "check that it is complete, well-formed TBX", what="this is not XML"):
        parser.feed(file.read())
        root = parser.close()
    concepts = [node for node in root.iter() if _tag(node) in ("termEntry", "conceptEntry")]
    languages = list(dict.fromkeys(lang for node in concepts for lang in _by_language(node)))
    source, target = map(code_of, langs)
    if not source and len(languages) == 2:
        source, target = languages
    if not {source, target} <= set(languages):
        raise InputError(
            f"the glossary has the languages {', '.join(languages) or 'none'}, "
            f"not {source or '?'} and {target or '?'}",
            where=file.name,
            next="name the languages of the texts (-l en-de)",
        )
    for node in concepts:
        texts = _by_language(node)
        for term in texts.get(source, ()):
            for rendition in texts.get(target, ()):
                yield _Entry(term, rendition, f"{file.name}:{node.sourceline}")


def _by_language(concept: Any) -> Mapping[str, list[str]]:
    terms: dict[str, list[str]] = {}
    for node in concept.iter():
        if _tag(node) in ("langSet", "langSec"):
            inner = (term for term in node.iter() if _tag(term) == "term")
            texts = ["".join(term.itertext()).strip() for term in inner]
            terms.setdefault(code_of(node.get(_XML_LANG, "")), []).extend(texts)
    return terms


def _tag(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]
