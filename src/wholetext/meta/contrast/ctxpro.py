"""ctxpro (Wicks and Post 2023) as a contrastive set: the form a rule expects against the forms its sister rules expect.

ctxpro itself looks for the expected form in a system's output and has no wrong translations. They are made here: in
the reference, the expected form is replaced by each other form that the set expects for the same source word and the
same case (``NOM.MASC.SING`` and ``NOM.FEM.SING``). This construction is ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.meta.contrast.contrapro import context
from wholetext.meta.contrast.documents import Documents
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Item, Wanted

_PAIR = re.compile(r"\.([a-z]{2})-([a-z]{2})\.")  # gender.opensubtitles.en-de.test.json


def matches(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"expected", "rule"} <= set(data[0])


def read(data: Any, path: Path, wanted: Wanted) -> ContrastSet:
    """Items whose reference holds the expected form and for which there is another form; the rest is counted."""
    if not matches(data):
        raise InputError("expected a list of objects with \"expected\" and \"rule\"", where=str(path))
    rows = [Fields(one, f"{path}, item {at}") for at, one in enumerate(data)]
    found = _PAIR.search(path.name)
    langs = wanted.langs or ((found[1], found[2]) if found else ("", ""))
    documents = Documents(wanted.documents, langs) if wanted.documents else None
    forms = _forms(rows)
    items = []
    for at, fields in enumerate(rows):
        wrong = variants(fields.text("ref segment"), fields.text("expected"), forms[_case(fields)])
        if wrong:
            before = context(fields, documents, 0, wanted.context) or ((), (), False)
            items.append(_item(fields, f"{path.stem}-{at}", (before[0], before[1]), wrong))
    notes = [] if len(items) == len(rows) else [f"{len(rows) - len(items)} items left out: nothing to replace"]
    notes += [] if documents else ["no documents were given (--documents), so the items have no context"]
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _case(fields: Fields) -> tuple[str, str]:
    return fields.text("src pronoun", "").lower(), fields.text("rule").split(".")[0]


def _forms(rows: Sequence[Fields]) -> Mapping[tuple[str, str], list[str]]:
    """(source word, case) → every form that the set expects for it, in order of first appearance."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for fields in rows:
        found.setdefault(_case(fields), {})[fields.text("expected").lower()] = None
    return {case: list(forms) for case, forms in found.items()}


def variants(text: str, expected: str, forms: Sequence[str]) -> list[str]:
    """The text with the first occurrence of the expected form replaced by each other form, capitals kept."""
    place = re.search(rf"(?<!\w){re.escape(expected)}(?!\w)", text, re.IGNORECASE)
    if place is None:
        return []
    made = []
    for form in forms:
        if form != expected.lower():
            shown = form[:1].upper() + form[1:] if place.group()[:1].isupper() else form
            made.append(text[: place.start()] + shown + text[place.end() :])
    return made


def _item(fields: Fields, name: str, before: tuple[tuple[str, ...], tuple[str, ...]], wrong: Sequence[str]) -> Item:
    source, target = before
    candidates = (Candidate(fields.text("ref segment"), target), *(Candidate(text, target) for text in wrong))
    return Item(
        id=name, src=fields.text("src segment"), src_context=source, candidates=candidates, type=fields.text("rule"),
        category=f"{fields.text('src pronoun', '').lower()}:{fields.text('expected').lower()}",
        distance=fields.number("ante distance"), intra=fields.flag("intrasegmental"),
    )
