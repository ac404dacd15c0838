"""Foci of a text: analysed texts, focus grids, mentions, groups of words, adjacency.

A *focus* is a recurring topic of a text: a noun lemma (``nn``), or a cluster of nouns that lie
close together in a static vector space (``entity``). Definitions follow DiscoScore (Zhao, Strube
and Eger 2023, section 3): a grid lists in which sentences a focus occurs, and sentences that share
a focus are linked, more weakly with distance.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from wholetext.metrics.cohesion.vectors import StaticVectors
from wholetext.text.taggers.analysis import NOUNS, Analysis, Token
from wholetext.types import IntArray

# focus → sentence (or word) indices, one per occurrence, repeats kept
Grid = Mapping[str, tuple[int, ...]]
WordsFrom = Literal["tokens", "spaces"]
Weighting = Literal["u", "w"]
Matching = Literal["reference", "lemma"]
# universal tags of words that carry meaning themselves
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})


@dataclass(frozen=True)
class AnalysedText:
    """A lower-cased text as the discourse metrics use it; needs no tagger to be constructed."""

    words: tuple[str, ...]
    sentences: tuple[tuple[int, int], ...]  # spans of words
    # (sentence, word, lemma) in order, repeats kept; the word where words are the tagger's tokens
    nouns: tuple[tuple[int, int, str], ...]
    content: tuple[tuple[str, str], ...] = ()  # (form, lemma) of content words


def read(
    segments: Sequence[str], analyses: Sequence[Analysis], words_from: WordsFrom = "tokens"
) -> AnalysedText:
    """Join the analyses of a text's segments; sentences without a word are dropped."""
    words: list[str] = []
    sentences: list[tuple[int, int]] = []
    nouns: list[tuple[int, int, str]] = []
    content: list[tuple[str, str]] = []
    for segment, analysis in zip(segments, analyses, strict=True):
        for (start, stop), tokens in _by_sentence(segment, analysis):
            forms = (
                segment[start:stop].split()
                if words_from == "spaces"
                else [token.text for token in tokens]
            )
            if not forms:
                continue
            nouns += [
                (len(sentences), place, token.lemma.lower())
                for place, token in enumerate(tokens, len(words))
                if token.pos in NOUNS
            ]
            content += [
                (token.text.lower(), token.lemma.lower())
                for token in tokens
                if token.pos in CONTENT
            ]
            sentences.append((len(words), len(words) + len(forms)))
            words += map(str.lower, forms)
    return AnalysedText(tuple(words), tuple(sentences), tuple(nouns), tuple(content))


def _by_sentence(segment: str, analysis: Analysis) -> Iterator[tuple[tuple[int, int], list[Token]]]:
    """Pair sentence spans with visible tokens; without boundaries a segment is one sentence."""
    spans = analysis.sentences or ((0, len(segment)),)
    starts = [start for start, _ in spans]
    tokens: list[list[Token]] = [[] for _ in spans]
    for token in analysis.tokens:
        if token.text.strip():
            tokens[max(0, bisect_right(starts, token.start) - 1)].append(token)
    return zip(spans, tokens)


def by_focus(occurrences: Iterable[tuple[int, str]]) -> dict[str, tuple[int, ...]]:
    """Group (index, focus) pairs: focus → indices."""
    places: dict[str, list[int]] = {}
    for index, focus in occurrences:
        places.setdefault(focus, []).append(index)
    return {focus: tuple(indices) for focus, indices in places.items()}


def grid(reading: AnalysedText) -> dict[str, tuple[int, ...]]:
    """Map noun lemmas to the sentences they occur in, one entry per occurrence."""
    return by_focus((sentence, lemma) for sentence, _, lemma in reading.nouns)


def mentions(reading: AnalysedText, match: Matching = "reference") -> dict[str, tuple[int, ...]]:
    """Map each focus to the words that mention it.

    ``reference``, as the published code does it: a word is a mention when its surface form is the
    lemma of any noun of the text, so *cats* (lemma *cat*) is none, and a verb that looks like a
    noun is one. ``lemma``: every noun mentions its lemma.
    """
    if match == "lemma":
        return by_focus((word, lemma) for _, word, lemma in reading.nouns)
    lemmas = {lemma for *_, lemma in reading.nouns}
    return by_focus((place, word) for place, word in enumerate(reading.words) if word in lemmas)


# ---------------------------------------------------------------- groups of words


