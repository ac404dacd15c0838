"""Utilities of candidates under MBR: the mean score of each with every candidate as its reference.

Any metric with a reference is a utility (Eikema & Aziz 2022). Pairs are scored exactly; for chrF and
sentence vectors the statistics of all pairs of a segment come from matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np

from wholetext.errors import MetricError
from wholetext.io import Loaded
from wholetext.metrics.sbert import Sbert
from wholetext.metrics.surface import Chrf
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.text.overlap import characters, words
from wholetext.types import Excerpt, FloatArray, IntArray, Level, Metric, Output, Runtime
from wholetext.views import Sentence

ROWS = 100_000  # pairs that are scored at a time

Pairwise = Callable[[Sequence[str]], FloatArray]  # N texts → (N, N, k) statistics: hyp, ref


def utilities(loaded: Loaded, spec: str, by_document: bool, options: Options) -> FloatArray:
    """(units, candidates) expected score of each candidate; units are segments or documents."""
    chosen = scorer(spec)
    if "ref" not in chosen.metric.needs:
        raise MetricError(
            f"{chosen.spec} reads no reference, so it is no utility for MBR",
            next="leave --mbr out to choose by its score, or use chrf, sbert, bertscore, comet …",
        )
    langs = loaded.corpus.langs
    metric = chosen.metric.resolve(langs)
    with options.computer(langs) as computer:
        pairwise = _pairwise(replace(chosen, metric=metric), computer.engine)
        if pairwise is not None:
            return np.concatenate(list(_from_matrices(loaded, metric, pairwise, by_document)))
    return np.concatenate(
        [_scored(part, chosen.spec, by_document, options) for part in _blocks(loaded)]
    )


def _pairwise(chosen: Scorer, run: Runtime) -> Pairwise | None:
    """Return what scores all pairs of some texts at once, where there is such a thing."""
    if isinstance(chosen.view, Sentence) and isinstance(chosen.metric, Chrf):
        return partial(chrf_statistics, chosen.metric)
    if isinstance(chosen.view, Sentence) and isinstance(chosen.metric, Sbert):
        return partial(cosine_statistics, chosen.metric, run)
    return None


# ---------------------------------------------------------------- all pairs of a segment at once


def _from_matrices(
    loaded: Loaded, metric: Metric, pairwise: Pairwise, by_document: bool
) -> Iterator[FloatArray]:
    reduce = metric.reduce if by_document else metric.reduce_rows
    for doc in loaded.corpus.docs:
        columns = [output.docs[doc.id] for output in loaded.outputs]
        stats = (_all_pairs(texts, pairwise) for texts in zip(*columns, strict=True))
        for each in [sum(stats, np.zeros(()))] if by_document else stats:
            # (N, N, outputs) scores: the mean over the references
            yield np.asarray(reduce(each)[..., 0].mean(axis=1))[None]


def _all_pairs(texts: Sequence[str], pairwise: Pairwise) -> FloatArray:
    """(N, N, k) statistics; equal texts are compared once."""
    different = list(dict.fromkeys(texts))
    place = [different.index(text) for text in texts]
    return pairwise(different)[np.ix_(place, place)]


def chrf_statistics(metric: Chrf, texts: Sequence[str]) -> FloatArray:
    """Count n-grams as chrF does, of all pairs: n-grams of hypothesis, of reference, and in common.

    Common n-grams of two texts are Σₖ [a ≥ k]·[b ≥ k] over n-grams and k = 1, 2 …, as
    min(a, b) = Σₖ [a ≥ k][b ≥ k]: a product of matrices of zeros and ones.
    """
    if metric.lowercase:
        texts = [text.lower() for text in texts]
    bare = texts if metric.whitespace else ["".join(text.split()) for text in texts]
    orders = [_common(*characters(bare), metric.char_order)]
    if metric.word_order:
        peer = metric.sacrebleu()
        tokens = [peer._remove_punctuation(text) for text in texts]
        orders.append(_common(*words(tokens), metric.word_order))
    match = np.concatenate(orders, axis=2)  # (N, N, orders)
    own = np.einsum("iio->io", match)  # a text has all its n-grams in common with itself
    hyp, ref = np.broadcast_to(own[:, None], match.shape), np.broadcast_to(own[None], match.shape)
    stats = np.stack([np.where(ref > 0, hyp, 0.0), ref, match], axis=3)
    return stats.reshape(*match.shape[:2], -1)


def _common(tokens: IntArray, lengths: IntArray, orders: int) -> FloatArray:
    """(N, N, orders) n-grams in common of each two of N texts."""
    number = len(lengths)
    owner = np.repeat(np.arange(number), lengths)
    left = np.cumsum(lengths)[owner] - np.arange(len(tokens))  # tokens to the end of the text
    alphabet = int(tokens.max(initial=0)) + 1
    code, at = np.zeros(len(tokens), dtype=np.int64), np.arange(len(tokens))
    common = np.zeros((number, number, orders))
    for order in range(orders):
        kept = left[at] > order
        at, code = at[kept], code[kept]
        grams, code = np.unique(code * alphabet + tokens[at + order], return_inverse=True)
        size = number * len(grams)
        counts = np.bincount(owner[at] * len(grams) + code, minlength=size).reshape(number, -1)
        most = counts.max(axis=0, initial=0)
        for k in range(1, most.max(initial=0) + 1):
            above = (counts[:, most >= k] >= k).astype(np.float32)
            common[:, :, order] += above @ above.T
    return common


def cosine_statistics(metric: Sbert, run: Runtime, texts: Sequence[str]) -> FloatArray:
    """Cosines of the sentence vectors of all pairs, as statistics of a mean."""
    vectors = np.array(run.map(metric.backend(run), [Excerpt((text,), (0, 1)) for text in texts]))
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T).astype(np.float64)
    return np.stack([np.nan_to_num(cosines), ~np.isnan(cosines)], axis=2)


# ---------------------------------------------------------------- any metric


def scores(loaded: Loaded, spec: str, by_document: bool, options: Options) -> FloatArray:
    """(units, candidates) scores of a metric; units are segments or documents."""
    (by_system,) = score(loaded, [spec], options=replace(options, flags=False)).scores.values()
    level: Level = "doc" if by_document else "segment"
    return np.stack([by_system[output.system].at(level) for output in loaded.outputs], axis=1)


def _blocks(loaded: Loaded) -> Iterator[Loaded]:
    """Parts of a corpus of about ``ROWS`` pairs."""
    docs, first = loaded.corpus.docs, loaded.outputs[0]
    pairs = np.cumsum([len(first.docs[doc.id]) * len(loaded.outputs) ** 2 for doc in docs])
    for _, block in groupby(zip(pairs // ROWS, docs), key=itemgetter(0)):
        yield replace(loaded, corpus=replace(loaded.corpus, docs=tuple(doc for _, doc in block)))


def _scored(loaded: Loaded, spec: str, by_document: bool, options: Options) -> FloatArray:
    """Score all candidates against all: documents are repeated, each with another reference."""
    copies = {
        f"{doc.id}\t{number}": (doc, output.docs[doc.id])
        for doc in loaded.corpus.docs
        for number, output in enumerate(loaded.outputs)
    }
    docs = [replace(doc, id=id, refs={"candidate": ref}) for id, (doc, ref) in copies.items()]
    outputs = [
        Output(output.system, {id: output.docs[doc.id] for id, (doc, _) in copies.items()})
        for output in loaded.outputs
    ]
    repeated = Loaded(replace(loaded.corpus, docs=tuple(docs)), outputs)
    table = scores(repeated, spec, by_document, options)
    sizes = [1 if by_document else len(ref) for _, ref in copies.values()]
    each = len(outputs)  # copies of a document
    parts = np.split(table, np.cumsum(sizes)[each - 1 : -1 : each])
    return np.concatenate([part.reshape(each, -1, each).mean(axis=0) for part in parts])
