"""ContraPro and ctxpro: sets whose context is taken from line-aligned documents.

ContraPro (Müller et al. 2018; En-Fr: Lopes et al. 2020) has wrong translations. ctxpro (Wicks and
Post 2023) has none; they are made here: in the reference, the expected form is replaced by each
other form that the set expects for the same source word and case (``NOM.MASC.SING``,
``NOM.FEM.SING``), or, of verbs, which are many, by those with the most similar endings. This
construction is not from the literature.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from wholetext.errors import InputError, count
from wholetext.io.text import read_lines
from wholetext.meta.contrast.items import Candidate, ContrastOptions, ContrastSet, Fields

VERBS = 3  # wrong verbs per item of an auxiliary set
_REMEMBERED = 256  # documents
_PROBE = 50  # items by which the numbering of lines is recognised
_LOOSE = re.compile(r"[\s\"'“”„‘’«»`]+")  # what extraction from subtitles may change
_PAIR = re.compile(r"\.([a-z]{2})-([a-z]{2})\.")  # gender.opensubtitles.en-de.test.json
_ALONE = "no documents were given (--documents), so the items have no context"
Lines = tuple[tuple[str, ...], tuple[str, ...]]  # source and target, line by line


class Before(NamedTuple):
    """Sentences before an item, and whether the document's line is the item's source."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    same: bool = False


class Documents:
    """A folder of ``ID.src`` and ``ID.tgt`` files, a TSV of document, source, target; or none."""

    def __init__(self, path: Path | None, langs: tuple[str, str]) -> None:
        if path is not None and not path.exists():
            raise InputError(
                "there are no documents here",
                where=str(path),
                next="give the folder of line-aligned documents, or a TSV of document, source, "
                "target",
            )
        self.path, self.langs = path, langs
        table = _tsv(path) if path is not None and path.is_file() else {}
        self.lines = lru_cache(_REMEMBERED)(
            self._folder if path is not None and path.is_dir() else table.get
        )

    def before(self, fields: Fields, first: int, limit: int) -> Before | None:
        """Up to ``many`` sentences before an item; None if its document or line is not there."""
        lines = self.lines(fields.text("document id", ""))
        at = fields.number("segment id")
        if lines is None or at is None or not 0 <= at - first < len(lines[0]):
            return None
        here = at - first
        begin = max(0, here - limit)
        same = _LOOSE.sub("", lines[0][here]) == _LOOSE.sub("", fields.text("src segment"))
        return Before(lines[0][begin:here], lines[1][begin:here], same)

    def _folder(self, doc: str) -> Lines | None:
        stem = doc
        for lang in self.langs:
            stem = stem.removesuffix(f".{lang}")
        if self.path is None or ".." in Path(stem).parts or Path(stem).is_absolute():
            return None  # an id may not lead out of the folder
        name = Path(stem).name
        for parent in (Path(stem).parent, Path(name.split("_")[0]), Path()):
            files = [self.path / parent / f"{name}.{lang}" for lang in self.langs]
            # pathlib raises where a name is too long
            if all(os.path.isfile(file) for file in files):  # noqa: PTH113
                source, target = (tuple(map(str.strip, read_lines(file))) for file in files)
                if len(source) != len(target):
                    raise InputError(
                        f"{count(len(source), 'line')}, but {len(target)} in {files[1].name}",
                        where=str(files[0]),
                        next="documents must be aligned line by line",
                    )
                return source, target
        return None


def _tsv(path: Path) -> dict[str, Lines]:
    documents: dict[str, tuple[list[str], list[str]]] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = line.split("\t")
        if len(cells) != 3:
            raise InputError(
                f"{count(len(cells), 'column')}, not 3",
                where=f"{path}:{number}",
                next="one line per sentence: document, source, target",
            )
        for side, text in zip(documents.setdefault(cells[0], ([], [])), cells[1:]):
            side.append(text.strip())
    return {doc: (tuple(source), tuple(target)) for doc, (source, target) in documents.items()}


