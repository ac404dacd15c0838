"""Findings in a document beside its reference, for ``explain``: what does not fit, and where.

English only: pronouns, tenses and connectives are those of BlonDe's English table. Rules, not a score:
``docs/studies/findings.md`` says how well they tell errors from harmless changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from wholetext.metrics.blonde.categories import Finder, Occurrence, load_table
from wholetext.text import code_of
from wholetext.text.taggers.analysis import Analysis, Layer, analyser_for
from wholetext.types import FloatArray

LAYERS: frozenset[Layer] = frozenset({"tag", "pos", "entity"})
GENDERS = ("masculine", "feminine")
TENSES = {"VBD": "past", "VBP": "present", "VBZ": "present"}
CATEGORIES = {"pronoun": "pronoun", "tense": "tense", "marker": "connective"}  # BlonDe's → ours
LONGER = 2.0  # times the length expected from the documents
SHORTEST_NAME = 5  # letters of a name whose spellings are compared
GAP = 0.15  # of cosines: by how much a segment must be nearer to another one of the reference


class Finding(NamedTuple):
    """A place in a segment that does not fit the document or its reference."""

    kind: str  # pronoun, tense, connective, name, order, coverage
    start: int  # characters of the segment
    end: int
    why: str


def findings(hyp: Sequence[str], ref: Sequence[str], lang: str) -> list[tuple[Finding, ...]] | None:
    """List the findings of each segment of a document.

    None where there is nothing to compare: another language, or a different number of segments.
    """
    if code_of(lang) != "en" or len(hyp) != len(ref):
        return None
    analyser = analyser_for("en", "auto", LAYERS, needs=LAYERS)
    finder = Finder(load_table("en", "fixed"), analyser.layers, "fixed")
    analyses = analyser.run([*hyp, *ref])
    segments = [Segment.read(text, item, finder) for text, item in zip([*hyp, *ref], analyses)]
    pair = AlignedPair(segments[: len(hyp)], segments[len(hyp) :])
    return [tuple(pair.findings(at)) for at in range(len(hyp))]


@dataclass(frozen=True, eq=False)
class Segment:
    """What the rules compare of an analysed segment."""

    text: str
    occurrences: tuple[Occurrence, ...]  # of CATEGORIES, tenses as past and present
    names: tuple[tuple[str, int, int], ...]  # capitalised proper nouns with their places
    words: frozenset[str]
    stems: Counter[str]  # beginnings of words, for the similarity of segments

    @classmethod
    def read(cls, text: str, analysis: Analysis, finder: Finder) -> Segment:
        """Collect pronouns, finite verbs, connectives, names and words."""
        occurrences = [
            item._replace(feature=TENSES.get(item.feature, ""))
            if item.category == "tense"
            else item
            for item in finder.find(analysis)
            if item.category in CATEGORIES
        ]
        names = tuple(
            (token.text, token.start, token.end)
            for token in analysis.tokens
            if token.pos == "PROPN"
            and len(token.text) >= SHORTEST_NAME
            and token.text.istitle()
            and token.text.isalpha()
        )
        words = [token.text for token in analysis.tokens if any(map(str.isalnum, token.text))]
        stems = Counter(word.lower()[:5] for word in words)
        occurring = tuple(item for item in occurrences if item.feature)
        return cls(text, occurring, names, frozenset(words), stems)

    def of(self, category: str) -> list[Occurrence]:
        """Occurrences of a category."""
        return [item for item in self.occurrences if item.category == category]


@dataclass(frozen=True, eq=False)
class AlignedPair:
    """A document and its reference, segment by segment."""

    hyp: Sequence[Segment]
    ref: Sequence[Segment]

    def findings(self, at: int) -> Iterator[Finding]:
        """List what does not fit in a segment."""
        strange = [
            Finding("pronoun", item.start, item.end, f"the reference has no {item.feature} pronoun")
            for item in self.hyp[at].of("pronoun")
            if item.feature in self._strange_genders
        ]
        replaced = chain.from_iterable(self._replaced(category, at) for category in CATEGORIES)
        known = {(finding.kind, finding.start) for finding in strange}
        rest = (item for item in replaced if (item.kind, item.start) not in known)
        return chain(strange, rest, self._names(at), self._order(at), self._coverage(at))

    def _replaced(self, category: str, at: int) -> Iterator[Finding]:
        """Occurrences for which the reference has others: clipped counts, as in BlonDe's Eq. 2."""
        own = self.hyp[at].of(category)
        counts = Counter(item.feature for item in own)
        expected = Counter(item.feature for item in self.ref[at].of(category))
        extra, missing = counts - expected, expected - counts
        left, instead = min(extra.total(), missing.total()), ", ".join(missing)
        for item in reversed(own):
            if left and extra[item.feature] > 0:
                extra[item.feature] -= 1
                left -= 1
                why = f"{item.feature}, where the reference has {instead}"
                yield Finding(CATEGORIES[category], item.start, item.end, why)

    def _names(self, at: int) -> Iterator[Finding]:
        for name, start, end in self.hyp[at].names:
            if name in self._variants:
                yield Finding("name", start, end, f"elsewhere {self._variants[name]}")

    def _order(self, at: int) -> Iterator[Finding]:
        if self.hyp[at].stems:
            similarity = self._similarity[at]
            best = int(similarity.argmax())
            if similarity[best] - similarity[at] > GAP:
                why = f"nearer to segment {best + 1} of the reference"
                yield Finding("order", 0, len(self.hyp[at].text), why)

    def _coverage(self, at: int) -> Iterator[Finding]:
        """Missing or additional words, beyond the ratio of the two documents' lengths."""
        words = self.hyp[at].stems.total()
        expected = self.ref[at].stems.total() * self._ratio
        shorter, longer = sorted((words, expected))
        close = longer - shorter <= 4 or longer <= LONGER * shorter
        if expected and not (words and close):
            less = "much shorter than the reference" if words else "nothing is left of the segment"
            why = "much longer than the reference" if words > expected else less
            yield Finding("coverage", 0, len(self.hyp[at].text), why)

    # ---------------------------------------------------------------- the document as a whole

    @cached_property
    def _strange_genders(self) -> set[str]:
        """Genders of pronouns that only the output has; of two, where the reference has none, the rarer."""
        counts, expected = (
            Counter(item.feature for segment in side for item in segment.of("pronoun"))
            for side in (self.hyp, self.ref)
        )
        strange = {gender for gender in GENDERS if counts[gender] and not expected[gender]}
        if not any(expected[gender] for gender in GENDERS):
            return {min(GENDERS, key=counts.__getitem__)} if len(strange) > 1 else set()
        return strange

    @cached_property
    def _variants(self) -> dict[str, str]:
        """Names that are not in the reference, and occur in the output in another spelling too."""
        names = Counter(name for segment in self.hyp for name, _, _ in segment.names)
        known, words = (
            frozenset().union(*(segment.words for segment in side)) for side in (self.ref, self.hyp)
        )
        variants = {}
        for name in names:
            others = [
                other
                for other in names
                if spelled_alike(name, other) and (other in known or names[other] >= names[name])
            ]
            if others and name not in known and name.lower() not in words:
                variants[name] = max(others, key=lambda other: (other in known, names[other]))
        return variants

    @cached_property
    def _ratio(self) -> float:
        """Words of the output per word of the reference: the median over segments."""
        ratios = [
            hyp.stems.total() / ref.stems.total()
            for hyp, ref in zip(self.hyp, self.ref)
            if hyp.stems and ref.stems
        ]
        return float(np.median(ratios)) if ratios else 1.0

    @cached_property
    def _similarity(self) -> FloatArray:
        """Compute the tf-idf cosines of the output's segments with the reference's."""
        frequency = Counter(stem for segment in self.ref for stem in segment.stems)
        column = {stem: place for place, stem in enumerate(frequency)}
        tables = np.zeros((2, len(self.ref), len(column)))
        for table, side in zip(tables, (self.hyp, self.ref)):
            for row, segment in zip(table, side):
                for stem in segment.stems.keys() & column.keys():
                    rarity = math.log((1 + len(self.ref)) / frequency[stem])
                    row[column[stem]] = segment.stems[stem] * rarity
        tables /= np.maximum(np.linalg.norm(tables, axis=2, keepdims=True), 1e-12)
        return np.asarray(tables[0] @ tables[1].T)


def spelled_alike(name: str, other: str) -> bool:
    """Tell whether two different names share their first letter and differ in few others.

    At most one letter, of six or more two; not where one begins with the other, as plurals do.
    """
    if name[0] != other[0] or name.startswith(other) or other.startswith(name):
        return False
    return edits(name, other) <= max(1, min(2, min(len(name), len(other)) // 3))


def edits(name: str, other: str) -> int:
    """Compute Levenshtein's distance."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(name, 1):
        above, row[0] = row[0], i
        for j, other_letter in enumerate(other, 1):
            above, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, above + (letter != other_letter)),
            )
    return row[-1]