def clusters(
    words: Sequence[str], vectors: StaticVectors, threshold: float
) -> list[tuple[str, ...]]:
    """Group words whose cosine exceeds the threshold; words without a vector stay alone."""
    distinct = list(dict.fromkeys(words))
    known = [word for word in distinct if word in vectors.index]
    unit = vectors.unit(known)  # (known, dims)
    groups = _linked(known, np.argwhere(unit @ unit.T > threshold))
    alone = [(word,) for word in distinct if word not in vectors.index]
    return alone + [tuple(sorted(group)) for group in groups]


_UPWARDS = ("hypernyms", "member_holonyms", "part_holonyms", "substance_holonyms")


def synonym_groups(lemmas: Iterable[str]) -> list[tuple[str, ...]]:
    """Group lemmas that share a WordNet synset, directly or through others."""
    reader, distinct = _wordnet(), list(dict.fromkeys(lemmas))
    first: dict[str, int] = {}  # synset → the first lemma that has it
    pairs = [
        (at, first.setdefault(synset.name(), at))
        for at, lemma in enumerate(distinct)
        if reader is not None
        for synset in reader.synsets(lemma)
    ]
    return _linked(distinct, np.array(pairs, dtype=np.int64).reshape(-1, 2))


def collocated(lemmas: Iterable[str]) -> list[tuple[str, ...]]:
    """Group each lemma with the first earlier one that it is a synonym or a collocation of.

    Collocations (Wong and Kit 2012, section 2) are hypernyms and hyponyms, wholes and parts,
    antonyms and coordinate terms, which share a hypernym, in WordNet. Relations are not
    passed on: two words do not belong together because a later one is related to both.
    """
    reader, first = _wordnet(), dict[str, str]()  # synset → the first lemma near it
    groups: dict[str, list[str]] = {}
    for lemma in dict.fromkeys(lemmas):
        synsets = reader.synsets(lemma)
        names = [synset.name() for synset in synsets]
        names += [
            up.name() for synset in synsets for way in _UPWARDS for up in getattr(synset, way)()
        ]
        names += [
            other.synset().name()
            for synset in synsets
            for word in synset.lemmas()
            for other in word.antonyms()
        ]
        earlier = next((first[name] for name in names if name in first), lemma)
        own = next((head for head, members in groups.items() if earlier in members), lemma)
        groups.setdefault(own, []).append(lemma)
        for name in names:
            first.setdefault(name, lemma)
    return [tuple(group) for group in groups.values()]


def _linked(words: Sequence[str], pairs: IntArray) -> list[tuple[str, ...]]:
    """Group words connected by (links, 2) pairs of indices."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if not words:
        return []
    links = coo_matrix((np.ones(len(pairs), dtype=bool), pairs.T), shape=(len(words), len(words)))
    labels = connected_components(links, directed=False)[1].tolist()
    groups = by_focus((at, str(label)) for at, label in enumerate(labels))
    return [tuple(words[at] for at in group) for group in groups.values()]


@lru_cache(maxsize=1)
def wordnet_version() -> str:
    """Return the version of the installed WordNet, or ``""``."""
    reader = _wordnet()
    return str(reader.get_version()) if reader is not None else ""


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    """Open nltk's WordNet; None without nltk or its data, which is never downloaded."""
    try:
        from nltk.corpus import wordnet

        wordnet.ensure_loaded()
    except (ImportError, LookupError):
        return None
    return wordnet


def entities(foci: Grid, vectors: StaticVectors, threshold: float) -> dict[str, tuple[int, ...]]:
    """Merge foci into entities: clusters of nouns, named by their members joined with ``-``."""
    groups = clusters(list(foci), vectors, threshold)
    return {
        "-".join(group): tuple(index for word in group for index in foci[word]) for group in groups
    }


# ---------------------------------------------------------------- adjacency


def adjacency(foci: Grid, n: int, weighting: Weighting = "u") -> Any:
    """The sparse (n, n) adjacency matrix of the sentences of a text.

    Sentences i < j that share a focus are linked by 1/(j−i) (``u``) or by the number of shared
    foci/(j−i) (``w``); the rest, with the diagonal, is 0 (DiscoScore, equation 2 and the text after
    it).
    """
    from scipy.sparse import coo_matrix

    cells = [(at, column) for column, places in enumerate(foci.values()) for at in set(places)]
    rows = np.array(cells, dtype=np.int64).reshape(-1, 2).T  # (2, cells): sentence, focus
    occurs = coo_matrix((np.ones(len(cells)), rows), shape=(n, max(1, len(foci)))).tocsr()
    shared = (occurs @ occurs.T).tocoo()  # foci in common
    gaps = shared.col - shared.row
    later = gaps > 0
    strength = (shared.data if weighting == "w" else np.ones(len(gaps)))[later] / gaps[later]
    return coo_matrix((strength, (shared.row[later], shared.col[later])), shape=(n, n)).tocsr()
