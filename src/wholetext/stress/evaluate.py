"""Stress tests: which metric detects which document-level error.

Good text, never the reference it is scored against, is changed in one controlled way. Original and
changed documents are scored: how often, and by how much, does a metric prefer the original?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from wholetext.errors import InputError, MetricError, count
from wholetext.io import Loaded
from wholetext.notebook.display import brief
from wholetext.registry import scorer
from wholetext.scoring.comparison import study_json
from wholetext.scoring.engine import trait
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results
from wholetext.stress import known_changes
from wholetext.stress.perturbation import Perturbed, StressOptions, perturb
from wholetext.stress.selection import StressSelection, best, identical, select
from wholetext.stress.statistics import (
    Drawing,
    Losses,
    StressCell,
    spread,
    stress_cells,
)
from wholetext.types import Corpus, FloatArray, Output, Scores

_ROUNDING = 1e-6  # relative: single precision differs by up to 1e-7 between batches
# (change, dose, document) → metric → loss of score
Margins = Mapping[tuple[str, str, str], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Stress:
    """Metrics × changes; ``results`` is the run of the systems and of the unchanged text."""

    text: str
    refs: tuple[str, ...]
    systems: tuple[str, ...]  # those whose spread is the unit of effects
    settings: StressOptions
    cells: tuple[StressCell, ...]
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
        return study_json(
            "stress",
            self.results,
            self.settings,
            self.notes,
            systems=self.systems,
            text=self.text,
            references=self.refs,
            metrics=self.metrics,
            changes=self.perturbed.kinds,
            tagger=self.perturbed.tagger,
            refused=self.perturbed.refused,
            figures=[asdict(cell) for cell in self.cells],
            spreads=self.spreads,
            examples=_examples(self.perturbed),
        )


def stress(
    corpus: Corpus,
    outputs: Sequence[Output],
    metrics: Sequence[str] | str,
    settings: StressOptions | None = None,
    options: Options | None = None,
) -> Stress:
    """Change a text of the corpus in controlled ways and score original and changed documents.

    The text is the one that ``settings.text`` names, else a second reference, else the output of
    the best system. It is never scored against itself.
    """
    settings, options = settings or StressOptions(), options or Options()
    scorers = [scorer(name) for name in ([metrics] if isinstance(metrics, str) else metrics)]
    specs = [metric.spec for metric in scorers]
    rivals = [metric.spec for metric in scorers if trait(metric.metric, "rivals")]
    if rivals:
        raise MetricError(
            f"{rivals[0]} compares with other systems, which changed documents do not have",
            next="use a metric that scores each output by itself",
        )
    known_changes.chosen(settings.changes)  # fail before the systems are scored
    chosen = select(corpus, outputs, settings)
    refs = chosen.refs  # without the text under test
    if options.refs is not None:
        refs = tuple(name for name in options.refs if name in chosen.refs)
    options = replace(options, refs=refs, flags=False)
    text, results, notes = _originals(corpus, chosen, specs, options)
    made = perturb(corpus, text, settings, options)
    if copies := {*identical(text, corpus, refs)}:
        made = replace(made, items=tuple(item for item in made.items if item.doc not in copies))
        notes.append(
            f"{count(len(copies), 'document')} left out, where the text under test is the same as "
            "a reference"
        )
    if not made.items:
        raise InputError(
            "no change can be made in this text", where=text.system, next="; ".join(made.notes[:3])
        )
    changed = score(Loaded(corpus, list(made.outputs().values())), specs, options=options)
    systems = [output.system for output in chosen.systems]
    spreads = {spec: spread(by_system, systems) for spec, by_system in results.scores.items()}
    margins = _margins(made, results, changed, text.system)
    sizes = {doc: len(segments) for doc, segments in text.docs.items()}
    losses = {spec: _losses(made, margins, (spec, unit), sizes) for spec, unit in spreads.items()}
    drawing = Drawing(settings.draws, settings.seed)
    all_notes = (
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
        refs,
        tuple(systems),
        settings,
        tuple(cell for by_change in losses.values() for cell in stress_cells(by_change, drawing)),
        spreads,
        made,
        margins,
        replace(results, counts=counts),
        tuple(dict.fromkeys(all_notes)),
    )


def _originals(
    corpus: Corpus, chosen: StressSelection, specs: Sequence[str], options: Options
) -> tuple[Output, Results, list[str]]:
    """The text under test, the scores of all systems and of this text, and notes on the choice."""
    if chosen.text is None:
        results = score(Loaded(corpus, chosen.systems), specs, options=options)
        text, note = best(results.scores, chosen.systems)
        return text, results, [*chosen.notes, note]
    others = [output for output in chosen.systems if output.system != chosen.text.system]
    return (
        chosen.text,
        score(Loaded(corpus, [*others, chosen.text]), specs, options=options),
        [*chosen.notes],
    )


def _on_spreads(spreads: Mapping[str, float], systems: int) -> list[str]:
    undefined = ", ".join(spec for spec, value in spreads.items() if math.isnan(value))
    notes = [f"{undefined}: no spread between systems, and so no effect size"] if undefined else []
    if systems < 4:
        notes.append(f"the spread between systems is that of {count(systems, 'system')} only")
    return notes


def _margins(made: Perturbed, results: Results, changed: Results, text: str) -> Margins:
    places = {doc: at for at, doc in enumerate(results.corpus.ids)}
    names = {key: output.system for key, output in made.outputs().items()}
    margins: dict[tuple[str, str, str], dict[str, float]] = {
        (item.change, item.dose, item.doc): {} for item in made.items
    }
    for spec, by_system in results.scores.items():
        original = _signed(by_system[text])
        losses = {
            key: _loss(original, _signed(changed.scores[spec][name])) for key, name in names.items()
        }
        for change, dose, doc in margins:
            margins[change, dose, doc][spec] = float(losses[change, dose][places[doc]])
    return margins


def _signed(scores: Scores) -> FloatArray:
    values = scores.at("doc")
    return values if scores.higher_is_better else -values


def _loss(original: FloatArray, changed: FloatArray) -> FloatArray:
    """(documents,) loss of score; 0 if the difference is within rounding."""
    size = np.maximum(np.abs(original), np.abs(changed))
    loss = original - changed
    return np.asarray(np.where(np.abs(loss) <= _ROUNDING * size, 0.0, loss))


def _losses(
    made: Perturbed, margins: Margins, metric: tuple[str, float], segments: Mapping[str, int]
) -> list[Losses]:
    """The losses of every change under a metric, given with its spread between systems."""
    losses, (spec, scale) = [], metric
    for change, kind in made.kinds.items():
        by_dose: dict[str, list[tuple[str, float, int]]] = {}
        for item in made.items:
            if item.change == change:
                loss = margins[change, item.dose, item.doc][spec]
                by_dose.setdefault(item.dose, []).append((item.doc, loss, item.made))
        losses.append(Losses(spec, change, kind, by_dose, scale, segments))
    return losses


def _examples(made: Perturbed, most: int = 2) -> list[dict[str, Any]]:
    """The smallest dose of every change in the first documents, with the changed segments."""
    examples, shown = [], dict.fromkeys(made.kinds, 0)
    for item in made.items:
        if item.dose == made.items[0].dose and shown[item.change] < most:
            shown[item.change] += 1
            original = made.original.docs[item.doc]
            examples.append(
                {
                    "change": item.change,
                    "doc": item.doc,
                    "dose": item.dose,
                    "edits": [
                        {"segment": edit.segment, "was": edit.was, "now": edit.now}
                        for edit in item.edits
                    ],
                    "segments": [
                        {"segment": at, "original": original[at], "changed": item.segments[at]}
                        for at in sorted({edit.segment for edit in item.edits})
                    ],
                }
            )
    return examples
