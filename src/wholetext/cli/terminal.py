"""Names and texts on the way to a terminal or a spreadsheet: control characters are shown, not sent.

A system, document or file may be called anything, so what is printed may hold escape sequences, line breaks and marks
that reverse the direction of writing. `main` guards standard output as a whole (``guarded``), tables are drawn by a
console that does the same (``console``), and rows of TSV are made by ``tsv_row``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from wholetext.files.parsing import printable

__all__ = ["console", "guarded", "printable", "tsv_row"]

if TYPE_CHECKING:
    from rich.console import Console

_FORMULA = ("=", "+", "-", "@")  # how a cell begins that spreadsheets compute


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
