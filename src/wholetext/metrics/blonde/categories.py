"""Category tables (TOML): the pronouns, markers, tenses and entity labels of a language."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, SpecError
from wholetext.files.parsing import file_bytes, read_toml

Profile = Literal["reference", "paper", "fixed"]
Scheme = Literal["morph", "tags", "words"]
DISCOURSE = ("tense", "pronoun", "entity", "marker")
UNCOUNTED = "uncounted"  # verbs with these forms or endings are passed over
_REQUIRED = ("language", "origin", "pronoun", "marker", "tense", "entity")
_OPTIONAL = ("reference", "paper", "tags", "left_out", "overlapping", "not_markers")
# the last three correct the analyser by spelling
_SCHEMES = ("morph", "tags", "words", "forms", "endings", "needs_endings")
_GROUPS = ("person", "nonperson")
_TABLES = files("wholetext.metrics.blonde") / "tables"


@dataclass(frozen=True, eq=False)
class CategoryTable:
    """Categories of a language under a profile; a form, tag or label belongs to one feature."""

    language: str
    origin: str  # paper, ours, or as stated in a user's file
    id: str  # language, or file name and content hash
    digest: str  # of its file, since built-in tables change
    features: Mapping[str, tuple[str, ...]]  # category → its features, in order
    pronouns: Mapping[str, str]  # form → feature
    markers: Mapping[str, str]  # lower-cased phrase → feature
    # tag, word, or morphology joined by | → feature; the first that fits counts
    tenses: Mapping[Scheme, Mapping[str, str]]
    labels: Mapping[str, str]  # entity label → person or nonperson
    possessive: tuple[str, ...]  # endings that are no part of a name
    weights: Mapping[str, float]  # feature → weight where it is not 1
    overlapping: bool = True  # a marker inside a longer one counts too, as in the released code
    not_markers: frozenset[str] = frozenset()  # phrases in which no marker counts
    # category → form or * → tags
    tags: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    # form → feature, before anything else
    tense_forms: Mapping[str, str] = field(default_factory=dict)
    # ending of a finite verb → feature, longest first
    tense_endings: Mapping[str, str] = field(default_factory=dict)
    # feature → endings, one of which its verbs have
    needs_endings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # category → why it is not counted in this language
    left_out: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """All prefixes of markers, whole markers included."""
        phrases = (*self.markers, *self.not_markers)
        return frozenset(phrase[:end] for phrase in phrases for end in range(1, len(phrase) + 1))


def languages() -> tuple[str, ...]:
    """List the languages with a bundled table."""
    names = (item.name for item in _TABLES.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load_table(name: str, profile: Profile = "reference") -> CategoryTable:
    """Load the table of a language (``en``) or a TOML file (``tables/ja.toml``)."""
    if name.endswith(".toml"):
        return _table(file_bytes(Path(name)), name, profile)
    if name not in languages():
        raise SpecError(
            f"there is no category table for the language {name!r}",
            next=f"tables: {', '.join(languages())}; or write one: "
            "table=FILE.toml (docs/blonde.md)",
        )
    return _table((_TABLES / f"{name}.toml").read_bytes(), f"{name}.toml", profile, name)


def _table(data: bytes, where: str, profile: Profile, name: str = "") -> CategoryTable:
    raw = read_toml(data, where=where)
    try:
        fault = next(_faults(raw), "")
        if not fault:
            return _profiled(raw, data, where, profile, name)
    except (AttributeError, TypeError, ValueError) as error:
        fault = f"a part of the table has the wrong form ({error})"
    raise InputError(fault, where=where, next="see docs/blonde.md")


def _faults(raw: Mapping[str, Any]) -> Iterator[str]:
    """Find unknown parts, features and categories, and forms that belong to two features."""
    yield from (f"unknown: {key}" for key in raw.keys() - {*_REQUIRED, *_OPTIONAL})
    yield from (f"missing: {key}" for key in {*_REQUIRED} - raw.keys())
    tense = dict(raw["tense"])
    features = {UNCOUNTED, *tense.pop("features", ())}
    for scheme, entries in tense.items():
        if scheme not in _SCHEMES:
            yield f"tense.{scheme} is not one of {', '.join(_SCHEMES)}"
        for feature in entries.keys() - features:
            yield f"tense.{scheme} names {feature!r}, which is not in tense.features"
    for category in {*raw.get("tags", {}), *raw.get("left_out", {})} - {*DISCOURSE}:
        yield f"{category!r} is not one of {', '.join(DISCOURSE)}"
    entity = {group: raw["entity"].get(group, []) for group in _GROUPS}
    shared = {f"tags.{category}": entries for category, entries in raw.get("tags", {}).items()}
    shared["needs_endings"] = tense.pop("needs_endings", {})
    sections = {"pronoun": raw["pronoun"], "marker": raw["marker"], "entity": entity, **tense}
    for section, entries in (*sections.items(), *shared.items()):
        owners: dict[str, str] = {}
        for feature, forms in entries.items():
            if not isinstance(forms, list) or not all(isinstance(form, str) for form in forms):
                yield f"{section}.{feature} is not a list of strings"
            for form in forms if section in sections else ():
                if owners.setdefault(form, feature) != feature:
                    yield f"{form!r} is under both {owners[form]} and {feature} of {section}"


def _profiled(
    raw: Mapping[str, Any], data: bytes, where: str, profile: Profile, name: str
) -> CategoryTable:
    """Apply the profile: forms left out, senses merged, weights."""
    digest = hashlib.blake2b(data, digest_size=4).hexdigest()
    reference = raw.get("reference", {}) if profile == "reference" else {}
    merge = {} if profile == "reference" else raw.get("paper", {}).get("merge", {})
    into = {old: new for new, olds in merge.items() for old in olds}
    without = set(reference.get("without", ()))

    def by_form(entries: Mapping[str, Sequence[str]]) -> dict[str, str]:
        pairs = ((form, into.get(f, f)) for f, forms in entries.items() for form in forms)
        return {form: feature for form, feature in pairs if form not in without}

    schemes = {scheme: raw["tense"].get(scheme, {}) for scheme in _SCHEMES}
    needs, endings, forms = (schemes.pop(key) for key in ("needs_endings", "endings", "forms"))
    labels = by_form({group: raw["entity"].get(group, ()) for group in _GROUPS})
    return CategoryTable(
        language=raw["language"],
        origin=raw["origin"],
        id=name or f"{Path(where).name}-{digest}",
        digest=digest,
        features={
            "tense": tuple(raw["tense"].get("features", ())),
            "pronoun": tuple(dict.fromkeys(into.get(f, f) for f in raw["pronoun"])),
            "entity": _GROUPS,
            "marker": tuple(dict.fromkeys(into.get(f, f) for f in raw["marker"])),
        },
        pronouns=by_form(raw["pronoun"]),
        markers={form.lower(): feature for form, feature in by_form(raw["marker"]).items()},
        labels={key: labels[key] for key in labels if key in reference.get("labels", labels)},
        tense_forms=by_form(forms),
        tense_endings=dict(sorted(by_form(endings).items(), key=lambda item: -len(item[0]))),
        needs_endings={feature: tuple(ends) for feature, ends in needs.items()},
        tenses={scheme: by_form(entries) for scheme, entries in schemes.items() if entries},
        overlapping=bool(raw.get("overlapping", True)),
        not_markers=frozenset(phrase.lower() for phrase in raw.get("not_markers", ())),
        tags=raw.get("tags", {}),
        left_out=raw.get("left_out", {}),
        possessive=tuple(reference.get("possessive", raw["entity"].get("possessive", ()))),
        weights={key: float(value) for key, value in reference.get("weights", {}).items()},
    )
