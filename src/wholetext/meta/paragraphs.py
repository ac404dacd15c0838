"""Paragraph data from sentence ratings: windows of k segments that one rater scored (Deutsch et al. 2023, section 3).

Walking through a document, the next k segments that are all rated by one rater make a paragraph and are used up;
otherwise the walk moves on by one. Each rater's ratings are walked on their own, so no paragraph mixes raters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import Loaded
from wholetext.io.text import FilePath, write_lines
from wholetext.meta.judgments.ratings import Ratings
from wholetext.types import Corpus, Document, Judgments, Output
from wholetext.views import Joiner, joiner_for

Raters = Literal["each", "first", "mean"]
Total = Literal["sum", "mean"]


@dataclass(frozen=True, slots=True)
class RatedParagraph:
    """``k`` segments of a document from ``start``, as one rater scored them for one system."""

    system: str
    doc: str
    start: int
    k: int
    rater: str
    score: float


@dataclass(frozen=True)
class Windows:
    """How paragraphs are made: their length, what several raters mean, and how sentence scores add up.

    ``each`` walks every rater's ratings alone, ``first`` takes the first rater that all k segments have in common,
    ``mean`` the mean over raters of each segment. MQM penalties are summed, DA scores averaged.
    """

    k: int
    raters: Raters = "each"
    total: Total = "sum"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"a paragraph has at least one segment, not {self.k}", next="give k from 1")


def paragraphs(ratings: Ratings, windows: Windows) -> list[RatedParagraph]:
    """Every paragraph, by system, document, rater and place."""
    found: list[RatedParagraph] = []
    for (system, doc), placed in _by_document(ratings).items():
        for rater, start, scores in _walks(placed, windows, ratings.raters):
            total = sum(scores) if windows.total == "sum" else sum(scores) / windows.k
            found.append(RatedParagraph(ratings.systems[system], doc, start, windows.k, rater, total))
    return found


Placed = dict[int, dict[int, float]]  # place → rater → score


def _by_document(ratings: Ratings) -> dict[tuple[int, str], Placed]:
    sums: dict[tuple[int, str], dict[int, dict[int, list[float]]]] = {}
    for system, item, rater, score in zip(
        ratings.system.tolist(), ratings.item.tolist(), ratings.rater.tolist(), ratings.score.tolist()
    ):
        doc, place = ratings.segments[item]
        sums.setdefault((system, doc), {}).setdefault(place, {}).setdefault(rater, []).append(score)
    return {key: {place: {rater: sum(many) / len(many) for rater, many in by.items()} for place, by in places.items()}
            for key, places in sums.items()}


def _walks(placed: Placed, windows: Windows, raters: Sequence[str]) -> Iterable[tuple[str, int, list[float]]]:
    if windows.raters == "each":
        for rater in sorted({rater for by in placed.values() for rater in by}, key=raters.__getitem__):
            own = {place: by[rater] for place, by in placed.items() if rater in by}
            for start in _starts(own, windows.k):
                yield raters[rater], start, [own[start + i] for i in range(windows.k)]
    elif windows.raters == "mean":
        means = {place: sum(by.values()) / len(by) for place, by in placed.items()}
        for start in _starts(means, windows.k):
            yield "mean", start, [means[start + i] for i in range(windows.k)]
    else:
        yield from _first_common(placed, windows.k, raters)


def _first_common(placed: Placed, k: int, raters: Sequence[str]) -> Iterable[tuple[str, int, list[float]]]:
    at, end = min(placed), max(placed) + 1
    while at + k <= end:
        window = [placed.get(at + i, {}) for i in range(k)]
        common = sorted(set.intersection(*(set(by) for by in window)), key=raters.__getitem__)
        if common:
            yield raters[common[0]], at, [by[common[0]] for by in window]
        at += k if common else 1


def _starts(scores: dict[int, float], k: int) -> Iterable[int]:
    """Where windows begin: greedy, over runs of places that have a score."""
    run = 0
    for place in sorted(scores):
        run = run + 1 if place - 1 in scores else 1
        if run == k:
            yield place - k + 1
            run = 0


@dataclass(frozen=True, eq=False)
class ParagraphSet:
    """Paragraphs lined up for meta-evaluation: item → (document, start), judged for at least two systems."""

    k: int
    items: tuple[tuple[str, int], ...]
    gold: Judgments  # (systems, items); NaN where a system has no such paragraph
    alone: int  # items left out because one system only has them

    def name(self, item: int) -> str:
        doc, start = self.items[item]
        return f"{doc}:{start + 1}-{start + self.k}"


def lined_up(found: Sequence[RatedParagraph], systems: Sequence[str], order: Sequence[str] = ()) -> ParagraphSet:
    """Items over all systems; where several raters scored the same paragraph of a system, their mean."""
    scores: dict[tuple[str, int], dict[str, list[float]]] = {}
    for one in found:
        if one.system in systems:
            scores.setdefault((one.doc, one.start), {}).setdefault(one.system, []).append(one.score)
    place = {doc: i for i, doc in enumerate(order or dict.fromkeys(one.doc for one in found))}
    items = sorted((item for item, by in scores.items() if len(by) >= 2), key=lambda item: (place[item[0]], item[1]))
    values = np.full((len(systems), len(items)), np.nan)
    for column, item in enumerate(items):
        for row, system in enumerate(systems):
            if system in scores[item]:
                values[row, column] = float(np.mean(scores[item][system]))
    gold = Judgments("paragraphs", "doc", tuple(systems), values)
    return ParagraphSet(found[0].k if found else 0, tuple(items), gold, len(scores) - len(items))


def texts(loaded: Loaded, chosen: ParagraphSet, joiner: Joiner = "auto") -> Loaded:
    """A corpus in which every paragraph is a document of one segment: its sentences joined, for all systems."""
    corpus = loaded.corpus
    by_id = {doc.id: doc for doc in corpus.docs}
    between = [joiner_for(lang, joiner) for lang in corpus.langs]
    docs: list[Document] = []
    outputs: dict[str, dict[str, tuple[str, ...]]] = {output.system: {} for output in loaded.outputs}
    for i, (name, start) in enumerate(chosen.items):
        if name not in by_id:
            raise AlignmentError(f"there is no document {name!r}", where=corpus.id, next="ratings and texts must match")
        doc, span = by_id[name], slice(start, start + chosen.k)
        src = None if doc.src is None else (between[0].join(doc.src[span]),)
        refs = {ref: (between[1].join(segments[span]),) for ref, segments in doc.refs.items()}
        provenance = {"doc": name, "start": str(start), "k": str(chosen.k)}
        docs.append(Document(chosen.name(i), src, refs, {**doc.meta, **provenance}))
        for output in loaded.outputs:
            outputs[output.system][chosen.name(i)] = (between[1].join(output.docs[name][span]),)
    made = Corpus(f"{corpus.id}.k{chosen.k}", corpus.langs, tuple(docs))
    return Loaded(made, tuple(Output(system, parts) for system, parts in outputs.items()), loaded.warnings)


def write_jsonl(path: FilePath, found: Sequence[RatedParagraph], loaded: Loaded | None = None) -> None:
    """One paragraph per line with its provenance, and its texts where a corpus is given."""
    by_id = {doc.id: doc for doc in loaded.corpus.docs} if loaded else {}
    outputs = {output.system: output for output in loaded.outputs} if loaded else {}
    between = [joiner_for(lang, "auto") for lang in loaded.corpus.langs] if loaded else ["", ""]

    def line(one: RatedParagraph) -> str:
        row: dict[str, object] = asdict(one)
        doc, span = by_id.get(one.doc), slice(one.start, one.start + one.k)
        if doc is not None and one.system in outputs:
            row["src"] = None if doc.src is None else between[0].join(doc.src[span])
            row["refs"] = {ref: between[1].join(segments[span]) for ref, segments in doc.refs.items()}
            row["hyp"] = between[1].join(outputs[one.system].docs[one.doc][span])
        return json.dumps(row, ensure_ascii=False)

    write_lines(path, map(line, found))
