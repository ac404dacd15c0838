"""METEOR: words, stems and synonyms in common, and how well their order is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from wholetext.errors import MetricError, SpecError
from wholetext.metrics.words import words_of
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

BEAM = 200  # partial alignments kept
WEIGHTS = {"exact": 1.0, "stem": 0.6, "synonym": 0.8}  # Denkowski & Lavie 2014, Table 1
# English words above a relative frequency of 10⁻³ (Denkowski & Lavie 2011, §2.2)
_FREQUENT = """
    the , . to of and a in that for " is on 's it with was as said at he by be from have has are
    his but an this not i will ’ they ) ( who their had we which were been more or s its would
    about new one after you : also up when there than $ all out her people she year two - can if
    last first “ over other ” into some what so -- no time years could ? 't — '
    """
FUNCTION_WORDS = frozenset(_FREQUENT.split())


class Link(NamedTuple):
    """A word of the hypothesis that matches a word of the reference."""

    hyp: int
    ref: int
    weight: float


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR 1.5 for English (Denkowski & Lavie 2014, eqs. 1–6), without its paraphrase table.

    Words match as they are, by their Snowball stem, or as synonyms of WordNet. ``delta`` weighs
    content words against function words; half leaves all words alike. Several references: the best.
    """

    name = "meteor"
    summary = "words, stems and synonyms in common, and how well their order is kept"

    alpha: float = 0.85
    beta: float = 0.2
    gamma: float = 0.6
    delta: float = 0.75
    synonyms: bool = True

    def __post_init__(self) -> None:
        if (
            not all(0 <= weight <= 1 for weight in (self.alpha, self.gamma, self.delta))
            or self.beta < 0
        ):
            raise SpecError(
                "meteor: alpha, gamma and delta are from 0 to 1, beta is not negative",
                next="leave them out for the published values",
            )

    def facts(self) -> Mapping[str, str]:
        wordnet = {"wordnet": str(_wordnet().get_version())} if self.synonyms else {}
        return {**wordnet, "several_refs": "max"}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        if langs[1] and not langs[1].startswith("en"):
            return ("stems, synonyms and function words of METEOR are English",)
        return ()

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats(
            [
                max(self.pair(_words(request.hyp[0].text), _words(r.text)) for r in request.refs)
                for request in requests
            ]
        )

    def pair(self, hyp: Sequence[str], ref: Sequence[str]) -> float:
        """Score lower-case words of a hypothesis against those of a reference."""
        links = align(candidates(hyp, ref, self.synonyms))
        if not links:
            return 0.0
        matched = [
            sum(link.weight * self._importance(words[at]) for link, at in zip(links, places))
            for words, places in ((hyp, [x.hyp for x in links]), (ref, [x.ref for x in links]))
        ]
        if not all(matched):  # only words that weigh nothing
            return 0.0
        precision, recall = (
            share / sum(map(self._importance, words)) for share, words in zip(matched, (hyp, ref))
        )
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        complete = len(links) == len(hyp) == len(ref) and chunks(links) == 1
        broken = 0.0 if complete else chunks(links) / len(links)
        return float(mean * (1 - self.gamma * broken**self.beta))

    def _importance(self, word: str) -> float:
        return 1 - self.delta if word in FUNCTION_WORDS else self.delta


def candidates(hyp: Sequence[str], ref: Sequence[str], synonyms: bool) -> list[list[Link]]:
    """Return the possible links of each word of the hypothesis, of the best kind for each pair."""
    matchers: dict[str, Callable[[str], Iterable[Hashable]]] = {
        "exact": lambda word: (word,),
        "stem": lambda word: (_stemmer().stem(word),),
    }
    if synonyms:
        matchers["synonym"] = lambda word: _wordnet().synsets(word)
    best: list[dict[int, Link]] = [{} for _ in hyp]
    for kind, keys in matchers.items():
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, word in enumerate(ref):
            for key in keys(word):
                places[key].append(at)
        for at, word in enumerate(hyp):
            for place in (place for key in keys(word) for place in places[key]):
                best[at].setdefault(place, Link(at, place, WEIGHTS[kind]))
    return [list(links.values()) for links in best]


class _Partial(NamedTuple):
    """An alignment of the first words of the hypothesis; the smallest is the best."""

    unmatched: int  # minus the number of links
    chunks: int
    distance: int  # between the places of linked words, in all
    links: tuple[Link, ...]

    def extended(self, link: Link) -> _Partial:
        follows = bool(self.links) and chunks((self.links[-1], link)) == 1
        return _Partial(
            self.unmatched - 1,
            self.chunks + (not follows),
            self.distance + abs(link.hyp - link.ref),
            (*self.links, link),
        )


def align(choices: Sequence[Sequence[Link]]) -> tuple[Link, ...]:
    """Choose links: most matched words, then fewest chunks, then the shortest distances.

    Denkowski & Lavie 2011, §2.1, by beam search. Of partial alignments that leave the same words
    to be linked only the best is kept.
    """
    beam = [_Partial(0, 0, 0, ())]
    for at, links in enumerate(choices):
        best: dict[Hashable, _Partial] = {}
        for partial in beam:
            taken = frozenset(link.ref for link in partial.links)
            options = [partial.extended(link) for link in links if link.ref not in taken]
            for option in (partial, *options):
                last = option.links[-1:]
                key = (
                    taken | {link.ref for link in last},
                    last if last and last[0].hyp == at else (),
                )
                best[key] = min(option, best.get(key, option))
        beam = sorted(best.values())[:BEAM]
    return beam[0].links


def chunks(links: Sequence[Link]) -> int:
    """Count runs of links that are adjacent and in the same order on both sides."""
    return 1 + sum((a.hyp + 1, a.ref + 1) != (b.hyp, b.ref) for a, b in pairwise(links))


def _words(text: str) -> list[str]:
    return words_of(text.lower())


@cache
def _stemmer() -> Any:
    from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


@cache
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        raise MetricError(
            "meteor matches synonyms of WordNet, which is not installed",
            next="python -m nltk.downloader wordnet, or use meteor(synonyms=false)",
        ) from None
    return wordnet
