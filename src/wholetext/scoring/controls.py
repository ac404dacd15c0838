"""Controls: outputs that are nonsense, and how metrics score them.

They are neither ranked nor tested. A metric that scores a copy of the source or shuffled sentences
as high as a system does not measure translation quality.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wholetext.errors import InputError, count, known
from wholetext.notes import Note
from wholetext.types import Corpus, Output, Scores

CONTROLS = ("copy", "empty", "shuffled")
SEED = 12345


@dataclass(frozen=True)
class Control:
    """One control with its scores: spec → score; NaN: undefined."""

    name: str
    text: str  # what it is
    scores: Mapping[str, float]


def check_controls(names: Sequence[str], corpus: Corpus, outputs: Sequence[Output]) -> None:
    """Raise an error, before any work, if a control is unknown or cannot be made."""
    for name in names:
        known("control", name, CONTROLS)
    if "copy" in names and any(doc.src is None for doc in corpus.docs):
        raise InputError(
            "the control copy needs a source, and there is none",
            where=corpus.id,
            next="leave it out: --controls empty,shuffled",
        )
    if "shuffled" in names and sum(map(len, outputs[0].docs.values())) < 2:
        raise InputError(
            "a single segment cannot be shuffled",
            where=outputs[0].system,
            next="leave it out: --controls copy,empty",
        )


def control_outputs(
    names: Sequence[str], corpus: Corpus, outputs: Sequence[Output]
) -> dict[str, tuple[str, Output]]:
    """Make the outputs: name → (what it is, output).

    ``shuffled`` puts another segment of the first output in place of each, drawn from all
    documents (a random cycle: Sattolo 1986), so that sentences are fluent and unrelated.
    """
    shuffled = f"shuffled sentences of {outputs[0].system} (seed {SEED})"
    made = {
        "copy": ("copy of the source", {doc.id: doc.src or () for doc in corpus.docs}),
        "empty": ("empty output", {doc.id: ("",) * len(doc) for doc in corpus.docs}),
        "shuffled": (shuffled, _shuffled(corpus, outputs[0])),
    }
    return {name: (made[name][0], Output(name, made[name][1])) for name in names}


def _shuffled(corpus: Corpus, output: Output) -> dict[str, tuple[str, ...]]:
    texts = [text for doc in corpus.docs for text in output.docs[doc.id]]
    draw = random.Random(SEED)
    for last in range(len(texts) - 1, 0, -1):
        other = draw.randrange(last)
        texts[last], texts[other] = texts[other], texts[last]
    rest = iter(texts)
    return {doc.id: tuple(next(rest) for _ in output.docs[doc.id]) for doc in corpus.docs}


def control_notes(
    controls: Sequence[Control], scores: Mapping[str, Mapping[str, Scores]], rivals: Sequence[str]
) -> list[Note]:
    """State that controls are no systems, which metrics have none, and where controls win."""
    names = ", ".join(control.name for control in controls)
    notes = [
        Note(
            "controls",
            f"controls ({names}) are not systems: they are neither ranked nor tested",
        )
    ]
    notes += [
        Note("controls", "it compares systems with each other, so controls do not apply", spec)
        for spec in rivals
    ]
    for control in controls:
        for spec, value in control.scores.items():
            systems = scores[spec].values()
            below = [
                own.system
                for own in systems
                if (value >= own.score if own.higher_is_better else value <= own.score)
            ]
            if below:
                few = f" ({', '.join(below)})" if len(below) <= 3 else ""
                notes.append(
                    Note(
                        "control-wins",
                        f"the control {control.name} scores at least as well as {len(below)} of "
                        f"{count(len(systems), 'system')}{few}",
                        spec,
                    )
                )
    return notes
