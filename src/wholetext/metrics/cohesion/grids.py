"""Which sentence speaks of what: focus grids and mentions, clusters of near words, the adjacency of sentences.

A *focus* is what a text keeps talking about: a noun lemma (``nn``), or a cluster of nouns that lie close together in a
static vector space (``entity``). Definitions follow DiscoScore (Zhao, Strube and Eger 2023, section 3): a grid says in
which sentences a focus occurs, and sentences that share a focus are linked, the weaker the farther apart they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from wholetext.metrics.cohesion.readings import AnalysedText
from wholetext.metrics.cohesion.vectors import StaticVectors
from wholetext.types import FloatArray

Grid = Mapping[str, tuple[int, ...]]  # focus → sentence (or word) indices, one per occurrence, repeats kept
Weighting = Literal["u", "w"]
Matching = Literal["reference", "lemma"]
_CELLS = 4_000_000  # entries of an adjacency matrix that are held at once


def by_focus(occurrences: Iterable[tuple[int, str]]) -> dict[str, tuple[int, ...]]:
    """(index, focus) pairs → focus → its indices."""
    found: dict[str, list[int]] = {}
    for index, focus in occurrences:
        found.setdefault(focus, []).append(index)
    return {focus: tuple(indices) for focus, indices in found.items()}


def grid(reading: AnalysedText) -> dict[str, tuple[int, ...]]:
    """Noun lemma → the sentences it occurs in, one entry per occurrence."""
    return by_focus(reading.nouns)


def mentions(reading: AnalysedText, match: Matching = "reference") -> dict[str, tuple[int, ...]]:
    """Focus → the words that mention it.

    ``reference``, as the published code does it: a word is a mention when its surface form is the lemma of any noun of
    the text, so *cats* (lemma *cat*) is none, and a verb that looks like a noun is one. ``lemma``: every noun mentions
    its lemma.
    """
    if match == "lemma":
        return by_focus(reading.noun_words)
    lemmas = {lemma for _, lemma in reading.nouns}
    return by_focus((place, word) for place, word in enumerate(reading.words) if word in lemmas)


# ---------------------------------------------------------------- clusters


def clusters(words: Sequence[str], vectors: StaticVectors, threshold: float) -> list[tuple[str, ...]]:
    """Connected components of the words under "cosine above the threshold"; words without vector stay alone."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    distinct = list(dict.fromkeys(words))
    known = [word for word in distinct if word in vectors]
    alone: list[tuple[str, ...]] = [(word,) for word in distinct if word not in vectors]
    if not known:
        return alone
    unit = vectors.unit(known)  # (known, dims)
    step = max(1, _CELLS // len(known))
    blocks = range(0, len(known), step)
    near = [np.add(np.argwhere(unit[at : at + step] @ unit.T > threshold), (at, 0)) for at in blocks]
    pairs = np.concatenate(near)  # (links, 2)
    links = coo_matrix((np.ones(len(pairs), dtype=bool), pairs.T), shape=(len(known), len(known)))
    count, label = connected_components(links, directed=False)
    groups: list[list[str]] = [[] for _ in range(count)]
    for word, group in zip(known, label):
        groups[group].append(word)
    return alone + [tuple(sorted(group)) for group in groups]


def merge(foci: Grid, groups: Iterable[tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    """The grid (or mentions) with each group as one focus, named by its sorted members joined with ``-``."""
    return {"-".join(group): tuple(index for word in group for index in foci[word]) for group in groups}


def entities(foci: Grid, vectors: StaticVectors, threshold: float) -> dict[str, tuple[int, ...]]:
    """The grid (or mentions) over entities: nouns that lie close together count as one focus."""
    return merge(foci, clusters(list(foci), vectors, threshold))


# ---------------------------------------------------------------- adjacency


def adjacency_blocks(foci: Grid, n: int, weighting: Weighting = "u") -> Iterator[tuple[slice, FloatArray]]:
    """The adjacency matrix of ``n`` sentences in blocks of rows, so that a long document needs no n × n memory.

    Sentences i < j that share a focus are linked by 1/(j−i) (``u``) or by the number of shared foci/(j−i) (``w``);
    the rest, with the diagonal, is 0 (DiscoScore, equation 2 and the text after it).
    """
    from scipy.sparse import coo_matrix

    if n == 0:
        return
    cells = [(index, column) for column, indices in enumerate(foci.values()) for index in set(indices)]
    at = np.array(cells, dtype=np.int64).reshape(-1, 2)  # (cells, 2): sentence, focus
    occurs = coo_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(n, max(1, len(foci)))).tocsr()
    step = max(1, _CELLS // n)
    for start in range(0, n, step):
        stop = min(n, start + step)
        shared = np.asarray((occurs[start:stop] @ occurs.T).todense())  # (stop-start, n) foci in common
        gap = np.arange(n)[None, :] - np.arange(start, stop)[:, None]
        strength = shared if weighting == "w" else (shared > 0).astype(np.float64)
        yield slice(start, stop), np.where(gap > 0, strength / np.maximum(gap, 1), 0.0)


def adjacency(foci: Grid, n: int, weighting: Weighting = "u") -> FloatArray:
    """(n, n) the whole adjacency matrix; strictly upper triangular."""
    return np.concatenate([block for _, block in adjacency_blocks(foci, n, weighting)] or [np.zeros((0, 0))])

