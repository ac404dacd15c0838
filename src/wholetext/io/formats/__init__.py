"""The formats: one module each and one line in ``BUILTIN``, of a slice, or of another package.

A format is a module or object with the functions of ``Format``; the group is ``wholetext.formats``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from wholetext import plugins, slices
from wholetext.errors import InputError, PluginError, WholetextError, choices

if TYPE_CHECKING:
    from wholetext.io.assembly import Langs, Loaded
    from wholetext.io.text import FilePath, TextFile

# In the order in which they are tried, after plug-ins: `lines` takes what nothing else recognises.
BUILTIN = {
    "sacrebleu": "wholetext.io.formats.sacrebleu_sets",
    "bwb": "wholetext.io.formats.bwb",
    "evalset": "wholetext.io.formats.evalset",
    "xml": "wholetext.io.formats.wmt_xml",
    "summaries": "wholetext.io.formats.summaries",
    **slices.added("formats"),
    "wmt26": "wholetext.io.formats.wmt26",
    "wmt": "wholetext.io.formats.wmt",
    "jsonl": "wholetext.io.formats.jsonl",
    "table": "wholetext.io.formats.table",
    "lines": "wholetext.io.formats.lines",
}

# Options of ``read`` that a format takes, of those that callers give to whatever they read.
OPTIONS = {
    "wmt": ("segments", "corpus", "system"),
    **dict.fromkeys(("jsonl", "table"), ("columns", "corpus", "outputs")),
}


class Format(Protocol):
    """The functions of a format; one that can be written also has ``write(path, loaded)``."""

    def recognise(self, file: TextFile) -> bool:
        """Tell from ``file.head()`` or ``file.path`` whether a file is of this format."""

    def read(self, file: TextFile, langs: Langs = None) -> Loaded:
        """Return corpus and outputs through ``assemble``, which checks what all formats share."""


def names() -> list[str]:
    """List all formats, plug-ins first, in the order in which they are tried."""
    return [*(name for name in plugins.load(plugins.FORMATS) if name not in BUILTIN), *BUILTIN]


def find(name: str) -> Format:
    """Return the format of this name."""
    if name in BUILTIN:
        return cast(Format, import_module(BUILTIN[name]))
    added = plugins.load(plugins.FORMATS, BUILTIN)
    if name not in added:
        raise InputError(f"there is no format {name!r}", next=choices(name, [*BUILTIN, *added]))
    return cast(Format, added[name]())


def recognise(file: TextFile) -> str:
    """Name the format of a file, from its first bytes."""
    return next(name for name in names() if _call(name, "recognise", file))


def read(name: str, file: TextFile, langs: Langs = None, **options: object) -> Loaded:
    """Read a file of the format ``name``; of the ``options``, those that it has apply."""
    from wholetext.io.assembly import Loaded

    taken = {option: options[option] for option in OPTIONS.get(name, ()) if option in options}
    loaded = _call(name, "read", file, langs, **taken)
    if not isinstance(loaded, Loaded):
        raise _failed(name, f"read gives {type(loaded).__name__}, not Loaded")
    return loaded


def write(name: str, path: FilePath, loaded: Loaded) -> None:
    """Write a corpus in the format ``name``, which must be able to."""
    _call(name, "write", path, loaded)


def _call(name: str, part: str, *args: object, **options: object) -> object:
    format = find(name)
    try:
        return getattr(format, part)(*args, **options)
    except Exception as fault:
        if name in BUILTIN or isinstance(fault, WholetextError):
            raise
        raise _failed(name, f"{part} raises {type(fault).__name__}: {fault}") from fault


def _failed(name: str, what: str) -> PluginError:
    return PluginError(
        f"the format {name!r} of {plugins.origin(plugins.FORMATS, name)} failed: {what}",
        next="update or uninstall that package; --reader FORMAT tries one format only",
    )