def contrapro(rows: Mapping[str, Fields], path: Path, options: ContrastOptions) -> ContrastSet:
    """Items with up to ``wanted.context`` sentences before them, where the documents are given."""
    ending = next(iter(rows.values())).text("document id", "").rpartition(".")[2]
    langs = options.langs or ("en", ending if len(ending) == 2 else "de")
    documents = Documents(options.documents, langs)
    first = _first_line(list(rows.values())[:_PROBE], documents)
    items, missing, differing = [], 0, 0
    for at, fields in rows.items():
        context = documents.before(fields, first, options.context)
        missing += context is None
        differing += context is not None and not context.same
        before = context or Before()
        wrong = [
            Candidate(error.text("contrastive"), before.target) for error in fields.list("errors")
        ]
        pronouns = [fields.text(key, "").lower() for key in ("src pronoun", "ref pronoun")]
        items.append(
            fields.item(
                id=f"contrapro-{at}",
                src=fields.text("src segment"),
                src_context=before.source,
                candidates=(Candidate(fields.text("ref segment"), before.target), *wrong),
                category=":".join(filter(None, pronouns)),
                distance=fields.number("ante distance"),
                intra=fields.flag("intrasegmental"),
            )
        )
    notes = []
    if differing:
        notes.append(
            f"{count(differing, 'item', 'have')} another source sentence than the document's line"
        )
    if options.documents is None:
        notes.insert(0, _ALONE)
    elif missing:
        notes.insert(
            0, f"{count(missing, 'item', 'have')} no context: the document or line was not found"
        )
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _first_line(rows: Sequence[Fields], documents: Documents) -> int:
    """Whether ``segment id`` counts from 1 (German) or 0 (French), by where sources are."""

    def hits(first: int) -> int:
        return sum((documents.before(fields, first, 0) or Before()).same for fields in rows)

    return max((1, 0), key=hits)


def ctxpro(rows: Mapping[str, Fields], path: Path, options: ContrastOptions) -> ContrastSet:
    """Items whose reference has the expected form, if there are others; the rest is counted."""
    match = _PAIR.search(path.name)
    langs = options.langs or ((match[1], match[2]) if match else ("", ""))
    documents = Documents(options.documents, langs)
    forms: dict[tuple[str, str], dict[str, str]] = {}  # source word and case → form → lemma
    for fields in rows.values():
        forms.setdefault(_case(fields), {}).setdefault(
            fields.text("expected").lower(), _lemma(fields)
        )
    alike = lru_cache(None)(lambda case, expected, lemma: _alike(expected, lemma, forms[case]))
    items = []
    for at, fields in rows.items():
        case, expected = _case(fields), fields.text("expected")
        is_pronoun = "src pronoun" in fields.value
        others = list(forms[case]) if is_pronoun else alike(case, expected.lower(), _lemma(fields))
        right = fields.text("ref segment")
        wrong = variants(right, expected, others)
        if wrong:
            before = documents.before(fields, 0, options.context) or Before()
            items.append(
                fields.item(
                    id=f"{path.stem}-{at}",
                    src=fields.text("src segment"),
                    src_context=before.source,
                    candidates=tuple(Candidate(text, before.target) for text in (right, *wrong)),
                    type=fields.text("rule"),
                    distance=fields.number("ante distance"),
                    intra=fields.flag("intrasegmental"),
                    category=f"{case[0]}:{expected.lower()}"
                    if is_pronoun
                    else case[0],  # verbs are too many
                )
            )
    notes = (
        []
        if len(items) == len(rows)
        else [f"{count(len(rows) - len(items), 'item')} left out: nothing to replace"]
    )
    notes += [] if options.documents else [_ALONE]
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _case(fields: Fields) -> tuple[str, str]:
    """The source word, and the part of the rule that its sister rules share."""
    keys = ("src pronoun", "src verb", "src noun")
    word = next((fields.text(key).lower() for key in keys if key in fields.value), "")
    return word, fields.text("rule").split(".")[0]


def _lemma(fields: Fields) -> str:
    """The dictionary form of the expected word; the word itself if the set does not give one."""
    keys = ("ref verb lemma", "ref noun lemma", "ref lemma")
    return next(
        (fields.text(key) for key in keys if key in fields.value), fields.text("expected").lower()
    )


def _alike(expected: str, lemma: str, forms: Mapping[str, str]) -> list[str]:
    """Forms of other words with the longest ending in common: likely the same inflection."""

    def shared(form: str) -> int:
        pairs = zip(reversed(form), reversed(expected))
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    others = [form for form, other in forms.items() if form != expected and other != lemma]
    return nlargest(VERBS, others, key=shared)  # of equals the first to appear


def variants(text: str, expected: str, forms: Sequence[str]) -> list[str]:
    """The text with the expected form replaced by each other form, capitals kept."""
    if len(expected) > len(text):
        return []
    place = re.search(rf"(?<!\w){re.escape(expected)}(?!\w)", text, re.IGNORECASE)
    if place is None:
        return []
    texts = []
    for form in forms:
        if form != expected.lower():
            shown = form[:1].upper() + form[1:] if place.group()[:1].isupper() else form
            texts.append(text[: place.start()] + shown + text[place.end() :])
    return texts
