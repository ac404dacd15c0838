"""Terminal output: tables, notes, progress bars; control characters are escaped.

The name of a system, document or file may contain escape sequences, line breaks or bidirectional
marks. `main` escapes them on standard output as a whole (``Guarded``), ``console`` in tables, and
``tsv_row`` in TSV.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TextIO

from wholetext.errors import count, listed as enumerated
from wholetext.files.parsing import printable as printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from wholetext.scoring.compute import Progress

MARKS = "-_./:@(), "  # characters after which long names are wrapped
TIED = "\N{NO-BREAK SPACE}"  # between words that stay on one line: p ≤ 0.05
_SHOWN_NOTES = 3  # of a group
# cells that spreadsheets evaluate, which numbers and a sign alone are not
_FORMULA = re.compile(r"[=@]|[-+](?!$|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$|inf$|nan$)", re.IGNORECASE)
LATEX = str.maketrans(
    {c: f"\\{c}" for c in "_&%#${}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def number(value: float, places: int = 3) -> str:
    """Format a score; a dash where it is undefined."""
    return "–" if math.isnan(value) else f"{value:.{places}f}"


listed = partial(enumerated, most=3)


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def columns() -> int:
    """Width of the terminal, at least 60; 80 where the output is not a terminal."""
    return max(60, shutil.get_terminal_size((80, 24)).columns)


def entry(head: str, text: str) -> None:
    """Print a name and its description, wrapped to the terminal with a hanging indent."""
    wrap = textwrap.TextWrapper(
        columns(), head, " " * len(head), break_on_hyphens=False, break_long_words=False
    )
    print(wrap.fill(text))


def booktabs(columns: str, *parts: Sequence[Sequence[str]]) -> str:
    """Format a LaTeX table for the package booktabs: rows of cells, with a rule between parts."""
    bodies = ["\n".join(" & ".join(row) + r" \\" for row in rows) for rows in parts]
    body = "\n\\midrule\n".join(bodies)
    return "\n".join(
        [r"\begin{tabular}{" + columns + "}", r"\toprule", body, r"\bottomrule", r"\end{tabular}"]
    )


def tsv_row(cells: Iterable[object]) -> str:
    """Join cells by tabs; a ``'`` is put before text that a spreadsheet would evaluate.

    Control characters are escaped. JSON output has the names unchanged.
    """
    texts = [printable(str(cell)) for cell in cells]
    return "\t".join(f"'{text}" if _FORMULA.match(text) else text for text in texts)


def print_tsv(head: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Print a header and rows as TSV."""
    print("\n".join(map(tsv_row, [head, *rows])))


# ---------------------------------------------------------------- messages and notes


def warn(notes: Iterable[str], console: Console | None = None) -> None:
    """Print notes to stderr as warnings, or with a ``console`` below its table.

    At most three of a group are shown, then how many follow.
    """
    shown, numbers = list[str](), Counter[str]()
    for note in notes:
        group = getattr(note, "group", "")
        numbers[group] += bool(group)
        if numbers[group] <= _SHOWN_NOTES:
            shown.append(note)
    for group, total in numbers.items():
        if total > _SHOWN_NOTES:
            more = count(total - _SHOWN_NOTES, "more document")
            shown.append(f"{group}: similar notes on {more} (-f json prints all)")
    for note in map(printable, shown):
        if console is None:
            print(f"warning: {note}", file=sys.stderr)
        else:
            console.print(wrapped(f"! {note}", console.width, " ", "  "), style="yellow")


# ---------------------------------------------------------------- standard output


