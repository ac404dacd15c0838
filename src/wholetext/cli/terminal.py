"""Names and texts on the way to a terminal or a spreadsheet: control characters are shown, not sent.

A system, document or file may be called anything, so what is printed may hold escape sequences, line breaks and marks
that reverse the direction of writing. `main` guards standard output as a whole (``guarded``), tables are drawn by a
console that does the same (``console``), and rows of TSV are made by ``tsv_row``.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, TextIO

from wholetext.errors import count
from wholetext.files.parsing import printable as printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from wholetext.scoring.compute import Progress

_OF_DOCUMENT = re.compile(r"(.+?), document \S")
_ON_DOCUMENT = re.compile(
    r"(?P<system>.+?), document (?P<doc>.+?): (?:(?P<times>\d+) × )?(?P<what>.+)"
)
MARKS = "-_./:@(), "  # characters after which long names are wrapped
TIED = "\N{NO-BREAK SPACE}"  # between words that stay on one line: p ≤ 0.05
_FIRST = 3  # notes on documents of one system or side that tables show
_FORMULA = ("=", "+", "-", "@")  # how a cell begins that spreadsheets compute
LATEX = str.maketrans(
    {c: f"\\{c}" for c in "_&%#${}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def number(value: float, places: int = 3) -> str:
    """A score as it is printed; undefined ones are a dash."""
    return "–" if math.isnan(value) else f"{value:.{places}f}"


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def columns() -> int:
    """Width of the terminal, at least 60; 80 where the output is not a terminal."""
    return max(60, shutil.get_terminal_size((80, 24)).columns)


def entry(head: str, text: str) -> None:
    """Print a name and its description, wrapped to the terminal with a hanging indent."""
    print(
        textwrap.fill(
            text,
            columns(),
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_on_hyphens=False,
        )
    )


def booktabs(columns: str, *parts: Sequence[Sequence[str]]) -> str:
    """A LaTeX table of the package booktabs: rows of cells, with a rule between its parts."""
    bodies = ["\n".join(" & ".join(row) + r" \\" for row in rows) for rows in parts]
    body = "\n\\midrule\n".join(bodies)
    return "\n".join(
        [r"\begin{tabular}{" + columns + "}", r"\toprule", body, r"\bottomrule", r"\end{tabular}"]
    )


def warn(notes: Iterable[str]) -> None:
    """Print warnings to stderr, one line of each kind."""
    for note in by_kind(notes):
        complain(f"warning: {printable(note)}")


def complain(text: str) -> None:
    """Print a message to stderr; in a terminal its lines end between words, and no word is broken."""
    lines = text.split("\n")
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        wrap = textwrap.TextWrapper(
            width,
            subsequent_indent="    ",
            replace_whitespace=False,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines = ["\n".join(wrap.wrap(line)) or line for line in lines]
    print("\n".join(lines), file=sys.stderr)


def by_kind(notes: Iterable[str]) -> list[str]:
    """Notes on single documents that say the same of a system summed up in one line each; others as they are."""
    groups: dict[tuple[str, str], list[re.Match[str]]] = {}
    for note in notes:
        found = _ON_DOCUMENT.fullmatch(note)
        key = (found["system"], found["what"]) if found else (note, "")
        groups.setdefault(key, []).extend([found] if found else [])
    lines = []
    for (system, what), some in groups.items():
        if len(some) < 2:
            lines.append(some[0][0] if some else system)
            continue
        times = sum(int(one["times"] or 0) for one in some)
        what = f"{times} × {what}" if times else what
        lines.append(f"{system}, {len(some)} documents: {what} (first {some[0]['doc']})")
    return lines


def tsv_row(cells: Iterable[object]) -> str:
    """Cells joined by tabs: control characters are escaped; text that a spreadsheet would compute gets a ``'`` before.

    Numbers are left as they are. The names themselves are in the JSON format.
    """
    shown = [printable(str(cell)) for cell in cells]
    return "\t".join(
        f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text for text in shown
    )


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


def guarded() -> AbstractContextManager[Any]:
    """Standard output guarded within this block."""
    guard: Any = _Guarded(sys.stdout)
    return redirect_stdout(guard)


class _Screen(StringIO):
    """Collects output in place of a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def paged(wanted: bool = True) -> Iterator[None]:
    """Show what is printed within this block in a pager (``$PAGER``, else less) if a terminal is too low for it."""
    real = sys.stdout
    if not (wanted and real.isatty() and sys.stdin.isatty()):
        yield
        return
    screen = _Screen()
    sys.stdout = _Guarded(screen)
    try:
        yield
    finally:
        sys.stdout = real
        text = screen.getvalue()
        if text.count("\n") < shutil.get_terminal_size().lines:
            getattr(real, "inner", real).write(text)  # its control characters are shown already
        else:
            import pydoc

            os.environ.setdefault(
                "LESS", "-FRX"
            )  # colours, and the text stays on the screen, as git does it
            pydoc.pager(text)


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


