"""Writes the part on wt-mini 2 of studies/learned.md: both versions beside SBERT, BERTScore, chrF and BLEU.

    WHOLETEXT_DATA=../shared/data python studies/mini.py MODEL [--work FOLDER] [--only study,page] [--sets …]

MODEL is the folder that `wholetext train recipes/wt-mini-2.toml --out MODEL` wrote.

Texts are encoded once for all metrics, and their features kept in the work folder: an interrupted study resumes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from paragraphs import replace_part

from wholetext.files.cache import Cache, content_key
from wholetext.io import Loaded
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.participants import Participants, Selection, read_participants
from wholetext.scoring.engine import Engine, request_key
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.text.overlap import likeness, likeness_folded
from wholetext.training.learned.aligned import matched_features
from wholetext.training.learned.forms import open_learned, penalties, predictions, scaled
from wholetext.training.learned.matched import PER_LAYER, compared
from wholetext.types import Excerpt, FloatArray, Request

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
FOUND, PAGE = ROOT / "studies" / "learned.json", ROOT / "studies" / "learned.md"
PART = "wt-mini 2"
SETS = {"news MQM zh-en": ("wmt21.news.mqm", "zh-en", "mqm"), "TED MQM zh-en": ("wmt21.tedtalks", "zh-en", "mqm"),
        "DA uk-en": ("wmt22.da", "uk-en", "wmt-z"), "DA zh-en": ("wmt22.da", "zh-en", "wmt-z")}  # fmt: skip
BOX, PENALTY, OLD = "wt-mini 2", "wt-mini 2 penalty", "wt-mini-1"
BUNDLED = "wt-mini"  # whose scores are those of wt-mini-1
OLD_PENALTY = "wt-mini-1 penalty"  # that of wt-mini 1.1, whose scores are those of version 1
METRICS = (BOX, PENALTY, OLD, OLD_PENALTY, "sbert", "bertscore", "chrf", "bleu")
MOST, SEED = 300, 4  # judged segments of a set; chooses their documents
CHUNK = 512  # pairs whose features are kept at a time
FIRST_LAYERS = (0, 3, 6)  # that version 1 compares, of all seven


def encoded(pairs: Sequence[Request], model: str, engine: Engine, store: Cache) -> tuple[FloatArray, FloatArray]:
    """(n, width) features of versions 2 and 1, from one pass of the encoder over every text."""
    new, old = (open_learned(engine, name, "").form for name in (model, BUNDLED))
    ends = np.cumsum([0, new.width, old.width])
    keys = {pair: content_key(new.id, old.id, request_key("", pair).hex()) for pair in dict.fromkeys(pairs)}
    found = store.get(list(keys.values()))
    missing = sorted((pair for pair in keys if keys[pair] not in found), key=lambda pair: pair.refs[0].parts)
    for begin in range(0, len(missing), CHUNK):
        chunk = missing[begin : begin + CHUNK]
        fresh = {keys[pair]: row.tobytes() for pair, row in zip(chunk, both_features(new, chunk, engine))}
        store.put("features", fresh.items())
        found.update(fresh)
        print(time.strftime("%H:%M:%S"), begin + len(chunk), "of", len(missing), file=sys.stderr, flush=True)
    table = np.frombuffer(b"".join(found[keys[pair]] for pair in pairs)).reshape(len(pairs), ends[-1])
    return table[:, : ends[1]], table[:, ends[1] :]


def both_features(form: Any, pairs: Sequence[Request], engine: Engine) -> NDArray[np.float64]:
    """(n, widths of both versions); equal to what the forms give by themselves but for rounding."""
    sides = [(pair.hyp[0], pair.refs[0]) for pair in pairs]
    views = list(dict.fromkeys(view for pair in sides for view in pair))
    vectors = dict(zip(views, engine.map(form.texts, views)))
    deep, old = [], []
    for hyp, ref in sides:
        one, two = vectors[hyp], vectors[ref]
        deep.append(compared(one, two, (len(hyp.text.split()), len(ref.text.split()))))
        old.append(matched_features(one.units[[*FIRST_LAYERS]], two.units[[*FIRST_LAYERS]], hyp.text, ref.text))
    texts = [[pair[i].text for pair in sides] for i in (0, 1)]
    return np.concatenate([np.array(deep), likeness_folded(*texts), np.array(old), likeness(*texts)], axis=1)


def learned_scores(pairs: Sequence[Request], model: str, work: Path) -> dict[str, FloatArray]:
    """(n,) scores by metric: both versions, the penalty, and Sentence-BERT and BERTScore, which are features."""
    engine, store = Engine(("", "en")), Cache(work / "study.sqlite")
    new, old = encoded(pairs, model, engine, store)
    store.close()
    found = {}
    for name, folder, features in ((BOX, model, new), (OLD, BUNDLED, old)):
        opened = open_learned(engine, folder, "")
        found[name] = scaled(predictions(features, opened.config.head, opened.head), opened.config.output)
    shape = open_learned(engine, model, "").config.penalty
    assert shape is not None
    layers = 7
    precision, recall = new[:, 3], new[:, layers + 3]
    found |= {PENALTY: penalties(found[BOX], pairs, shape), OLD_PENALTY: penalties(found[OLD], pairs, shape)}
    return {**found, "sbert": new[:, PER_LAYER * layers - 1],
            "bertscore": 2 * precision * recall / np.maximum(precision + recall, 1e-9)}  # fmt: skip


class JudgedSet(NamedTuple):
    """Judged outputs of a set, and the texts they belong to."""

    where: Participants
    loaded: Loaded
    gold: FloatArray  # (systems, segments), NaN where nobody judged
    segments: int  # judged ones

    def spread(self, values: FloatArray) -> FloatArray:
        """(systems, segments) of one value for each judged output, in their order."""
        found = np.full(self.gold.shape, np.nan)
        found[~np.isnan(self.gold)] = values
        return found

    def scores(self, metric: str) -> FloatArray:
        """(systems, segments) of a metric, NaN where nobody judged."""
        ends = np.cumsum([len(doc) for doc in self.loaded.corpus.docs])
        judged = [part.any() for part in np.split(~np.isnan(self.gold).all(axis=0), ends[:-1])]  # (documents,)
        docs = tuple(doc for doc, keep in zip(self.loaded.corpus.docs, judged) if keep)
        kept = [replace(output, docs={doc.id: output.docs[doc.id] for doc in docs}) for output in self.loaded.outputs
                if output.system in self.where.systems]  # fmt: skip
        options = Options(refs=self.where.refs, cache=False, flags=False)
        (found,) = evaluate(replace(self.loaded.corpus, docs=docs), kept, [metric], options).scores.values()
        table = np.full(self.gold.shape, np.nan)
        of_docs = np.repeat(judged, np.diff(ends, prepend=0))  # (segments,)
        table[:, of_docs] = [found[name].at("segment") for name in self.where.systems]
        return np.where(np.isnan(self.gold), np.nan, table)

    def texts(self) -> list[tuple[str, str, str]]:
        """(output, source, reference) of each judged output."""
        docs, ref = self.loaded.corpus.docs, self.where.refs[0]
        outputs = {output.system: [text for doc in docs for text in output.docs[doc.id]]
                   for output in self.loaded.outputs}  # fmt: skip
        sources = [text for doc in docs for text in doc.src or ()]
        references = [text for doc in docs for text in doc.refs[ref]]
        places = np.argwhere(~np.isnan(self.gold))
        return [(outputs[self.where.systems[i]][j], sources[j], references[j]) for i, j in places]


def read_set(source: tuple[str, str, str], most: int) -> JudgedSet:
    """Documents in an order drawn by a fixed seed, until there are ``most`` judged segments (0: all)."""
    folder, lp, human = source
    where = read_participants(EvalSet.open(DATA / "evalsets" / folder, lp), Selection(gold=human))
    loaded, gold = where.evalset.load(), where.gold("seg")
    of_doc = np.repeat(np.arange(len(loaded.corpus.docs)), [len(doc) for doc in loaded.corpus.docs])  # (segments,)
    judged, kept, found = ~np.isnan(gold).all(axis=0), np.zeros(len(of_doc), dtype=bool), 0
    for doc in np.random.default_rng(SEED).permutation(len(loaded.corpus.docs)):
        if not most or found < most:
            kept |= of_doc == doc
            found += int(judged[of_doc == doc].sum())
    return JudgedSet(where, loaded, np.where(kept, gold, np.nan), int((judged & kept).sum()))


def study(name: str, model: str, work: Path, most: int) -> dict[str, Any]:
    """Every metric on single segments of a set, and p that one agrees better than another."""
    judged = read_set(SETS[name], most)
    pairs = [Request((view_of(hyp),), None, (view_of(ref),)) for hyp, _, ref in judged.texts()]
    scored = {metric: judged.spread(values) for metric, values in learned_scores(pairs, model, work).items()}
    scored |= {metric: judged.scores(metric) for metric in ("bleu", "chrf")}
    np.savez_compressed(work / f"{name}.npz", **{each: scored[each] for each in ("sbert", "bertscore")})
    return agreement(judged, scored, METRICS, (BOX, PENALTY))


def view_of(text: str) -> Excerpt:
    return Excerpt((text,), (0, 1))


def agreement(
    judged: JudgedSet, scored: dict[str, FloatArray], metrics: Sequence[str], boxes: Sequence[str]
) -> dict[str, Any]:
    """Statistics of every metric, and p that one of ``boxes`` agrees better."""
    gold = judged.gold
    stack = np.stack([scored[name] for name in metrics])  # (metrics, systems, segments)
    found: dict[str, Any] = {"systems": len(gold), "judged": int((~np.isnan(gold)).sum()),
                             "segments": judged.segments}  # fmt: skip
    for measure in (Measure("acc_eq", "item"), Measure("pearson", "none")):
        p = compare(gold, stack, measure).p
        found[measure.statistic] = {
            name: {"value": estimate(gold, scored[name], measure).value,
                   **{f"p {box}": p[metrics.index(box), i] for box in boxes if box != name}}
            for i, name in enumerate(metrics)}  # fmt: skip
    people = system_means(gold)[:, None]
    for name in metrics:
        right = estimate(people, system_means(scored[name])[:, None], Measure("accuracy"))
        found.setdefault("systems_right", {})[name] = (round(right.value * right.pairs), right.pairs)
    return found


def page(found: dict[str, Any], boxes: Mapping[str, str]) -> list[str]:
    """One row per set and metric; ``boxes``: the metrics that others are compared with, and their short names."""
    chances = "".join(f" | p{short}" for short in boxes.values())
    lines = ["", f"| set | metric | acc_eq*{chances} | Pearson{chances} | systems in order |",
             "|---|---|" + "---:|" * (3 + 2 * len(boxes))]  # fmt: skip
    for name, told in found.items():
        title = f"{name}, {told['segments']} segments, {told['judged']} judged outputs of {told['systems']} systems"
        for metric in told["acc_eq"]:
            cells = []
            for statistic in ("acc_eq", "pearson"):
                one = told[statistic][metric]
                cells += [f"{one['value']:.3f}", *(_chance(one.get(f"p {box}")) for box in boxes)]
            right, pairs = told["systems_right"][metric]
            lines.append(f"| {title} | {metric} | " + " | ".join(cells) + f" | {right} of {pairs} |")
            title = ""
    return [*lines, ""]


def keep(part: str, name: str, told: dict[str, Any]) -> None:
    """Add the numbers of a set to those of the study."""
    found = json.loads(FOUND.read_text("utf-8"))
    found.setdefault(part, {})[name] = told
    FOUND.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def write_part(part: str, boxes: Mapping[str, str]) -> None:
    told = json.loads(FOUND.read_text("utf-8"))[part]
    PAGE.write_text(replace_part(PAGE.read_text("utf-8"), part, page(told, boxes)), "utf-8")


def _chance(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}" if p >= 0.001 else "< 0.001"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder of wt-mini 2")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "learned")
    parser.add_argument("--only", default="study,page", help="which steps")
    parser.add_argument("--sets", default="", help="study only these, with commas between")
    parser.add_argument("--most", type=int, default=MOST, help="judged segments of a set; 0: all")
    args = parser.parse_args()
    steps = args.only.split(",")
    for name in args.sets.split(",") if args.sets else SETS:
        if "study" in steps:
            keep(PART, name, study(name, args.model, args.work, args.most))
    if "page" in steps:
        write_part(PART, {BOX: ", wt-mini", PENALTY: ", penalty"})


if __name__ == "__main__":
    main()
