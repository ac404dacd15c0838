"""Selection of the text under test, of the references for scoring, and of the systems.

The text under test is never the reference it is scored against: identity would always win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.errors import InputError, count, did_you_mean
from wholetext.stress.perturb import StressOptions
from wholetext.types import Corpus, Output, Scores

_COPY = 0.9  # an output is a copy of a reference if this share of its segments is equal to it


@dataclass(frozen=True)
class Selection:
    """The text under test, the references for all scores, and the outputs that are systems."""

    text: Output | None  # None: the best system, known once the systems are scored
    refs: tuple[str, ...]
    systems: tuple[Output, ...]
    notes: tuple[str, ...] = ()


def select(corpus: Corpus, outputs: Sequence[Output], settings: StressOptions) -> Selection:
    """Select the text that ``settings`` names, else a second reference, else a system."""
    copies = {
        output.system: name
        for output in outputs
        for name in corpus.references
        if _copies(output, corpus, name)
    }
    systems = tuple(output for output in outputs if output.system not in copies)
    notes = [
        f"{system} is a copy of the reference {name} and not counted among the systems"
        for system, name in copies.items()
    ]
    named, references = settings.text, corpus.references
    if named is not None and named not in references:
        return _system(named, corpus, systems, copies, notes)
    if named is None and len(references) < 2:
        if not systems:
            raise InputError(
                "there is no text to change that is not the reference itself",
                where=corpus.id,
                next="give a second reference (-r), or a system's output (-t)",
            )
        text = systems[0] if len(systems) == 1 else None
        return Selection(text, references, systems, tuple(notes))
    name = named or references[1]
    others = tuple(other for other in references if other != name)
    if not others:
        notes.append(
            f"the only reference, {name}, is the text under test: metrics that need one cannot be "
            "used"
        )
    text = Output(f"reference {name}", {doc.id: doc.refs[name] for doc in corpus.docs})
    against = f", scored against {', '.join(others)}" if others else ""
    notes.append(f"the text under test is the reference {name}{against}")
    return Selection(text, others, systems, tuple(notes))


def _system(
    named: str,
    corpus: Corpus,
    systems: Sequence[Output],
    copies: Mapping[str, str],
    notes: list[str],
) -> Selection:
    text = next((output for output in systems if output.system == named), None)
    if text is None:
        known = [*corpus.references, *(output.system for output in systems)]
        copy = f": it is a copy of the reference {copies[named]}" if named in copies else ""
        raise InputError(
            f"there is no text {named!r} to change{copy}",
            where=corpus.id,
            next=did_you_mean(named, known) or f"the texts are {', '.join(known)}",
        )
    notes.append(f"the text under test is the output of {named}")
    return Selection(text, corpus.references, tuple(systems), tuple(notes))


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
        values = np.array([_signed(by_system[output.system]) for output in systems])
        ranks += [(values > value).sum() for value in np.nan_to_num(values, nan=-np.inf)]
    chosen = systems[int(ranks.argmin())]
    return chosen, (
        f"the text under test is the output of {chosen.system}, which has the best mean rank of "
        f"{count(len(systems), 'system')} by these metrics"
    )


def _signed(scores: Scores) -> float:
    return scores.score if scores.higher_is_better else -scores.score


def identical(text: Output, corpus: Corpus, refs: Sequence[str]) -> list[str]:
    """Documents in which the text under test is the same as a reference."""
    return [
        doc.id
        for doc in corpus.docs
        if any(tuple(text.docs[doc.id]) == tuple(doc.refs[name]) for name in refs)
    ]
