"""wt-doc: the quality of each segment, less points for what does not fit the document."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from wholetext.errors import AlignmentError, MetricError
from wholetext.metrics.blonde.categories import CategoryTable, load_table
from wholetext.metrics.blonde.occurrences import Finder, Occurrence
from wholetext.metrics.model_metric import ModelMetric
from wholetext.models.hub import locate as hub
from wholetext.text import code_of
from wholetext.text.taggers.analysis import Analyser, Analysis, Layer, analyser_for
from wholetext.training.learned.forms import open_learned
from wholetext.training.metric import Learned
from wholetext.types import Excerpt, Fit, FloatArray, Request, Runtime, mean_stats

# points that one finding costs at most; set on documents of WMT22, see docs/studies/stress.md
POINTS: Mapping[str, float] = {
    "pronoun": 4.0,
    "tense": 4.0,
    "marker": 2.0,
    "name": 4.0,
    "order": 4.0,
    "coverage": 8.0,
}
_LAYERS: frozenset[Layer] = frozenset({"tag", "pos", "entity"})
_GENDERS = ("masculine", "feminine")
_TENSES = {"VBD": "past", "VBP": "present", "VBZ": "present"}
_CATEGORIES = {"pronoun": "pronoun", "tense": "tense", "marker": "marker"}
_NO_GENDER = 0.25  # of a finding: another pronoun, where neither marks a person's gender
_LONGER = 2.0  # times the length expected from the documents
_LEAST_NAME = 5  # letters of a name whose spellings are compared
_GAP = 0.15  # by how much a segment must be nearer to another segment of the reference to be out of place


class Finding(NamedTuple):
    """Something in a segment that does not fit: which part it lowers, by how much of its points, and where."""

    part: str
    size: float  # 0 to 1
    start: int
    end: int
    why: str


@dataclass(frozen=True, eq=False)
class Reading:
    """A segment as the parts see it."""

    text: str
    found: Mapping[
        str, tuple[Occurrence, ...]
    ]  # category → occurrences, tenses as past and present
    names: tuple[tuple[str, int, int], ...]  # capitalised proper nouns with their places
    words: frozenset[str]
    grams: Counter[str]  # beginnings of words, for the likeness of segments

    def counts(self, category: str) -> Counter[str]:
        return Counter(occurrence.feature for occurrence in self.found[category])


def read(text: str, analysis: Analysis, finder: Finder) -> Reading:
    """Pronouns, finite verbs, markers and names of an analysed segment."""
    occurrences: dict[str, list[Occurrence]] = {category: [] for category in _CATEGORIES}
    for occurrence in finder.find(analysis):
        if occurrence.category == "tense":
            occurrence = occurrence._replace(feature=_TENSES.get(occurrence.feature, ""))
        if occurrence.category in occurrences and occurrence.feature:
            occurrences[occurrence.category].append(occurrence)
    names = tuple(
        (token.text, token.start, token.end)
        for token in analysis.tokens
        if token.pos == "PROPN"
        and len(token.text) >= _LEAST_NAME
        and token.text.istitle()
        and token.text.isalpha()
    )
    words = [token.text for token in analysis.tokens if any(map(str.isalnum, token.text))]
    return Reading(
        text,
        {key: tuple(value) for key, value in occurrences.items()},
        names,
        frozenset(words),
        Counter(word.lower()[:5] for word in words),
    )


@dataclass(frozen=True, eq=False)
class Pair:
    """A document and one reference, segment by segment, with statistics of both documents."""

    hyp: tuple[Reading, ...]
    ref: tuple[Reading, ...]
    _kept: dict[int, tuple[Finding, ...]] = field(default_factory=dict)

    def findings(self, at: int) -> tuple[Finding, ...]:
        """What does not fit in one segment."""
        if at not in self._kept:
            parts = (
                self._pronouns(at),
                self._replaced("tense", at),
                self._replaced("marker", at),
                self._names(at),
                self._order(at),
                self._coverage(at),
            )
            self._kept[at] = tuple(chain.from_iterable(parts))
        return self._kept[at]

    def _pronouns(self, at: int) -> Iterator[Finding]:
        """A pronoun where the reference has another, or of a gender that the reference's document does not have."""
        strange = {item for item in _GENDERS if self._genders[item] and not self._ref_genders[item]}
        if strange and not sum(
            self._ref_genders.values()
        ):  # only the output marks genders: the rarer is strange
            strange = (
                {min(_GENDERS, key=lambda item: self._genders[item])} if len(strange) > 1 else set()
            )
        seen = set()
        for item in self.hyp[at].found["pronoun"]:
            if item.feature in strange:
                seen.add(item.start)
                yield Finding(
                    "pronoun",
                    1.0,
                    item.start,
                    item.end,
                    f"the reference has no {item.feature} pronoun",
                )
        yield from (item for item in self._replaced("pronoun", at) if item.start not in seen)

    def _replaced(self, category: str, at: int) -> Iterator[Finding]:
        """As many occurrences as the reference has others in their place: clipped counts, as in BlonDe's Eq. 2."""
        has, expected = self.hyp[at].counts(category), self.ref[at].counts(category)
        extra, missing = has - expected, expected - has
        left = min(extra.total(), missing.total())
        instead = ", ".join(missing)
        for occurrence in reversed(self.hyp[at].found[category]):
            if left and extra[occurrence.feature] > 0:
                extra[occurrence.feature] -= 1
                left -= 1
                size = 1 / has.total() if category == "tense" else self._size(occurrence, missing)
                yield Finding(
                    category,
                    size,
                    occurrence.start,
                    occurrence.end,
                    f"{occurrence.feature}, where the reference has {instead}",
                )

    @staticmethod
    def _size(occurrence: Occurrence, missing: Counter[str]) -> float:
        """Translators choose between *it* and *they*, *their* and *his*; hardly between *he* and *she*."""
        gendered = occurrence.feature in _GENDERS and any(gender in missing for gender in _GENDERS)
        return 1.0 if gendered or occurrence.category != "pronoun" else _NO_GENDER

    def _names(self, at: int) -> Iterator[Finding]:
        for name, start, end in self.hyp[at].names:
            if name in self._variants:
                yield Finding("name", 1.0, start, end, f"elsewhere {self._variants[name]}")

    def _order(self, at: int) -> Iterator[Finding]:
        if len(self.ref) > 1 and self.hyp[at].grams:
            near = self._likeness[at]
            best = int(near.argmax())
            gap = float(near[best] - near[at])
            if gap > _GAP:
                yield Finding(
                    "order",
                    min(1.0, 2 * gap),
                    0,
                    len(self.hyp[at].text),
                    f"nearer to segment {best + 1} of the reference",
                )

    def _coverage(self, at: int) -> Iterator[Finding]:
        """Missing or extra words, beyond the ratio of the two documents' lengths."""
        has, expected = self.hyp[at].grams.total(), self.ref[at].grams.total()
        text = self.hyp[at].text
        if not has and expected:
            yield Finding("coverage", 1.0, 0, len(text), "nothing is left of the segment")
        elif expected:
            off = abs(math.log(has / expected / self._ratio)) - math.log(_LONGER)
            if off > 0 and abs(has - expected * self._ratio) > 4:
                kind = "much shorter" if has < expected * self._ratio else "much longer"
                yield Finding("coverage", min(1.0, off), 0, len(text), f"{kind} than the reference")

    # -------------------------------------------------------- of the document as a whole

    @cached_property
    def _genders(self) -> Counter[str]:
        return _genders(self.hyp)

    @cached_property
    def _ref_genders(self) -> Counter[str]:
        return _genders(self.ref)

    @cached_property
    def _variants(self) -> dict[str, str]:
        """Names that are not in the reference, and occur in the output in another spelling too."""
        names = Counter(name for item in self.hyp for name, _, _ in item.names)
        known = frozenset().union(*(item.words for item in self.ref))
        words = frozenset().union(*(item.words for item in self.hyp))
        variants = {}
        for name in names:
            if name in known or name.lower() in words:
                continue
            others = [item for item in names if item != name and _spelled_alike(name, item)]
            better = [item for item in others if item in known or names[item] >= names[name]]
            if better:
                variants[name] = max(better, key=lambda item: (item in known, names[item]))
        return variants

    @cached_property
    def _ratio(self) -> float:
        """Words of the output per word of the reference, in the middle of the document's segments."""
        ratios = [
            hyp.grams.total() / ref.grams.total()
            for hyp, ref in zip(self.hyp, self.ref)
            if hyp.grams and ref.grams
        ]
        return float(np.median(ratios)) if ratios else 1.0

    @cached_property
    def _likeness(self) -> FloatArray:
        """(segments, segments) cosine of every output's segment with every reference's, rare words weighing more."""
        seen = Counter(gram for segment in self.ref for gram in segment.grams)
        size = len(self.ref)
        kinds = {
            gram: (place, math.log((1 + size) / count))
            for place, (gram, count) in enumerate(seen.items())
        }
        tables = []
        for side in (self.hyp, self.ref):
            table = np.zeros((size, len(kinds)))
            for row, segment in zip(table, side):
                for gram, count in segment.grams.items():
                    if gram in kinds:
                        row[kinds[gram][0]] = count * kinds[gram][1]
            tables.append(table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12))
        return np.asarray(tables[0] @ tables[1].T)


