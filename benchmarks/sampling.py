"""How many judged documents a ranking needs: `wholetext annotate sample` beside random samples, on WMT21 and WMT22.

    python benchmarks/sampling.py [--data ../shared/data/evalsets] [--simulations 200] [--share 0.25] [--keep FOLDER]

Human scores of every language pair: MQM where there is MQM, and standardised direct assessment. In each simulation 80 %
of the judged documents are the test set; the ranking of the systems by all its judgments is the truth. Each method
chooses documents by chrF and BLEU (or none), and ranks the systems by the judgments of these alone. Reported: pairwise
accuracy (Kendall's tau is twice that, less 1), mean over language pairs, and the difference to random with a 95 %
interval over language pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import wholetext as wt
from wholetext.annotation.sampling import draw, pick, probabilities
from wholetext.io.formats.evalset import EvalSet
from wholetext.types import FloatArray, IntArray

SETS = {
    "wmt21.news": (("en-de", "mqm", "refC"), ("zh-en", "mqm", "refB"), ("en-ru", "mqm-sev", "refA"),
                   *((f"{src}-en", "wmt-z", "refA") for src in ("cs", "de", "ha", "is", "ja", "ru")),
                   ("zh-en", "wmt-z", "refB")),
    "wmt22.da": tuple((f"{src}-en", "wmt-z", "refB" if src == "cs" else "refA")
                      for src in ("cs", "de", "ja", "ru", "uk", "zh")),
}
METHODS = ("random", "length", "spread")
POOL = 0.8


@dataclass(frozen=True)
class Judged:
    """Judgments and metric scores of one language pair, by document."""

    sums: FloatArray  # (systems, docs) of human scores
    counts: FloatArray  # (systems, docs) judged segments
    sizes: FloatArray  # (docs,) segments
    metrics: FloatArray  # (metrics, systems, docs) standardised


def judged(folder: Path, langs: str, gold: str, ref: str) -> Judged:
    """Score the judged documents of the judged systems (not of references)."""
    human, loaded = EvalSet.open(folder, langs).human(gold, "seg"), wt.read(folder, langs=langs)
    docs = loaded.corpus.docs
    place = np.repeat(np.arange(len(docs)), [len(doc) for doc in docs])
    known = ~np.isnan(human.values)
    outputs = {one.system: one for one in loaded.outputs}
    rows = [i for i, name in enumerate(human.systems) if name in outputs and name[:3] != "ref" and known[i].any()]
    counts = np.stack([np.bincount(place, known[i], len(docs)) for i in rows]).astype(float)
    values = np.where(known, human.values, 0.0)
    sums = np.stack([np.bincount(place, values[i], len(docs)) for i in rows]).astype(float)
    kept = np.flatnonzero(counts.sum(axis=0))
    chosen = tuple(replace(docs[d], refs={ref: docs[d].refs[ref]}) for d in kept)
    corpus = replace(loaded.corpus, docs=chosen)
    names = [human.systems[i] for i in rows]
    systems = [wt.Output(name, {doc.id: outputs[name].docs[doc.id] for doc in chosen}) for name in names]
    results = wt.score(wt.Loaded(corpus, systems), ["chrf", "bleu"], options=wt.Options(flags=False, cache=False))
    values = np.stack([[scores[name].at("doc") for name in names] for scores in results.scores.values()])
    values = (values - values.mean(axis=(1, 2), keepdims=True)) / values.std(axis=(1, 2), keepdims=True)
    return Judged(sums[:, kept], counts[:, kept], np.array([float(len(doc)) for doc in chosen]), values)


def samples(one: Judged, pool: IntArray, share: float, rng: np.random.Generator,
            of: str) -> Iterator[tuple[str, IntArray, FloatArray]]:
    """(method, documents, weights) of each method; ``of`` documents or segments."""
    sizes, values = one.sizes[pool], one.metrics[:, :, pool]
    cost = np.ones(len(pool)) if of == "documents" else sizes
    budget = share * cost.sum()
    for method, chance in (("random", np.ones(len(pool))), ("length", np.sqrt(sizes))):
        chance = probabilities(chance, cost, budget)
        found = draw(chance, rng, sizes if method == "length" else None)
        yield method, pool[found], 1 / chance[found]
    longer = np.sqrt(sizes) if of == "documents" else 1.0
    chosen = pool[pick(values.std(axis=1, ddof=1).mean(axis=0) * longer, cost, budget)]
    yield "spread", chosen, np.ones(len(chosen))


def accuracy(one: Judged, pool: IntArray, docs: IntArray, weights: FloatArray) -> float:
    """Pairs of systems in the order that all judgments of the pool give; undecided ones count half."""
    truth = one.sums[:, pool].sum(axis=1) / one.counts[:, pool].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (one.sums[:, docs] @ weights) / (one.counts[:, docs] @ weights)
    i, j = np.triu_indices(len(truth), 1)
    agree = np.sign(truth[i] - truth[j]) * np.nan_to_num(np.sign(found[i] - found[j]))
    return float(((agree + 1) / 2).mean())


def simulate(one: Judged, share: float, simulations: int, of: str) -> dict[str, FloatArray]:
    """method → means of accuracy and of the shares of documents and segments judged."""
    rng, rows = np.random.default_rng(12345), {method: [] for method in METHODS}
    for _ in range(simulations):
        pool = np.sort(rng.permutation(len(one.sizes))[: round(POOL * len(one.sizes))])
        for method, docs, weights in samples(one, pool, share, rng, of):
            rows[method].append((accuracy(one, pool, docs, weights), len(docs) / len(pool),
                                 one.sizes[docs].sum() / one.sizes[pool].sum()))
    return {method: np.mean(each, axis=0) for method, each in rows.items()}


def load(data: Path, keep: Path | None) -> dict[str, list[Judged]]:
    """The language pairs of each set; arrays are kept in a folder where one is given."""
    found: dict[str, list[Judged]] = {}
    for name, pairs in SETS.items():
        for langs, gold, ref in pairs:
            file = keep / f"{name}.{langs}.{gold}.npz" if keep else None
            if file and file.exists():
                one = Judged(**np.load(file))
            else:
                one = judged(data / name, langs, gold, ref)
                if file:
                    np.savez(file, **vars(one))
            found.setdefault(name, []).append(one)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/evalsets"))
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--keep", type=Path, help="folder for scores, so that a second run is fast")
    given = parser.parse_args()
    for name, pairs in load(given.data, given.keep).items():
        for of in ("documents", "segments"):
            found = [simulate(one, given.share, given.simulations, of) for one in pairs]
            print(f"\n{name}, {len(pairs)} language pairs, {given.share:.0%} of the {of}, {given.simulations} "
                  "simulations\n| method | accuracy | − random | pairs won | documents | segments |\n"
                  "|---|---:|---:|---:|---:|---:|")
            for method in METHODS:
                means = np.array([each[method] for each in found])
                gain = means[:, 0] - [each["random"][0] for each in found]
                half = 1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
                value, docs, segments = means.mean(axis=0)
                ours = f"{gain.mean():+.3f} ± {half:.3f} | {(gain > 0).sum()}/{len(gain)}"
                print(f"| {method} | {value:.3f} | {'–' if method == 'random' else ours.split(' | ')[0]} | "
                      f"{'–' if method == 'random' else ours.split(' | ')[1]} | {docs:.0%} | {segments:.0%} |")


if __name__ == "__main__":
    main()
