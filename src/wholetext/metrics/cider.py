"""CIDEr-D: n-gram agreement weighted by how rare an n-gram is among the references."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from wholetext.errors import SpecError
from wholetext.text.mteval import tokenize_13a
from wholetext.types import Excerpt, FloatArray, Metric, Request, Runtime, mean_stats

ORDERS = 4
Ngrams = Mapping[tuple[str, ...], int]


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many reference segments each n-gram occurs."""

    segments: int
    counts: Mapping[tuple[str, ...], int]


@dataclass(frozen=True)
class Cider(Metric):
    """CIDEr-D (Vedantam et al. 2015, §4 and appendix), 0 to 10.

    Frequencies are those of the reference segments of the corpus, whatever the view; n-grams of a
    hypothesis that no reference has count as occurring once. Several references: the mean.
    """

    name = "cider"
    summary = "n-grams in common, weighted by how rare they are in the references"
    range = (0.0, 10.0)
    decimals = 4
    surveys = True

    sigma: float = 6.0  # width of the penalty on a difference in length
    lowercase: bool = True

    def __post_init__(self) -> None:
        if self.sigma <= 0:
            raise SpecError("cider: sigma is above 0", next="leave it out for the published 6")

    def facts(self) -> Mapping[str, str]:
        return {"several_refs": "mean"}

    def survey(
        self, references: Iterable[tuple[Excerpt, ...]], run: Runtime
    ) -> DocumentFrequencies:
        counts: Counter[tuple[str, ...]] = Counter()
        segments = 0
        for refs in references:
            segments += 1
            counts.update({ngram for ref in refs for ngram in self._ngrams(ref.text)})
        return DocumentFrequencies(segments, dict(sorted(counts.items())))

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats(
            [
                fmean(self._pair(hyp.text, ref.text, run.survey) for hyp, ref in request.pairs())
                for request in requests
            ]
        )

    def _ngrams(self, text: str) -> Ngrams:
        words = tokenize_13a([text.lower() if self.lowercase else text])[0].split()
        return Counter(
            tuple(words[at : at + order])
            for order in range(1, ORDERS + 1)
            for at in range(len(words) - order + 1)
        )

    def _pair(self, hyp: str, ref: str, survey: DocumentFrequencies) -> float:
        hyp_ngrams, ref_ngrams = self._ngrams(hyp), self._ngrams(ref)
        hyp_weights, ref_weights = _weights(hyp_ngrams, survey), _weights(ref_ngrams, survey)
        products, norms = np.zeros(ORDERS), np.zeros((2, ORDERS))
        for ngram, weight in hyp_weights.items():
            norms[0, len(ngram) - 1] += weight**2
            shared = ref_weights.get(ngram, 0.0)
            products[len(ngram) - 1] += min(weight, shared) * shared
        for ngram, weight in ref_weights.items():
            norms[1, len(ngram) - 1] += weight**2
        scale = np.sqrt(norms[0] * norms[1])
        cosines = np.divide(products, scale, out=products, where=scale > 0)
        # lengths are counted in bigrams, as in the published code
        lengths = [
            sum(count for ngram, count in ngrams.items() if len(ngram) == 2)
            for ngrams in (hyp_ngrams, ref_ngrams)
        ]
        penalty = math.exp(-((lengths[0] - lengths[1]) ** 2) / (2 * self.sigma**2))
        return float(10.0 * penalty * cosines.mean())


def _weights(ngrams: Ngrams, survey: DocumentFrequencies) -> dict[tuple[str, ...], float]:
    """Term frequency times log(segments / segments that have the n-gram)."""
    total = math.log(survey.segments)
    return {
        ngram: count * (total - math.log(max(1, survey.counts.get(ngram, 0))))
        for ngram, count in ngrams.items()
    }
