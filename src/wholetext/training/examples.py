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
from wholetext.meta.agreement.measures import calibrate
from wholetext.meta.conventions import paragraph_gold
from wholetext.meta.judgments import find_ratings, mean_table
from wholetext.meta.paragraphs import Windows, paragraphs
from wholetext.scoring.engine import request_key
from wholetext.text import joiner
from wholetext.training.recipe import Data, Fill, Recipe, Sampling
from wholetext.types import Excerpt, FloatArray, IntArray, Request

Judged = tuple[str, int, int, str]  # document, start, k, system


@dataclass(frozen=True, slots=True)
class ExamplePlace:
    """Where an example comes from: ``k`` segments from ``start``."""

    part: str  # EvalSet, language pair, human scores
    doc: str
    start: int
    k: int
    system: str
    ref: str


@dataclass(frozen=True, eq=False)
class TrainingExamples:
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
        """Number the items: (n,); an item is the same segments of the same text, whichever system."""
        known: dict[tuple[str, str, int, int], int] = {}
        keys = ((place.part, place.doc, place.start, place.k) for place in self.places)
        return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)

    @property
    def humans(self) -> list[str]:
        """Names of the human scores."""
        return sorted({place.part.split(" ")[-1] for place in self.places})

    @property
    def targets(self) -> tuple[str, ...]:
        """Languages of the outputs."""
        return tuple(sorted({place.part.split(" ")[-2].split("-")[-1] for place in self.places}))

    def take(self, chosen: IntArray | Sequence[int]) -> TrainingExamples:
        return TrainingExamples(
            tuple(self.pairs[i] for i in chosen),
            self.gold[np.asarray(chosen, dtype=np.int64)],
            tuple(self.places[i] for i in chosen),
        )

    def digest(self) -> str:
        """Hash everything the examples hold."""
        total = hashlib.blake2b(digest_size=12)
        for pair, gold, place in zip(self.pairs, self.gold.tolist(), self.places):
            total.update(request_key(f"{gold!r}{place}", pair))
        return total.hexdigest()


def read_examples(
    recipe: Recipe, root: Path | None = None
) -> tuple[TrainingExamples, TrainingExamples]:
    """Read training and validation examples; ``root`` is where EvalSets are looked up by name."""

    def read(sets: Sequence[Data]) -> TrainingExamples:
        parts = [_part(recipe, data, lp, root) for data in sets for lp in (data.langs or ("",))]
        pairs = tuple(pair for part in parts for pair in part.pairs)
        places = tuple(place for part in parts for place in part.places)
        return TrainingExamples(pairs, np.concatenate([part.gold for part in parts]), places)

    every = read(recipe.data)
    if recipe.validation:
        held = read(recipe.validation)
        held_docs = {place.doc for place in held.places}
    else:
        held_docs = held_back({place.doc for place in every.places}, recipe.share)
        held = every.take([i for i, place in enumerate(every.places) if place.doc in held_docs])
    # a document is never on both sides, in whichever set or language pair it comes
    train = every.take([i for i, place in enumerate(every.places) if place.doc not in held_docs])
    train, held = _limited(train, recipe.most), _limited(held, recipe.validation_most, by_part=True)
    humans = sorted({*train.humans, *held.humans})
    if not len(train) or not len(held) or float(np.std(train.gold)) == 0 or len(humans) > 1:
        raise InputError(
            f"{len(train)} training examples and {len(held)} for validation, with human scores "
            f"{' and '.join(humans)}: there must be several, with different scores of one name",
            next="use more documents or another share, and name the human scores",
        )
    return train, held


def held_back(docs: set[str], share: float) -> set[str]:
    """Choose documents for validation by a hash of their names, at least one."""
    order = sorted(
        docs, key=lambda doc: (hashlib.blake2b(f"0:{doc}".encode(), digest_size=8).digest(), doc)
    )
    return set(order[: min(len(docs) - 1, max(1, round(share * len(docs))))])


def find_evalset(name: str, root: Path | None) -> Path:
    """Locate an EvalSet: a folder, or the name of one in the data folder."""
    data = root or Path(os.environ.get("WHOLETEXT_DATA", "."))
    for path in (Path(name), data / name, data / "evalsets" / name):
        if path.is_dir():
            return path
    known = [path.name for folder in (data, data / "evalsets") for path in folder.glob("*/")]
    raise InputError(
        f"there is no EvalSet {name!r}",
        next=did_you_mean(name, sorted(known))
        or "give its folder, or where EvalSets are with --data (or WHOLETEXT_DATA)",
    )


