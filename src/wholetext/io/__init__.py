"""Reading and writing corpora, outputs and scores: one format per file; ``read`` recognises which one it is."""

from wholetext.io.assembly import Loaded
from wholetext.io.detect import FORMATS, read
from wholetext.io.files import LineFiles
from wholetext.io.formats.lines import from_texts

__all__ = ["FORMATS", "LineFiles", "Loaded", "from_texts", "read"]
