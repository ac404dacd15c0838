"""Every deliberate error, as a tree; each says what is wrong, where, and the next step.

WholetextError
├── InputError        a file or text that cannot be used as it is (file, line, document, system)
│   └── AlignmentError    texts that should be aligned are not
├── SpecError         a spec string that cannot be read or names something unknown
├── MissingExtra      an optional dependency is not installed
├── ModelError        a model or checkpoint that cannot be found, trusted or used
├── TextTooLong       text longer than the model takes, under ``--overflow error``
├── CacheError        the score cache cannot be used
├── RunError          a run folder that cannot be read
├── WriteError        a file or folder that cannot be written (disk full, read-only, no permission)
├── WorkerError       a worker that cannot be started, reached or trusted with work, or that died over it
├── PluginError       a plug-in that cannot be loaded, or is made for another interface
└── MetricError       a metric broke its contract, or cannot score these inputs

WholetextWarning      a note on scores
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable
from typing import Any


class WholetextError(Exception):
    """Base of every deliberate error: ``what`` happened, ``where``, and the ``next`` step to take."""

    def __init__(self, what: str, *, where: str = "", next: str = "") -> None:
        self.what, self.where, self.next = what, where, next
        super().__init__(str(self))

    def __reduce__(
        self,
    ) -> tuple[Any, ...]:  # errors of workers are pickled, whatever their ``__init__`` takes
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}\n  → {self.next}" if self.next else text


class InputError(WholetextError):
    """A file or text that cannot be used as it is."""


class AlignmentError(InputError):
    """Texts that should have the same number of segments or documents do not."""


class SpecError(WholetextError):
    """A spec string that cannot be read, or that names something unknown."""


class MissingExtra(WholetextError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed", next=f"pip install 'wholetext[{extra}]'")
        self.extra = extra


class ModelError(WholetextError):
    """A model or checkpoint that cannot be found, trusted or used."""


class TextTooLong(WholetextError):
    """Text longer than the model takes, where the user asked for an error."""


class CacheError(WholetextError):
    """The score cache cannot be used."""


class RunError(WholetextError):
    """A run folder that cannot be read."""


class WriteError(WholetextError):
    """A file or folder that cannot be written."""


class WorkerError(WholetextError):
    """A worker (a process, or an actor of a cluster) that cannot be started or used, or that died over its work."""


class PluginError(WholetextError):
    """A plug-in that cannot be loaded, is made for another interface, or has a name that is taken."""


class MetricError(WholetextError):
    """A metric broke its contract, or cannot score these inputs."""


class WholetextWarning(UserWarning):
    """A note on scores, as Python users see it: what was cut, dropped, guessed or left out."""


def did_you_mean(word: str, known: list[str]) -> str:
    """A short suggestion (or ``""``): the known names nearest to ``word``, whatever their case."""
    import difflib

    folded: dict[str, list[str]] = {}
    for name in known:
        folded.setdefault(name.casefold(), []).append(name)
    near = (
        [word.casefold()]
        if word.casefold() in folded
        else difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.6)
    )
    return (
        f"did you mean {' or '.join(name for key in near for name in folded[key])}?" if near else ""
    )


def choices(word: str, known: Iterable[str]) -> str:
    """The next step after an unknown name: the nearest known ones, else all of them."""
    names = list(dict.fromkeys(known))
    return did_you_mean(word, names) or (
        f"choose one of {', '.join(names)}" if names else "there are none to choose"
    )


_SINGULAR = {"have": "has", "are": "is"}


def count(number: int, noun: str, verb: str = "") -> str:
    """A number with its noun, and with a verb that is given in the plural: "1 line has", "2 lines have"."""
    if number != 1:
        return f"{number} {noun}s {verb}".rstrip()
    return f"{number} {noun} {_SINGULAR.get(verb, verb and f'{verb}s')}".rstrip()
