"""Which layer of the embedded MiniLM agrees best with people? BERTScore of single segments beside wmt22.da.

    WHOLETEXT_DATA=../shared/data python benchmarks/minilm_layers.py [--segments 350]

Prints, for each layer, Kendall's τ and Pearson's r with standardised direct assessments, averaged over six language
pairs into English. The studies use other sets, so the layer chosen here is not chosen on them.
"""

from __future__ import annotations

import argparse
import os
import random
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, pearsonr

from wholetext.io import read
from wholetext.io.formats.evalset import EvalSet
from wholetext.metrics.bertscore import BertScore
from wholetext.scoring.engine import Engine
from wholetext.types import Excerpt, Request

DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
PAIRS = ("cs-en", "de-en", "ja-en", "ru-en", "uk-en", "zh-en")


def judged(pair: str, segments: int) -> tuple[list[Request], list[float]]:
    """A random sample of judged segments: hypothesis and reference, and what people thought of it."""
    folder = str(DATA / "evalsets" / "wmt22.da")
    human = EvalSet.open(folder, pair).human("wmt-z", "seg")
    loaded = read(folder, langs=pair)
    docs, name = loaded.corpus.docs, loaded.corpus.references[0]
    ref = [text for doc in docs for text in doc.refs[name]]
    found = []
    for output in loaded.outputs:
        if output.system in human.systems and not output.system.startswith("ref"):
            hyp = [text for doc in docs for text in output.docs[doc.id]]
            values = human.values[human.systems.index(output.system)]
            found += [(h, r, v) for h, r, v in zip(hyp, ref, values) if np.isfinite(v) and h and r]
    sample = random.Random(1).sample(found, min(segments, len(found)))
    one = lambda text: Excerpt((text,), (0, 1))  # noqa: E731
    return [Request((one(h),), None, (one(r),)) for h, r, _ in sample], [float(v) for _, _, v in sample]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=350, help="per language pair")
    args = parser.parse_args()
    samples = {pair: judged(pair, args.segments) for pair in PAIRS}
    for layer in range(7):
        metric = BertScore("minilm", layer=layer, align_scope="sentence").resolve(("", "en"))
        taus, rs = [], []
        for requests, values in samples.values():
            scores = metric.reduce_rows(metric.measure(requests, Engine(("", "en"))))[:, 0]
            taus.append(kendalltau(scores, values).statistic)
            rs.append(pearsonr(scores, values).statistic)
        print(f"layer {layer}: Kendall τ {np.mean(taus):.4f}, Pearson r {np.mean(rs):.4f}", flush=True)


if __name__ == "__main__":
    main()
