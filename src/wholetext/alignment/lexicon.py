"""Translations of words, learned from a first alignment of the same texts.

Model 1 of Brown et al. (1993, "The Mathematics of Statistical Machine Translation", section 4.1)
over the beads of an alignment by length and shared words, as in Moore (2002, "Fast and Accurate
Sentence Alignment of Bilingual Corpora").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, compress

import numpy as np

from wholetext.alignment.beads import Bead
from wholetext.alignment.segments import Sentences
from wholetext.alignment.similarity import Bag, shared_words, words
from wholetext.types import FloatArray

ROUNDS = 10  # of expectation maximisation
LEAST = 1.5  # expected occurrences of a translation
LIKELY = 0.05  # the least probability of a translation
CELLS = 4_000_000  # pairs of words that are counted; further beads are not read
PARTS = 4  # of the sentences, each translated by what the others teach

Lexicon = Mapping[str, Mapping[str, float]]  # word → its translations with probabilities
Aligned = tuple[Sentences, Sentences, Sequence[Bead]]


def translated(documents: Sequence[Aligned]) -> list[list[Bag]]:
    """Return the words of each sentence of each document, in the language of the output.

    A part of the sentences is translated by the lexicon of the other parts, so that errors of the
    alignment do not confirm themselves. Words without translation stay: numbers and names.
    """
    starts = [0, *accumulate(len(fixed.texts) for fixed, _, _ in documents)]
    beads: list[list[tuple[str, str]]] = [[] for _ in range(PARTS)]
    for start, (fixed, free, linked) in zip(starts, documents):
        for bead in linked:
            if bead.linked:
                texts = fixed.texts[slice(*bead.fixed)], free.texts[slice(*bead.free)]
                part = (start + bead.fixed[0]) * PARTS // starts[-1]
                beads[part].append((" ".join(texts[0]), " ".join(texts[1])))
    lexicons = [
        learn([pair for other in range(PARTS) if other != part for pair in beads[other]])
        for part in range(PARTS)
    ]
    return [
        [
            _translate(text, lexicons[number * PARTS // starts[-1]])
            for number, text in enumerate(fixed.texts, start)
        ]
        for start, (fixed, _, _) in zip(starts, documents)
    ]


def support(fixed: Sentences, free: Sentences, beads: Sequence[Bead], bags: Sequence[Bag]) -> int:
    """Count characters of output sentences whose words are nearest to their own bead."""
    similarity, total = shared_words(fixed.texts, free.texts, bags), 0
    for bead in beads:
        if bead.linked:  # one after the other: no table of all pairs is held
            cosines = similarity.cosines(slice(0, len(fixed.texts)), slice(*bead.free))
            best = cosines.max(axis=0)
            nearest = (cosines[slice(*bead.fixed)].max(axis=0) == best) & (best > 0)
            total += sum(map(len, compress(free.texts[slice(*bead.free)], nearest)))
    return total


def _translate(text: str, lexicon: Lexicon) -> Bag:
    bag: Counter[str] = Counter()
    for word, times in Counter(words(text)).items():
        for translation, probability in lexicon.get(word, {word: 1}).items():
            bag[translation] += min(times, 3) * probability  # type: ignore[assignment]
    return bag


def learn(pairs: Sequence[tuple[str, str]]) -> Lexicon:
    """Learn translations from pairs of texts most of which correspond."""
    sources, targets = {"": 0}, dict[str, int]()  # "" translates to what the output adds
    tables = [
        np.zeros((3, 0), dtype=np.int64)
    ]  # source word, target word, occurrence of the target
    occurrences = cells = 0
    for source, target in pairs:
        left = [0, *{sources.setdefault(word, len(sources)): 0 for word in words(source)}]
        right = [*{targets.setdefault(word, len(targets)): 0 for word in words(target)}]
        places = np.arange(occurrences, occurrences + len(right))
        tables.append(np.stack([np.repeat(left, len(right)), *np.tile([right, places], len(left))]))
        occurrences, cells = occurrences + len(right), cells + len(left) * len(right)
        if cells > CELLS:
            break
    word, translation, place = np.concatenate(tables, axis=1)
    entries, entry = np.unique(word * len(targets) + translation, return_inverse=True)
    owner, target_of = np.divmod(entries, max(1, len(targets)))
    odds: FloatArray = np.ones(len(entries))
    counts: FloatArray = odds
    for _ in range(ROUNDS):
        shares = odds[entry]
        shares /= np.bincount(place, shares)[place]
        counts = np.bincount(entry, shares, len(entries)).astype(np.float64)
        odds = counts / np.bincount(owner, counts)[owner]
    names = list(sources), list(targets)
    lexicon: dict[str, dict[str, float]] = {}
    for at in np.flatnonzero((counts >= LEAST) & (odds >= LIKELY) & (owner > 0)).tolist():
        lexicon.setdefault(names[0][owner[at]], {})[names[1][target_of[at]]] = float(odds[at])
    return lexicon
