"""Writes studies/learned.md: metrics trained on sentences or on paragraphs, beside BLEU, chrF and BERTScore.

    WHOLETEXT_DATA=../shared/data python studies/learned.py [--work FOLDER] [--only train,study,page]

Trains recipes/paragraphs.toml with every way of sampling and three seeds (the base model is frozen, so all share
one table of features), and asks how each agrees with people on sets none of them has seen. Features are kept in the
work folder, so an interrupted study goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from learned_page import write_page

from wholetext.io import Loaded
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.judgments import Ratings, find_ratings
from wholetext.meta.paragraphs import Windows, curves_of
from wholetext.meta.participants import Participants, Selection, read_participants
from wholetext.metrics.surface import Bleu, Chrf
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.training.learned.forms import LearnedModel, open_learned, predictions, scaled
from wholetext.training.learner import features_of
from wholetext.training.recipe import Recipe, read_recipe
from wholetext.training.run import Moment, Session, train
from wholetext.types import Excerpt, FloatArray, Output, Request

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
RECIPE, BOX = ROOT / "recipes" / "paragraphs.toml", "wt-mini-1"
FOUND = ROOT / "studies" / "learned.json"
SAMPLINGS, SEEDS = {"SENT-BASE": "sentence", "PARA-UNIF": "uniform", "PARA-STRAT": "stratified"}, (1, 2, 3)
# name → EvalSet, language pair, human score, how many documents (of ten segments or more; 0: all), lengths
SETS = {"news MQM zh-en": ("wmt21.news.mqm", "zh-en", "mqm", 0, tuple(range(1, 11))),
        "TED MQM zh-en": ("wmt21.tedtalks", "zh-en", "mqm", 0, tuple(range(1, 11))),
        "DA uk-en": ("wmt22.da", "uk-en", "wmt-z", 22, tuple(range(1, 11))),
        "DA zh-en": ("wmt22.da", "zh-en", "wmt-z", 22, tuple(range(1, 11)))}  # fmt: skip
PEERS = ("bleu", "chrf", "bertscore")
LONGEST = 10  # segments of a paragraph


@dataclass(frozen=True, eq=False)
class Models:
    """Everything trained, by sampling and seed, and where features are kept."""

    trained: dict[str, LearnedModel]
    work: Path
    engine: Engine

    def scores(self, pairs: Sequence[Request]) -> dict[str, FloatArray]:
        """(n,) scores by metric, BERTScore at MiniLM's layer 3 among them: the features have its precision, recall."""
        form: Any = next(iter(self.trained.values())).form
        features = features_of(form, pairs, self.work, self.engine, lambda done, total: None)
        exact = features.astype(np.float64)
        found = {name: scaled(predictions(exact, model.config.head, model.head), model.config.output)
                 for name, model in self.trained.items()}  # fmt: skip
        return {"bertscore": form.untrained(exact), **found}


def train_all(recipe: Recipe, work: Path) -> None:
    def tell(moment: Moment) -> None:
        if moment.stage == "evaluation" or (moment.stage == "features" and moment.done % 8192 < 1024):
            print(time.strftime("%H:%M:%S"), moment.stage, moment.done, moment.total, moment.verdict or "", flush=True)

    for name, sampling in SAMPLINGS.items():
        for seed in SEEDS:
            out = work / "models" / f"{name}-{seed}"
            if not (out / "wholetext.json").is_file():
                train(replace(recipe, sampling=sampling, seed=seed),  # type: ignore[arg-type]
                      Session(out, DATA, work, engine=Engine(), tell=tell))  # fmt: skip


def load_all(work: Path) -> Models:
    engine = Engine(("", "en"))
    folders = {f"{name}-{seed}": str(work / "models" / f"{name}-{seed}") for name in SAMPLINGS for seed in SEEDS}
    folders[BOX] = "wt-mini"  # the same weights
    return Models({name: open_learned(engine, folder, "") for name, folder in folders.items()}, work, engine)


# ---------------------------------------------------------------- agreement with people


def field_of(name: str) -> tuple[Participants, Ratings, str]:
    folder, lp, gold = SETS[name][:3]
    path = DATA / "evalsets" / folder
    evalset = EvalSet.open(path, lp)
    source = find_ratings(evalset, gold)
    return read_participants(evalset, Selection(), gold), source.ratings, source.total


def score_texts(models: Models, where: Participants, loaded: Loaded) -> dict[str, FloatArray]:
    """(systems, segments) by metric."""
    ref = where.refs[0]
    pairs = [Request((Excerpt((hyp,), (0, 1)),), None, (Excerpt((text,), (0, 1)),))
             for doc in loaded.corpus.docs for output in loaded.outputs
             for hyp, text in zip(output.docs[doc.id], doc.refs[ref])]  # fmt: skip
    distinct = list(dict.fromkeys(pairs))
    at = {pair: i for i, pair in enumerate(distinct)}
    order = [output.system for output in loaded.outputs]
    found = {}
    for name, values in models.scores(distinct).items():
        flat, blocks, begin = values[[at[pair] for pair in pairs]], [], 0
        for doc in loaded.corpus.docs:
            size = len(doc.refs[ref])
            blocks.append(flat[begin : begin + size * len(order)].reshape(len(order), size))
            begin += size * len(order)
        table = np.concatenate(blocks, axis=1)
        found[name] = table[[order.index(system) for system in where.systems]]
    results = score(loaded, ["bleu", "chrf"], options=Options(refs=where.refs, cache=False))
    for name in ("bleu", "chrf"):
        found[name] = np.stack([results.scores[name][system].at("segment") for system in where.systems])
    return found


