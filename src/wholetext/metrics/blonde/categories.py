"""Category tables: which pronouns, markers, tenses and entity labels count in a language, read from TOML data files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, SpecError
from wholetext.files.parsing import read_toml

Profile = Literal["reference", "paper", "fixed"]
Scheme = Literal["morph", "tags", "words"]
CATEGORIES = ("tense", "pronoun", "entity", "marker")
UNCOUNTED = "uncounted"  # verbs with these forms or endings are passed over
_REQUIRED = ("language", "origin", "pronoun", "marker", "tense", "entity")
_SECTIONS = ("pronoun", "marker", "tense", "entity", "reference", "paper", "tags", "left_out")
_SCHEMES = (
    "morph",
    "tags",
    "words",
    "forms",
    "endings",
    "needs_endings",
)  # the last three correct by spelling
_LONGEST = 200  # characters of a form: every beginning of one is looked up
_FEATURE_GROUPS = ("person", "nonperson")


@dataclass(frozen=True, eq=False)
class CategoryTable:
    """The categories of one language under one profile; each form, tag or label belongs to one feature."""

    language: str
    origin: str  # paper, wholetext, or as given in a user's file
    id: str  # language, or file name and content hash
    digest: str  # of its file, since built-in tables change
    features: Mapping[str, tuple[str, ...]]  # category → its features, in order
    pronouns: Mapping[str, str]  # form → feature
    markers: Mapping[str, str]  # lower-cased phrase → feature
    tenses: Mapping[
        Scheme, Mapping[str, str]
    ]  # tag, word, or morphology joined by | → feature, first fit first
    labels: Mapping[str, str]  # entity label → person or nonperson
    possessive: tuple[str, ...]  # endings that are no part of a name
    weights: Mapping[str, float]  # feature → weight where it is not 1
    overlapping: bool = True  # a marker inside a longer one counts too, as in the released code
    not_markers: frozenset[str] = frozenset()  # phrases in which no marker counts
    tags: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict
    )  # category → form or * → tags
    tense_forms: Mapping[str, str] = field(
        default_factory=dict
    )  # form → feature, before anything else
    tense_endings: Mapping[str, str] = field(
        default_factory=dict
    )  # ending of a finite verb → feature, longest first
    needs_endings: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # feature → endings, one of which it has
    left_out: Mapping[str, str] = field(
        default_factory=dict
    )  # category → why it is not counted in this language

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """Every string that some marker begins with, the whole marker included."""
        phrases = (*self.markers, *self.not_markers)
        return frozenset(phrase[:end] for phrase in phrases for end in range(1, len(phrase) + 1))


def languages() -> tuple[str, ...]:
    """Languages that have a table here."""
    folder = files("wholetext.metrics.blonde") / "tables"
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))


def load_table(name: str, profile: Profile = "reference") -> CategoryTable:
    """The table of a language (``en``), or the one in a TOML file (``tables/ja.toml``)."""
    if not name.endswith(".toml"):
        return _own_table(name, profile)
    path = Path(name)
    if not path.is_file():
        raise InputError(
            "there is no such table", where=name, next=f"tables here: {', '.join(languages())}"
        )
    return _table(path.read_bytes(), name, profile)


@lru_cache(maxsize=64)
def _own_table(name: str, profile: Profile) -> CategoryTable:
    if name not in languages():
        raise SpecError(
            f"there is no category table for the language {name!r}",
            next=f"tables: {', '.join(languages())}; or write one, table=FILE.toml (docs/blonde.md)",
        )
    data = (files("wholetext.metrics.blonde") / "tables" / f"{name}.toml").read_bytes()
    return _table(data, f"{name}.toml", profile, name)


def _check(raw: Mapping[str, Any], where: str) -> None:
    unknown, missing = (
        set(raw) - {*_REQUIRED, *_SECTIONS, "overlapping", "not_markers"},
        set(_REQUIRED) - set(raw),
    )
    if unknown or missing:
        fault = (
            f"unknown: {', '.join(sorted(unknown))}"
            if unknown
            else f"missing: {', '.join(sorted(missing))}"
        )
        raise InputError(
            f"a table has other parts ({fault})", where=where, next="see docs/blonde.md"
        )
    for name, value in _sections(raw):
        if not isinstance(value, dict):
            raise InputError(f"{name} is not a section", where=where, next=f"write [{name}]")
    for name in ("language", "origin"):
        if not isinstance(raw[name], str):
            raise InputError(f"{name} is not a string", where=where)
    tense, reference = raw["tense"], raw.get("reference", {})
    lists = {
        "tense.features": tense.get("features", []),
        "entity.possessive": raw["entity"].get("possessive", []),
    }
    lists |= {
        f"reference.{key}": reference.get(key, []) for key in ("without", "possessive", "labels")
    }
    lists |= {
        f"paper.merge.{key}": value for key, value in raw.get("paper", {}).get("merge", {}).items()
    }
    lists |= {
        f"tense.needs_endings.{key}": value for key, value in tense.get("needs_endings", {}).items()
    }
    for name, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{name} is not a list of strings", where=where)
    for name, value in reference.get("weights", {}).items():
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 <= value < float("inf")
        ):
            raise InputError(f"reference.weights.{name} must be a non-negative number", where=where)
    for scheme in tense.keys() - {"features"}:
        if scheme not in _SCHEMES:
            raise InputError(f"tense.{scheme} is not one of {', '.join(_SCHEMES)}", where=where)
        stray = tense[scheme].keys() - {UNCOUNTED, *tense.get("features", ())}
        if stray:
            raise InputError(
                f"tense.{scheme} names {min(stray)!r}, which is not in tense.features", where=where
            )
    stray = {*raw.get("tags", {}), *raw.get("left_out", {})} - set(CATEGORIES)
    if stray:
        raise InputError(f"{min(stray)!r} is not one of {', '.join(CATEGORIES)}", where=where)
    _check_forms(raw, where)


def _sections(raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything that must be a section, outer ones before what they hold."""
    for name in _SECTIONS:
        outer = raw.get(name, {})
        yield name, outer
        inner = {
            "tense": set(outer) - {"features"},
            "tags": outer,
            "paper": ("merge",),
            "reference": ("weights",),
        }
        yield from ((f"{name}.{key}", outer[key]) for key in inner.get(name, ()) if key in outer)


