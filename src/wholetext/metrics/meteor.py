"""METEOR: words, stems and synonyms in common, and how well their order is kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from wholetext.errors import MetricError, SpecError
from wholetext.text.mteval import tokenize_13a
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

BEAM = 40  # partial alignments kept
EXACT, STEM, SYNONYM = WEIGHTS = (1.0, 0.6, 0.8)  # Denkowski & Lavie 2014, Table 1
# Endings of inflected words and of their base forms (WordNet's morphy(7)), in the order of METEOR 1.5
_ENDINGS = """s- ses-s xes-x zes-z ches-ch shes-sh men-man ies-y es-e es- ed-e ed- ing-e ing- er- est-
    er-e est-e"""
ENDINGS = [ending.split("-") for ending in _ENDINGS.split()]
_CURLY = str.maketrans("‘’‛", "´´´")
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
        rows = []
        for request in requests:
            texts = [view.text.lower() for view in (request.hyp[0], *request.refs)]
            hyp, *refs = map(str.split, tokenize_13a(texts))
            rows.append(max(self.pair(hyp, ref) for ref in refs))
        return mean_stats(rows)

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
    """Return the possible links of each word of the reference: exact ones, stems, synonyms.

    A pair of words may be linked both by stem and as synonyms; equal words are only linked as such.
    """
    matchers: dict[float, Callable[[str], Iterable[Hashable]]] = {
        EXACT: lambda word: (word,),
        STEM: lambda word: (_stem(word),),
    }
    if synonyms:
        matchers[SYNONYM] = synsets
    choices: list[list[Link]] = [[] for _ in ref]
    for weight, keys in matchers.items():
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, word in enumerate(hyp):
            for key in keys(word):
                places[key].append(at)
        for at, word in enumerate(ref):
            linked = sorted({place for key in keys(word) for place in places[key]})
            choices[at] += [
                Link(place, at, weight) for place in linked if weight == EXACT or hyp[place] != word
            ]
    return choices


class _Partial(NamedTuple):
    """An alignment of the first words of the reference; that of the least ``cost`` is the best."""

    exact: int = 0  # number of exact links
    chunks: int = 0  # that have ended
    distance: int = 0
    end: int | None = None  # where the present chunk goes on in the hypothesis
    taken: frozenset[int] = frozenset()  # words of the hypothesis that are linked
    links: tuple[Link, ...] = ()

    @property
    def cost(self) -> tuple[int, int, int]:
        return -self.exact, self.chunks, self.distance

    def linked(self, link: Link, distance: int) -> _Partial:
        return _Partial(
            self.exact + (link.weight == EXACT),
            self.chunks + (self.end not in (None, link.hyp)),
            distance,
            link.hyp + 1,
            self.taken | {link.hyp},
            (*self.links, link),
        )

    def unlinked(self, distance: int) -> _Partial:
        chunks = self.chunks + (self.end is not None)
        return self._replace(chunks=chunks, distance=distance, end=None)

    def options(self, links: Sequence[Link]) -> Iterator[_Partial]:
        """Yield this alignment with each of the links and with none.

        As in METEOR 1.5, the distance of a link counts where the link is passed over.
        """
        distance = self.distance
        for link in links:
            if link.hyp not in self.taken:
                yield self.linked(link, distance)
                distance += abs(link.hyp - link.ref)
        yield self.unlinked(distance)


def align(choices: Sequence[Sequence[Link]]) -> tuple[Link, ...]:
    """Choose links as METEOR 1.5 does.

    The only possible link of both its words is certain. Of the others only exact links are worth
    something: most exact links, then fewest chunks, then the shortest distances, by beam search.
    (Denkowski & Lavie 2011, §2.1, count all links; the released program gives stems and synonyms
    half a point, which it rounds down.)
    """
    rivals = Counter(link.hyp for links in choices for link in links)
    certain = {links[0] for links in choices if len(links) == 1 and rivals[links[0].hyp] == 1}
    beam = [_Partial(taken=frozenset(link.hyp for link in certain))]
    for links in choices:
        kept = sorted(beam, key=lambda partial: partial.cost)[:BEAM]
        if links and links[0] in certain:
            (link,) = links
            distance = abs(link.hyp - link.ref)
            beam = [partial.linked(link, partial.distance + distance) for partial in kept]
        else:
            beam = [option for partial in kept for option in partial.options(links)]
    return min((partial.unlinked(partial.distance) for partial in beam), key=lambda p: p.cost).links


def chunks(links: Sequence[Link]) -> int:
    """Count runs of links that are adjacent and in the same order on both sides."""
    return 1 + sum((a.hyp + 1, a.ref + 1) != (b.hyp, b.ref) for a, b in pairwise(links))


@cache
def _stem(word: str) -> str:
    from nltk.stem.snowball import EnglishStemmer

    # nltk takes curly apostrophes for straight
    return str(EnglishStemmer().stem(word.translate(_CURLY)))


@cache
def synsets(word: str) -> frozenset[int]:
    """Return the synsets of a word and of its base form, of any part of speech.

    Synsets are identified by their offset alone, as in METEOR 1.5: 282 pairs share theirs.
    """
    bases = _irregular().get(word) or {_base(word)}
    return _own_synsets(word).union(*map(_own_synsets, bases))


def _base(word: str) -> str:
    """Return the first known word that an ending of WordNet's leads to."""
    if word.endswith("ss") or len(word) <= 2:
        return word
    stems = (word.removesuffix(old) + new for old, new in ENDINGS if word.endswith(old))
    return next(filter(_own_synsets, stems), word)


@cache
def _own_synsets(word: str) -> frozenset[int]:
    return frozenset(lemma.synset().offset() for lemma in _wordnet().lemmas(word))


@cache
def _irregular() -> Mapping[str, set[str]]:
    """Return the base forms of irregular words, of any part of speech."""
    bases: dict[str, set[str]] = defaultdict(set)
    for part in ("noun", "verb", "adj", "adv"):
        for line in _wordnet().open(f"{part}.exc"):
            form, *lemmas = line.split()
            bases[form].update(lemmas)
    return bases


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