def documents(where: Participants, many: int) -> list[str]:
    """The documents that take part."""
    sizes = {run.doc: run.stop - run.start for run in where.runs}
    return [doc for doc, size in sizes.items() if size >= LONGEST][:many] if many else list(sizes)


def read_some(where: Participants, docs: Sequence[str]) -> Loaded:
    """The texts of some documents, and the outputs that take part."""
    loaded = where.evalset.load()
    corpus = replace(loaded.corpus, docs=tuple(doc for doc in loaded.corpus.docs if doc.id in docs))
    outputs = tuple(Output(output.system, {doc: output.docs[doc] for doc in docs})
                    for output in loaded.outputs if output.system in where.systems)  # fmt: skip
    return Loaded(corpus, outputs, loaded.warnings)


def ratings_of(ratings: Ratings, docs: Sequence[str]) -> Ratings:
    """The ratings of some documents only."""
    kept = np.array([ratings.segments[item][0] in docs for item in ratings.item.tolist()])
    return ratings.take(kept)


def study_set(models: Models, name: str) -> dict[str, Any]:
    where, ratings, total = field_of(name)
    docs = documents(where, SETS[name][3])
    whole = score_texts(models, where, read_some(where, documents(where, 0)))
    windows = [Windows(k, "mean", total) for k in SETS[name][4]]  # type: ignore[arg-type]
    points = curves_of(where, ratings_of(ratings, docs), windows, lambda texts: score_texts(models, where, texts))
    found = segments(where.gold("seg"), whole)
    return {"documents": len(docs), "segments": found, "points": [asdict(point) for point in points]}


def segments(gold: FloatArray, scored: dict[str, FloatArray]) -> dict[str, Any]:
    """Every metric on single segments, and whether the metric in the box is better than its peers."""
    names = [BOX, *PEERS]
    stack = np.stack([scored[name] for name in names])  # (metrics, systems, segments)
    found: dict[str, Any] = {"systems": len(gold), "judged": int((~np.isnan(gold)).sum())}
    for measure in (Measure("acc_eq", "item"), Measure("pearson", "none")):
        compared = compare(gold, stack, measure)
        found[measure.statistic] = {"p": dict(zip(PEERS, compared.p[0, 1:].tolist()))}
    judged = np.isnan(gold)
    for name, values in scored.items():
        values = np.where(judged, np.nan, values)
        found["acc_eq"][name] = estimate(gold, values, Measure("acc_eq", "item")).value
        found["pearson"][name] = estimate(gold, values, Measure("pearson", "none")).value
        right = estimate(system_means(gold)[:, None], system_means(values)[:, None], Measure("accuracy"))
        found.setdefault("systems_right", {})[name] = (round(right.value * right.pairs), right.pairs)
    return found


def study_preferences(models: Models) -> dict[str, Any]:
    """How often each metric prefers the paragraph that translators preferred, of those into English."""
    lines = next((DATA / "pairwise").glob("*.jsonl")).read_text("utf-8").splitlines()
    items = [row for row in map(json.loads, lines)
             if row["target_lang"].lower() in ("en", "english") and row["choice"] != "tie"]  # fmt: skip
    pairs = [Request((Excerpt((text,), (0, 1)),), None, (Excerpt((item["target"],), (0, 1)),))
             for item in items for text in (item["text1"], item["text2"])]  # fmt: skip
    scored = models.scores(pairs)
    for name, metric in (("bleu", Bleu().resolve(("", "en"))), ("chrf", Chrf())):
        scored[name] = metric.reduce_rows(metric.measure(pairs, models.engine))[:, 0]
    sign = np.array([1 if item["choice"] == "text1" else -1 for item in items])
    found = {}
    for name, scores in scored.items():
        said = np.sign(scores[::2] - scores[1::2])
        found[name] = {"right": int((said == sign).sum()), "pairs": len(items), "ties": int((said == 0).sum())}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "learned")
    parser.add_argument("--only", default="train,study,page", help="which steps")
    parser.add_argument("--sets", default="", help="study only these, with commas between")
    args = parser.parse_args()
    steps = args.only.split(",")
    if "train" in steps:
        train_all(read_recipe(RECIPE, {}), args.work)
    if "study" in steps:
        models = load_all(args.work)
        for name in args.sets.split(",") if args.sets else [*SETS, "preferences"]:
            start = time.time()
            told = study_preferences(models) if name == "preferences" else study_set(models, name)
            print(f"{name}: {time.time() - start:.0f} s", file=sys.stderr, flush=True)
            found: dict[str, Any] = json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}
            FOUND.write_text(json.dumps({**found, name: told}, indent=1) + "\n", "utf-8")
    if "page" in steps:
        write_page(json.loads(FOUND.read_text("utf-8")))


if __name__ == "__main__":
    main()
