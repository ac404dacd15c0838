"""A document side by side with its reference, in a terminal: what matches, what is missing, what is extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wholetext.cli import terminal
from wholetext.metrics.blonde.counts import DISCOURSE, HUMAN

if TYPE_CHECKING:
    from wholetext.cli.scoring.explain import Explained
    from wholetext.metrics.blonde.spans import MatchedSpan


def show(found: Explained, *, every: bool) -> None:
    """Print the document: its score, its segments side by side, a line per category."""
    wide = terminal.console(highlight=False)
    console = wide if wide.is_terminal else terminal.console(highlight=False, width=120)
    values = found.values()
    main = " ".join(f"{name} {_number(values[name])}" for name in ("f1", "precision", "recall"))
    names = terminal.printable(f"{found.doc}  {found.system}  {found.spec}")
    console.print(Text(f"{names}  {main}", style="bold"))
    if found.reason:
        console.print(Text(f"! {found.reason}", style="yellow"))
    console.print(Text(found.reasons.sentence(values["f1"])))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("", found.system, f"reference {found.ref}"):
        table.add_column(Text(terminal.printable(name)), ratio=None if not name else 1)
    shown = [segment for segment in found.segments if every or not segment.faultless]
    for segment in shown:
        table.add_row(Text(str(segment.number), style="dim"), _marked(segment.hyp, segment.matched, segment.extra, "+"),
                      _marked(segment.ref, segment.matched_ref, segment.missing, "-"))
    console.print(table)
    console.print(_summary(found))
    hidden = len(found.segments) - len(shown)
    console.print(Text(f"\n{hidden} of {len(found.segments)} segments are not shown. [+extra+] is in the output alone, "
                       "[-missing-] in the reference alone, green in both.", style="dim"))


def _summary(found: Explained) -> Table:
    """One line per category: F1, how many match, what is missing, what is extra, why it is 0 or does not count."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("category", "F1", "matched", "missing", "extra", ""):
        table.add_column(name, overflow="fold")
    values, why = found.values(), {one.name: one.why for one in found.reasons.factors}
    for category in [name for name in values if name in (*DISCOURSE, *HUMAN)]:

        def words(kind: str, category: str = category) -> list[str]:
            return [f"{span.text} ({segment.number})" for segment in found.segments
                    for span in getattr(segment, kind) if span.category == category]

        table.add_row(category, _number(values[category]), str(len(words("matched"))),
                      Text(", ".join(words("missing")), style="red"), Text(", ".join(words("extra")), style="magenta"),
                      Text(why[category], style="dim"))
    return table


def _marked(text: str, matched: tuple[MatchedSpan, ...], faults: tuple[MatchedSpan, ...], sign: str) -> Text:
    """The segment with its spans: green where they match, marked and coloured where they do not."""
    made, at = Text(), 0
    spans = sorted([(span, False) for span in matched] + [(span, True) for span in faults],
                   key=lambda item: (item[0].start, not item[1], -item[0].end))
    for span, fault in spans:
        if span.start < at or span.start == span.end:
            continue  # inside one that is already shown
        made.append(text[at : span.start])
        word = text[span.start : span.end]
        if fault:
            made.append(f"[{sign}{word}{sign}]", style="bold red" if sign == "-" else "bold magenta")
        else:
            made.append(word, style="green")
        at = span.end
    made.append(text[at:])
    return made


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4f}"
