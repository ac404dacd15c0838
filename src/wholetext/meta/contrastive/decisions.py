"""Decisions of metrics on a contrastive set, and their accuracy: overall, by group, and two metrics against each other.

The correct candidate must score strictly better than every other. ``contrast.json``, which reports
and other programs read, is described in docs/contrast.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import InputError, MetricError, RunError, SpecError, count
from wholetext.files.output_folder import SharedFolder, changing, check
from wholetext.files.parsing import number
from wholetext.files.storage import write_file
from wholetext.io.text import read_lines
from wholetext.meta.agreement.correlation import BoolArray, ratio
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item
from wholetext.notebook.display import brief
from wholetext.notes import Note, merged, row_notes
from wholetext.registry import Scorer, scorer
from wholetext.scoring.bound import BoundMetric, bind
from wholetext.scoring.comparison import plain
from wholetext.scoring.compute import Computer, MetricRun
from wholetext.scoring.evaluate import Options
from wholetext.types import Corpus, Document, FloatArray, Output
from wholetext.version import __version__
from wholetext.views import Context, draw

_LINES = "one score per line: for each item the correct candidate, then the others"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What one metric decided, item by item."""

    metric: str
    set: ContrastSet
    scores: tuple[FloatArray, ...]  # per item, the correct candidate first; higher is better
    warnings: tuple[str, ...] = ()

    @cached_property
    def margin(self) -> FloatArray:
        """Return (items,) the correct candidate's lead over the best other.

        NaN if a score is undefined.
        """
        # numpy's max of NaN and a number is NaN
        return np.array([scores[0] - scores[1:].max() for scores in self.scores])

    @property
    def correct(self) -> BoolArray:
        """Return (items,) which are decided correctly; ties and undefined scores are errors."""
        return np.asarray(self.margin > 0)

    @property
    def chance(self) -> FloatArray:
        """Return (items,) the chance that the correct candidate comes first by luck."""
        return np.array([1 / len(item.candidates) for item in self.set.items])


def decide(items: ContrastSet, metric: str | Scorer, options: Options | None = None) -> Decisions:
    """Score every candidate in its context under the metric's view; each distinct request once.

    Preferences may have references and a language pair per item.
    """
    bound = scorer(metric) if isinstance(metric, str) else metric
    if "ref" in bound.metric.needs and not all(item.ref for item in items.items):
        raise MetricError(
            f"{bound.spec} needs a reference, which would make the decision trivial",
            next="use a reference-free metric (`wholetext list --no-ref`), or preferences in which "
            "every item has a reference (target)",
        )
    options, spec = options or Options(), bound.spec
    shown, bound = with_controls(items, bound)
    scores: dict[int, FloatArray] = {}
    notes: dict[str, dict[str, list[Note]]] = {spec: {}}
    by_langs: dict[tuple[str, str], list[int]] = {}
    for at, item in enumerate(shown.items):
        by_langs.setdefault(item.langs or items.langs, []).append(at)
    for langs, places in by_langs.items():
        part = replace(shown, langs=langs, items=tuple(shown.items[at] for at in places))
        corpus, output = as_documents(part)
        last = {doc.id: np.arange(len(doc)) == len(doc) - 1 for doc in corpus.docs}
        refs = None if "ref" in bound.metric.needs else ()
        with options.computer(langs) as computer:
            remote = computer.executor is not None and computer.executor.remote
            work = bind(bound, corpus, [output], computer.engine, refs, remote=remote, only=last)
            values, notes[spec]["-".join(langs)] = _last_segments(computer, work, options.block)
        sign = 1.0 if work.metric.higher_is_better else -1.0
        scores |= dict(zip(places, _by_item(part, sign * values)))
    warnings = (*shown.warnings[len(items.warnings) :], *merged(notes))
    return Decisions(spec, items, tuple(scores[at] for at in range(len(items))), warnings)


def _by_item(items: ContrastSet, values: FloatArray) -> list[FloatArray]:
    """Split the scores of all candidates by item."""
    return np.split(values, np.cumsum([len(item.candidates) for item in items.items])[:-1])


def as_documents(items: ContrastSet) -> tuple[Corpus, Output]:
    """Make a document of each candidate, with the sentences before it."""
    docs, texts = [], {}
    for place, item in enumerate(items.items):
        for at, candidate in enumerate(item.candidates):
            name = f"{place}/{at}"
            refs = {"ref": (item.ref,)} if item.ref and not item.src_context else {}
            docs.append(Document(name, (*item.src_context, item.src), refs))
            texts[name] = (*candidate.context, candidate.text)
    return Corpus(items.name, items.langs, tuple(docs)), Output("candidates", texts)


