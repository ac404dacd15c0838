"""Names and texts on the way to a terminal or a spreadsheet: control characters are shown, not sent.

A system, document or file may be called anything, so what is printed may hold escape sequences, line breaks and marks
that reverse the direction of writing. `main` guards standard output as a whole (``guarded``), tables are drawn by a
console that does the same (``console``), and rows of TSV are made by ``tsv_row``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

# C0 and C1 controls, line and paragraph separators, overrides and isolates of direction, halves of surrogate pairs
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_FORMULA = ("=", "+", "-", "@")  # how a cell begins that spreadsheets compute


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters as visible escapes (``\x1b``, ``\u202e``, ``\n``), except those to ``keep``.

    Beyond ASCII the escapes are also JSON's, so that JSON stays JSON.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def _escape(char: str) -> str:
    return _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 0x20 else f"\\u{ord(char):04x}")


def tsv_row(cells: Iterable[object]) -> str:
    """Cells joined by tabs: control characters are escaped; text that a spreadsheet would compute gets a ``'`` before.

    Numbers are left as they are. The names themselves are in the JSON format.
    """
    return "\t".join(_cell(cell) for cell in cells)


def _cell(cell: object) -> str:
    text = printable(str(cell))
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("-", "+")
    return True


class _Guarded:
    """Standard output that shows control characters; ``inner`` is the stream itself."""

    def __init__(self, inner: TextIO) -> None:
        self.inner = inner

    def write(self, text: str) -> int:
        self.inner.write(printable(text, keep="\n\t"))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Standard output guarded within this block."""
    old = sys.stdout
    sys.stdout = _Guarded(old)
    try:
        yield
    finally:
        sys.stdout = old


def console(**options: Any) -> Console:
    """A console of rich's: its own colours reach the terminal, control characters of what it prints are shown."""
    from rich.console import Console
    from rich.segment import Segment

    class Shown(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(printable(part.text, keep="\n"), part.style)

    if "file" not in options and not options.get("stderr"):
        options["file"] = getattr(sys.stdout, "inner", sys.stdout)
    return Shown(**options)
