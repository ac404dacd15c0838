"""Term success against a glossary, and consistency of terms in a document.

WMT's terminology tasks count whether the terms of a glossary are used. Two metrics here: ``terms``
counts requirements that disjoint spans of the output can meet at once, ``term-consistency`` how
often a term has the rendition that its document uses most.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wholetext.errors import MetricError, MissingExtra
from wholetext.terms.discovery import renditions, repeated_terms
from wholetext.terms.glossary import Glossary, read_glossary
from wholetext.terms.matching import Matcher, TermOccurrence, exclusive, longest, overlapping
from wholetext.text import code_of
from wholetext.text.taggers.analysis import Analyser, Analysis
from wholetext.text.taggers.plain import PlainAnalyser
from wholetext.text.taggers.simplemma_lemmas import SimplemmaAnalyser
from wholetext.types import Excerpt, FloatArray, Metric, Request, Runtime

if TYPE_CHECKING:
    from typing_extensions import Self

_WORDS: frozenset[Any] = frozenset({"lemma"})


@dataclass(frozen=True)
class TermMetric(Metric):
    """A metric that looks for terms of the source in the output."""

    view = "whole"
    needs = frozenset({"src", "hyp"})
    range = (0.0, 100.0)
    reads_context = False

    glossary: str = ""  # a file: TSV, CSV, WMT's JSON, TBX
    part: str = "proper"
    match: Literal["lemma", "surface"] = "lemma"
    src_lang: str = "auto"
    tgt_lang: str = "auto"

    def resolve(self, langs: tuple[str, str]) -> Self:
        made = replace(
            self,
            src_lang=langs[0] if self.src_lang == "auto" else self.src_lang,
            tgt_lang=langs[1] if self.tgt_lang == "auto" else self.tgt_lang,
        )
        if self.glossary:
            made._glossary  # noqa: B018 — read now, so that its faults come first
        return made

    def facts(self) -> Mapping[str, str]:
        content = Path(self.glossary).read_bytes() if self.glossary else b""
        terms = {"terms": hashlib.sha256(content).hexdigest()[:8]} if content else {}
        return {**terms, "words": "+".join(analyser.id for analyser in self._analysers)}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        made = self.resolve(langs)
        sides = zip(made._analysers, (made.src_lang, made.tgt_lang))
        unknown = [
            f"no lemmas of the language {lang or 'unknown'!r}: its terms match by form alone"
            for analyser, lang in sides
            if self.match == "lemma" and "lemma" not in analyser.layers
        ]
        return (*(made._glossary.notes if self.glossary else ()), *unknown)

    @cached_property
    def _glossary(self) -> Glossary:
        return read_glossary(self.glossary, (self.src_lang, self.tgt_lang), self.part)

    @cached_property
    def _analysers(self) -> tuple[Analyser, Analyser]:
        """Words of source and target, with lemmas where simplemma has a dictionary."""
        if self.match == "lemma" and find_spec("simplemma") is None:
            raise MissingExtra(f"simplemma, which gives {self.name} its lemmas,", "terms")
        source, target = (
            (self.match == "lemma" and SimplemmaAnalyser.open(lang, "", _WORDS))
            or PlainAnalyser(lang, _WORDS)
            for lang in map(code_of, (self.src_lang, self.tgt_lang))
        )
        return source, target

    def _texts(self, requests: Sequence[Request], run: Runtime) -> dict[tuple[bool, str], Analysis]:
        """Analyses of all segments by (whether of the source, text)."""
        texts: dict[tuple[bool, str], Analysis] = {}
        for source, analyser in zip((True, False), self._analysers):
            views = [
                view
                for request in requests
                for view in ([request.src] if source else [*request.hyp, *request.refs])
                if view is not None
            ]
            segments = list(dict.fromkeys(segment for view in views for segment in view.scored))
            texts |= zip([(source, text) for text in segments], run.map(analyser, segments))
        return texts

    def _matchers(self) -> tuple[Matcher, Matcher]:
        source, target = self._analysers
        terms = self._glossary.terms
        return (
            Matcher([source.run([term.source]) for term in terms]),
            Matcher([target.run(term.targets) for term in terms]),
        )


@dataclass(frozen=True)
class Terms(TermMetric):
    """Share of required terms that are used: maximal exclusive matching.

    A source term that occurs n times requires n of its renditions. Each must have text of its own:
    the score is the largest number of requirements that disjoint spans of the output can meet.
    ``overlapping`` lets spans share text (an upper bound), ``reference`` is the figure of the
    reference itself, which is rarely 100 (with several, the best of each text).

    Words match by form in any case or by lemma; abbreviations and terms of up to three letters as
    they are written. A term inside a longer term of the source is not required. Texts without a
    required term have no score.
    """

    name = "terms"
    summary = "share of a glossary's terms that the output uses: terms(glossary=FILE)"
    wants = frozenset({"ref"})
    outputs = ("used", "overlapping", "reference")

    def resolve(self, langs: tuple[str, str]) -> Self:
        if not self.glossary:
            raise MetricError(
                "terms needs a glossary",
                next="terms(glossary=FILE): a source term and its translation in each line, "
                "divided by a tab",
            )
        return super().resolve(langs)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        made = self.resolve(run.langs)
        texts = made._texts(requests, run)
        source, target = run.resource((type(self), made), made._matchers)
        stats = np.zeros((len(requests), 5))
        for at, request in enumerate(requests):
            if request.src is None:
                continue
            occurrences = longest(_find(source, request.src, texts, source=True))
            required = Counter(each.term for each in occurrences)
            number = required.total()
            uses = _find(target, request.hyp[0], texts)
            used = exclusive(uses, required)
            stats[at, :2], stats[at, 3] = (len(used), overlapping(uses, required)), number
            if request.refs:
                best = max(len(exclusive(_find(target, r, texts), required)) for r in request.refs)
                stats[at, [2, 4]] = best, number
            if number:
                run.detail(at, spans=made._spans(request.hyp[0], occurrences, used))
        return stats

    def reduce(self, totals: FloatArray) -> FloatArray:
        """100 · used, overlapping and the reference's over what was required."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(100 * totals[..., :3] / totals[..., [3, 3, 4]])

    def _spans(
        self, hyp: Excerpt, required: Sequence[TermOccurrence], used: Sequence[TermOccurrence]
    ) -> list[dict[str, Any]]:
        """Used terms where they stand; missing ones over the segment where they are expected."""
        terms = self._glossary.terms
        spans = [
            {
                "start": each.start,
                "end": each.end,
                "severity": "term",
                "category": terms[each.term].source,
            }
            for each in used
        ]
        left = list(required)
        for each in used:  # the nearest occurrence in the source
            same = [other for other in left if other.term == each.term]
            left.remove(min(same, key=lambda other: abs(other.segment - each.segment)))
        starts = _offsets(hyp)
        for each in left:
            at = min(each.segment, len(hyp.scored) - 1)
            term = terms[each.term]
            spans.append(
                {
                    "start": starts[at],
                    "end": starts[at] + len(hyp.scored[at]),
                    "severity": "missing term",
                    "category": term.source,
                    "reason": " or ".join(term.targets),
                }
            )
        return spans


