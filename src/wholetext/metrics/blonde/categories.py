"""Category tables (TOML): the pronouns, markers, tenses and entity labels of a language."""

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
# the last three correct the analyser by spelling
_SCHEMES = ("morph", "tags", "words", "forms", "endings", "needs_endings")
_FEATURE_GROUPS = ("person", "nonperson")


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
    tags: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
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
    folder = files("wholetext.metrics.blonde") / "tables"
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml")))


def load_table(name: str, profile: Profile = "reference") -> CategoryTable:
    """Load the table of a language (``en``) or a TOML file (``tables/ja.toml``)."""
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
            next=f"tables: {', '.join(languages())}; or write one: "
            "table=FILE.toml (docs/blonde.md)",
        )
    data = (files("wholetext.metrics.blonde") / "tables" / f"{name}.toml").read_bytes()
    return _table(data, f"{name}.toml", profile, name)


def _check(raw: Mapping[str, Any], where: str) -> None:
    """Refuse unknown parts, features and categories, and forms that belong to two features."""
    unknown = raw.keys() - {*_REQUIRED, *_SECTIONS, "overlapping", "not_markers"}
    missing = set(_REQUIRED) - raw.keys()
    if unknown or missing:
        fault = f"{'unknown' if unknown else 'missing'}: {', '.join(sorted(unknown or missing))}"
        raise InputError(
            f"a table has other parts ({fault})", where=where, next="see docs/blonde.md"
        )
    known = {UNCOUNTED, *raw["tense"].get("features", ())}
    for scheme, entries in raw["tense"].items():
        if scheme not in ("features", *_SCHEMES):
            raise InputError(f"tense.{scheme} is not one of {', '.join(_SCHEMES)}", where=where)
        if scheme != "features" and (stray := entries.keys() - known):
            raise InputError(
                f"tense.{scheme} names {min(stray)!r}, which is not in tense.features", where=where
            )
    stray = {*raw.get("tags", {}), *raw.get("left_out", {})} - set(CATEGORIES)
    if stray:
        raise InputError(f"{min(stray)!r} is not one of {', '.join(CATEGORIES)}", where=where)
    for category, entries in _groups(raw):
        owners: dict[str, str] = {}
        for feature, forms in entries.items():
            if not isinstance(forms, list) or not all(
                isinstance(form, str) and form.strip() for form in forms
            ):
                raise InputError(f"{category}.{feature} is not a list of strings", where=where)
            for form in forms:
                if owners.setdefault(form, feature) != feature:
                    raise InputError(
                        f"{form!r} is under both {owners[form]} and {feature} of {category}",
                        where=where,
                    )


def _groups(raw: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, feature → forms) for everything that lists forms, tags or labels."""
    yield from ((name, raw[name]) for name in ("pronoun", "marker"))
    yield "entity", {key: raw["entity"].get(key, []) for key in _FEATURE_GROUPS}
    for scheme, entries in raw["tense"].items():
        if scheme == "needs_endings":  # features may share endings
            yield from ((f"tense.{scheme}", {key: ends}) for key, ends in entries.items())
        elif scheme != "features":
            yield f"tense.{scheme}", entries
    for category, entries in raw.get("tags", {}).items():
        yield from ((f"tags.{category}", {form: tags}) for form, tags in entries.items())
    reference = raw.get("reference", {})
    lists = {key: reference.get(key, []) for key in ("without", "possessive", "labels")}
    lists |= {"not_markers": raw.get("not_markers", []), **raw.get("paper", {}).get("merge", {})}
    yield from (("lists", {key: forms}) for key, forms in lists.items())


def _table(data: bytes, where: str, profile: Profile, name: str = "") -> CategoryTable:
    raw = read_toml(data, where=where)
    try:
        _check(raw, where)
        return _profiled(raw, data, where, profile, name)
    except (AttributeError, TypeError, ValueError) as fault:
        raise InputError(
            f"a part of the table has the wrong form ({fault})",
            where=where,
            next="see docs/blonde.md",
        ) from fault


def _profiled(
    raw: Mapping[str, Any], data: bytes, where: str, profile: Profile, name: str
) -> CategoryTable:
    """Apply the profile: forms left out, senses merged, weights."""
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
