"""Stress tests: which metric detects which document-level error.

Good text, never the reference it is scored against, is changed in one controlled way. Original and
changed documents are scored: how often, and by how much, does a metric prefer the original?
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError, MetricError, count
from wholetext.io import Loaded
from wholetext.notebook.display import brief
from wholetext.registry import scorer
from wholetext.scoring.comparison import study_json
from wholetext.scoring.engine import trait
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results, write_run
from wholetext.stress.change import chosen_changes
from wholetext.stress.perturbation import Perturbed, StressOptions, perturb
from wholetext.stress.statistics import Loss, StressCell, spread, stress_cells
from wholetext.types import Corpus, Output, Scores

_COPY = 0.9  # an output is a copy of a reference if this share of its segments is equal to it
_ROUNDING = 1e-6  # relative: single precision differs by up to 1e-7 between batches


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
    losses: Mapping[str, list[Loss]]  # metric → loss of each changed document
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
    chosen_changes(settings.changes)  # fail before the systems are scored
    text, refs, systems, notes = select(corpus, outputs, settings)  # refs without the text
    if options.refs is not None:
        refs = tuple(name for name in options.refs if name in refs)
    options = replace(options, refs=refs, flags=False)
    others = [output for output in systems if text is None or output.system != text.system]
    results = score(Loaded(corpus, [*others, *([text] if text else [])]), specs, options=options)
    if text is None:
        text, note = best(results.scores, systems)
        notes.append(note)
    made = perturb(corpus, text, settings, options)
    copies = {
        doc.id
        for doc in corpus.docs
        if any(tuple(text.docs[doc.id]) == tuple(doc.refs[name]) for name in refs)
    }
    if copies:
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
    names = tuple(output.system for output in systems)
    spreads = {spec: spread(by_system, names) for spec, by_system in results.scores.items()}
    notes += made.notes
    if undefined := ", ".join(spec for spec, value in spreads.items() if math.isnan(value)):
        notes.append(f"{undefined}: no spread between systems, and so no effect size")
    if len(names) < 4:
        notes.append(f"the spread between systems is that of {count(len(names), 'system')} only")
    lost = {spec: losses(made, results, changed, spec) for spec in spreads}
    counts = {
        key: results.counts.get(key, 0) + changed.counts.get(key, 0)
        for key in {**results.counts, **changed.counts}
    }
    return Stress(
        text.system,
        refs,
        names,
        settings,
        tuple(
            cell
            for spec, unit in spreads.items()
            for cell in stress_cells(spec, lost[spec], unit, settings.draws, settings.seed)
        ),
        spreads,
        made,
        lost,
        replace(results, counts=counts),
        tuple(dict.fromkeys((*notes, *results.warnings, *changed.warnings))),
    )


# ---------------------------------------------------------------- the text under test


def select(
    corpus: Corpus, outputs: Sequence[Output], settings: StressOptions
) -> tuple[Output | None, tuple[str, ...], tuple[Output, ...], list[str]]:
    """Select the text that ``settings`` names, else a second reference, else a system.

    Returns:
        The text under test (None: the best system, known once the systems are scored), the
        references for all scores, the outputs that are systems, and notes.
    """
    copies = {
        output.system: name
        for output in outputs
        for name in corpus.references
        if _copies(output, corpus, name)
    }
    systems = {output.system: output for output in outputs if output.system not in copies}
    notes = [
        f"{system} is a copy of the reference {name} and not counted among the systems"
        for system, name in copies.items()
    ]
    references = corpus.references
    named = settings.text or (references[1] if len(references) > 1 else None)
    text = next(iter(systems.values())) if named is None and len(systems) == 1 else None
    refs = references
    if named in systems:
        text = systems[named]
        notes.append(f"the text under test is the output of {named}")
    elif named in references:
        text = Output(f"reference {named}", {doc.id: doc.refs[named] for doc in corpus.docs})
        refs = tuple(other for other in references if other != named)
        against = ", ".join(refs) or "nothing: metrics that need a reference cannot be used"
        notes.append(f"the text under test is the reference {named}, scored against {against}")
    elif named is not None or not systems:
        known = ", ".join((*references, *systems))
        raise InputError(
            f"there is no text {named or 'but the reference'} to change",
            where=corpus.id,
            next=f"the texts are {known}; without two references or a system's output there is "
            "none",
        )
    return text, refs, tuple(systems.values()), notes


def _copies(output: Output, corpus: Corpus, name: str) -> bool:
    equal = [
        segment == reference
        for doc in corpus.docs
        for segment, reference in zip(output.docs[doc.id], doc.refs[name])
    ]
    return bool(equal) and sum(equal) >= _COPY * len(equal)


def best(
    scores: Mapping[str, Mapping[str, Scores]], systems: Sequence[Output]
) -> tuple[Output, str]:
    """Return the system with the best mean rank over all metrics, and a note on the choice."""
    ranks = np.zeros(len(systems))
    for by_system in scores.values():
        ours = [by_system[output.system] for output in systems]
        values = np.array([own.score if own.higher_is_better else -own.score for own in ours])
        ranks += [(values > value).sum() for value in np.nan_to_num(values, nan=-np.inf)]
    chosen = systems[int(ranks.argmin())]
    return chosen, (
        f"the text under test is the output of {chosen.system}, which has the best mean rank of "
        f"{count(len(systems), 'system')} by these metrics"
    )


# ---------------------------------------------------------------- losses


def losses(made: Perturbed, results: Results, changed: Results, spec: str) -> list[Loss]:
    """Compute the loss of score of every changed document; 0 if it is within rounding.

    Losses times segments add up, as scores are means: so a site costs that over the sites changed.
    """
    scores = results.scores[spec][made.original.system]
    original, sign = scores.at("doc"), 1 if scores.higher_is_better else -1
    by_output: dict[tuple[str, str], dict[str, float]] = {}
    for key, output in made.outputs().items():
        new = changed.scores[spec][output.system].at("doc")
        size = np.maximum(np.abs(original), np.abs(new))
        loss = np.where(np.abs(original - new) <= _ROUNDING * size, 0.0, sign * (original - new))
        by_output[key] = dict(zip(results.corpus.ids, loss.tolist()))
    changes = []
    for item in made.items:
        lost = by_output[item.change, item.dose][item.doc]
        cost = lost * len(item.segments) / item.made
        changes.append(Loss(item.change, item.kind, item.dose, item.doc, lost, cost))
    return changes


def _examples(made: Perturbed, most: int = 2) -> list[dict[str, Any]]:
    """Show the smallest dose of every change in the first documents, by changed segment."""
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


# ---------------------------------------------------------------- files


def write_stress(stress: Stress, folder: Path | str, *, overwrite: bool = True) -> None:
    """Write a run folder with the figures in stress.json, which `wholetext report` shows."""
    figures = json.dumps(stress.as_json(), ensure_ascii=False, indent=1)
    write_run(stress.results, folder, {"stress.json": figures}, overwrite=overwrite)
