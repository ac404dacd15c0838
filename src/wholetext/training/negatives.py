"""Damaged copies of judged English outputs: a number, a name or a negation is wrong, a clause or a sentence is missing.

Raters see few such errors, and features of whole sentences hardly change: the copies say how much they cost. Beside a
source alone, what is no translation at all has to be learned too: the source itself, another document's text, nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from wholetext.training.examples import ExamplePlace, Examples
from wholetext.types import Excerpt, Request

# what an error costs, in spreads of the human scores: assumed, as one major error of a sentence
COST: Mapping[str, float] = {
    "number": 0.6,
    "negation": 0.8,
    "name": 0.6,
    "clause": 0.8,
    "sentence": 0.8,
}
WORST = 3.0  # spreads below the mean: what is no translation
NAMES = (
    "Berlin",
    "Martin",
    "Canada",
    "Peterson",
    "Tokyo",
    "Anna",
    "Brazil",
    "Friday",
    "Kenya",
    "Miller",
    "Oxford",
    "March",
    "Warsaw",
    "Thomas",
    "Texas",
    "Zhang",
    "Madrid",
    "Elena",
    "Oslo",
    "Toyota",
)
_NUMBER = re.compile(r"(?<![\w.,])\d{1,4}(?![\w])")
_NOT = re.compile(r"\b(?:not |n't\b)")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|will|would|can|could|should|must|has|had|does|did|may) (?!not\b)(?=[a-z])"
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_SHORTEST = 9  # words of a sentence that loses a clause
_CLAUSE = 3  # words at least that are lost, and that remain


def add_negatives(examples: Examples, share: float, seed: int) -> Examples:
    """The examples, and damaged copies of a share of them, in the same items; of several segments, one is lost."""
    spread, mean = float(examples.gold.std()), float(examples.gold.mean())
    pairs: list[Request] = []
    gold: list[float] = []
    places: list[ExamplePlace] = []
    for pair, score, place in zip(examples.pairs, examples.gold.tolist(), examples.places):
        view = pair.hyp[0]
        rng = random.Random(
            f"{seed} {place.doc} {place.start} {view.text}"
        )  # whatever other examples there are
        if rng.random() >= share:
            continue
        damaged: list[tuple[str, tuple[str, ...], float]] = []
        if place.k > 1:
            lost = rng.randrange(place.k)
            damaged.append(
                (
                    "sentence",
                    (*view.parts[:lost], *view.parts[lost + 1 :]),
                    score - COST["sentence"] * spread,
                )
            )
        else:
            damaged += [
                (kind, (changed,), score - COST[kind] * spread)
                for kind, change in CHANGES.items()
                if (changed := change(view.text, rng)) != view.text
            ]
        if pair.src is not None and not pair.refs:
            other = rng.randrange(len(examples))
            unrelated = {
                "copy": pair.src.parts,
                "empty": ("",),
                "other": examples.pairs[other].hyp[0].parts,
            }
            damaged += [
                (kind, wrong, mean - WORST * spread)
                for kind, wrong in unrelated.items()
                if kind != "other" or examples.places[other].doc != place.doc
            ]
        if damaged:
            kind, parts, cost = rng.choice(damaged)
            pairs.append(replace(pair, hyp=(Excerpt(parts, (0, len(parts)), view.glue),)))
            gold.append(cost)
            places.append(replace(place, system=f"{place.system} ({kind})"))
    return Examples(
        (*examples.pairs, *pairs),
        np.concatenate([examples.gold, gold]),
        (*examples.places, *places),
    )


def _number(text: str, rng: random.Random) -> str:
    """One number becomes another of as many digits."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return text
    match = rng.choice(numbers)
    size = len(match[0])
    other = str(rng.randrange(10 ** (size - 1), 10**size))
    return text[: match.start()] + other + text[match.end() :]


def _negation(text: str, rng: random.Random) -> str:
    """A negation is lost, or an auxiliary gets one."""
    if _NOT.search(text):
        return _NOT.sub("", text, count=1)
    return _AUXILIARY.sub(r"\1 not ", text, count=1)


def _name(text: str, rng: random.Random) -> str:
    """A capitalised word inside the sentence becomes another name."""
    names = list(_NAME.finditer(text))
    if not names:
        return text
    match = rng.choice(names)
    return text[: match.start()] + rng.choice(NAMES) + text[match.end() :]


def _clause(text: str, rng: random.Random) -> str:
    """What follows the last comma is lost, or the last third of the words."""
    words, last = text.split(), text[-1:] if text[-1:] in ".!?" else ""
    if len(words) < _SHORTEST:
        return text
    commas = [
        i + 1 for i, word in enumerate(words[:-_CLAUSE]) if word.endswith(",") and i + 1 >= _CLAUSE
    ]
    rest = words[: commas[-1] if commas else 2 * len(words) // 3]
    return " ".join(rest).rstrip(",") + last


CHANGES: Mapping[str, Callable[[str, random.Random], str]] = {
    "number": _number,
    "negation": _negation,
    "name": _name,
    "clause": _clause,
}
