"""Category tables (TOML) of a language, and what they find in an analysed segment.

A table has the pronouns, discourse markers, tenses and entity labels of a language.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wholetext.errors import InputError, SpecError
from wholetext.files.parsing import file_bytes, read_toml
from wholetext.text.taggers.analysis import Analysis, Layer, Token

Profile = Literal["reference", "paper", "fixed"]
Scheme = Literal["morph", "tags", "words"]
DISCOURSE = ("tense", "pronoun", "entity", "marker")
UNCOUNTED = "uncounted"  # verbs with these forms or endings are passed over
_REQUIRED = ("language", "origin", "pronoun", "marker", "tense", "entity")
_OPTIONAL = ("reference", "paper", "tags", "left_out", "overlapping", "not_markers")
# how tense is identified, in order of preference, by which layer of an analyser
_SCHEMES: dict[Scheme, Layer | None] = {"morph": "morph", "tags": "tag", "words": None}
_TENSE = (*_SCHEMES, "forms", "endings", "needs_endings")  # the last correct it by spelling
_GROUPS = ("person", "nonperson")
_SEPARATORS = re.compile(r"[|<>!,]+")
UNIVERSAL = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"}
    | {"PUNCT", "SCONJ", "SYM", "VERB", "X"}
)
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
            "table=FILE.toml (`wholetext help blonde`)",
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
    raise InputError(fault, where=where, next="see `wholetext help blonde`")


def _faults(raw: Mapping[str, Any]) -> Iterator[str]:
    """Find unknown parts, features and categories, and forms that belong to two features."""
    yield from (f"unknown: {key}" for key in raw.keys() - {*_REQUIRED, *_OPTIONAL})
    yield from (f"missing: {key}" for key in {*_REQUIRED} - raw.keys())
    tense = dict(raw["tense"])
    features = {UNCOUNTED, *tense.pop("features", ())}
    for scheme, entries in tense.items():
        if scheme not in _TENSE:
            yield f"tense.{scheme} is not one of {', '.join(_TENSE)}"
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

    tense = raw["tense"]
    endings = by_form(tense.get("endings", {}))
    labels = by_form({group: raw["entity"].get(group, ()) for group in _GROUPS})
    return CategoryTable(
        language=raw["language"],
        origin=raw["origin"],
        id=name or f"{Path(where).name}-{digest}",
        digest=digest,
        features={
            "tense": tuple(tense.get("features", ())),
            "pronoun": tuple(dict.fromkeys(into.get(f, f) for f in raw["pronoun"])),
            "entity": _GROUPS,
            "marker": tuple(dict.fromkeys(into.get(f, f) for f in raw["marker"])),
        },
        pronouns=by_form(raw["pronoun"]),
        markers={form.lower(): feature for form, feature in by_form(raw["marker"]).items()},
        labels={key: labels[key] for key in labels if key in reference.get("labels", labels)},
        tense_forms=by_form(tense.get("forms", {})),
        tense_endings=dict(sorted(endings.items(), key=lambda item: -len(item[0]))),
        needs_endings={key: tuple(ends) for key, ends in tense.get("needs_endings", {}).items()},
        tenses={key: by_form(tense[key]) for key in _SCHEMES if key in tense},
        overlapping=bool(raw.get("overlapping", True)),
        not_markers=frozenset(phrase.lower() for phrase in raw.get("not_markers", ())),
        tags=raw.get("tags", {}),
        left_out=raw.get("left_out", {}),
        possessive=tuple(reference.get("possessive", raw["entity"].get("possessive", ()))),
        weights={key: float(value) for key, value in reference.get("weights", {}).items()},
    )


# ---------------------------------------------------------------- occurrences


class Occurrence(NamedTuple):
    """One occurrence. Occurrences match across texts if category, feature and key are equal."""

    category: str
    feature: str  # what weights and reports go by
    key: str  # the entity's name; elsewhere the feature again
    start: int  # characters of the segment
    end: int
    word: str = ""  # lower-cased; decides which of several equal items are shown as matched


def layers_for(table: CategoryTable) -> frozenset[Layer]:
    """Return the layers that a table uses, so that an analyser runs nothing else."""
    layers = {layer for scheme, layer in _SCHEMES.items() if scheme in table.tenses and layer}
    if table.labels and "entity" not in table.left_out:
        layers.add("entity")
    tags = (tag for forms in table.tags.values() for tags in forms.values() for tag in tags)
    parts = (part for tag in tags for part in _SEPARATORS.split(tag) if part)
    return frozenset({*layers, *map(_layer, parts)})


def _layer(part: str) -> Layer:
    """Return the layer that a tag or feature belongs to."""
    return "morph" if "=" in part else "pos" if part in UNIVERSAL else "tag"


@dataclass(frozen=True, eq=False)
class Finder:
    """A table for an analyser with these layers, under a profile."""

    table: CategoryTable
    layers: frozenset[Layer]
    profile: Profile = "reference"

    @cached_property
    def scheme(self) -> Scheme | None:
        """How tense is identified: by morphology, else by tags, else by words."""
        for scheme, layer in _SCHEMES.items():
            if scheme in self.table.tenses and (layer is None or layer in self.layers):
                return scheme
        return None

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Categories that this analyser leaves undefined."""
        counted = {"tense": self.scheme, "entity": "entity" in self.layers}
        return tuple(
            category
            for category, is_counted in counted.items()
            if not is_counted and category not in self.table.left_out
        )

    @property
    def by_spelling(self) -> tuple[str, ...]:
        """Categories identified by spelling alone, as the analyser has no tags."""
        tagged = self.layers & {"tag", "pos", "morph"}
        return tuple(c for c in self.table.tags if not tagged and c not in self.table.left_out)

    def find(self, analysis: Analysis) -> tuple[Occurrence, ...]:
        """Find all occurrences, by category."""
        each: dict[str, Callable[[Analysis], Iterator[Occurrence]]] = {
            "tense": partial(self._words, "tense", self._tense),
            "pronoun": partial(self._words, "pronoun", self._pronoun),
            "entity": self._entities,
            "marker": self._markers,
        }
        used = (find for category, find in each.items() if category not in self.table.left_out)
        return tuple(occurrence for find in used for occurrence in find(analysis))

    def _words(
        self, category: str, feature_of: Callable[[Sequence[Token], int], str], analysis: Analysis
    ) -> Iterator[Occurrence]:
        """Find the words that are occurrences by themselves: tenses and pronouns."""
        tokens = analysis.tokens
        for place, token in enumerate(tokens):
            form, feature = token.text.lower(), feature_of(tokens, place)
            known = feature not in ("", UNCOUNTED)
            if known and self._allowed(category, form, tokens, place, place):
                yield Occurrence(category, feature, feature, token.start, token.end, form)

    def _tense(self, tokens: Sequence[Token], place: int) -> str:
        """Return the tense of a token: by form or ending of a finite verb, else by the analyser."""
        table, token = self.table, tokens[place]
        form = token.text.lower()
        if self.scheme == "words":
            return table.tenses["words"].get(form, "")
        if self.scheme == "tags":
            before, tags = tokens[place - 1].tag if place else "", table.tenses["tags"]
            return tags.get(f"{before} {token.tag}") or tags.get(token.tag, "")
        uncounted = table.tense_forms.get(form) == UNCOUNTED or not form[:1].isalpha()
        if self.scheme is None or uncounted:
            return ""
        morph, tenses = set(token.morph.split("|")), table.tenses["morph"].items()
        feature = next((tense for key, tense in tenses if morph >= {*key.split("|")}), "")
        if feature and "VerbForm=Fin" in token.morph:
            if form in table.tense_forms:
                return table.tense_forms[form]
            ending = next((end for end in table.tense_endings if form.endswith(end)), None)
            feature = table.tense_endings[ending] if ending else feature
        return feature if form.endswith(table.needs_endings.get(feature, "")) else ""

    def _allowed(
        self, category: str, form: str, tokens: Sequence[Token], first: int, last: int
    ) -> bool:
        """Tell whether the first token has a tag that the table requires (``*``: single words).

        ``KOUS`` is a tag or part of speech, ``PRON|Number=Plur`` one with a feature; ``SCONJ>PRON``
        gives what follows the last token, ``SCONJ<!VERB`` what does not come before the first.
        Without tags, spelling decides.
        """
        required = self.table.tags.get(category, {})
        chosen = required.get(form) or (required.get("*") if first == last else None)
        before, after = tokens[max(first - 1, 0) : first], tokens[last + 1 : last + 2]
        for tag in chosen or ():
            rest, _, follows = tag.partition(">")
            own, _, precedes = rest.partition("<")
            fits = all(_has(tokens[first], part) for part in filter(None, own.split("|")))
            if fits and _beside(precedes, before) and _beside(follows, after):
                return True
        return not chosen

    def _pronoun(self, tokens: Sequence[Token], place: int) -> str:
        """Return the feature of a pronoun; any case counts in ``fixed``, else lower and Title case.

        ``^Sie`` in a table is the form where a sentence may begin, so that its capital is not
        evidence.
        """
        known, text = self.table.pronouns, tokens[place].text
        before, lower = tokens[place - 1].text if place else ".", text.lower()
        initial = before not in (",", ";") and not before[-1:].isalnum()
        if initial and f"^{text}" in known:
            return known[f"^{text}"]
        if text in known and (text == lower or not initial):
            return known[text]
        if self.profile != "fixed" and text != lower.capitalize():
            return ""
        return known.get(lower, "")

    def _entities(self, analysis: Analysis) -> Iterator[Occurrence]:
        places = {token.start: place for place, token in enumerate(analysis.tokens)}
        for entity in analysis.entities:
            group, place = self.table.labels.get(entity.label), places.get(entity.start)
            if group and (
                place is None or self._allowed("entity", entity.text, analysis.tokens, place, place)
            ):
                name = entity.text
                for ending in self.table.possessive:
                    name = name.removesuffix(ending)
                yield Occurrence("entity", group, name, entity.start, entity.start + len(name))

    def _markers(self, analysis: Analysis) -> Iterator[Occurrence]:
        """Find markers: the longest at a position, or all if they may overlap."""
        tokens, table = analysis.tokens, self.table
        words = [token.text.lower() for token in tokens]
        free = 0  # the first token that no marker has taken
        for first in range(len(tokens)):
            phrases = [] if first < free else list(self._phrases(tokens, words, first))
            for phrase, last in phrases if table.overlapping else phrases[-1:]:
                free = first if table.overlapping else last + 1
                feature = table.markers.get(phrase)
                if feature and phrase not in table.not_markers:
                    yield Occurrence(
                        "marker", feature, feature, tokens[first].start, tokens[last].end, phrase
                    )

    def _phrases(
        self, tokens: Sequence[Token], words: Sequence[str], first: int
    ) -> Iterator[tuple[str, int]]:
        """Yield the markers and excluded phrases that begin at a token, with their last token."""
        table, phrase, last = self.table, words[first], first
        while phrase in table.beginnings:
            if phrase in table.not_markers or (
                phrase in table.markers and self._allowed("marker", phrase, tokens, first, last)
            ):
                yield phrase, last
            last += 1
            if last == len(words):
                return
            phrase += (" " if tokens[last].start > tokens[last - 1].end else "") + words[last]


def _has(token: Token, part: str) -> bool:
    """Tell whether a token has a tag or feature; a token without any of that kind passes."""
    value: str = getattr(token, _layer(part))
    return not value or part in value.split("|")


def _beside(required: str, neighbour: Sequence[Token]) -> bool:
    """Tell whether the adjacent token has one of the tags ``A,B``, or none of ``!A,B``."""
    if not required or any(not (token.tag or token.pos) for token in neighbour):
        return True
    listed = set(required.lstrip("!").split(","))
    return any(listed & {token.tag, token.pos} for token in neighbour) != required.startswith("!")
