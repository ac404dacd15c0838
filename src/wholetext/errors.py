"""Errors, each with what is wrong, where, and the next step.

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
├── WorkerError       a worker that cannot be started or reached, or that died
├── PluginError       a plug-in that cannot be loaded, or has another interface version
└── MetricError       a metric broke its contract, or cannot score these inputs

WholetextWarning      a note on scores: what was cut, dropped, guessed or left out
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any


class WholetextError(Exception):
    """Base class: ``what`` is wrong, ``where``, and the ``next`` step."""

    def __init__(self, what: str, *, where: str = "", next: str = "") -> None:
        self.what, self.where, self.next = what, where, next
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # errors of workers are pickled, whatever the arguments of their ``__init__``
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

    def __init__(self, what: str, extra: str, apart: str = "") -> None:
        """``apart``: a package that is installed without what it declares to need."""
        more = f" && pip install --no-deps {apart}" if apart else ""
        super().__init__(f"{what} is not installed", next=f"pip install 'wholetext[{extra}]'{more}")
        self.extra = extra


class ModelError(WholetextError):
    """A model or checkpoint that cannot be found, trusted or used."""


class TextTooLong(WholetextError):
    """Text longer than the model takes, under ``--overflow error``."""


class CacheError(WholetextError):
    """The score cache cannot be used."""


class RunError(WholetextError):
    """A run folder that cannot be read."""


class WriteError(WholetextError):
    """A file or folder that cannot be written."""


class WorkerError(WholetextError):
    """A worker (process or actor of a cluster) that cannot be started or reached, or that died."""


class PluginError(WholetextError):
    """A plug-in that cannot be loaded, has another interface version, or a name that is taken."""


class MetricError(WholetextError):
    """A metric broke its contract, or cannot score these inputs."""


class WholetextWarning(UserWarning):
    """A note on scores: what was cut, dropped, guessed or left out."""


def did_you_mean(word: str, known: list[str]) -> str:
    """Suggest the known names nearest to ``word``, ignoring case; ``""`` if none is near."""
    import difflib

    folded = {name.casefold(): name for name in known}
    cutoff = 1.0 if word.casefold() in folded else 0.6
    near = difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=cutoff)
    return f"did you mean {' or '.join(folded[key] for key in near)}?" if near else ""


def choices(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known names after an unknown one, else all of them."""
    names = list(dict.fromkeys(known))
    return did_you_mean(word, names) or f"choose one of {', '.join(names) or 'none'}"


def known(
    kind: str,
    name: str | None,
    names: Iterable[str],
    *,
    where: str = "",
    error: type[WholetextError] = InputError,
) -> str:
    """Return a name that is among ``names``; for another, raise an error that suggests the nearest."""
    names = list(names)
    if name not in names:
        raise error(f"there is no {kind} {name!r}", where=where, next=choices(str(name), names))
    return name


def optional(module: str, extra: str, what: str = "") -> Any:
    """Import a module of an optional package; if it is missing, raise an error that names the extra."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(what or module, extra) from None


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Join names as in a sentence: ``a, b and c``; of more than ``most`` how many follow."""
    shown = list(names[:most])
    if len(shown) < len(names):
        shown[-1] = f"{len(names) - len(shown) + 1} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


_SINGULAR = {"have": "has", "are": "is"}


def count(number: int, noun: str, verb: str = "") -> str:
    """Write a number with its noun and verb (in the plural): "1 line has", "2 lines have"."""
    if number != 1:
        return f"{number} {noun}s {verb}".rstrip()
    return f"{number} {noun} {_SINGULAR.get(verb, verb and f'{verb}s')}".rstrip()
