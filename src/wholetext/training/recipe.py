"""Recipes: the settings of a training run, from TOML and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, choices
from wholetext.files.parsing import file_bytes, read_toml, reader
from wholetext.training.learned.folder import HeadShape, Penalty, Side, fill, reads_well
from wholetext.training.learned.forms import FORMS
from wholetext.views import Joiner

Sampling = Literal["sentence", "uniform", "stratified"]
Fill = Literal["least", "most"]
# the metrics of Deutsch et al. 2023, §5.2: the recipe of §5.4 and a way of sampling
PAPER = Path(__file__).parent / "paragraph_metrics.toml"
NAMED: Mapping[str, Sampling] = {
    "sent-base": "sentence",
    "para-unif": "uniform",
    "para-strat": "stratified",
}


@dataclass(frozen=True)
class Data:
    """One EvalSet: which language pairs, whose scores, against which references."""

    evalset: str  # a folder, or the name of one in the data folder
    langs: tuple[str, ...] = ()  # none: the only pair there is
    human: str = ""  # name of the human scores; "": MQM if available, else DA (z-scores)
    refs: tuple[str, ...] = ()  # none: the standard one of the set; each makes examples of its own
    without: tuple[str, ...] = ()  # EvalSets for testing, whose documents are left out
    documents: int = 0  # only the first so many of each language pair; 0: all
    skip: int = 0  # after so many that are left out
    k: tuple[int, ...] = ()  # lengths of its paragraphs, where they are not the recipe's


@dataclass(frozen=True)
class Recipe:
    """Settings of a training run; its result is determined by them, the data and the base model."""

    data: tuple[Data, ...]
    validation: tuple[Data, ...] = ()  # sets of their own; none: a share of the documents above
    share: float = 0.1  # share of the documents used for validation; one split for all seeds
    k: tuple[int, ...] = tuple(range(1, 11))  # lengths of paragraphs in sentences
    sampling: Sampling = "stratified"
    fill: Fill = "least"
    most: int = 0  # training items of each length at most; 0: all
    validation_most: int = 0  # validation items of each part and length at most; 0: all
    joiner: Joiner = "auto"

    base: str = "minilm"
    revision: str = ""
    form: str = "aligned"
    reads: tuple[Side, ...] = ("hyp", "ref")
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the form
    head: HeadShape = field(default_factory=HeadShape)
    dropout: float = 0.1  # in the head; the base model keeps its own

    epochs: int = 3  # maximum number of epochs
    steps: int = 0  # number of steps, whatever the number of epochs; 0: by epochs
    batch: int = 32  # examples of a step
    micro_batch: int = 0  # examples that are in memory at a time; 0: the batch
    optimizer: Literal["adamw", "adafactor"] = "adamw"
    rate: float = 0.0  # learning rate; 0: 1e-3, of a base model with AdamW 3e-5
    schedule: Literal["linear", "constant"] = "linear"  # after the warm-up: decay to 0, or none
    warmup: float = 0.1  # share of the steps in which the learning rate rises
    decay: float = 0.01  # weight decay (Loshchilov & Hutter 2019)
    within: float = 0.0  # weight of errors within an item against those of its mean
    anchor: float = 0.0  # spreads of the form's untrained score, added to the human scores
    evaluate: int = 0  # steps between evaluations; 0: after each epoch
    patience: int = 3  # early stopping: evaluations without improvement; 0: off
    seed: int = 1
    runs: int = 1  # with seeds from ``seed``, each in a folder of its own

    ends: bool = False  # 0 for the text of another document, 100 for the reference itself
    penalty: Penalty | None = None  # a second output on the scale of MQM, where ends = true
    version: str = ""  # of the metric

    def __post_init__(self) -> None:
        lengths = [*self.k, *(length for data in self.data for length in data.k)]
        counts = (self.seed, self.steps, self.micro_batch)
        weights = (self.rate, self.decay, self.within, self.anchor)
        checks = {
            "there is no data": bool(self.data),
            f"there is no form {self.form!r}: {choices(self.form, FORMS)}": self.form in FORMS,
            f"k is {lengths}: lengths are from 1": bool(self.k) and min(lengths) >= 1,
            "sampling=sentence draws k = 1, which is not in k": self.sampling != "sentence"
            or 1 in self.k,
            "share is between 0 and 1, dropout and warmup in [0, 1)": 0 < self.share < 1
            and 0 <= self.dropout < 1
            and 0 <= self.warmup < 1,
            "rates, weights, steps and seeds are not negative": min(*counts, *weights) >= 0,
            "epochs, batch and runs are at least 1": min(self.epochs, self.batch, self.runs) >= 1,
            "anchor needs a form that scores untrained: aligned": not self.anchor
            or self.form == "aligned",
            "a penalty needs scores of 0 to 100: set ends = true": self.ends or not self.penalty,
            "ends are those of a metric that reads a reference": not self.ends
            or "ref" in self.reads,
            f"reads is {list(self.reads)}, not hyp and at least one of ref and src": reads_well(
                self.reads
            ),
        }
        for what, good in checks.items():
            if not good:
                raise TypeError(what)  # `fill` adds where

    @property
    def learning_rate(self) -> float:
        return self.rate or (3e-5 if (self.form, self.optimizer) == ("t5", "adamw") else 1e-3)


@reader
def read_recipe(path: Path | None, overrides: Mapping[str, Any]) -> Recipe:
    """Read the recipe of a TOML file, with settings such as ``head.hidden`` replaced."""
    where = str(path or "recipe")
    tables: dict[str, Any] = {} if path is None else read_toml(file_bytes(path), where=where)
    for key, value in overrides.items():
        *outer, last = key.split(".")
        table = tables
        for name in outer:
            table = table.setdefault(name, {})
        table[last] = value
    return fill(Recipe, tables, where, error=InputError)


def settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse settings such as ``head.hidden=[8]``: values are TOML, or else words."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(
                f"invalid setting {pair!r}", next="write --set name=value, e.g. --set batch=16"
            )
        try:
            values[key.strip()] = read_toml(f"value = {text}")["value"]
        except InputError:
            values[key.strip()] = text.strip()
    return values


def make_recipe(
    data: Sequence[Path | str],
    overrides: Mapping[str, Any] | None = None,
    *,
    human: str = "",
    refs: Sequence[str] = (),
    langs: Sequence[str] = (),
) -> Recipe:
    """Make a recipe from a TOML file, the name of a published metric, or EvalSets.

    Args:
        data: A recipe file; ``sent-base``, ``para-unif`` or ``para-strat`` (Deutsch et al. 2023);
            or EvalSets.
        overrides: Settings that replace those of the file, such as ``head.hidden``.
        human: Name of the human scores of the EvalSets.
        refs: Names of references of the EvalSets.
        langs: Language pairs of the EvalSets.
    """
    named = {"human": human, "refs": [*refs], "langs": [*langs]}
    options = {key: value for key, value in named.items() if value}
    first, changes = str(data[0]), dict(overrides or {})
    if first.lower() not in NAMED and not first.endswith(".toml"):
        sets = [{"evalset": str(name), **options} for name in data]
        return read_recipe(None, {"data": sets, **changes})
    if len(data) > 1 or options:
        raise InputError(
            f"{', '.join(options) or 'EvalSets'} cannot be combined with a recipe",
            where=first,
            next="a recipe lists its data itself: write a file",
        )
    if first.lower() in NAMED:
        return read_recipe(PAPER, {"sampling": NAMED[first.lower()], **changes})
    return read_recipe(Path(first), changes)
