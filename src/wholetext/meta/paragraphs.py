"""Paragraphs from sentence ratings, and how well metrics agree with people on them by their length.

Deutsch et al. 2023, "Training and Meta-Evaluating Machine Translation Evaluation Metrics at the
Paragraph Level", sections 3-5: walking through a document, the next k segments that are all rated
by one rater make a paragraph and are used up; otherwise the walk moves on by one. Metrics score a
paragraph whole (its sentences joined to one text) or as the mean of its sentences, each a text of
its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from wholetext import text as languages
from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import Loaded
from wholetext.io.text import FilePath, write_lines
from wholetext.meta.agreement.correlation import count_pairs, pearson_rows, ratio
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.judgments import Ratings, Total
from wholetext.meta.participants import Participants
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score as score_texts
from wholetext.types import Corpus, Document, FloatArray, Judgments, Output
from wholetext.views import Joiner

Raters = Literal["each", "first", "mean"]


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
    """How paragraphs are made: length, treatment of several raters, total of sentence scores, what joins sentences.

    ``each`` walks every rater's ratings alone, ``first`` takes the first rater that all k segments
    have in common, ``mean`` the mean over raters of each segment.
    """

    k: int
    raters: Raters = "each"
    total: Total = "sum"
    joiner: Joiner = "auto"


def paragraphs(ratings: Ratings, windows: Windows) -> list[RatedParagraph]:
    """List every paragraph by system, document, rater and place."""
    by_document: dict[tuple[str, str], dict[int, dict[str, list[float]]]] = {}
    columns = ratings.system, ratings.item, ratings.rater, ratings.score
    for system, item, rater, score in zip(*(column.tolist() for column in columns)):
        doc, place = ratings.segments[item]
        by_rater = by_document.setdefault((ratings.systems[system], doc), {}).setdefault(place, {})
        by_rater.setdefault(ratings.raters[rater], []).append(score)
    result: list[RatedParagraph] = []
    for (system, doc), places in by_document.items():
        means = {
            place: {rater: sum(scores) / len(scores) for rater, scores in by_rater.items()}
            for place, by_rater in places.items()
        }
        for rater, start, scores in _walks(means, windows):
            total = sum(scores) if windows.total == "sum" else sum(scores) / windows.k
            result.append(RatedParagraph(system, doc, start, windows.k, rater, total))
    return result


def _walks(
    scored: dict[int, dict[str, float]], windows: Windows
) -> Iterator[tuple[str, int, list[float]]]:
    """Place → rater → score → rater, start and scores of each paragraph."""
    tracks = [scored]  # walked one after the other
    if windows.raters == "mean":
        tracks = [{place: {"mean": sum(by.values()) / len(by)} for place, by in scored.items()}]
    if windows.raters == "each":
        tracks = [
            {place: {rater: by[rater]} for place, by in scored.items() if rater in by}
            for rater in sorted(set().union(*scored.values()))
        ]
    for track in tracks:
        at, stop = min(track), max(track) + 1
        while at + windows.k <= stop:
            window = [track.get(at + i, {}) for i in range(windows.k)]
            common = set(window[0]).intersection(*window)
            if common:
                yield min(common), at, [by[min(common)] for by in window]
            at += windows.k if common else 1


@dataclass(frozen=True, eq=False)
class ParagraphSet:
    """Paragraphs of all systems by item, (document, start).

    An item is judged for at least two systems.
    """

    k: int
    items: tuple[tuple[str, int], ...]
    gold: Judgments  # (systems, items); NaN where a system has no such paragraph
    alone: int  # items left out because one system only has them


def paragraph_set(
    paragraphs: Sequence[RatedParagraph], systems: Sequence[str], order: Sequence[str] = ()
) -> ParagraphSet:
    """Items over all systems; where several raters scored the same paragraph of a system, their mean."""
    scores: dict[tuple[str, int], dict[str, list[float]]] = {}
    for paragraph in paragraphs:
        if paragraph.system in systems:
            by_system = scores.setdefault((paragraph.doc, paragraph.start), {})
            by_system.setdefault(paragraph.system, []).append(paragraph.score)
    docs = order or list(dict.fromkeys(paragraph.doc for paragraph in paragraphs))
    rank = {doc: i for i, doc in enumerate(docs)}
    items = [item for item, by in scores.items() if len(by) >= 2]
    items.sort(key=lambda item: (rank[item[0]], item[1]))
    values = np.empty((len(systems), len(items)))
    for row, system in enumerate(systems):
        values[row] = [float(np.mean(scores[item].get(system, [np.nan]))) for item in items]
    gold = Judgments("paragraphs", "doc", tuple(systems), values)
    return ParagraphSet(
        paragraphs[0].k if paragraphs else 0, tuple(items), gold, len(scores) - len(items)
    )


def texts(
    loaded: Loaded, items: Sequence[tuple[str, int]], k: int, joiner: Joiner = "auto"
) -> Loaded:
    """A corpus in which ``k`` segments from each (document, start) are a document of one segment, for all systems."""
    corpus = loaded.corpus
    by_id = {doc.id: doc for doc in corpus.docs}
    source, target = (languages.joiner(lang, joiner) for lang in corpus.langs)
    docs: list[Document] = []
    outputs: dict[str, dict[str, tuple[str, ...]]] = {
        output.system: {} for output in loaded.outputs
    }
    for doc, start in items:
        if doc not in by_id:
            raise AlignmentError(
                f"there is no document {doc!r}",
                where=corpus.id,
                next="ratings and texts must match",
            )
        whole, span, name = by_id[doc], slice(start, start + k), f"{doc}:{start + 1}-{start + k}"
        src = None if whole.src is None else (source.join(whole.src[span]),)
        refs = {ref: (target.join(segments[span]),) for ref, segments in whole.refs.items()}
        place = {"doc": doc, "start": str(start), "k": str(k)}
        docs.append(Document(name, src, refs, {**whole.meta, **place}))
        for output in loaded.outputs:
            outputs[output.system][name] = (target.join(output.docs[doc][span]),)
    joined = Corpus(f"{corpus.id}.k{k}", corpus.langs, tuple(docs))
    made = tuple(Output(system, parts) for system, parts in outputs.items())
    return Loaded(joined, made, loaded.warnings)


def write_jsonl(path: FilePath, paragraphs: Sequence[RatedParagraph]) -> None:
    """One paragraph per line with its provenance."""
    write_lines(path, (json.dumps(asdict(part), ensure_ascii=False) for part in paragraphs))


@dataclass(frozen=True)
class Point:
    """One metric at one length, scored in one way, against one kind of human scores."""

    gold: str
    k: int
    metric: str
    mode: str  # direct, average
    paragraphs: int  # judged paragraphs over all systems that take part
    items: int
    systems: int
    accuracy: float  # of systems
    acc_eq: float
    pearson: float
    chance: dict[str, float]
    pairs: dict[str, int]
    direct_average: float  # Pearson's r between the two ways of scoring
    sys_pearson: float  # of systems
    ties: float  # share of pairs of outputs of a paragraph with equal metric scores
    gold_ties: float  # the same of human scores


def curves(
    where: Participants,
    ratings: Ratings,
    metrics: Sequence[str],
    windows: Sequence[Windows],
    options: Options | None = None,
    notes: list[str] | None = None,
) -> list[Point]:
    """Compute the agreement of every metric at every length; only sentences of paragraphs are scored.

    Notes on scores go to ``notes``.
    """
    options = replace(options or Options(), refs=where.refs or None, flags=False)
    specs = {metric: scorer(metric).spec for metric in metrics}

    def score(loaded: Loaded) -> dict[str, FloatArray]:
        results = score_texts(loaded, list(specs.values()), options=options)
        new = [f"paragraphs: {note}" for note in results.warnings]
        if notes is not None:
            notes.extend(note for note in new if note not in notes)
        by_metric = {}
        for metric, spec in specs.items():
            scores = [results.scores[spec][system] for system in where.systems]
            by_metric[metric] = np.stack(
                [own.at("segment") * (1 if own.higher_is_better else -1) for own in scores]
            )
        return by_metric

    return curves_of(where, ratings, windows, score)


def curves_of(
    where: Participants,
    ratings: Ratings,
    windows: Sequence[Windows],
    score: Callable[[Loaded], dict[str, FloatArray]],
) -> list[Point]:
    """Compute the same by any function from texts to (systems, segments) scores, higher is better."""
    loaded = where.evalset.load()
    outputs = tuple(output for output in loaded.outputs if output.system in where.systems)
    loaded = Loaded(loaded.corpus, outputs, loaded.warnings)
    order = [doc.id for doc in loaded.corpus.docs]
    docs = {run.doc for run in where.runs if where.kept[run.start]}
    systems = np.array([system in where.systems for system in ratings.systems], dtype=bool)
    items = np.array([doc in docs for doc, _ in ratings.segments], dtype=bool)
    ratings = ratings.take(systems[ratings.system] & items[ratings.item])
    rated = [paragraphs(ratings, window) for window in windows]
    sets = [paragraph_set(window, where.systems, order) for window in rated]
    empty = [window.k for window, chosen in zip(windows, sets) if not chosen.items]
    if empty:
        raise InputError(
            f"no paragraph of {empty[0]} segments was judged for two systems",
            where=where.name,
            next="use a smaller k",
        )
    places = dict.fromkeys(
        (doc, start + i) for chosen in sets for doc, start in chosen.items for i in range(chosen.k)
    )
    column = {place: i for i, place in enumerate(places)}
    sentences = score(texts(loaded, list(places), 1))
    points = []
    for window, rated_here, chosen in zip(windows, rated, sets):
        parts = [[column[doc, start + i] for doc, start in chosen.items] for i in range(chosen.k)]
        for metric, direct in score(texts(loaded, chosen.items, chosen.k, window.joiner)).items():
            average = np.stack([sentences[metric][:, part] for part in parts]).mean(axis=0)
            scored = {"direct": direct, "average": average}
            points += _points(where.gold_name, metric, chosen, len(rated_here), scored)
    return points


def _points(
    gold_name: str, metric: str, chosen: ParagraphSet, count: int, scored: dict[str, FloatArray]
) -> list[Point]:
    gold = chosen.gold.values
    judged = ~np.isnan(gold)
    agreement = float(pearson_rows(scored["direct"][judged], scored["average"][judged]))
    points = []
    for mode, scores in scored.items():
        values = np.where(judged, scores, np.nan)
        estimates = {
            "accuracy": estimate(
                system_means(gold)[None], system_means(values)[None], Measure("accuracy")
            ),
            "acc_eq": estimate(gold, values, Measure("acc_eq", "item")),
            "pearson": estimate(gold, values, Measure("pearson", "none")),
        }
        counts = count_pairs(np.ascontiguousarray(gold.T), np.ascontiguousarray(values.T))
        total, both = counts.total.sum(), counts.ties_both.sum()
        ties, gold_ties = (
            float(ratio(own.sum() + both, total)) for own in (counts.ties_metric, counts.ties_gold)
        )
        value, chance, pairs = (
            {name: getattr(result, part) for name, result in estimates.items()}
            for part in ("value", "chance", "pairs")
        )
        points.append(
            Point(
                gold_name,
                chosen.k,
                metric,
                mode,
                count,
                len(chosen.items),
                len(gold),
                **value,
                chance=chance,
                pairs=pairs,
                direct_average=agreement,
                sys_pearson=float(pearson_rows(system_means(gold), system_means(values))),
                ties=ties,
                gold_ties=gold_ties,
            )
        )
    return points


def read_lengths(text: str, low: int = 1, what: str = "paragraph lengths") -> tuple[int, ...]:
    """``1..10``, ``1,5,10`` or ``3`` → lengths."""
    lengths: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        try:
            lengths += range(int(first), int(last) + 1) if dots else [int(first)]
        except ValueError:
            lengths.append(-1)
    if not lengths or min(lengths) < low:
        raise InputError(f"invalid {what} {text!r}", next=f"write {low}..10 or {low},5,10")
    return tuple(dict.fromkeys(lengths))
