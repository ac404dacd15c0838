"""Reading and writing corpora, outputs and scores; ``read`` detects the format."""

from importlib import import_module
from typing import TYPE_CHECKING

from wholetext.io.formats import BUILTIN

if TYPE_CHECKING:
    from wholetext.io.assembly import Loaded as Loaded
    from wholetext.io.detect import read as read
    from wholetext.io.formats.lines import LineFiles as LineFiles
    from wholetext.io.formats.lines import from_texts as from_texts

FORMATS = tuple(BUILTIN)
_WHERE = {
    "Loaded": "assembly",
    "read": "detect",
    "LineFiles": "formats.lines",
    "from_texts": "formats.lines",
}


def __getattr__(name: str) -> object:  # lazy: help lists the formats without numpy
    if name not in _WHERE:
        raise AttributeError(f"module 'wholetext.io' has no attribute {name!r}")
    return getattr(import_module(f"wholetext.io.{_WHERE[name]}"), name)
