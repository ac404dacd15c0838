"""ctxpro (Wicks and Post 2023) as a contrastive set: the form a rule expects against the forms its sister rules expect.

ctxpro itself looks for the expected form in a system's output and has no wrong translations. They are made here: in
the reference, the expected form is replaced by each other form that the set expects for the same source word and the
same case (``NOM.MASC.SING`` and ``NOM.FEM.SING``). Sets of verbs (auxiliary: *I did* → *je savais*) have no such small
paradigm: there the expected verb is replaced by up to three other verbs that the set expects for the same source
verb, those whose endings resemble it most. This construction is our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import takewhile
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.meta.contrast.contrapro import context
from wholetext.meta.contrast.documents import Documents
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Item, Wanted

VERBS = 3  # wrong verbs per item of an auxiliary set
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
    near: dict[tuple[str, ...], list[str]] = {}  # of verbs: the same ones are expected again and again
    items = []
    for at, fields in enumerate(rows):
        others = list(forms[_case(fields)])
        if "src pronoun" not in fields.value:
            key = (*_case(fields), fields.text("expected").lower(), _lemma(fields))
            others = near[key] if key in near else near.setdefault(key, _alike(*key[2:], forms[_case(fields)]))
        wrong = variants(fields.text("ref segment"), fields.text("expected"), others)
        if wrong:
            before = context(fields, documents, 0, wanted.context) or ((), (), False)
            items.append(_item(fields, f"{path.stem}-{at}", (before[0], before[1]), wrong))
    notes = [] if len(items) == len(rows) else [f"{len(rows) - len(items)} items left out: nothing to replace"]
    notes += [] if documents else ["no documents were given (--documents), so the items have no context"]
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _case(fields: Fields) -> tuple[str, str]:
    return _source_word(fields), fields.text("rule").split(".")[0]


def _source_word(fields: Fields) -> str:
    keys = ("src pronoun", "src verb", "src noun")
    return next((fields.text(key).lower() for key in keys if key in fields.value), "")


def _lemma(fields: Fields) -> str:
    """The dictionary form of the expected word; the word itself where the set does not say."""
    keys = ("ref verb lemma", "ref noun lemma", "ref lemma")
    return next((fields.text(key) for key in keys if key in fields.value), fields.text("expected").lower())


def _forms(rows: Sequence[Fields]) -> Mapping[tuple[str, str], dict[str, str]]:
    """(source word, case) → every form that the set expects for it and its lemma, in order of first appearance."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for fields in rows:
        found.setdefault(_case(fields), {}).setdefault(fields.text("expected").lower(), _lemma(fields))
    return found


def _alike(expected: str, lemma: str, forms: Mapping[str, str]) -> list[str]:
    """The forms of other words that share the longest ending with the expected one: the likeliest same inflection."""

    def shared(form: str) -> int:
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(form), reversed(expected))))

    others = [form for form, other in forms.items() if form != expected and other != lemma]
    return nlargest(VERBS, others, key=shared)  # of equals the first to appear


def variants(text: str, expected: str, forms: Sequence[str]) -> list[str]:
    """The text with the first occurrence of the expected form replaced by each other form, capitals kept."""
    if len(expected) > len(text):
        return []
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
    return fields.item(
        id=name, src=fields.text("src segment"), src_context=source, candidates=candidates, type=fields.text("rule"),
        category=_category(fields),
        distance=fields.number("ante distance"), intra=fields.flag("intrasegmental"),
    )


def _category(fields: Fields) -> str:
    """``source:expected`` of pronouns; of verbs, which are many, the source verb."""
    expected = f":{fields.text('expected').lower()}" if "src pronoun" in fields.value else ""
    return f"{_source_word(fields)}{expected}"