def _part(recipe: Recipe, data: Data, langs: str, root: Path | None) -> TrainingExamples:
    """Read the examples of one language pair of one EvalSet."""
    folder = find_evalset(data.evalset, root)
    evalset = EvalSet.open(folder, langs or None)
    lp, where = evalset.langs, f"{folder} {evalset.langs}"
    human = data.human or paragraph_gold(evalset.human_names) or ""
    source = find_ratings(evalset, human)
    loaded = evalset.load()
    available = loaded.corpus.references
    refs = data.refs or evalset.standard[:1]
    if "ref" in recipe.reads and (not refs or not set(refs) <= {*available}):
        raise InputError(
            f"there is no reference {', '.join(refs)!r}",
            where=where,
            next=f"there are {', '.join(available) or 'none'}",
        )
    others = [EvalSet.open(find_evalset(other, root), lp).load().corpus for other in data.without]
    left_out = {doc.id for other in others for doc in other.docs}
    included = [doc.id for doc in loaded.corpus.docs if doc.id not in left_out]
    first = set(included[data.skip : data.skip + data.documents if data.documents else None])
    lengths = data.k or recipe.k
    scores: dict[Judged, list[float]] = {}
    for k in lengths:
        for paragraph in paragraphs(source.ratings, Windows(k, total=source.total)):
            if paragraph.doc in first:
                key = (paragraph.doc, paragraph.start, k, paragraph.system)
                scores.setdefault(key, []).append(paragraph.score)
    if not scores:
        raise InputError(
            f"no paragraph of {', '.join(map(str, lengths))} segments has human scores {human!r}",
            where=where,
            next="check the name of the scores, or use smaller k",
        )
    refs = refs if "ref" in recipe.reads else ("",)
    return _paired(recipe, f"{folder.name} {lp} {human}", loaded, scores, refs)


def _paired(
    recipe: Recipe,
    part: str,
    loaded: Loaded,
    scores: dict[Judged, list[float]],
    refs: tuple[str, ...],
) -> TrainingExamples:
    """Make an example of each judged paragraph and reference, in the order of the corpus."""
    docs = {doc.id: doc for doc in loaded.corpus.docs}
    order = {doc: i for i, doc in enumerate(docs)}
    outputs = {output.system: output.docs for output in loaded.outputs}
    glue = [joiner(lang, recipe.joiner) for lang in loaded.corpus.langs]
    if not {key[3] for key in scores} <= outputs.keys() or (
        "src" in recipe.reads and not loaded.corpus.has_source
    ):
        raise AlignmentError(
            "a system with human scores has no output, or there is no source",
            where=part,
            next="ratings and texts must match; a metric without src in reads needs no source",
        )
    examples: list[tuple[Request, float, ExamplePlace]] = []
    for key in sorted(scores, key=lambda key: (key[2], order[key[0]], key[1], key[3])):
        doc, start, k, system = key
        segments, focus = slice(start, start + k), (0, k)
        hyp = Excerpt(outputs[system][doc][segments], focus, glue[1])
        source = (docs[doc].src or ())[segments]
        src = Excerpt(source, focus, glue[0]) if "src" in recipe.reads else None
        for ref in (ref for ref in refs if ref != system):
            against = (Excerpt(docs[doc].refs[ref][segments], focus, glue[1]),) if ref else ()
            place = ExamplePlace(part, doc, start, k, system, ref)
            request = Request((hyp,), src, against)
            examples.append((request, float(np.mean(scores[key])), place))
    pairs, gold, places = zip(*examples) if examples else ((), (), ())
    return TrainingExamples(pairs, np.array(gold), places)


def _limited(examples: TrainingExamples, most: int, by_part: bool = False) -> TrainingExamples:
    """Limit the items of each length (of each part)."""
    if not most:
        return examples
    rng, item = np.random.default_rng([0, 1 + by_part]), examples.item
    groups: dict[tuple[str, int], list[int]] = {}
    for i, place in enumerate(examples.places):
        groups.setdefault((place.part if by_part else "", place.k), []).append(i)
    chosen = [rng.permutation(np.unique(item[group]))[:most] for _, group in sorted(groups.items())]
    return examples.take(np.flatnonzero(np.isin(item, np.concatenate(chosen))))


def draw(
    k: IntArray,
    sampling: Sampling,
    fill: Fill,
    rng: np.random.Generator,
    item: IntArray | None = None,
) -> IntArray:
    """Draw the examples of an epoch, in order; with ``item``, those of an item stay together.

    ``sentence``: those of length 1. ``uniform``: all. ``stratified``: equally many of each length,
    as many as the rarest has, without replacement; with ``fill="most"`` as many as the most
    frequent has, the rarer ones repeated.
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
    """Shuffle; with ``item``, items, and the examples within each."""
    shuffled = np.asarray(rng.permutation(chosen))
    if item is None or not len(chosen):
        return shuffled
    _, which = np.unique(item[shuffled], return_inverse=True)
    place = rng.permutation(int(which.max()) + 1)
    return np.asarray(shuffled[np.argsort(place[which], kind="stable")])


@dataclass(frozen=True)
class HeldOutAgreement:
    """Agreement on validation examples, by which a checkpoint is chosen."""

    loss: float  # squared error, in units of the training scores' variance
    acc_eq: float  # ties calibrated; mean over parts; NaN where no outputs can be compared
    pearson: float  # mean over parts
    parts: tuple[tuple[str, int, float, float], ...]  # name, pairs compared, acc_eq, Pearson's r

    def __str__(self) -> str:
        return (
            f"validation loss {self.loss:.4f}, acc_eq* {self.acc_eq:.4f}, "
            f"Pearson {self.pearson:.4f}"
        )

    @property
    def score(self) -> float:
        """Validation objective: acc_eq, or the negative loss if no item has two judged outputs."""
        return -self.loss if np.isnan(self.acc_eq) else self.acc_eq


def judge(held: TrainingExamples, predicted: FloatArray, spread: float) -> HeldOutAgreement:
    """Compute the agreement of (n,) predictions; several references of an output are averaged."""
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
    return HeldOutAgreement(
        loss, _mean([part[2] for part in parts]), _mean([part[3] for part in parts]), tuple(parts)
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