@dataclass
class Guarded:
    """Standard output with control characters escaped; ``inner`` is the stream itself."""

    inner: TextIO

    def write(self, text: str) -> int:
        """Write a text, escaped; return its own length."""
        self.inner.write(printable(text, keep="\n\t"))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def console(width: int | None = None, **options: Any) -> Console:
    """Make a rich console whose own colours reach the terminal, and no other control character.

    Markup in texts is not read. ``width`` applies where the output is not a terminal.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Escaping(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                yield part if part.control else Segment(printable(part.text, keep="\n"), part.style)

    if "file" not in options and not options.get("stderr"):
        options["file"] = getattr(sys.stdout, "inner", sys.stdout)
    made = Escaping(markup=False, emoji=False, highlight=False, **options)
    if width is not None and not made.is_terminal:
        made.width = width
    return made


# ---------------------------------------------------------------- tables


def wrapped(text: str, width: int, after: str, indent: str = "") -> str:
    """Wrap a text to ``width`` cells, after one of the characters ``after`` where possible."""
    from rich.cells import cell_len, set_cell_size

    lines = [""]
    for part in re.split(rf"(?<=[{re.escape(after)}])", text):
        if lines[-1].strip() and cell_len(lines[-1] + part.rstrip()) > width:
            lines.append(indent)
        lines[-1] += part
        while cell_len(lines[-1].rstrip()) > width:
            line = set_cell_size(lines[-1], width).rstrip()
            lines[-1:] = [line, indent + lines[-1][len(line) :]]
    return "\n".join(map(str.rstrip, lines)).replace(TIED, " ")


_PLAIN: Any = {"box": None, "pad_edge": False, "header_style": "bold", "padding": (0, 2, 0, 0)}


def plain_table(*columns: str) -> Table:
    """Make a table without rules, with columns whose long words are folded."""
    from rich.table import Column, Table

    return Table(*(Column(name, overflow="fold") for name in columns), **_PLAIN)


def print_blocks(
    head: Sequence[Any], rows: Sequence[Sequence[Any]], fixed: int, console: Console
) -> None:
    """Print a table of strings or rich texts, in blocks if it is wider than the terminal.

    Every block repeats the first ``fixed`` columns. Long titles and long names in these columns are
    wrapped; no other cell is.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    def cell(value: Any, width: int | None) -> Text:
        if isinstance(value, Text):
            return value
        text = printable(value)
        return Text(text if width is None else wrapped(text, width, MARKS))

    name_widths = [max(12, console.width // 3)] * fixed
    titles = [cell(*pair) for pair in zip_longest(head, name_widths, fillvalue=30)]
    body = [[cell(*pair) for pair in zip_longest(row, name_widths)] for row in rows]
    widths = [
        max(cell_len(line) for text in column for line in text.plain.split("\n"))
        for column in zip(titles, *body)
    ]
    begin = fixed
    while begin < len(head):
        end, room = begin + 1, console.width - sum(widths[:fixed]) - 2 * fixed - widths[begin]
        while end < len(head) and widths[end] + 2 <= room:
            room -= widths[end] + 2
            end += 1
        block = Table(**_PLAIN)
        for i in (*range(fixed), *range(begin, end)):
            side: Any = "left" if i < fixed else "right"
            block.add_column(titles[i], min_width=widths[i], no_wrap=True, justify=side)
        for row in body:
            block.add_row(*row[:fixed], *row[begin:end])
        console.print(*([""] if begin > fixed else []), block, sep="\n")
        begin = end


def print_finding(sentence: str, console: Console) -> None:
    """Print the finding in words, above the table that it sums up."""
    text = wrapped(printable(sentence), console.width, " ")
    console.print(f"{text}\n", style="bold")


def print_footer(text: str, console: Console) -> None:
    """Print an explanation below a table."""
    console.print(f"\n{text}", style="dim")


# ---------------------------------------------------------------- progress

MINUTE = 60.0


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress | None]:
    """Show progress on stderr: rows and time left of each metric.

    In a log, print a line per stage and minute; a stage that takes less prints none.
    """
    if quiet:
        yield None
        return
    last: dict[str, float] = {}

    def log(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - last.setdefault(stage, now) >= MINUTE:
            last[stage] = now
            print(f"{printable(stage)}: {done:,} of {total:,}", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        yield log
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", table_column=Column(no_wrap=True, max_width=30)),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:,}/{task.total:,}{task.fields[unit]}"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                unit = "" if " " in stage else " rows"  # specs have no spaces, other stages do
                tasks[stage] = bar.add_task(stage.replace("[", r"\["), total=total, unit=unit)
            bar.update(tasks[stage], completed=done)

        yield progress
