"""BLEU, chrF and chrF++ with sacrebleu's definitions, for many texts at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from wholetext.errors import MissingExtra, ModelError, SpecError
from wholetext.text import code_of, is_unspaced
from wholetext.text.mteval import tokenize_13a
from wholetext.text.overlap import blocks, characters, compared, overlap, words
from wholetext.types import FloatArray, Metric, Request, Runtime

Smoothing = Literal["exp", "floor", "add-k", "none"]
Tokenizer = Literal[
    "auto",
    "13a",
    "intl",
    "zh",
    "ja-mecab",
    "ko-mecab",
    "char",
    "none",
    "spm",
    "flores101",
    "flores200",
    "spBLEU-1K",
]
Auto = Literal["auto", True, False]
# sacrebleu's defaults; other kinds of smoothing have no value
SMOOTH_VALUES: Mapping[str, float] = {"floor": 0.1, "add-k": 1.0}
_SENTENCEPIECE = frozenset({"spm", "flores101", "flores200", "spBLEU-1K"})
_BY_LANGUAGE: Mapping[str, Tokenizer] = {
    "zh": "zh",
    "yue": "zh",
    "ja": "ja-mecab",
    "ko": "ko-mecab",
}
MAX_ORDER = 16  # of n-grams; beyond that no text has matches, only statistics that cost memory


@dataclass(frozen=True)
class Surface(Metric):
    """Base of BLEU, chrF and TER: sacrebleu prepares the texts; counts equal sacrebleu's."""

    range = (0.0, 100.0)
    block = 8192
    reads_context = False
    together: ClassVar[int] = 200_000  # characters counted at a time

    @abstractmethod
    def sacrebleu(self) -> Any:
        """Return the configured sacrebleu metric."""

    @abstractmethod
    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        """Prepare texts as sacrebleu does: tokens between blanks."""

    @abstractmethod
    def count(self, groups: Sequence[Sequence[str]]) -> FloatArray:
        """Count statistics (groups, k); a group is a hypothesis and its references, prepared."""

    def facts(self) -> Mapping[str, str]:
        facts = {"sacrebleu": version("sacrebleu")}
        if vars(self).get("tokenize", "").endswith("mecab"):  # its version changes words
            facts["tokenizer"] = str(self.sacrebleu().tokenizer.signature())
        return facts

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        rows = [[view.text for view in (request.hyp[0], *request.refs)] for request in requests]
        texts = list(dict.fromkeys(chain.from_iterable(rows)))  # each is prepared once
        ready = dict(zip(texts, self.prepare(texts)))
        groups = [[ready[text] for text in row] for row in rows]
        sizes = [sum(map(len, group)) for group in groups]
        return np.concatenate([self.count(groups[part]) for part in blocks(sizes, self.together)])


