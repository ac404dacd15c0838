"""Finds in an analysed segment what BlonDe counts, with its place: tenses, pronouns, entities, discourse markers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from wholetext.text.analysis import Analysis, Layer, Token
from wholetext.text.categories import Profile, Scheme, Table

_NEEDS: dict[Scheme, Layer] = {"morph": "morph", "tags": "tag"}


class Occurrence(NamedTuple):
    """One countable thing. Things match across texts when category, feature and key are equal."""

    category: str
    feature: str  # what weights and reports go by
    key: str  # the entity's name; elsewhere the feature again
    start: int  # characters of the segment
    end: int
    word: str = ""  # lower-cased; tells which of several equal things are shown as matched


def layers_for(table: Table) -> frozenset[Layer]:
    """The layers that a table can use, so that an analyser runs nothing else."""
    return frozenset({"entity", *(_NEEDS[scheme] for scheme in table.tenses if scheme in _NEEDS)})


@dataclass(frozen=True, eq=False)
class Finder:
    """A table made ready for one analyser (``layers`` are what it gives) and one profile."""

    table: Table
    layers: frozenset[Layer]
    profile: Profile = "reference"
    _seen: dict[str, str] = field(default_factory=dict)  # morphology → tense feature, or ""

    @property
    def scheme(self) -> Scheme | None:
        """How tense is told: by features where the analyser gives them, else by tags, else by words."""
        for scheme in ("morph", "tags", "words"):
            if scheme in self.table.tenses and (scheme == "words" or _NEEDS[scheme] in self.layers):
                return scheme
        return None

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Categories that this analyser leaves undefined."""
        gone = () if self.scheme else ("tense",)
        return gone if "entity" in self.layers else (*gone, "entity")

    def find(self, analysis: Analysis) -> tuple[Occurrence, ...]:
        """Every occurrence, category by category."""
        return (*self._tenses(analysis), *self._pronouns(analysis), *self._entities(analysis), *self._markers(analysis))

    def _tenses(self, analysis: Analysis) -> Iterator[Occurrence]:
        scheme = self.scheme
        if scheme is None:
            return
        known = self.table.tenses[scheme]
        for token in analysis.tokens:
            if scheme == "morph":
                feature = self._by_morph(token.morph)
            else:
                feature = known.get(token.tag if scheme == "tags" else token.text.lower(), "")
            if feature:
                yield Occurrence("tense", feature, feature, token.start, token.end, token.text.lower())

    def _by_morph(self, morph: str) -> str:
        """The first entry whose features the token has all of."""
        if morph not in self._seen:
            has = set(morph.split("|"))
            fits = (name for wanted, name in self.table.tenses["morph"].items() if has.issuperset(wanted.split("|")))
            self._seen[morph] = next(fits, "")
        return self._seen[morph]

    def _pronouns(self, analysis: Analysis) -> Iterator[Occurrence]:
        for index, token in enumerate(analysis.tokens):
            feature = self._pronoun(token, initial=index == 0)
            if feature:
                yield Occurrence("pronoun", feature, feature, token.start, token.end, token.text.lower())

    def _pronoun(self, token: Token, *, initial: bool) -> str:
        """Lower case and Title case count in the reference, any case in ``fixed``; capitals in a table are exact."""
        known, text, lower = self.table.pronouns, token.text, token.text.lower()
        if text in known and (text == lower or not initial):
            return known[text]
        if self.profile != "fixed" and text != lower.capitalize():
            return ""
        return known.get(lower, "")

    def _entities(self, analysis: Analysis) -> Iterator[Occurrence]:
        for entity in analysis.entities:
            group = self.table.labels.get(entity.label)
            if group:
                name = entity.text
                for ending in self.table.possessive:
                    name = name.removesuffix(ending)
                yield Occurrence("entity", group, name, entity.start, entity.start + len(name))

    def _markers(self, analysis: Analysis) -> Iterator[Occurrence]:
        """Lower-cased sequences of whole tokens; overlapping ones all count."""
        tokens, markers, beginnings = analysis.tokens, self.table.markers, self.table.beginnings
        words = [token.text.lower() for token in tokens]
        for first, word in enumerate(words):
            phrase, last = word, first
            while phrase in beginnings:
                feature = markers.get(phrase)
                if feature:
                    yield Occurrence("marker", feature, feature, tokens[first].start, tokens[last].end, phrase)
                last += 1
                if last == len(words):
                    break
                phrase += (" " if tokens[last].start > tokens[last - 1].end else "") + words[last]
