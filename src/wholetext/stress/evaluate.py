"""`wholetext stress`: which metric sees which document-level error.

Good text that is not the reference it is scored against is changed in one controlled way; original and changed
documents are scored, and the question is how often, and how strongly, a metric prefers the original.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from wholetext.errors import InputError, MetricError, count
from wholetext.notebook.display import brief
from wholetext.registry import scorer
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.scoring.results import Results
from wholetext.stress import known_changes
from wholetext.stress.perturb import Perturbed, StressOptions, perturb
from wholetext.stress.selection import Selection, best, identical, select
from wholetext.stress.statistics import (
    Drawing,
    Losses,
    StressCell,
    StressSlope,
    spread,
    stress_cells,
)
from wholetext.types import Corpus, FloatArray, Output, Scores

# of a score's size: a model in single precision scores the same text by up to 1e-7 differently in another batch
_ROUNDING = 1e-6
Margins = Mapping[
    tuple[str, str, str], Mapping[str, float]
]  # (change, dose, document) → metric → loss of score


@dataclass(frozen=True, eq=False)
class Stress:
    """Metrics × changes; ``results`` holds the scores of the systems and of the unchanged text, as an ordinary run."""

    text: str
    refs: tuple[str, ...]
    systems: tuple[str, ...]  # those whose spread is the unit of effects
    settings: StressOptions
    cells: tuple[StressCell, ...]
    slopes: tuple[StressSlope, ...]
    spreads: Mapping[str, float]  # metric → standard deviation between systems
    perturbed: Perturbed
    margins: Margins  # loss of each changed document; higher: the original is preferred
    results: Results
    notes: tuple[str, ...] = field(default=())
    __repr__ = brief

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(self.results.scores)

    def as_json(self) -> dict[str, Any]:
        """Plain values; undefined numbers are null."""
        corpus = self.results.corpus
        found: dict[str, Any] = plain(
            {
                "kind": "stress",
                "corpus": corpus.id,
                "langs": corpus.langs,
                "documents": self.perturbed.documents,
                "systems": self.systems,
                "text": self.text,
                "references": self.refs,
                "metrics": self.metrics,
                "settings": asdict(self.settings),
                "changes": self.perturbed.kinds,
                "tagger": self.perturbed.tagger,
                "plugins": known_changes.origins(list(self.perturbed.kinds)),
                "refused": self.perturbed.refused,
                "figures": [asdict(one) for one in self.cells],
                "slopes": [asdict(one) for one in self.slopes],
                "spreads": self.spreads,
                "examples": _examples(self.perturbed),
                "signatures": {
                    spec: {system: str(scores.signature) for system, scores in by_system.items()}
                    for spec, by_system in self.results.scores.items()
                },
                "counts": self.results.counts,
                "notes": self.notes,
            }
        )
        return found


def stress(
    corpus: Corpus,
    outputs: Sequence[Output],
    metrics: Sequence[str] | str,
    settings: StressOptions | None = None,
    options: Options | None = None,
) -> Stress:
    """Change a text of the corpus in controlled ways and score original and changed documents with every metric.

    The text is a second reference, or the output of the best system where there is none; ``settings.text`` names
    another. It is never scored against itself. What is not changed is scored once, and finished rows are cached.
    """
    settings, options = settings or StressOptions(), options or Options()
    specs = [
        one.spec for one in map(scorer, [metrics] if isinstance(metrics, str) else list(metrics))
    ]
    _refuse(specs)
    known_changes.chosen(settings.changes)  # an error now, not after the systems are scored
    chosen = select(corpus, outputs, settings)
    options = replace(options, refs=_refs(chosen, options), flags=False)
    text, results, notes = _originals(corpus, chosen, specs, options)
    made, notes = _without_copies(
        perturb(corpus, text, settings, options), corpus, options.refs or (), notes
    )
    if not made.items:
        raise InputError(
            "no change can be made in this text", where=text.system, next="; ".join(made.notes[:3])
        )
    changed = evaluate(corpus, list(made.outputs().values()), specs, options)
    systems = [one.system for one in chosen.systems]
    spreads = {spec: spread(by_system, systems) for spec, by_system in results.scores.items()}
    margins = _margins(made, results, changed, text.system)
    sizes = {doc: len(segments) for doc, segments in text.docs.items()}
    losses = {spec: _losses(made, margins, (spec, unit), sizes) for spec, unit in spreads.items()}
    drawing = Drawing(settings.draws, settings.seed)
    every = (
        *notes,
        *made.notes,
        *_on_spreads(spreads, len(systems)),
        *results.warnings,
        *changed.warnings,
    )
    counts = {
        key: results.counts.get(key, 0) + changed.counts.get(key, 0)
        for key in {**results.counts, **changed.counts}
    }
    return Stress(
        text.system,
        options.refs or (),
        tuple(systems),
        settings,
        tuple(cell for each in losses.values() for cell in stress_cells(each, drawing)),
        tuple(slope for each in losses.values() for one in each if (slope := one.slope(drawing))),
        spreads,
        made,
        margins,
        replace(results, counts=counts),
        tuple(dict.fromkeys(every)),
    )


def _originals(
    corpus: Corpus, chosen: Selection, specs: Sequence[str], options: Options
) -> tuple[Output, Results, list[str]]:
    """The text under test, the scores of all systems and of this text, and notes on the choice."""
    others = [
        one for one in chosen.systems if chosen.text is None or one.system != chosen.text.system
    ]
    results = evaluate(corpus, [*others, *([chosen.text] if chosen.text else [])], specs, options)
    if chosen.text is not None:
        return chosen.text, results, [*chosen.notes]
    text, note = best(results.scores, others)
    return text, results, [*chosen.notes, note]


def _refuse(specs: Sequence[str]) -> None:
    for spec in specs:
        if scorer(spec).metric.rivals:
            raise MetricError(
                f"{spec} compares with other systems, which changed documents do not have",
                next="use a metric that scores each output by itself",
            )


def _refs(chosen: Selection, options: Options) -> tuple[str, ...]:
    """The references for scoring: those of the options that are not the text under test."""
    return (
        chosen.refs
        if options.refs is None
        else tuple(name for name in options.refs if name in chosen.refs)
    )


def _without_copies(
    made: Perturbed, corpus: Corpus, refs: Sequence[str], notes: list[str]
) -> tuple[Perturbed, list[str]]:
    same = {*identical(made.original, corpus, refs)}
    if not same:
        return made, notes
    said = f"{count(len(same), 'document')} left out, where the text under test is the same as a reference"
    return replace(made, items=tuple(one for one in made.items if one.doc not in same)), [
        *notes,
        said,
    ]


def _on_spreads(spreads: Mapping[str, float], systems: int) -> list[str]:
    if systems < 2:
        return [
            "effect sizes are in units of the spread between systems, and need outputs of two systems or more"
        ]
    none = [spec for spec, value in spreads.items() if math.isnan(value)]
    few = [f"the spread between systems is that of {systems} systems only"] if systems < 4 else []
    return few + (
        [f"{', '.join(none)}: all systems have the same score, so there is no effect size"]
        if none
        else []
    )


def _margins(made: Perturbed, results: Results, changed: Results, text: str) -> Margins:
    places = {doc: at for at, doc in enumerate(results.corpus.ids)}
    names = {key: output.system for key, output in made.outputs().items()}
    found: dict[tuple[str, str, str], dict[str, float]] = {
        (one.change, one.dose, one.doc): {} for one in made.items
    }
    for spec, by_system in results.scores.items():
        original = _signed(by_system[text])
        losses = {
            key: _loss(original, _signed(changed.scores[spec][name])) for key, name in names.items()
        }
        for change, dose, doc in found:
            found[change, dose, doc][spec] = float(losses[change, dose][places[doc]])
    return found


def _signed(scores: Scores) -> FloatArray:
    values = scores.at("doc")
    return values if scores.higher_is_better else -values


def _loss(original: FloatArray, changed: FloatArray) -> FloatArray:
    """(documents,) how much is lost; 0 where the difference is one of rounding alone."""
    size = np.maximum(np.abs(original), np.abs(changed))
    loss = original - changed
    return np.asarray(np.where(np.abs(loss) <= _ROUNDING * size, 0.0, loss))


def _losses(
    made: Perturbed, margins: Margins, metric: tuple[str, float], segments: Mapping[str, int]
) -> list[Losses]:
    """The losses of every change under one metric, which comes with its spread between systems."""
    found, (spec, scale) = [], metric
    for change, kind in made.kinds.items():
        mine = [one for one in made.items if one.change == change]
        by_dose: dict[str, list[tuple[str, float, float]]] = {one.dose: [] for one in mine}
        for one in mine:
            by_dose[one.dose].append(
                (one.doc, margins[change, one.dose, one.doc][spec], one.made / one.sites)
            )
        sites = {one.doc: one.sites for one in mine}
        rewords = any(
            _unbroken(one.segments) != _unbroken(made.original.docs[one.doc]) for one in mine
        )
        found.append(Losses(spec, change, kind, by_dose, sites, scale, segments, rewords))
    return found


def _unbroken(segments: Sequence[str]) -> str:
    """The text without blanks and the breaks between segments."""
    return "".join("".join(segments).split())


def _examples(made: Perturbed, most: int = 2) -> list[dict[str, Any]]:
    """The smallest dose of a change in the first few documents, with the segments that it touches."""
    found, seen = [], dict.fromkeys(made.kinds, 0)
    for one in made.items:
        if one.dose == made.items[0].dose and seen[one.change] < most:
            seen[one.change] += 1
            touched = sorted({edit.segment for edit in one.edits})
            found.append(
                {
                    "change": one.change,
                    "doc": one.doc,
                    "dose": one.dose,
                    "edits": [
                        {"segment": edit.segment, "was": edit.was, "now": edit.now}
                        for edit in one.edits
                    ],
                    "segments": [
                        {
                            "segment": at,
                            "original": made.original.docs[one.doc][at],
                            "changed": one.segments[at],
                        }
                        for at in touched
                    ],
                }
            )
    return found
