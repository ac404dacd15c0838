"""Recipes: the settings of a training run, from TOML and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import file_bytes, read_toml, reader
from wholetext.meta.paragraphs import Raters
from wholetext.training.learned.config import Adapter, HeadShape, Penalty, Side, fill
from wholetext.training.learned.forms import FORMS
from wholetext.views import Joiner

# SENT-BASE, PARA-UNIF, PARA-STRAT (Deutsch et al. 2023, §4)
Sampling = Literal["sentence", "uniform", "stratified"]
Fill = Literal["least", "most"]
# learning rate of the base model by adapter, where the recipe gives none
RATES: Mapping[str, float] = {"frozen": 0.0, "lora": 5e-4, "full": 3e-5}


@dataclass(frozen=True)
class Data:
    """One EvalSet: which language pairs, whose scores, against which references."""

    evalset: str  # a folder, or the name of one in the data folder
    langs: tuple[str, ...] = ()  # none: the only pair there is
    human: str = ""  # human scores by name; "": MQM where there is MQM, else DA as z-scores
    refs: tuple[str, ...] = ()  # none: the standard one of the set; each makes examples of its own
    raters: Raters = "each"  # each rater's paragraphs; several scores of one paragraph are averaged
    total: Literal["auto", "sum", "mean"] = (
        "auto"  # auto: MQM is summed over sentences, DA averaged
    )
    human_systems: bool = True  # judged human translations are examples too
    without: tuple[str, ...] = ()  # EvalSets for testing, whose documents are left out
    documents: int = 0  # only the first so many of each language pair; 0: all
    skip: int = 0  # after so many that are left out
    k: tuple[int, ...] = ()  # lengths of its paragraphs, where they are not the recipe's
    tokenized: bool = False  # of FOLDER/LP.jsonl: references are tokenized, and put together again


@dataclass(frozen=True)
class Recipe:
    """Settings of a training run; its result is determined by them, the data and the base model."""

    data: tuple[Data, ...]
    validation: tuple[Data, ...] = ()  # sets of their own; none: a share of the documents above
    share: float = 0.1  # share of the documents used for validation
    split_seed: int = 0  # chooses them; one split for all seeds
    k: tuple[int, ...] = tuple(range(1, 11))  # lengths of paragraphs in sentences
    sampling: Sampling = "stratified"
    fill: Fill = "least"
    most: int = 0  # training examples of each length at most; 0: all
    validation_most: int = 0  # validation items of each length and part at most; 0: all
    negatives: float = 0.0  # share of single segments of which a damaged copy is added (English)
    joiner: Joiner = "auto"
    target: Literal["score", "error"] = "score"  # error: the negative, so that lower is better

    base: str = "minilm"
    revision: str = ""
    form: str = "aligned"
    reads: tuple[Side, ...] = ("hyp", "ref")
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the form
    adapter: Adapter = field(default_factory=Adapter)
    head: HeadShape = field(default_factory=HeadShape)
    dropout: float = 0.1  # in the head; the base model keeps its own

    epochs: int = 3  # maximum number of epochs
    batch: int = 32  # batch size
    rate: float = 0.0  # learning rate of the base model; 0: 5e-4 for lora, 3e-5 for full
    head_rate: float = 1e-3
    decay: float = 0.01  # weight decay (Loshchilov & Hutter 2019)
    warmup: float = 0.1  # share of the steps in which the learning rate rises
    within: float = 0.0  # weight of errors within an item against those of its mean
    anchor: float = 0.0  # spreads of the form's untrained score, added to the human scores
    rank: float = 0.0  # weight of the ranking loss within an item, 0 … 1
    ridge: float = 0.0  # penalty of squared weights of a linear head that is solved exactly; 0: trained in steps
    evaluate: int = 0  # steps between evaluations; 0: after each epoch
    patience: int = 3  # early stopping: evaluations without improvement; 0: off
    seed: int = 1

    meaning: str = ""  # what a score means; "": the human score it predicts
    zero: float | None = None  # human scores that become 0 and 100, where the scale is to be that
    hundred: float | None = None
    ends: bool = False  # or: 0 for the text of another document, 100 for the reference itself
    penalty: Penalty | None = (
        None  # a second output on the scale of MQM, made from a score of 0 … 100
    )
    version: str = ""  # of the metric

    def __post_init__(self) -> None:
        checks = (
            (not self.data, "there is no data", "name an EvalSet"),
            (
                self.form not in FORMS,
                f"there is no form {self.form!r}",
                did_you_mean(self.form, list(FORMS)) or f"forms: {', '.join(FORMS)}",
            ),
            (
                any(length < 1 for data in self.data for length in data.k),
                "k of data holds a length below 1",
                "",
            ),
            (
                any(min(data.documents, data.skip) < 0 for data in self.data),
                "documents and skip are not negative",
                "",
            ),
            (not self.k or min(self.k) < 1, f"k is {list(self.k)}", "lengths are from 1"),
            (
                self.sampling == "sentence" and 1 not in self.k,
                "sampling=sentence draws k = 1, which is not in k",
                "",
            ),
            (
                not self.validation and not 0 < self.share < 1,
                f"share is {self.share:g}",
                "it must be between 0 and 1",
            ),
            (
                not 0 <= self.negatives <= 1,
                f"negatives is {self.negatives:g}",
                "it must be between 0 and 1",
            ),
            (not 0 <= self.rank <= 1, f"rank is {self.rank:g}", "it must be between 0 and 1"),
            (
                min(self.within, self.anchor, self.ridge) < 0,
                "within, anchor and ridge are not negative",
                "",
            ),
            (
                self.ridge > 0
                and (self.adapter.kind != "frozen" or bool(self.head.hidden) or self.rank > 0),
                "ridge solves a linear head over a frozen base",
                'set adapter.kind = "frozen", head.hidden = [] and rank = 0',
            ),
            (
                self.penalty is not None and not self.ends and self.zero is None,
                "a penalty needs scores of 0 to 100",
                "set ends = true, or zero and hundred",
            ),
            (
                self.ends and self.zero is not None,
                "the scale is given twice, by zero and hundred and by ends",
                "",
            ),
            (not 0 <= self.dropout < 1, f"dropout is {self.dropout:g}", "it must be in [0, 1)"),
            (not 0 <= self.warmup < 1, f"warmup is {self.warmup:g}", "it must be in [0, 1)"),
            (min(self.seed, self.split_seed) < 0, "seeds are not negative", ""),
            (min(self.epochs, self.batch) < 1, "epochs and batch are at least 1", ""),
            (
                self.rate < 0 or self.head_rate <= 0 or self.decay < 0,
                "rate, head_rate and decay are not negative",
                "",
            ),
            (
                (self.zero is None) != (self.hundred is None)
                or (self.zero is not None and self.zero == self.hundred),
                "zero and hundred are given together, and differ",
                "",
            ),
            (
                "hyp" not in self.reads or len(set(self.reads)) < max(2, len(self.reads)),
                f"reads is {list(self.reads)}",
                "it must contain hyp, and at least one of ref and src",
            ),
        )
        for wrong, what, step in checks:
            if wrong:
                raise InputError(f"recipe: {what}", next=step)

    @property
    def learning_rate(self) -> float:
        return self.rate or RATES[self.adapter.kind]


@reader
def read_recipe(path: Path | None, overrides: Mapping[str, Any]) -> Recipe:
    """The recipe of a TOML file with some settings (such as ``adapter.rank``) replaced."""
    where = str(path or "recipe")
    tables: dict[str, Any] = {} if path is None else read_toml(file_bytes(path), where=where)
    for key, value in overrides.items():
        *outer, last = key.split(".")
        table = tables
        for name in outer:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise InputError(f"{key}: {name} is not a table", where=where)
        table[last] = value
    try:
        return fill(Recipe, tables, where, error=InputError)
    except InputError as fault:
        if fault.where:
            raise
        raise InputError(
            fault.what.removeprefix("recipe: "), where=where, next=fault.next
        ) from None


def settings(pairs: Sequence[str]) -> dict[str, Any]:
    """``adapter.rank=16`` → the setting and its value, read as TOML where it is TOML, else as a word."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(
                f"invalid setting {pair!r}",
                next="write --set name=value, e.g. --set adapter.rank=16",
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
    human: str | None = None,
    refs: Sequence[str] = (),
    langs: Sequence[str] = (),
) -> Recipe:
    """The recipe of a TOML file, or of EvalSets with the names of their human scores, references and
    language pairs; with some settings (such as ``adapter.rank``) replaced.
    """
    named = {"human": human, "refs": [*refs], "langs": [*langs]}
    about = {key: value for key, value in named.items() if value}
    files = [str(name) for name in data if str(name).endswith(".toml")]
    if files and len(data) > 1:
        raise InputError(
            "a recipe file cannot be combined with EvalSets",
            where=files[0],
            next="give one or the other; a recipe lists its data itself",
        )
    if files and about:
        raise InputError(
            f"{', '.join(about)} cannot be combined with a recipe file",
            where=files[0],
            next="set it in the recipe",
        )
    if files:
        return read_recipe(Path(files[0]), overrides or {})
    return read_recipe(
        None, {"data": [{"evalset": str(name), **about} for name in data], **(overrides or {})}
    )