def _genders(side: Sequence[Reading]) -> Counter[str]:
    return Counter(
        pronoun.feature
        for reading in side
        for pronoun in reading.found["pronoun"]
        if pronoun.feature in _GENDERS
    )


def _spelled_alike(name: str, other: str) -> bool:
    """The same first letter, at most two letters of six changed, and neither begins with the other (plurals …)."""
    if name[0] != other[0] or name.startswith(other) or other.startswith(name):
        return False
    return edits(name, other) <= max(1, min(2, min(len(name), len(other)) // 3))


def edits(name: str, other: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(name, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


class Qualities:
    """Backend: a segment and its references → the learned metric's score; equal segments of all documents once."""

    def __init__(self, learned: Learned, run: Runtime) -> None:
        self.learned, self.runtime = learned, run
        self.id = f"{open_learned(run, learned.model, learned.revision).id}/segments"

    def fit(self, x: tuple[str, ...]) -> Fit:
        """The learned metric makes its own batches."""
        return Fit(tokens=1)

    def run(self, batch: Sequence[tuple[str, ...]]) -> list[float]:
        requests = [
            Request(
                (Excerpt((hyp,), (0, 1)),), None, tuple(Excerpt((ref,), (0, 1)) for ref in refs)
            )
            for hyp, *refs in batch
        ]
        scores: list[float] = self.learned.measure(requests, self.runtime)[:, 0].tolist()
        return scores

    def pack(self, output: float) -> bytes:
        return struct.pack("<d", output)

    def unpack(self, data: bytes) -> float:
        return float(struct.unpack("<d", data)[0])


@dataclass(frozen=True)
class WtDoc(ModelMetric):
    """Segments scored by a learned metric, less points for pronouns, tenses, markers, names, order and coverage that
    do not fit the document and its reference.

    A segment loses points only for what stands in it, so that the document's score is the mean of its segments'.
    Several references: the mean of the segment scores, and of each part the smallest loss.
    """

    name = "wt-doc"
    summary = (
        "wt-mini's score of each segment, less points for what does not fit the document (English)"
    )
    view = "context(prev=100,next=100)"
    own_context = True
    range = (0.0, 100.0)
    outputs = ("score", "sentence", *POINTS)
    several_refs = "mean; of the parts the smallest loss"
    overlapping = True

    model: str = "wt-mini"
    revision: str = ""
    tagger: str = "auto"

    def resolve(self, langs: tuple[str, str]) -> WtDoc:
        lang = code_of(langs[1])
        if lang not in ("", "en"):
            raise MetricError(
                f"wt-doc is for English outputs, and these are in {lang}",
                next="use wt-mini or d-blonde",
            )
        resolved = replace(self, revision=hub.locate(self.model, self.revision).revision)
        if resolved._learned.notes(("", "en")):
            raise MetricError(
                f"wt-doc is for English outputs, and {self.model} was not trained on them",
                next="use wt-doc without model=",
            )
        return resolved

    def facts(self) -> Mapping[str, str]:
        points = ",".join(f"{part}={value:g}" for part, value in POINTS.items())
        return {
            **self._learned.facts(),
            "several_refs": self.several_refs,
            "tagger": self._analyser().id,
            "points": points,
        }

    @cached_property
    def _learned(self) -> Learned:
        return Learned(model=self.model, revision=self.revision)

    def _analyser(self) -> Analyser:
        return analyser_for("en", self.tagger, _LAYERS, needs=_LAYERS)

    def backend(self, run: Runtime) -> Any:
        return self._learned.backend(run)

    def inputs(self, request: Request) -> list[tuple[str, Request]]:
        return [item for segment in alone(request) for item in self._learned.inputs(segment)]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        return [shown for segment in alone(request) for shown in self._learned.shows(segment, run)]

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        segments = [alone(request) for request in requests]
        flat = list(dict.fromkeys(texts_of(segment) for row in segments for segment in row))
        quality = dict(zip(flat, run.map(Qualities(self._learned, run), flat)))
        pairs = self._pairs(requests, run)
        rows = []
        for index, (request, row) in enumerate(zip(requests, segments)):
            per_segment = [self._found(pairs, request, at) for at in range(*request.hyp[0].focus)]
            sentence = [quality[texts_of(segment)] for segment in row]
            lost = [_points(findings) for findings in per_segment]
            score = [max(0.0, good - sum(points.values())) for good, points in zip(sentence, lost)]
            parts = [float(np.mean([points[part] for points in lost])) for part in POINTS]
            rows.append([float(np.mean(score)), float(np.mean(sentence)), *parts])
            marked = list(_marked(request.hyp[0], per_segment))
            if marked:
                run.detail(index, spans=marked)
        return mean_stats(rows)

    def _pairs(self, requests: Sequence[Request], run: Runtime) -> dict[tuple[Any, Any], Pair]:
        """Every document beside every reference of it, read once."""
        sides = [(hyp.parts, ref.parts) for request in requests for hyp, ref in request.pairs()]
        for hyp, ref in sides:
            if len(hyp) != len(ref):
                raise AlignmentError(
                    f"wt-doc compares segment by segment, but the output has {len(hyp)} and the "
                    f"reference {len(ref)} in the document that begins {' '.join(ref)[:60]!r}",
                    next="align them with `wholetext align`, or `score --align`",
                )
        analyser = run.resource(("analyser", "wt-doc", self.tagger), self._analyser)
        finder = Finder(self._table, analyser.layers, "fixed")
        texts = list(dict.fromkeys(part for pair in sides for side in pair for part in side))
        readings = {
            text: read(text, item, finder) for text, item in zip(texts, run.map(analyser, texts))
        }
        return {
            (hyp, ref): Pair(
                tuple(readings[item] for item in hyp), tuple(readings[item] for item in ref)
            )
            for hyp, ref in dict.fromkeys(sides)
        }

    @cached_property
    def _table(self) -> CategoryTable:
        return load_table("en", "fixed")

    def _found(
        self, pairs: Mapping[tuple[Any, Any], Pair], request: Request, at: int
    ) -> tuple[Finding, ...]:
        """Of each part, the findings beside the reference where they cost least."""
        by_reference = [pairs[hyp.parts, ref.parts].findings(at) for hyp, ref in request.pairs()]
        cheapest = [
            min(
                (
                    [finding for finding in findings if finding.part == part]
                    for findings in by_reference
                ),
                key=lambda finding: _points(finding)[part],
            )
            for part in POINTS
        ]
        return tuple(chain.from_iterable(cheapest))


def alone(request: Request) -> list[Request]:
    """The scored segments of a request, each by itself."""
    hyp = request.hyp[0]
    if len(request.hyp) > 1:
        raise MetricError("wt-doc reads the output's own context", next="write context(hyp=own)")
    return [
        Request((_segment(hyp, at),), None, tuple(_segment(ref, at) for ref in request.refs))
        for at in range(*hyp.focus)
    ]


def texts_of(segment: Request) -> tuple[str, ...]:
    """A segment and its references."""
    return (segment.hyp[0].text, *(ref.text for ref in segment.refs))


def _segment(view: Excerpt, at: int) -> Excerpt:
    return Excerpt((view.parts[at] if at < len(view.parts) else "",), (0, 1), view.glue)


def _points(findings: Sequence[Finding]) -> dict[str, float]:
    """Points that a segment loses, by part; at most two findings of a part count."""
    return {
        part: value * min(2.0, sum(finding.size for finding in findings if finding.part == part))
        for part, value in POINTS.items()
    }


def _marked(hyp: Excerpt, per_segment: Sequence[Sequence[Finding]]) -> Iterator[dict[str, Any]]:
    """Spans over the joined scored segments, for `explain` and the report."""
    begin = 0
    for text, findings in zip(hyp.scored, per_segment):
        for finding in findings:
            yield {
                "start": begin + finding.start,
                "end": begin + finding.end,
                "severity": "minor",
                "category": finding.part,
                "reason": f"{finding.why} (−{POINTS[finding.part] * finding.size:.1f})",
            }
        begin += len(text) + len(hyp.glue)
