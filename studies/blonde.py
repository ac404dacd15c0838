"""Makes the tables of studies/blonde.md: BlonDe variants beside human MQM judgments of WMT21 news and TED systems.

    WHOLETEXT_DATA=… python studies/blonde.py [--write]

System level: Pearson and Kendall over systems between the corpus score and the mean MQM score of the judged segments.
Intervals: 1,000 draws of documents with replacement; metric and human scores are both computed anew in each draw.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholetext.io import Loaded, read
from wholetext.io.formats.evalset import EvalSet
from wholetext.scoring.evaluate import score
from wholetext.types import FloatArray, Scores

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data")) / "evalsets"
PAGE = ROOT / "studies" / "blonde.md"
DRAWS, SEED = 1000, 12345

ENGLISH = (
    "bleu", "chrf", "blonde", "blonde(with_d=true)", "blonde(lowercase=true)", "blonde(lowercase=true,with_d=true)",
    "blonde(profile=paper)", "blonde(profile=fixed)",
    "blonde(profile=fixed,clip_scope=document)",
    "d-blonde", "d-blonde(profile=paper)", "d-blonde(profile=fixed)", "d-blonde(profile=fixed,clip_scope=document)",
)
OTHERS = ("bleu", "chrf", "blonde(profile=fixed)", "d-blonde(profile=fixed)")
PARTS = {"blonde": ("precision", "recall", "tense", "pronoun", "entity", "marker", "ngram1", "ngram4"),
         "d-blonde(profile=fixed)": ("precision", "recall", "tense", "pronoun", "entity", "marker")}
PAPER = {("wmt21.news.mqm", "blonde"): "0.212", ("wmt21.tedtalks", "blonde"): "−0.232"}


@dataclass(frozen=True)
class Task:
    """One set of documents with human scores."""

    folder: str
    pair: str
    scheme: str
    ref: str
    specs: tuple[str, ...]


TASKS = (
    Task("wmt21.news.mqm", "zh-en", "mqm", "refB", ENGLISH),
    Task("wmt21.tedtalks", "zh-en", "mqm", "refB", ENGLISH),
    Task("wmt21.news.mqm", "en-de", "mqm", "refC", OTHERS),
    Task("wmt21.news.mqm", "en-ru", "mqm-sev", "refA", OTHERS),
)


def table(task: Task) -> str:
    """The agreement of every metric and output, as Markdown."""
    loaded = read(str(DATA / task.folder), langs=task.pair, refs=[task.ref])
    judged = EvalSet.open(DATA / task.folder, task.pair).human(task.scheme, "seg")
    outputs = [o for o in loaded.outputs if o.system in judged.systems and not o.system.startswith("ref")]
    rows = [judged.systems.index(output.system) for output in outputs]
    human, counts = by_document(judged.values[rows], [len(doc) for doc in loaded.corpus.docs])
    results = score(Loaded(loaded.corpus, outputs), task.specs)
    weights = draws(len(loaded.corpus))
    gold = (weights @ human.T) / (weights @ counts.T)  # (1 + draws, systems)
    lines = ["| metric | Pearson | 95 % interval | Kendall | 95 % interval | published |",
             "|---|---:|---|---:|---|---:|"]
    for spec, by_system in results.scores.items():
        scores = [by_system[output.system] for output in outputs]
        for output in (scores[0].outputs[0], *PARTS.get(spec, ())):
            name = f"`{spec}`" + ("" if output == scores[0].outputs[0] else f" {output}")
            published = PAPER.get((task.folder, spec), "") if task.pair == "zh-en" and "` " not in name else ""
            lines.append(f"| {name} | {' | '.join(agreement(values(scores, output, weights), gold))} | {published} |")
        if "blonde" in spec:
            each = [one.reduce(one.totals())[:, 0] for one in scores]  # every document as a corpus of its own
            means = np.stack([weights @ one for one in each], axis=1) / weights.sum(axis=1, keepdims=True)
            lines.append(f"| `{spec}` mean of documents | {' | '.join(agreement(means, gold))} | |")
    segments = int((~np.isnan(judged.values[rows])).any(axis=0).sum())
    taggers = {s.signature["tagger"] for by in results.scores.values() for s in by.values() if "tagger" in s.signature}
    head = (f"{task.pair}, {task.folder}, reference {task.ref}: {len(outputs)} systems, {len(loaded.corpus)} "
            f"documents, {segments} judged segments. Tagger: {', '.join(f'`{one}`' for one in sorted(taggers))}.")
    return f"{head}\n\n" + "\n".join(lines)


def by_document(values: FloatArray, sizes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """(systems, segments) human scores → (systems, documents) sums and numbers of judged segments."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    known = ~np.isnan(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts, axis=1)
    return sums, np.add.reduceat(known.astype(float), starts, axis=1)


def draws(documents: int) -> FloatArray:
    """(1 + draws, documents) how often each document is taken: once each, then with replacement."""
    chance = np.random.default_rng(SEED)
    drawn = chance.multinomial(documents, np.full(documents, 1 / documents), size=DRAWS)
    return np.concatenate([np.ones((1, documents)), drawn])


def values(scores: Sequence[Scores], output: str, weights: FloatArray) -> FloatArray:
    """(1 + draws, systems) the score of every system on every draw."""
    column = scores[0].outputs.index(output)
    return np.stack([one.reduce(weights @ one.totals())[:, column] for one in scores], axis=1)


def agreement(metric: FloatArray, gold: FloatArray) -> list[str]:
    """Pearson and Kendall of the whole corpus, each with the interval over draws."""
    cells = []
    for statistic in (pearson, kendall):
        found = statistic(metric, gold)  # (1 + draws,)
        drawn = np.sort(found[1:][~np.isnan(found[1:])])
        low, high = (drawn[len(drawn) // 40], drawn[-len(drawn) // 40 - 1]) if len(drawn) else (np.nan, np.nan)
        cells += [f"{found[0]:.3f}", f"{low:.2f} … {high:.2f}"]
    return [cell.replace("-", "−") for cell in cells]


def pearson(a: FloatArray, b: FloatArray) -> FloatArray:
    a, b = (x - x.mean(axis=1, keepdims=True) for x in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))


def kendall(a: FloatArray, b: FloatArray) -> FloatArray:
    """tau-b, pair by pair of systems."""
    i, j = np.triu_indices(a.shape[1], 1)
    x, y = np.sign(a[:, i] - a[:, j]), np.sign(b[:, i] - b[:, j])
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))


def main() -> None:
    tables = {f"{task.folder} {task.pair}": table(task) for task in TASKS}
    for name, text in tables.items():
        print(f"<!-- {name} -->\n{text}\n")
    if "--write" in sys.argv:
        page = PAGE.read_text("utf-8")
        for name, text in tables.items():
            pattern = rf"<!-- {re.escape(name)} -->\n.*?<!-- end -->"
            whole = f"<!-- {name} -->\n{text}\n<!-- end -->"
            page, found = re.subn(pattern, lambda _, whole=whole: whole, page, flags=re.S)
            assert found == 1, f"{PAGE} has no place for {name}"
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