def _last_segments(
    computer: Computer, work: BoundMetric, block: int | None
) -> tuple[FloatArray, list[Note]]:
    """The score of each candidate: the mean of the rows that cover a document's last segment."""
    run = MetricRun([work], None)
    computer.run(run.chunks(block, refuse=False))
    (part,) = run.parts
    doc = np.array(part.spans).reshape(-1, 4)[:, 0].astype(np.int64)
    rows = [work.metric.reduce_rows(chunk.stats)[:, 0] for chunk in part.chunks]
    totals = np.bincount(doc, np.concatenate([np.zeros(0), *rows]), len(work.corpus))
    scores = ratio(totals, np.bincount(doc, minlength=len(work.corpus)))
    lost = [np.zeros((0, 2), dtype=np.int64), *(chunk.lost for chunk in part.chunks)]
    details = [facts for chunk in part.chunks for facts in chunk.details]
    stated = work.metric.notes(work.corpus.langs)
    return scores, row_notes(stated, scores, np.concatenate(lost), details, "candidates")


def stored_decisions(
    items: ContrastSet, path: str | Path, *, higher_is_better: bool = True, name: str = ""
) -> Decisions:
    """Decisions from a file of scores: a line per candidate, the correct one first."""
    values = [
        number(line, finite=False, where=f"{path}:{place}", next=_LINES)
        for place, line in enumerate(read_lines(path), 1)
    ]
    candidates = sum(len(item.candidates) for item in items.items)
    if len(values) != candidates:
        raise InputError(
            f"{count(len(values), 'score')} for {count(candidates, 'candidate')}",
            where=str(path),
            next=_LINES,
        )
    signed = np.array(values) * (1.0 if higher_is_better else -1.0)
    return Decisions(name or Path(path).stem, items, tuple(_by_item(items, signed)))


# ---------------------------------------------------------------- wrong context, as a control


def with_controls(items: ContrastSet, scorer: Scorer) -> tuple[ContrastSet, Scorer]:
    """The items with the context that ``context(source=…)`` asks for, and the metric under ``source=same``.

    Views draw wrong context document by document, and every candidate is a separate document: drawn
    there, candidates of one item would be compared in different contexts.
    """
    view, warnings = scorer.view, items.warnings
    if not isinstance(view, Context) or view.source == "same":
        return items, scorer
    if view.source == "shuffled":
        changed = [_shuffled(item, view.seed) for item in items.items]
        short = sum(len(item.src_context) < 2 for item in items.items)
        if short:
            note = f"source=shuffled changes nothing in {count(short, 'item')} of {len(items)}"
            warnings = (*warnings, f"{note}: no two sentences")
    else:
        changed = _of_another(items.items, view.seed)
    return (
        replace(items, items=tuple(changed), warnings=warnings),
        replace(scorer, view=replace(view, source="same")),
    )


def _shuffled(item: Item, seed: int) -> Item:
    """Context sentences in an order drawn by item, the same on both sides."""
    drawn = [draw(seed, item.id, at) for at in range(len(item.src_context))]
    order = sorted(range(len(drawn)), key=drawn.__getitem__)
    candidates = tuple(
        Candidate(candidate.text, tuple(candidate.context[at] for at in order))
        for candidate in item.candidates
    )
    source = tuple(item.src_context[at] for at in order)
    return replace(item, src_context=source, candidates=candidates)


def _of_another(items: Sequence[Item], seed: int) -> list[Item]:
    """The context of an item whose source context is another one, and as long where there is such an item."""
    circle = sorted(range(len(items)), key=lambda at: (draw(seed, items[at].id), at))
    replaced = list(items)
    for place, at in enumerate(circle):
        item, size = items[at], len(items[at].src_context)
        lenders = [
            items[other]
            for other in (*circle[place + 1 : place + 200], *circle[:place][:200])
            if items[other].src_context and items[other].src_context != item.src_context
        ]
        if not lenders:
            raise SpecError(
                "context(source=other) needs items with different contexts",
                next="use source=shuffled",
            )
        lender = next((other for other in lenders if len(other.src_context) >= size), lenders[0])
        source, target = lender.src_context, lender.candidates[0].context
        cut = slice(len(source) - min(size, len(source)), None)
        candidates = tuple(Candidate(own.text, target[cut]) for own in item.candidates)
        replaced[at] = replace(item, src_context=source[cut], candidates=candidates)
    return replaced


FORMAT = 1
FILE = "contrast.json"
CONTRAST = SharedFolder("folder of contrastive results", RunError)
Split = Literal["distance", "flag"]
File = Path | str


@dataclass(frozen=True)
class ContrastAccuracy:
    """How many items of a group were decided correctly; ties and undefined scores are errors."""

    group: str
    total: int
    correct: int
    ties: int
    undefined: int
    low: float  # Wilson's 95 % interval of the accuracy
    high: float
    chance: float  # what random scores without ties are expected to reach
    accuracy: float


@dataclass(frozen=True)
class ContrastComparison:
    """McNemar's exact test of two metrics on the same items."""

    first: str
    second: str
    only_first: int  # items that only the first metric decides correctly
    only_second: int
    p: float


def overall(decisions: Decisions) -> ContrastAccuracy:
    """Accuracy over all items."""
    return _accuracy("all", decisions.margin, decisions.chance)