def wrapped(text: str, width: int, after: str, indent: str = "") -> str:
    """A text on lines of at most ``width`` cells; they end after one of these characters where that is possible."""
    from rich.cells import cell_len, set_cell_size

    lines = [""]
    for part in re.split(rf"(?<=[{re.escape(after)}])", text):
        if lines[-1].strip() and cell_len(lines[-1] + part.rstrip()) > width:
            lines.append(indent)
        lines[-1] += part
        while cell_len(lines[-1].rstrip()) > width:
            kept = set_cell_size(lines[-1], width).rstrip()
            lines[-1:] = [kept, indent + lines[-1][len(kept) :]]
    return "\n".join(map(str.rstrip, lines)).replace(TIED, " ")


def plain_table() -> Table:
    """A table without lines, as every verb prints it."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


def print_blocks(
    head: Sequence[Any], rows: Sequence[Sequence[Any]], fixed: int, console: Console
) -> None:
    """A table of strings or rich's texts; columns that have no room beside the others go into a block below, with the
    first ``fixed`` again. Long names in these, and long titles, are wrapped at their marks; no other cell is broken."""
    from rich.cells import cell_len
    from rich.text import Text

    def cell(value: Any, most: int) -> Text:
        return (
            value
            if isinstance(value, Text)
            else Text(wrapped(printable(value), most, MARKS) if most else printable(value))
        )

    names = max(12, console.width // 3)
    titles = [cell(title, names if i < fixed else 30) for i, title in enumerate(head)]
    table = [
        titles,
        *(
            [cell(value, names if i < fixed else 0) for i, value in enumerate(line)]
            for line in rows
        ),
    ]
    widths = [
        max(cell_len(part) for line in table for part in line[i].plain.split("\n"))
        for i in range(len(head))
    ]
    begin = fixed
    while begin < len(head):
        end, room = begin + 1, console.width - sum(widths[:fixed]) - 2 * fixed - widths[begin]
        while end < len(head) and widths[end] + 2 <= room:
            room -= widths[end] + 2
            end += 1
        block = plain_table()
        for i in (*range(fixed), *range(begin, end)):
            block.add_column(
                titles[i],
                min_width=widths[i],
                no_wrap=True,
                justify="left" if i < fixed else "right",
            )
        for line in table[1:]:
            block.add_row(*line[:fixed], *line[begin:end])
        console.print(*([""] if begin > fixed else []), block, sep="\n")
        begin = end


def print_signature(signature: str, console: Console) -> None:
    """A signature below a table, on lines that end between its parts."""
    from rich.text import Text

    console.print(Text(wrapped(signature, console.width, "| ", "  "), style="dim"))


def first_of_each(found: Sequence[str]) -> list[str]:
    """Notes like "SYSTEM, document ID: …": the first three of each system or side, and how many there are besides."""
    sides = [match[1] if (match := _OF_DOCUMENT.match(note)) else "" for note in found]
    many, seen, shown = Counter(sides), Counter[str](), list[str]()
    for side, note in zip(sides, found):
        seen[side] += 1
        if not side or seen[side] <= _FIRST:
            shown.append(note)
        elif seen[side] == many[side]:
            shown.append(
                f"{side}: such notes on {count(many[side] - _FIRST, 'more document')} (-f json prints all)"
            )
    return shown


def notes(found: Sequence[str], console: Console) -> None:
    """Notes below a table, wrapped to its width; of many about documents of one text the first few."""
    from rich.text import Text

    for note in first_of_each(found):
        console.print(
            Text(wrapped(f"! {printable(note)}", console.width, " ", "  "), style="yellow")
        )


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """Bars on stderr where that is a terminal, silent otherwise: rows done, rate and time left of each metric, then of
    the stages that follow."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            speed = (
                task.finished_speed
                or task.speed
                or task.completed / (task.finished_time or task.elapsed or 1)
            )
            return Text(f"{speed:,.{0 if speed >= 10 else 1}f}/s" if task.completed else "")

    name = Column(no_wrap=True, overflow="ellipsis", max_width=30)
    done = Column(no_wrap=True, justify="right")
    columns = (
        TextColumn("{task.description}", table_column=name),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:,}/{task.total:,}{task.fields[unit]}", table_column=done),
        Rate("", table_column=done),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )

    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:

        def progress(spec: str, done: int, total: int) -> None:
            if spec not in tasks:
                unit = "" if " " in spec else " rows"  # stages are named by several words
                tasks[spec] = bar.add_task(spec.replace("[", r"\["), total=total, unit=unit)
            bar.update(tasks[spec], completed=done)

        yield progress
