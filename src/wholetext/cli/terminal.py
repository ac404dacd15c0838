"""Names and texts on the way to a terminal or a spreadsheet: control characters are shown, not sent.

A system, document or file may be called anything, so what is printed may hold escape sequences, line breaks and marks
that reverse the direction of writing. `main` guards standard output as a whole (``guarded``), tables are drawn by a
console that does the same (``console``), and rows of TSV are made by ``tsv_row``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from wholetext.files.parsing import printable as printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from wholetext.scoring.evaluate import Progress

_FORMULA = ("=", "+", "-", "@")  # how a cell begins that spreadsheets compute
LATEX = str.maketrans({c: f"\\{c}" for c in "_&%#${}"} | {
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"})


def number(value: float, places: int = 3) -> str:
    """A score as it is printed; undefined ones are a dash."""
    return "–" if math.isnan(value) else f"{value:.{places}f}"


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def booktabs(columns: str, *parts: Sequence[Sequence[str]]) -> str:
    """A LaTeX table of the package booktabs: rows of cells, with a rule between its parts."""
    bodies = ["\n".join(" & ".join(row) + r" \\" for row in rows) for rows in parts]
    body = "\n\\midrule\n".join(bodies)
    return "\n".join([r"\begin{tabular}{" + columns + "}", r"\toprule", body, r"\bottomrule", r"\end{tabular}"])


def warn(notes: Iterable[str]) -> None:
    """Print warnings to stderr."""
    for note in notes:
        print(f"warning: {printable(note)}", file=sys.stderr)


def tsv_row(cells: Iterable[object]) -> str:
    """Cells joined by tabs: control characters are escaped; text that a spreadsheet would compute gets a ``'`` before.

    Numbers are left as they are. The names themselves are in the JSON format.
    """
    shown = [printable(str(cell)) for cell in cells]
    return "\t".join(f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text for text in shown)


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


def console(width: int | None = None, **options: Any) -> Console:
    """A console of rich's: its own colours reach the terminal, control characters of what it prints are shown.

    ``width`` applies where the output is not a terminal, which has its own.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Shown(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(printable(part.text, keep="\n"), part.style)

    if "file" not in options and not options.get("stderr"):
        options["file"] = getattr(sys.stdout, "inner", sys.stdout)
    found = Shown(**options)
    return found if width is None or found.is_terminal else Shown(width=width, **options)


def plain_table(left: Sequence[str] = (), right: Sequence[str] = ()) -> Table:
    """A table without lines, as every verb prints it, with columns of names and columns of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in right:
        table.add_column(name, justify="right")
    return table


def notes(found: Sequence[str], console: Console) -> None:
    """Notes below a table, wrapped to its width."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    for note in found:
        grid.add_row("!", Text(note, overflow="fold"), style="yellow")
    if found:
        console.print(grid)


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """A progress bar on stderr where that is a terminal; silent otherwise."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:

        def progress(spec: str, done: int, total: int) -> None:
            if spec not in tasks:
                tasks[spec] = bar.add_task(spec.replace("[", r"\["), total=total)
            bar.update(tasks[spec], completed=done)

        yield progress
