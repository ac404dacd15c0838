"""Scores that need no people: of the reference itself, of the text of another document, of a form without training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wholetext.errors import InputError
from wholetext.types import Excerpt, FloatArray, Request

if TYPE_CHECKING:
    from wholetext.training.learner import Learner, TrainingData

ENDS = "0 for the text of another document, 100 for the reference itself"
ITEMS = 400  # validation items that are scored


def untrained(learner: Learner) -> FloatArray:
    """(n,) standardised scores of the training examples by a form that has one without a head."""
    form: Any = learner.form
    inputs = getattr(learner, "inputs", None)
    if inputs is None or not hasattr(form, "untrained"):
        raise InputError("anchor needs a form that scores without a head, and a frozen base",
                         next='use form = "aligned" and adapter.kind = "frozen", or anchor = 0')
    plain: FloatArray = form.untrained(inputs.numpy().astype(np.float64))
    return np.asarray((plain - plain.mean()) / plain.std())


def ends(learner: Learner, material: TrainingData) -> tuple[float, float]:
    """Mean predictions for outputs that are texts of other documents, and for outputs equal to the reference."""
    held = material.held
    seen: dict[Excerpt, str] = {}  # reference → its document
    for pair, place in zip(held.pairs, held.places):
        if pair.refs:
            seen.setdefault(pair.refs[0], place.doc)
    refs, docs = list(seen)[:ITEMS], list(seen.values())[:ITEMS]
    half = len(refs) // 2
    others = [(i, (i + half) % len(refs)) for i in range(len(refs)) if docs[i] != docs[(i + half) % len(refs)]]
    if not others:
        raise InputError("the ends of the scale need references of two documents", next="use more documents")
    wrong = [Request((refs[other],), None, (refs[i],)) for i, other in others]
    right = [Request((ref,), None, (ref,)) for ref in refs]
    found = learner.score((*wrong, *right))
    return float(found[: len(wrong)].mean()), float(found[len(wrong) :].mean())