@dataclass(frozen=True)
class Bleu(Surface):
    """BLEU (Papineni et al. 2002) as sacrebleu computes it (Post 2018)."""

    name = "bleu"
    summary = "n-gram precision with brevity penalty (sacrebleu)"

    tokenize: Tokenizer = "auto"
    lowercase: bool = False
    smooth: Smoothing = "exp"
    smooth_value: float | None = None
    # rows: sentence BLEU stops at the longest n-gram of the text
    effective_order: Literal["rows", "always", "never"] = "rows"
    max_ngram_order: int = 4
    counts: bool = False  # also output the n-gram counts and lengths behind the score

    def __post_init__(self) -> None:
        if not 1 <= self.max_ngram_order <= MAX_ORDER or (self.smooth_value or 0) < 0:
            raise SpecError(
                f"bleu: max_ngram_order is from 1 to {MAX_ORDER}, smooth_value not negative",
                next="leave them out for sacrebleu's defaults",
            )
        orders = range(1, self.max_ngram_order + 1)
        outputs = ["score", *(f"precision{n}" for n in orders), "brevity"]
        if self.counts:
            counted = (f"{kind}{n}" for kind in ("matches", "ngrams") for n in orders)
            outputs += ["hyp_length", "ref_length", *counted]
        object.__setattr__(self, "outputs", tuple(outputs))

    def resolve(self, langs: tuple[str, str]) -> Bleu:
        auto = _BY_LANGUAGE.get(code_of(langs[1]), "13a")
        value = SMOOTH_VALUES.get(self.smooth) if self.smooth_value is None else self.smooth_value
        tokenize = auto if self.tokenize == "auto" else self.tokenize
        return replace(self, tokenize=tokenize, smooth_value=value)

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        if self.tokenize not in ("13a", "intl", "none") or not is_unspaced(langs[1]):
            return ()
        return (
            f"bleu: the tokenizer {self.tokenize} splits at blanks, and {langs[1]} has none "
            "between words: a token is a whole phrase; "
            "use bleu(tokenize=flores200) or bleu(tokenize=char)",
        )

    def sacrebleu(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU

        if self.tokenize in _SENTENCEPIECE:
            _require_tokenizer(self.tokenize)
        try:
            return BLEU(
                tokenize=None if self.tokenize == "auto" else self.tokenize,
                lowercase=self.lowercase,
                smooth_method=self.smooth,
                smooth_value=self.smooth_value,
                force=True,
                max_ngram_order=self.max_ngram_order,
            )
        except (ImportError, RuntimeError) as fault:
            extra = "models" if self.tokenize in _SENTENCEPIECE else "cjk"
            raise MissingExtra(f"the tokenizer {self.tokenize} ({fault})", extra) from fault
        except OSError as fault:  # sacrebleu downloads the model
            raise ModelError(
                f"the tokenizer {self.tokenize} is not on this machine and could not be fetched "
                f"({fault})",
                next="run once with a connection; sacrebleu keeps it in ~/.sacrebleu",
            ) from fault

    def prepare(self, texts: Sequence[str]) -> list[str]:
        # refused here: runs of 0.1.0 that have it are opened
        if self.smooth_value is not None and self.smooth not in SMOOTH_VALUES:
            raise SpecError(
                f"bleu(smooth={self.smooth}) does not read smooth_value",
                next=f"leave it out, or choose smooth={' or smooth='.join(SMOOTH_VALUES)}",
            )
        if self.tokenize == "13a":
            return tokenize_13a([text.lower() for text in texts] if self.lowercase else texts)
        return list(map(self.sacrebleu()._preprocess_segment, texts))

    def count(self, groups: Sequence[Sequence[str]]) -> FloatArray:
        """Count: length, length of the nearest reference, matches, n-grams (n, 2 + 2·order)."""
        texts, sets = compared(groups)
        grams = overlap(words([text.split() for text in texts]), sets, self.max_ngram_order)
        lengths = grams.ref[:, :, 0]  # (n, references)
        far = np.abs(lengths - grams.hyp[:, :1])
        nearest = np.where(far == far.min(axis=1, keepdims=True), lengths, np.inf).min(axis=1)
        return np.column_stack([grams.hyp[:, 0], nearest, grams.match_any, grams.hyp])

    @np.errstate(divide="ignore", invalid="ignore")
    def reduce(self, totals: FloatArray, rows: bool = False) -> FloatArray:
        """(..., 2 + 2·order) lengths, matches, counts → (..., outputs)."""
        highest = self.max_ngram_order
        hyp_len, ref_len = np.trunc(totals[..., 0]), np.trunc(totals[..., 1])
        match, count = totals[..., 2 : 2 + highest], totals[..., 2 + highest :]  # (..., order)
        none = np.asarray(~(match > 0).any(axis=-1))
        default = SMOOTH_VALUES.get(self.smooth, 0.0)
        value = default if self.smooth_value is None else self.smooth_value
        if self.smooth == "add-k":
            more = np.append(0.0, np.full(highest - 1, value))
            match, count = match + more, count + more
        # orders up to the first that has no n-gram
        seen = np.logical_and.accumulate(count > 0, axis=-1)
        missed = seen & (match == 0)
        effective = self.effective_order == "always" or (rows and self.effective_order == "rows")
        order = np.maximum(seen.sum(axis=-1), 1) if effective else highest
        used = np.arange(highest) < np.expand_dims(order, -1)
        short = np.where(hyp_len > 0, np.exp(1 - ref_len / hyp_len), 0.0)
        brevity = np.where(hyp_len < ref_len, short, 1.0)
        precision = np.where(seen, match / count, 0.0)
        if self.smooth == "exp":
            halved = 1 / (2.0 ** np.cumsum(missed, axis=-1) * count)
            precision = np.where(missed, halved, precision)
        elif self.smooth == "floor":
            precision = np.where(missed, value / count, precision)
        logs = np.where(used, np.log(100 * precision), 0.0)
        mean = np.exp(logs.sum(axis=-1) / order)  # geometric, (...)
        score = np.where(none, 0.0, brevity * mean)[..., None]
        precision = np.where(none[..., None], 0.0, 100 * precision)
        counts = [totals] if self.counts else []
        return np.concatenate([score, precision, brevity[..., None], *counts], axis=-1)

    reduce_rows = partialmethod(reduce, rows=True)


def _require_tokenizer(name: str) -> None:
    """Raise an error if sacrebleu would download a tokenizer although downloads are disabled."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    from wholetext.models.hub.locate import offline

    path = Path(SACREBLEU_DIR, "models", SPM_MODELS[name]["url"].rpartition("/")[2])
    if offline() and not path.is_file():
        raise ModelError(
            f"the tokenizer {name} is not on this machine, and HF_HUB_OFFLINE disables downloads",
            next=f"fetch it: wholetext demo -m 'bleu(tokenize={name})' where downloads are allowed",
        )


@dataclass(frozen=True)
class Chrf(Surface):
    """chrF (Popović 2015) as sacrebleu computes it."""

    name = "chrf"
    summary = "character n-gram F-score (sacrebleu)"

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    def __post_init__(self) -> None:
        if self.char_order < 1 or self.word_order < 0 or self.beta < 1:
            raise SpecError(
                f"{self.name}: char_order and beta are at least 1, word_order at least 0",
                next=f"e.g. {self.name}(char_order=6,beta=2)",
            )

    def sacrebleu(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        return [text.lower() for text in texts] if self.lowercase else texts

    def count(self, groups: Sequence[Sequence[str]]) -> FloatArray:
        """Count n-grams of hypothesis, best reference and both: (n, 3·orders)."""
        texts, sets = compared(groups)
        bare = texts if self.whitespace else ["".join(text.split()) for text in texts]
        grams = [overlap(characters(bare), sets, self.char_order)]
        if self.word_order:
            plain = list(map(self.sacrebleu()._remove_punctuation, texts))
            grams.append(overlap(words(plain), sets, self.word_order))
        hyp = np.concatenate([part.hyp for part in grams], axis=1)[:, None]  # (n, 1, orders)
        ref = np.concatenate([part.ref for part in grams], axis=2)  # (n, references, orders)
        match = np.concatenate([part.match for part in grams], axis=2)
        # (n, references, orders, 3)
        each = np.stack([np.where(ref > 0, hyp, 0.0), ref, match], axis=3)
        stats = each.reshape(*each.shape[:2], -1)
        best = self.reduce(stats)[:, :, 0].argmax(axis=1)
        return np.asarray(stats[np.arange(len(stats)), best])

    @np.errstate(divide="ignore", invalid="ignore")
    def reduce(self, totals: FloatArray) -> FloatArray:
        hyp, ref, match = (totals[..., i::3] for i in range(3))  # each (..., orders)
        factor = float(self.beta) ** 2
        precision, recall = match / hyp, match / ref
        precision = np.where(hyp > 0, precision, 1e-16)
        recall = np.where(ref > 0, recall, 1e-16)
        if self.eps_smoothing:
            bottom = factor * precision + recall
            each = np.where(bottom > 0, (1 + factor) * precision * recall / bottom, 1e-16)
            return np.asarray(100 * each.mean(axis=-1, keepdims=True))
        both = (hyp > 0) & (ref > 0)
        orders = both.sum(axis=-1)
        p, r = (
            np.where(orders > 0, np.where(both, each, 0.0).sum(axis=-1) / orders, 0.0)
            for each in (precision, recall)
        )
        score = np.where(p + r > 0, (1 + factor) * p * r / (factor * p + r), 0.0)
        return np.asarray(100 * score[..., None])


@dataclass(frozen=True)
class ChrfPlusPlus(Chrf):
    """chrF++ (Popović 2017): chrF with word unigrams and bigrams."""

    name = "chrf++"
    summary = "chrF with word unigrams and bigrams (sacrebleu)"

    word_order: int = 2
