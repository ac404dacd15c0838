"""Do intervals cover and tests keep their level? Simulated corpora with known truth; prints the tables of the docs.

    python benchmarks/coverage.py [--simulations 4000]

Every simulated corpus is one "system" of the resampling code, so one pass of shared draws serves all of them.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from wholetext.scoring.significance.power import power
from wholetext.scoring.significance.resample import (
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    holm,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray

ICC = 0.3  # share of the variance that lies between documents
SIZES = (4, 6, 8, 10, 12, 14, 16)  # segments per document, in turn


def score(totals: FloatArray) -> FloatArray:
    """The mean over segments, as a ratio of totals: documents of different length weigh differently."""
    return totals[..., 0] / totals[..., 1]


def segments(simulations: int, documents: int, rng: np.random.Generator) -> tuple[FloatArray, np.ndarray]:
    """(simulations, segments) values of variance 1 and truth 0 that vary together within a document; its index."""
    doc = np.repeat(np.arange(documents), np.resize(SIZES, documents))
    shared = rng.normal(0, ICC**0.5, size=(simulations, documents))[:, doc]
    return shared + rng.normal(0, (1 - ICC) ** 0.5, size=(simulations, len(doc))), doc


def totals(values: FloatArray, doc: np.ndarray | None = None) -> list[FloatArray]:
    """Per simulation (units, 2) sums and counts: by document, or by segment without ``doc``."""
    table = np.stack([values, np.ones_like(values)], axis=-1)
    if doc is not None:
        table = np.add.reduceat(table, np.flatnonzero(np.diff(doc, prepend=-1)), axis=1)
    return list(table)


def coverage(simulations: int, documents: int, rng: np.random.Generator) -> tuple[float, float]:
    """Share of nominal 95 % intervals that hold the truth: resampling documents, resampling segments."""
    values, doc = segments(simulations, documents, rng)
    shares = []
    for systems in (totals(values, doc), totals(values)):
        found = [interval(samples) for samples in bootstrap_scores(systems, score)]
        shares.append(float(np.mean([each.low <= 0 <= each.high for each in found])))
    return shares[0], shares[1]


def false_alarms(simulations: int, documents: int, rng: np.random.Generator) -> dict[str, float]:
    """Share of pairs of equally good systems that each paired test tells apart at α = .05."""
    a, doc = segments(simulations, documents, rng)
    b, _ = segments(simulations, documents, rng)
    pairs = [(2 * i, 2 * i + 1) for i in range(simulations)]
    by_document, by_segment = (
        [table for both in zip(totals(a, unit), totals(b, unit)) for table in both] for unit in (doc, None)
    )
    samples = bootstrap_scores(by_document, score)
    observed = np.array([float(score(table.sum(axis=0))) for table in by_document])
    p = {
        "randomization": randomization_p(by_document, score, pairs, 1000),
        "bootstrap": bootstrap_p(samples, observed, pairs),
        "bootstrap-centred": bootstrap_p(samples, observed, pairs, centred=True),
        "randomization, segments": randomization_p(by_segment, score, pairs, 1000),
    }
    return {name: float(np.mean(values <= 0.05)) for name, values in p.items()}


def false_claims(simulations: int, systems: int, rng: np.random.Generator) -> dict[str, float]:
    """Share of comparisons of equally good systems on 50 documents that tell any apart, by correction."""
    pairs = list(combinations(range(systems), 2))
    size, count = len(pairs), np.zeros(4)
    shared = rng.normal(size=(simulations, 1, 50)) + rng.normal(size=(simulations, systems, 50))
    shared = np.take_along_axis(shared, np.argsort(-shared.mean(axis=2), axis=1)[:, :, None], axis=1)  # best first
    everyone = [table for each in shared for table in totals(each)]
    every_pair = [(systems * i + a, systems * i + b) for i in range(simulations) for a, b in pairs]
    p = randomization_p(everyone, score, every_pair, 1000)
    for values in p.reshape(simulations, size):
        square = np.full((2, systems, systems), np.nan)
        for table, column in zip(square, (values, holm(values))):
            table[np.triu_indices(systems, 1)] = column
        count += np.array([max(cluster_ranks(square[0])) > 1, (holm(values[: systems - 1]) <= 0.05).any(),
                           (holm(values) <= 0.05).any(), max(cluster_ranks(square[1])) > 1])
    names = ("clusters, uncorrected", "against the best, Holm over systems", "any pair, Holm", "clusters, Holm")
    return dict(zip(names, count / simulations))


def achieved_power(simulations: int, delta: float, rng: np.random.Generator) -> tuple[int, float]:
    """Documents the hint asks for, from a pilot of 2,000, and how often that many separate the systems."""
    a, doc = segments(1, 2000, rng)
    b, _ = segments(1, 2000, rng)
    pilot = totals(a - score(totals(a)[0].sum(axis=0)) + delta, doc), totals(b - b.mean(), doc)
    needed = int(power(pilot[0][0], pilot[1][0], score).needed)
    a, doc = segments(simulations, needed, rng)
    b, _ = segments(simulations, needed, rng)
    both = [table for pair in zip(totals(a + delta, doc), totals(b, doc)) for table in pair]
    p = randomization_p(both, score, [(2 * i, 2 * i + 1) for i in range(simulations)], 1000)
    return needed, float(np.mean(p <= 0.05))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--simulations", type=int, default=4000)
    count = parser.parse_args().simulations
    rng = np.random.default_rng(1)
    print(f"{count} simulated corpora; documents of {min(SIZES)}-{max(SIZES)} segments hold {ICC:.0%} of the variance")
    print("\n| documents | 95 % interval covers: documents drawn | segments drawn |\n|---|---|---|")
    for documents in (5, 10, 15, 20, 30, 50, 100):
        by_document, by_segment = coverage(count, documents, rng)
        print(f"| {documents} | {by_document:.1%} | {by_segment:.1%} |")
    for documents in (10, 20, 50):
        rates = false_alarms(count, documents, rng)
        if documents == 10:
            print(f"\n| documents | {' | '.join(rates)} |\n|{'---|' * (len(rates) + 1)}")
        print(f"| {documents} | {' | '.join(f'{rate:.1%}' for rate in rates.values())} |")
    for systems in (3, 5, 10):
        rates = false_claims(count // 4, systems, rng)
        if systems == 3:
            print(f"\n| systems | {' | '.join(rates)} |\n|{'---|' * (len(rates) + 1)}")
        print(f"| {systems} | {' | '.join(f'{rate:.1%}' for rate in rates.values())} |")
    print("\n| true difference | documents the hint asks for | separated by that many |\n|---|---|---|")
    for delta in (0.5, 0.3, 0.2):
        needed, share = achieved_power(count // 4, delta, rng)
        print(f"| {delta} | {needed} | {share:.1%} |")


if __name__ == "__main__":
    main()
