"""Utilities of candidates under MBR: the mean score of each with every candidate as its reference.

Any metric with a reference is a utility (Eikema & Aziz 2022). Pairs are scored exactly; for chrF and
sentence vectors the statistics of all pairs of a segment come from matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wholetext.errors import MetricError
from wholetext.io import Loaded
from wholetext.metrics.sbert import Sbert
from wholetext.metrics.surface import Chrf
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.text.overlap import characters, words
from wholetext.types import Document, Excerpt, FloatArray, IntArray, Level, Metric, Output, Runtime
from wholetext.views import Sentence

ROWS = 100_000  # pairs that are scored at a time

Pairwise = Callable[[Sequence[str]], FloatArray]  # N texts → (N, N, k) statistics: hyp, ref


def utilities(loaded: Loaded, spec: str, by_document: bool, options: Options) -> FloatArray:
    """Compute (units, candidates) expected scores; units are segments or documents."""
    chosen = scorer(spec)
    if "ref" not in chosen.metric.needs:
        raise MetricError(
            f"{chosen.spec} reads no reference, so it is no utility for MBR",
            next="leave --mbr out to choose by its score, or use chrf, sbert, bertscore, comet …",
        )
    langs = loaded.corpus.langs
    metric = chosen.metric.resolve(langs)
    with options.computer(langs) as computer:
        steps = _pairwise(replace(chosen, metric=metric), computer.engine)
        if steps is not None:
            return np.concatenate(list(_from_matrices(loaded, metric, *steps, by_document)))
    parts = [_scored(part, chosen.spec, by_document, options) for part in _blocks(loaded)]
    return np.concatenate(parts)


def _pairwise(
    chosen: Scorer, run: Runtime
) -> tuple[Callable[[Sequence[str]], object], Pairwise] | None:
    """Choose what to compute for all texts of a document at once, and then for each segment."""
    metric = chosen.metric
    if not isinstance(chosen.view, Sentence):
        return None
    if isinstance(metric, Chrf):
        return len, lambda texts: chrf_statistics(metric, texts)
    if isinstance(metric, Sbert):

        def vectors(texts: Sequence[str]) -> list[FloatArray]:  # the engine keeps them
            return run.map(metric.backend(run), [Excerpt((text,), (0, 1)) for text in texts])

        return vectors, lambda texts: cosine_statistics(np.array(vectors(texts)))
    return None


# ---------------------------------------------------------------- all pairs of a segment at once


def _from_matrices(
    loaded: Loaded,
    metric: Metric,
    prepare: Callable[[Sequence[str]], object],
    pairwise: Pairwise,
    by_document: bool,
) -> Iterator[FloatArray]:
    for doc in loaded.corpus.docs:
        columns = [output.docs[doc.id] for output in loaded.outputs]
        prepare([text for column in columns for text in column])
        total: Any = 0.0
        for texts in zip(*columns, strict=True):
            different = list(dict.fromkeys(texts))
            place = [different.index(text) for text in texts]
            stats = pairwise(different)[np.ix_(place, place)]
            if by_document:
                total = total + stats
            else:
                yield _expected(metric.reduce_rows(stats))
        if by_document:
            yield _expected(metric.reduce(total))


def _expected(scores: FloatArray) -> FloatArray:
    """Average (N, N, outputs) scores over the references: (1, N)."""
    return np.asarray(scores[..., 0].mean(axis=1))[None]


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
    """Count the n-grams in common of each two of N texts: (N, N, orders)."""
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
        counts = np.bincount(owner[at] * len(grams) + code, minlength=number * len(grams))
        counts = counts.reshape(number, len(grams))
        k = 0
        while counts.size:
            k += 1
            above = (counts >= k).astype(np.float32)
            common[:, :, order] += above @ above.T
            counts = counts[:, counts.max(axis=0) > k]
    return common


def cosine_statistics(vectors: FloatArray) -> FloatArray:
    """Cosines of all pairs of sentence vectors, as statistics of a mean."""
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T).astype(np.float64)
    known = ~np.isnan(cosines)
    return np.stack([np.where(known, cosines, 0.0), known.astype(np.float64)], axis=2)


# ---------------------------------------------------------------- any metric


def _blocks(loaded: Loaded) -> Iterator[Loaded]:
    """Parts of a corpus of about ``ROWS`` pairs."""
    docs: list[Document] = []
    pairs = 0
    for doc in loaded.corpus.docs:
        size = len(loaded.outputs) ** 2 * len(loaded.outputs[0].docs[doc.id])
        if docs and pairs + size > ROWS:
            yield replace(loaded, corpus=replace(loaded.corpus, docs=tuple(docs)))
            docs, pairs = [], 0
        docs.append(doc)
        pairs += size
    yield replace(loaded, corpus=replace(loaded.corpus, docs=tuple(docs)))


def _scored(loaded: Loaded, spec: str, by_document: bool, options: Options) -> FloatArray:
    """Score all candidates against all: documents are repeated, each with another reference."""
    names = [output.system for output in loaded.outputs]
    docs, copies = [], {}
    for doc in loaded.corpus.docs:
        for i, output in enumerate(loaded.outputs):
            copy = replace(doc, id=f"{doc.id}\t{i}", refs={"candidate": output.docs[doc.id]})
            docs.append(copy)
            copies[copy.id] = doc.id
    corpus = replace(loaded.corpus, docs=tuple(docs))
    outputs = [
        Output(output.system, {copy: output.docs[doc] for copy, doc in copies.items()})
        for output in loaded.outputs
    ]
    results = score(Loaded(corpus, outputs), [spec], options=replace(options, flags=False))
    (by_system,) = results.scores.values()
    level: Level = "doc" if by_document else "segment"
    table = np.stack([by_system[name].at(level) for name in names], axis=1)  # (units, N)
    sizes = [1 if by_document else len(outputs[0].docs[doc.id]) for doc in docs]
    parts = np.split(table, np.cumsum(sizes)[:-1])
    each = len(names)  # copies of a document
    return np.concatenate(
        [np.mean(parts[i : i + each], axis=0) for i in range(0, len(parts), each)]
    )