@dataclass(frozen=True)
class TermConsistency(TermMetric):
    """Share of a term's occurrences that have the rendition its document uses most.

    Terms that occur twice or more in a document count, by their occurrences. With a glossary a
    rendition is one that is listed, by lemma. Without, terms are repeated names and groups of
    content words of the source, and a rendition is the group of words of the output whose segments
    agree best with those of the term (Dice); this is an estimate, better in long documents.
    """

    name = "term-consistency"
    summary = "one rendition for each term of the source throughout a document"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        made = self.resolve(run.langs)
        texts = made._texts(requests, run)
        matchers = run.resource((type(self), made), made._matchers) if self.glossary else None
        stats = np.zeros((len(requests), 2))
        for at, request in enumerate(requests):
            if request.src is None:
                continue
            if matchers:
                uses = _listed(request.src, request.hyp[0], texts, *matchers)
            else:
                uses = made._discovered(request.src.scored, request.hyp[0].scored, texts)
            stats[at] = sum(max(forms.values()) for _, forms in uses), sum(n for n, _ in uses)
            if stats[at, 1]:
                run.detail(at, terms=[[n, *forms.most_common(3)] for n, forms in uses])
        return stats

    def reduce(self, totals: FloatArray) -> FloatArray:
        """100 · occurrences with the most frequent rendition over all."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(100 * totals[..., :1] / totals[..., 1:])

    def _discovered(
        self, src: Sequence[str], hyp: Sequence[str], texts: Mapping[tuple[bool, str], Analysis]
    ) -> list[tuple[int, Counter[str]]]:
        """The same for terms and renditions that the texts themselves show."""
        if len(src) != len(hyp):  # renditions are looked for segment by segment
            return []
        terms = list(repeated_terms([texts[True, text] for text in src], self.src_lang).values())
        uses = renditions(terms, [texts[False, text] for text in hyp], self.tgt_lang)
        return [(len(places), Counter({form: n})) for places, (form, n) in zip(terms, uses)]


def _listed(
    src: Excerpt,
    hyp: Excerpt,
    texts: Mapping[tuple[bool, str], Analysis],
    source: Matcher,
    target: Matcher,
) -> list[tuple[int, Counter[str]]]:
    """Occurrences of each repeated term, and how often each of its renditions is used."""
    required = Counter(each.term for each in longest(_find(source, src, texts, source=True)))
    forms: dict[int, Counter[str]] = {term: Counter({"": 0}) for term in required}
    for each in exclusive(_find(target, hyp, texts), required):
        forms[each.term][" ".join(each.form)] += 1
    return [(number, forms[term]) for term, number in required.items() if number > 1]


def _find(
    matcher: Matcher,
    view: Excerpt,
    texts: Mapping[tuple[bool, str], Analysis],
    *,
    source: bool = False,
) -> list[TermOccurrence]:
    return matcher.find([texts[source, part] for part in view.scored], _offsets(view))


def _offsets(view: Excerpt) -> list[int]:
    """Where each scored segment begins in the text, and where another one would."""
    return [0, *accumulate(len(part) + len(view.glue) for part in view.scored)]
