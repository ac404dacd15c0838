"""Reading and writing corpora, outputs and scores; ``read`` detects the format."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.io.assembly import Loaded as Loaded
    from wholetext.io.conversion import convert as convert
    from wholetext.io.detect import read as read
    from wholetext.io.formats.lines import LineFiles as LineFiles, from_texts as from_texts
else:  # lazy: help lists the formats without numpy
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "io.assembly": ("Loaded",),
            "io.conversion": ("convert",),
            "io.detect": ("read",),
            "io.formats.lines": ("LineFiles", "from_texts"),
        },
    )
