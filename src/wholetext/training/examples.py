"""Examples: paragraphs of EvalSets with human scores; drawing them, judging predictions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholetext.errors import AlignmentError, InputError, did_you_mean
from wholetext.io import Loaded
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.correlation import pearson_rows
from wholetext.meta.agreement.ties import calibrate
from wholetext.meta.conventions import is_human, paragraph_gold, standard_reference
from wholetext.meta.judgments.ratings import mean_table
from wholetext.meta.judgments.sources import find_ratings
from wholetext.meta.paragraphs import Windows, paragraphs
from wholetext.scoring.engine import request_key
from wholetext.training.judged_sentences import read_sentences
from wholetext.training.recipe import Data, Fill, Recipe, Sampling
from wholetext.types import Excerpt, FloatArray, IntArray, Request
from wholetext.views import joiner_for

Judged = tuple[str, int, int, str]  # document, start, k, system


@dataclass(frozen=True, slots=True)
class ExamplePlace:
    """Where an example comes from: ``k`` segments from ``start``, scored by ``raters`` people."""

    part: str  # EvalSet and language pair
    doc: str
    start: int
    k: int
    system: str
    ref: str
    raters: int


@dataclass(frozen=True, eq=False)
class Examples:
    """Training or validation examples, grouped by item."""

    pairs: tuple[Request, ...]
    gold: FloatArray  # (n,)
    places: tuple[ExamplePlace, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def k(self) -> IntArray:
        return np.array([place.k for place in self.places], dtype=np.int64)

    @property
    def item(self) -> IntArray:
        """(n,) number of the item: the same segments of the same text, whichever system."""
        known: dict[tuple[str, str, int, int], int] = {}
        keys = ((place.part, place.doc, place.start, place.k) for place in self.places)
        return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)

    @property
    def targets(self) -> tuple[str, ...]:
        """Languages of the outputs."""
        return tuple(sorted({place.part.split(" ")[-2].split("-")[-1] for place in self.places}))

    def take(self, chosen: IntArray | Sequence[int]) -> Examples:
        return Examples(
            tuple(self.pairs[i] for i in chosen),
            self.gold[np.asarray(chosen, dtype=np.int64)],
            tuple(self.places[i] for i in chosen),
        )

    def digest(self) -> str:
        """A hash of everything the examples hold."""
        total = hashlib.blake2b(digest_size=12)
        for pair, gold, place in zip(self.pairs, self.gold.tolist(), self.places):
            total.update(request_key(f"{gold!r}{place}", pair))
        return total.hexdigest()


def read_examples(recipe: Recipe, root: Path | None = None) -> tuple[Examples, Examples]:
    """Training and validation examples; ``root`` is where EvalSets are looked up by name."""

    def read(sets: Sequence[Data]) -> Examples:
        return _joined(
            [_part(recipe, data, lp, root) for data in sets for lp in (data.langs or ("",))]
        )

    every = read(recipe.data)
    if recipe.validation:
        held = read(recipe.validation)
        kept_back = {place.doc for place in held.places}
    else:
        kept_back = held_back(
            {place.doc for place in every.places}, recipe.share, recipe.split_seed
        )
        held = every.take([i for i, place in enumerate(every.places) if place.doc in kept_back])
    # a document is never on both sides, in whichever set or language pair it comes
    train = every.take([i for i, place in enumerate(every.places) if place.doc not in kept_back])
    train = _limited(train, recipe.most, recipe)
    held = _limited(held, recipe.validation_most, recipe, by_part=True)
    for name, examples in (("training", train), ("validation", held)):
        if not len(examples):
            raise InputError(
                f"there are no {name} examples", next="use more documents, or another share"
            )
    if float(np.std(train.gold)) == 0:
        raise InputError(
            "all training examples have the same human score", next="check the human scores"
        )
    return train, held


def held_back(docs: set[str], share: float, seed: int) -> set[str]:
    """Documents for validation: at least one, chosen by a hash of their names."""
    order = sorted(
        docs,
        key=lambda doc: (hashlib.blake2b(f"{seed}:{doc}".encode(), digest_size=8).digest(), doc),
    )
    if len(order) < 2:
        raise InputError(
            "one document cannot be split into training and validation data",
            next="use more documents, or name separate validation sets",
        )
    return set(order[: min(len(order) - 1, max(1, round(share * len(order))))])


def find_evalset(name: str, root: Path | None) -> Path:
    """The folder of an EvalSet: as it is given, or by its name in the data folder."""
    variable = os.environ.get("WHOLETEXT_DATA")
    roots = [root] if root is not None else [Path(variable)] if variable else []
    tried = [
        Path(name),
        *(folder / inside / name for folder in roots for inside in (".", "evalsets")),
    ]
    for path in tried:
        if path.is_dir():
            return path
    names = sorted(
        {
            path.name
            for folder in tried[1:]
            if folder.parent.is_dir()
            for path in folder.parent.iterdir()
        }
    )
    raise InputError(
        f"there is no EvalSet {name!r}",
        next=did_you_mean(name, names)
        or "give its folder, or where EvalSets are with --data (or WHOLETEXT_DATA)",
    )


def _part(recipe: Recipe, data: Data, langs: str, root: Path | None) -> Examples:
    """The examples of one language pair of one EvalSet."""
    folder = find_evalset(data.evalset, root)
    if (folder / f"{langs}.jsonl").is_file():
        return _sentences(recipe, data, folder, langs)
    evalset = EvalSet.open(folder, langs or None)
    lp, where = evalset.langs, f"{folder} {evalset.langs}"
    human = data.human or paragraph_gold(evalset.human_names) or ""
    source = find_ratings(evalset, human)
    loaded = evalset.load()
    available = loaded.corpus.references
    refs = data.refs or tuple(filter(None, [standard_reference(folder.name, lp, available)]))
    for ref in refs:
        if ref not in available:
            raise InputError(
                f"there is no reference {ref!r}",
                where=where,
                next=did_you_mean(ref, list(available))
                or f"there are {', '.join(available) or 'none'}",
            )
    if "ref" in recipe.reads and not refs:
        raise InputError(
            "there is no reference", where=where, next='train on reads = ["hyp", "src"]'
        )
    total = source.total if data.total == "auto" else data.total
    others = [EvalSet.open(find_evalset(other, root), lp).load().corpus for other in data.without]
    left_out = {doc.id for other in others for doc in other.docs}
    included = [doc.id for doc in loaded.corpus.docs if doc.id not in left_out]
    first = set(included[data.skip : data.skip + data.documents if data.documents else None])
    scores: dict[Judged, list[float]] = {}
    for k in data.k or recipe.k:
        for paragraph in paragraphs(source.ratings, Windows(k, data.raters, total)):
            if paragraph.doc in first and (
                data.human_systems or not is_human(paragraph.system, available)
            ):
                scores.setdefault((paragraph.doc, paragraph.start, k, paragraph.system), []).append(
                    paragraph.score
                )
    if not scores:
        lengths = ", ".join(map(str, data.k or recipe.k))
        raise InputError(
            f"no paragraph of {lengths} segments has human scores {human!r}",
            where=where,
            next="check the name of the scores, or use smaller k",
        )
    refs = refs if "ref" in recipe.reads else ("",)
    return _paired(recipe, f"{folder.name} {lp} {human}", loaded, scores, refs)


def _sentences(recipe: Recipe, data: Data, folder: Path, lp: str) -> Examples:
    """The examples of a file of judged sentences, beside their references or sources."""
    blind = set(recipe.reads) == {"hyp", "src"}
    if (
        (not blind and set(recipe.reads) != {"hyp", "ref"})
        or len(data.refs) != (not blind)
        or not data.human
    ):
        raise InputError(
            'judged sentences need human, and reads = ["hyp", "ref"] with one of refs, or '
            '["hyp", "src"] with none',
            where=f"{folder} {lp}",
            next='for MLQE-PE: refs = ["pe"], human = "z"',
        )
    ref, part = "" if blind else data.refs[0], f"{folder.name} {lp} {data.human}"
    sentences = list(
        read_sentences(folder / f"{lp}.jsonl", ref or "src", data.human, data.tokenized)
    )
    docs = list(dict.fromkeys(sentence.doc for sentence in sentences))
    first = set(docs[data.skip : data.skip + data.documents if data.documents else None])
    included = [sentence for sentence in sentences if sentence.doc in first]
    sign = -1.0 if recipe.target == "error" else 1.0
    views = (
        [Excerpt((text,), (0, 1)) for text in (sentence.hyp, sentence.other)]
        for sentence in included
    )
    pairs = (
        Request((hyp,), other) if blind else Request((hyp,), None, (other,)) for hyp, other in views
    )
    places = (
        ExamplePlace(
            part, f"{folder.name} {sentence.doc}", sentence.line, 1, "mt", ref, sentence.raters
        )
        for sentence in included
    )
    return Examples(
        tuple(pairs), np.array([sign * sentence.score for sentence in included]), tuple(places)
    )


def _paired(
    recipe: Recipe,
    part: str,
    loaded: Loaded,
    scores: dict[Judged, list[float]],
    refs: tuple[str, ...],
) -> Examples:
    """One example for each judged paragraph and reference, in the order of the corpus."""
    docs = {doc.id: doc for doc in loaded.corpus.docs}
    order = {doc: i for i, doc in enumerate(docs)}
    outputs = {output.system: output.docs for output in loaded.outputs}
    glue = [joiner_for(lang, recipe.joiner) for lang in loaded.corpus.langs]
    sign = -1.0 if recipe.target == "error" else 1.0
    pairs: list[Request] = []
    gold: list[float] = []
    places: list[ExamplePlace] = []
    for key in sorted(scores, key=lambda key: (key[2], order[key[0]], key[1], key[3])):
        doc, start, k, system = key
        if system not in outputs:
            raise AlignmentError(
                f"system {system!r} has human scores but no output",
                where=part,
                next="ratings and texts must match",
            )
        source = docs[doc].src if "src" in recipe.reads else ()
        if source is None:
            raise InputError(
                "there is no source", where=f"document {doc}", next="train without src in reads"
            )
        segments, focus = slice(start, start + k), (0, k)
        hyp = Excerpt(outputs[system][doc][segments], focus, glue[1])
        src = Excerpt(source[segments], focus, glue[0]) if "src" in recipe.reads else None
        for ref in (ref for ref in refs if ref != system):
            against = (Excerpt(docs[doc].refs[ref][segments], focus, glue[1]),) if ref else ()
            pairs.append(Request((hyp,), src, against))
            gold.append(sign * float(np.mean(scores[key])))
            places.append(ExamplePlace(part, doc, start, k, system, ref, len(scores[key])))
    return Examples(tuple(pairs), np.array(gold), tuple(places))


def _joined(parts: Sequence[Examples]) -> Examples:
    pairs = tuple(pair for part in parts for pair in part.pairs)
    places = tuple(place for part in parts for place in part.places)
    return Examples(pairs, np.concatenate([part.gold for part in parts]), places)


def _limited(examples: Examples, most: int, recipe: Recipe, by_part: bool = False) -> Examples:
    """At most so many examples of each length (for validation, items of each part and length)."""
    if not most or not len(examples):
        return examples
    rng = np.random.default_rng([recipe.split_seed, 1 + by_part])
    groups: dict[tuple[str, int], list[int]] = {}
    for i, place in enumerate(examples.places):
        groups.setdefault((place.part if by_part else "", place.k), []).append(i)
    selected: list[int] = []
    item = examples.item
    for _, chosen in sorted(groups.items()):
        ids = rng.permutation(np.unique(item[chosen]))
        if by_part:
            first = set(ids[:most].tolist())
            selected += [i for i in chosen if int(item[i]) in first]
        else:  # whole items, so that outputs of one text can be compared
            turn = np.zeros(int(ids.max()) + 1, dtype=np.int64)
            turn[ids] = np.arange(len(ids))
            selected += [chosen[i] for i in np.argsort(turn[item[chosen]], kind="stable")[:most]]
    return examples.take(sorted(selected))


def draw(
    k: IntArray,
    sampling: Sampling,
    fill: Fill,
    rng: np.random.Generator,
    item: IntArray | None = None,
) -> IntArray:
    """Indices of an epoch's examples in order; with ``item``, those of an item stay together.

    ``sentence``: those of length 1. ``uniform``: all. ``stratified``: equally many of each length, as many as the
    rarest has, without replacement; with ``fill="most"`` as many as the most frequent has, the rarer ones repeated.
    """
    if sampling != "stratified":
        return _ordered(
            np.flatnonzero(k == 1) if sampling == "sentence" else np.arange(len(k)), item, rng
        )
    strata = [np.flatnonzero(k == length) for length in np.unique(k)]
    size = min(map(len, strata)) if fill == "least" else max(map(len, strata))
    chosen = []
    for stratum in strata:  # whole items as far as they go
        rounds = [_ordered(stratum, item, rng) for _ in range(-(-size // len(stratum)))]
        chosen.append(np.concatenate(rounds)[:size])
    return _ordered(np.concatenate(chosen), item, rng)


def _ordered(chosen: IntArray, item: IntArray | None, rng: np.random.Generator) -> IntArray:
    """In a random order; with ``item``, a random order of items and within each."""
    shuffled = np.asarray(rng.permutation(chosen))
    if item is None or not len(chosen):
        return shuffled
    _, which = np.unique(item[shuffled], return_inverse=True)
    place = rng.permutation(int(which.max()) + 1)
    return np.asarray(shuffled[np.argsort(place[which], kind="stable")])


@dataclass(frozen=True)
class Verdict:
    """Agreement on validation examples, by which a checkpoint is chosen."""

    loss: float  # squared error, in units of the training scores' variance
    acc_eq: float  # ties calibrated; mean over parts; NaN where no outputs can be compared
    pearson: float  # mean over parts
    parts: tuple[tuple[str, int, float, float], ...]  # name, pairs compared, acc_eq, Pearson's r

    @property
    def score(self) -> float:
        """The validation objective: acc_eq, or the negative loss if no item has two judged outputs."""
        return -self.loss if np.isnan(self.acc_eq) else self.acc_eq


def judge(held: Examples, predicted: FloatArray, spread: float) -> Verdict:
    """Agreement of (n,) predictions; several references of an output are averaged."""
    loss = float(np.mean((predicted - held.gold) ** 2)) / spread**2
    item = held.item
    of_part = np.array([place.part for place in held.places])
    systems = np.array([place.system for place in held.places])
    parts = []
    for part in dict.fromkeys(place.part for place in held.places):
        in_part = of_part == part
        names, row = np.unique(systems[in_part], return_inverse=True)
        items, column = np.unique(item[in_part], return_inverse=True)
        shape = (len(names), len(items))
        gold, metric = (
            mean_table(values[in_part], (row, column), shape) for values in (held.gold, predicted)
        )
        accuracy = calibrate(gold, metric, "item")
        known = ~np.isnan(gold)
        parts.append(
            (part, accuracy.pairs, accuracy.value, float(pearson_rows(gold[known], metric[known])))
        )
    return Verdict(
        loss, _mean([part[2] for part in parts]), _mean([part[3] for part in parts]), tuple(parts)
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