def groups(decisions: Decisions, split: Split = "distance") -> dict[str, list[ContrastAccuracy]]:
    """Kind of grouping → accuracy of each group, and of whole blocks."""
    items, margin, chance = decisions.set.items, decisions.margin, decisions.chance
    flags = {True: "intra", False: "inter", None: "unknown"}
    distances = ["unknown" if item.distance is None else str(item.distance) for item in items]
    near = [None if item.distance is None else item.distance == 0 for item in items]
    kinds = {
        "sentence": [
            flags[item.intra if split == "flag" else inside] for item, inside in zip(items, near)
        ],
        "type": [item.type for item in items],
        "distance": [
            ">3" if (item.distance or 0) > 3 else value for item, value in zip(items, distances)
        ],
        "category": [item.category for item in items],
    }
    by_kind = {}
    for kind, names in kinds.items():
        distinct = sorted(set(names), key=lambda name: (name == "unknown", name == ">3", name))
        if {*distinct} - {"", "unknown"} or len(distinct) > 1:
            members = {name: np.array(names) == name for name in distinct}
            by_kind[kind] = [
                _accuracy(name or "unknown", margin[of], chance[of]) for name, of in members.items()
            ]
    blocks = np.array([item.block for item in items])
    whole = [blocks == name for name in dict.fromkeys(blocks.tolist()) if name]
    if whole:  # a block is right where all of its items are
        right = np.array([1.0 if decisions.correct[of].all() else -1.0 for of in whole])
        luck = np.array([chance[of].prod() for of in whole])
        by_kind["block"] = [_accuracy("whole blocks", right, luck)]
    return by_kind


def compare(first: Decisions, second: Decisions) -> ContrastComparison:
    """Test whether two metrics differ on the same items (McNemar 1947, exact two-sided).

    This is the paired permutation test of the number of correct items, over all permutations:
    exchanging the two metrics on an item matters only where one of them alone is right.
    """
    from scipy.stats import binomtest

    only_first = int((first.correct & ~second.correct).sum())
    only_second = int((second.correct & ~first.correct).sum())
    apart = only_first + only_second
    p = float(binomtest(only_first, apart).pvalue) if apart else 1.0
    return ContrastComparison(first.metric, second.metric, only_first, only_second, p)


def _accuracy(name: str, margin: FloatArray, chance: FloatArray) -> ContrastAccuracy:
    """Accuracy of the items with these margins and chances."""
    correct, ties, undefined = (
        int(which.sum()) for which in (margin > 0, margin == 0, np.isnan(margin))
    )
    low, high = wilson(correct, len(margin))
    luck, share = float(chance.mean()), correct / len(margin)
    return ContrastAccuracy(name, len(margin), correct, ties, undefined, low, high, luck, share)


def wilson(correct: int, total: int) -> tuple[float, float]:
    """Wilson's (1927) 95 % interval of a proportion."""
    from scipy.stats import binomtest

    interval = binomtest(correct, total).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def write(folder: Path, content: dict[str, Any]) -> None:
    """Write ``contrast.json`` into a folder."""
    with changing(folder, CONTRAST) as staged:
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
        write_file(staged / FILE, text, RunError)


@dataclass(frozen=True, eq=False)
class ContrastResults:
    """What each metric decided, and McNemar's test of every two of them."""

    decisions: tuple[Decisions, ...]
    tests: tuple[ContrastComparison, ...]
    split: Split = "distance"  # what decides that an item is intra-sentential
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        """Plain values: numbers are numbers, undefined ones null."""
        items = self.decisions[0].set
        content: dict[str, Any] = plain(
            {
                "kind": "contrast",
                "format": FORMAT,
                "wholetext": __version__,
                "set": items.name,
                "langs": items.langs,
                "items": [item.id for item in items.items],
                "metrics": [
                    {
                        "metric": decisions.metric,
                        "all": asdict(overall(decisions)),
                        "groups": {
                            kind: [asdict(part) for part in parts]
                            for kind, parts in groups(decisions, self.split).items()
                        },
                        "margins": np.where(
                            np.isfinite(decisions.margin), decisions.margin, np.nan
                        ),
                    }
                    for decisions in self.decisions
                ],
                "mcnemar": [asdict(test) for test in self.tests],
                "notes": [*items.warnings, *(n for part in self.decisions for n in part.warnings)],
            }
        )
        return content


def contrast(
    items: ContrastSet,
    metrics: Sequence[str] = (),
    scores: Sequence[File | tuple[str, File]] = (),
    *,
    higher_is_better: bool = True,
    split: Split = "distance",
    options: Options | None = None,
    out: File | None = None,
) -> ContrastResults:
    """Evaluate metrics on a contrastive set, and precomputed scores: files, or (name, file).

    Metrics that read references need preferences that have them.

    ``higher_is_better`` applies to the files. With ``out`` contrast.json is written to this folder.
    """
    if out is not None:
        check(Path(out), CONTRAST, (FILE,))
    decisions = [decide(items, metric, options) for metric in metrics]
    for entry in scores:
        name, path = entry if isinstance(entry, tuple) else ("", entry)
        decisions.append(
            stored_decisions(items, path, higher_is_better=higher_is_better, name=name)
        )
    tests = [compare(first, second) for first, second in combinations(decisions, 2)]
    results = ContrastResults(tuple(decisions), tuple(tests), split)
    if out is not None:
        write(Path(out), results.as_json())
    return results