def _check_forms(raw: Mapping[str, Any], where: str) -> None:
    """Forms are short strings, and none belongs to two features of a category."""
    tense = {key: value for key, value in raw["tense"].items() if key != "features"}
    endings = tense.pop("needs_endings", {})
    groups = {
        "pronoun": raw["pronoun"],
        "marker": raw["marker"],
        **{f"tense.{key}": value for key, value in tense.items()},
        **{f"needs_endings.{key}": {key: ends} for key, ends in endings.items()},
        "entity": {key: raw["entity"].get(key, []) for key in _FEATURE_GROUPS},
        "not_markers": {"not_markers": raw.get("not_markers", [])},
    }
    groups |= {
        f"tags.{category}.{form}": {form: tags}
        for category, entries in raw.get("tags", {}).items()
        for form, tags in entries.items()
    }
    for category, entries in groups.items():
        seen: dict[str, str] = {}
        for feature, forms in entries.items():
            if not isinstance(forms, list) or not all(
                isinstance(form, str) and form.strip() for form in forms
            ):
                raise InputError(f"{category}.{feature} is not a list of strings", where=where)
            for form in forms:
                if len(form) > _LONGEST:
                    raise InputError(
                        f"{form[:40] + '…'!r} of {category}.{feature} has more than {_LONGEST} characters",
                        where=where,
                    )
                if form in seen:
                    raise InputError(
                        f"{form!r} is under both {seen[form]} and {feature} of {category}",
                        where=where,
                    )
                seen[form] = feature


def _table(data: bytes, where: str, profile: Profile, name: str = "") -> CategoryTable:
    """Apply what the profile changes: forms left out, senses merged, weights."""
    raw = read_toml(data, where=where)
    _check(raw, where)
    digest = hashlib.blake2b(data, digest_size=4).hexdigest()
    reference = raw.get("reference", {}) if profile == "reference" else {}
    merge = {} if profile == "reference" else raw.get("paper", {}).get("merge", {})
    into = {old: new for new, olds in merge.items() for old in olds}
    without = set(reference.get("without", ()))
    pronouns = {
        form: into.get(f, f)
        for f, forms in raw["pronoun"].items()
        for form in forms
        if form not in without
    }
    markers = {
        form.lower(): into.get(f, f)
        for f, forms in raw["marker"].items()
        for form in forms
        if form not in without
    }
    needs = {
        feature: tuple(ends) for feature, ends in raw["tense"].get("needs_endings", {}).items()
    }
    tenses = {
        scheme: {form: feature for feature, forms in entries.items() for form in forms}
        for scheme, entries in raw["tense"].items()
        if scheme not in ("features", "needs_endings")
    }
    endings = tenses.pop("endings", {})
    allowed = reference.get("labels")
    labels = {
        label: group
        for group in _FEATURE_GROUPS
        for label in raw["entity"].get(group, ())
        if allowed is None or label in allowed
    }
    return CategoryTable(
        language=raw["language"],
        origin=raw["origin"],
        id=name or f"{Path(where).name}-{digest}",
        digest=digest,
        features={
            "tense": tuple(raw["tense"].get("features", ())),
            "pronoun": tuple(dict.fromkeys(into.get(f, f) for f in raw["pronoun"])),
            "entity": _FEATURE_GROUPS,
            "marker": tuple(dict.fromkeys(into.get(f, f) for f in raw["marker"])),
        },
        pronouns=pronouns,
        markers=markers,
        labels=labels,
        tense_forms=tenses.pop("forms", {}),
        tense_endings=dict(sorted(endings.items(), key=lambda item: -len(item[0]))),
        needs_endings=needs,
        tenses=tenses,
        overlapping=bool(raw.get("overlapping", True)),
        not_markers=frozenset(phrase.lower() for phrase in raw.get("not_markers", ())),
        tags={
            category: {form: tuple(tags) for form, tags in entries.items()}
            for category, entries in raw.get("tags", {}).items()
        },
        left_out={category: str(why) for category, why in raw.get("left_out", {}).items()},
        possessive=tuple(reference.get("possessive", raw["entity"].get("possessive", ()))),
        weights={key: float(value) for key, value in reference.get("weights", {}).items()},
    )
