"""Selection of the text under test, of the references for scoring, and of the systems.

The text under test is never the reference it is scored against: identity would always win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wholetext.errors import InputError, count
from wholetext.stress.perturbation import StressOptions
from wholetext.types import Corpus, Output, Scores

_COPY = 0.9  # an output is a copy of a reference if this share of its segments is equal to it


class StressSelection(NamedTuple):
    """The text under test, the references for all scores, and the outputs that are systems."""

    text: Output | None  # None: the best system, known once the systems are scored
    refs: tuple[str, ...]
    systems: tuple[Output, ...]
    notes: list[str]


def select(corpus: Corpus, outputs: Sequence[Output], settings: StressOptions) -> StressSelection:
    """Select the text that ``settings`` names, else a second reference, else a system."""
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
    if named is None and systems:
        text = next(iter(systems.values())) if len(systems) == 1 else None
        return StressSelection(text, references, tuple(systems.values()), notes)
    if named in systems:
        notes.append(f"the text under test is the output of {named}")
        return StressSelection(systems[named], references, tuple(systems.values()), notes)
    if named not in references:
        known = ", ".join((*references, *systems))
        raise InputError(
            f"there is no text {named or 'but the reference'} to change",
            where=corpus.id,
            next=f"the texts are {known}; without two references or a system's output there is "
            "none",
        )
    others = tuple(other for other in references if other != named)
    text = Output(f"reference {named}", {doc.id: doc.refs[named] for doc in corpus.docs})
    against = ", ".join(others) or "nothing: metrics that need a reference cannot be used"
    notes.append(f"the text under test is the reference {named}, scored against {against}")
    return StressSelection(text, others, tuple(systems.values()), notes)


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
    """The system with the best mean rank over all metrics, and a note on the choice."""
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
