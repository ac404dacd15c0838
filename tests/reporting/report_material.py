"""Runs made by hand that have everything a report can show: windows, context, categories, errors, cuts, flags."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wholetext.io import Loaded
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results
from wholetext.types import (
    Corpus,
    Document,
    FloatArray,
    Output,
    Rows,
    Scores,
    Signature,
    mean_stats,
)

SAID = """the old harbour ferry she he it was is had but then morning rain captain bridge north letter clock sea wind
window river garden teacher violin slowly again never always bread table winter summer light"""
WORDS = SAID.split()
UNITS = {"she": ("pronoun", "feminine"), "he": ("pronoun", "masculine"), "it": ("pronoun", "neuter"),
         "was": ("tense", "VBD"), "is": ("tense", "VBZ"), "had": ("tense", "VBD"),
         "but": ("marker", "comparison"), "then": ("marker", "asynchronous")}  # fmt: skip
SURFACE = ("chrf", "bleu", "slide(size=3,step=1):chrf", "ter")


def sentence(draw: random.Random, words: int = 12) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words)).capitalize() + "."


def texts(documents: int = 6, segments: int = 5, systems: int = 3, seed: int = 1) -> tuple[Corpus, tuple[Output, ...]]:
    """A corpus whose systems garble more and more of the reference; the last one has an empty segment."""
    draw = random.Random(seed)
    docs, outputs = [], [dict[str, tuple[str, ...]]() for _ in range(systems)]
    for d in range(documents):
        ref = tuple(sentence(draw) for _ in range(segments))
        docs.append(Document(f"doc-{d + 1}", tuple(sentence(draw) for _ in range(segments)), {"human": ref}))
        for place, output in enumerate(outputs):
            output[docs[-1].id] = tuple(garbled(text, 0.1 + 0.15 * place, draw) for text in ref)
    outputs[-1][docs[0].id] = ("", *outputs[-1][docs[0].id][1:])
    named = tuple(Output(f"system-{chr(65 + i)}", output) for i, output in enumerate(outputs))
    return Corpus("made-up", ("de", "en"), tuple(docs)), named


def garbled(text: str, share: float, draw: random.Random) -> str:
    return " ".join(draw.choice(WORDS) if draw.random() < share else word for word in text.split())


def full_run(documents: int = 6, segments: int = 5, systems: int = 3) -> Results:
    """Real surface scores, and made-up ones of the metrics that need models."""
    corpus, outputs = texts(documents, segments, systems)
    run = score(Loaded(corpus, outputs), list(SURFACE), options=Options(cache=False))
    made = {"blonde": blonde, "bertscore": bertscore, "context:bertscore": bertscore, "comet@some/xcomet": xcomet}
    scores: dict[str, dict[str, Scores]] = {spec: dict(found) for spec, found in run.scores.items()}
    for spec, make in made.items():
        scores[spec] = {output.system: make(corpus, output, spec, i) for i, output in enumerate(outputs)}
    return replace(run, scores=scores, warnings=(*run.warnings, "made by hand"))


# ---------------------------------------------------------------- made-up scores


def rows_of(corpus: Corpus, whole: bool) -> Rows:
    sizes = np.array([len(doc) for doc in corpus.docs], dtype=np.int64)
    spans = [(d, 0, len(doc)) if whole else (d, i, i + 1)
             for d, doc in enumerate(corpus.docs) for i in range(1 if whole else len(doc))]
    doc, start, stop = np.array(spans, dtype=np.int64).T
    return Rows(tuple(doc.id for doc in corpus.docs), sizes, doc, start, stop, np.ones(len(spans)))


def scores_of(spec: str, output: Output, rows: Rows, stats: FloatArray, details: Sequence[Any], **more: Any) -> Scores:
    one = scorer(spec)
    metric = one.metric
    signature = Signature({"metric": metric.name, "view": one.view.name, "view.joiner": "auto", "rows": len(rows)})
    return Scores(spec, output.system, rows, stats, metric.reduce, metric.reduce_rows, metric.outputs,
                  metric.higher_is_better, metric.range, signature, tuple(details), **more)  # fmt: skip


def blonde(corpus: Corpus, output: Output, spec: str, place: int) -> Scores:
    """Counts of a few words as units, with the spans that BlonDe would leave."""
    metric: Any = scorer(spec).metric
    width = 3 * (len(CATEGORIES) + len(metric._features))
    stats, details = [], []
    for doc in corpus.docs:
        row, hyp_spans, ref_spans = np.zeros((width // 3, 3)), [], []
        for i, (hyp, ref) in enumerate(zip(output.docs[doc.id], doc.refs["human"])):
            ours, theirs = found_in(hyp), found_in(ref)
            hyp_spans += [[i, a, b, *UNITS[w], int(w in {t[2] for t in theirs})] for a, b, w in ours]
            ref_spans += [[i, a, b, *UNITS[w], int(w in {t[2] for t in ours})] for a, b, w in theirs]
        for spans, column in ((ref_spans, 1), (hyp_spans, 2)):
            for span in spans:
                feature = len(CATEGORIES) + metric._features.index((span[3], span[4]))
                for at in (CATEGORIES.index(span[3]), feature):
                    row[at, column] += 1
                    row[at, 0] += span[5] if column == 2 else 0
        for n in range(4, 8):
            row[n] = (20 - 3 * place, 30, 30)
        stats.append(row.reshape(-1))
        details.append({"blonde": {"hyp": hyp_spans, "refs": [ref_spans]}})
    return scores_of(spec, output, rows_of(corpus, whole=True), np.array(stats), details)


def found_in(text: str) -> list[tuple[int, int, str]]:
    found, at = [], 0
    for word in text.split(" "):
        plain = word.strip(".").lower()
        if plain in UNITS:
            found.append((at, at + len(plain), plain))
        at += len(word) + 1
    return found


def bertscore(corpus: Corpus, output: Output, spec: str, place: int) -> Scores:
    """Random scores; under context a little higher, the first row of each document cut to twenty characters."""
    draw = np.random.default_rng(place)
    rows, context = rows_of(corpus, whole=False), spec.startswith("context")
    values = draw.normal(0.85 - 0.05 * place, 0.05, (len(rows), 3)) + (0.01 if context else 0.0)
    lost = np.zeros((len(rows), 2), dtype=np.int64)
    details: list[Any] = [None] * len(rows)
    if context:
        first = np.flatnonzero(rows.start == 0)
        lost[first] = (3, 7)
        details = [{"cut": {"hyp": 20}} if i in set(first.tolist()) else None for i in range(len(rows))]
    return scores_of(spec, output, rows, mean_stats(values), details, lost=lost)


def xcomet(corpus: Corpus, output: Output, spec: str, place: int) -> Scores:
    """Random scores, with one error span in every third segment."""
    draw = np.random.default_rng(10 + place)
    rows = rows_of(corpus, whole=False)
    span = {"text": "", "confidence": 0.75, "severity": "major", "start": 4, "end": 11}
    details = [{"spans": [span] if i % 3 == 1 else []} for i in range(len(rows))]
    return scores_of(spec, output, rows, mean_stats(draw.uniform(0.4, 0.9, len(rows))), details)


def big_run(documents: int = 100, segments: int = 20, systems: int = 20) -> Results:
    """Many systems and segments of ordinary length, scored without scoring."""
    corpus, outputs = texts(documents, segments, systems)
    scores = {spec: {o.system: bertscore(corpus, o, spec, i) for i, o in enumerate(outputs)} for spec in ("bertscore",)}
    return Results(corpus, outputs, scores)
