"""Comparisons of systems as a terminal table, JSON, TSV or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, TIED, number, printable, warn
from wholetext.errors import count

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from wholetext.scoring.comparison import Domains
    from wholetext.scoring.results import Results
    from wholetext.scoring.significance.compare import Comparison, SystemResult
    from wholetext.types import Scores

ARROWS = {True: "↑", False: "↓"}  # to better scores
MARKS = {"better": "▲", "worse": "▼", "open": " ", "baseline": "="}


def render(
    results: Results,
    compared: Mapping[str, Comparison],
    format: str,
    signatures: bool = False,
    decimals: int | None = None,
    by_domain: bool = False,
) -> None:
    """Print the comparisons, one per metric; notes that the format cannot hold go to stderr.

    The format ``scores`` has one line per system, in the order of the run: scores between tabs.
    """
    from wholetext.scoring.comparison import run_json, scores_by_domain

    comparisons = [compared[spec] for spec in results.scores]
    if decimals is not None:
        comparisons = [replace(comparison, decimals=decimals) for comparison in comparisons]
    of_comparisons = [note for comparison in comparisons for note in comparison.warnings]
    notes = list(dict.fromkeys((*results.notes, *of_comparisons)))
    domains = scores_by_domain(results, comparisons) if by_domain else {}
    if by_domain and not any(map(any, domains.values())):
        notes.append("no document has a domain: there are no scores by domain")
    if format == "table":
        _table(results, comparisons, notes, signatures, domains)
        return
    if format == "json":
        terminal.print_json(run_json(results, comparisons, notes))
        return
    warn([*notes, *_stated_controls(results, comparisons)])
    if format == "scores":
        for system in results.systems:
            print("\t".join(number(c[system].score, c.decimals) for c in comparisons))
    else:
        print((_latex if format == "latex" else _tsv)(comparisons, domains))


def _table(
    results: Results,
    comparisons: Sequence[Comparison],
    notes: Sequence[str],
    signatures: bool,
    domains: Domains,
) -> None:
    first, corpus, console = comparisons[0], results.corpus, terminal.console(80)
    systems = [standing.system for standing in first.standings]  # best first
    scores = [
        [system, *(_cell(c[system], c.decimals, len(systems)) for c in comparisons)]
        for system in systems
    ]
    titles = [f"{c.label} {ARROWS[c.higher_is_better]}" for c in comparisons]
    terminal.print_blocks(["system", *titles], scores, 1, console)
    _print_controls(results, comparisons, console)
    for title, comparison in zip(titles, comparisons):
        if rows := domains.get(comparison.metric, {}):
            head = [title, *next(iter(rows.values()))]
            cells = [
                [system, *(number(value, comparison.decimals) for value in rows[system].values())]
                for system in systems
            ]
            console.print("\nBy domain")
            terminal.print_blocks(head, cells, 1, console)
    langs = f", {'-'.join(corpus.langs)}" if any(corpus.langs) else ""
    legend = f"± is a 95{TIED}% interval"
    if len(first.standings) > 1:
        against = first.baseline if len({c.baseline for c in comparisons}) == 1 else "the best"
        legend += (
            f"; {MARKS['better']} {MARKS['worse']} differ from {printable(against)} (=) at "
            f"p{TIED}≤{TIED}{first.signature['alpha']}, Holm-corrected; #n is the rank cluster"
        )
    size = f"{count(len(corpus), 'document')}, {count(int(corpus.sizes.sum()), 'segment')}"
    size = terminal.wrapped(f"{size}{langs}. {legend}.", console.width, " ")
    console.print(f"\n{size}", style="dim")
    test = terminal.wrapped(f"test  {first.signature}", console.width, "|", " " * 6)
    console.print(test, style="dim")
    for comparison in comparisons:
        for signature in _signatures(results.scores[comparison.metric], signatures):
            if not signatures:
                signature = terminal.wrapped(signature, console.width, "| ", "  ")
            console.print(signature, style="dim", soft_wrap=True)
    terminal.notes(notes, console)


def _print_controls(results: Results, comparisons: Sequence[Comparison], console: Console) -> None:
    """Print what the metrics give to nonsense, in a table of its own."""
    main = [comparison for comparison in comparisons if comparison.main]
    rows = [
        [
            control.text,
            *(number(control.scores.get(c.metric, math.nan), c.decimals) for c in main),
        ]
        for control in results.controls
    ]
    if rows and main:
        titles = [f"{c.label} {ARROWS[c.higher_is_better]}" for c in main]
        console.print()
        terminal.print_blocks(["control (no system)", *titles], rows, 1, console)


def _stated_controls(results: Results, comparisons: Sequence[Comparison]) -> list[str]:
    """What the metrics give to nonsense, for formats whose rows are systems."""
    return [
        f"control, {control.text}: "
        + ", ".join(
            f"{c.label} {number(control.scores.get(c.metric, math.nan), c.decimals)}"
            for c in comparisons
            if c.main
        )
        for control in results.controls
    ]


def _signatures(by_system: Mapping[str, Scores], full: bool) -> list[str]:
    """List the signature that all systems share, or every signature with its systems."""
    owners: dict[str, list[str]] = {}
    for system, scores in by_system.items():
        signature = str(scores.signature) if full else scores.signature.short
        owners.setdefault(signature, []).append(system)
    if len(owners) == 1:
        return list(owners)
    return [f"{signature}  {', '.join(systems)}" for signature, systems in owners.items()]


def pairs(comparisons: Sequence[Comparison], decimals: int | None = None) -> None:
    """Print each system's difference to the baseline, and the documents needed for significance."""
    console, needs = terminal.console(80), set[str]()
    for comparison in comparisons:
        places = comparison.decimals if decimals is None else decimals
        rows = [_row(s, places) for s in comparison.standings if s.verdict != "baseline"]
        if rows:
            baseline = printable(comparison.baseline)
            title = f"{comparison.label} {ARROWS[comparison.higher_is_better]}"
            console.print(f"\n{title}  against {baseline}")
            needed = {row[-1] for row in rows} - {""}
            head = ["system", "Δ", "95 %", "p", "Holm", "", "needs"][: 7 if needed else 6]
            terminal.print_blocks(head, [row[: len(head)] for row in rows], 1, console)
            needs |= needed
    if needs:
        documents = next(s.power.documents for c in comparisons for s in c.standings if s.power)
        legend = (
            "needs: about how many documents like these would separate them from the baseline "
            f"(there are {documents})"
        )
        if "draws" in needs:
            legend += "; draws: close to significance, more --draws would settle it"
        if "∞" in needs:
            legend += "; ∞: the same score"
        legend = terminal.wrapped(f"{legend}.", console.width, " ")
        console.print(f"\n{legend}", style="dim")


def _row(standing: SystemResult, places: int) -> list[str]:
    """A system's difference to the baseline, and documents that an open comparison would need."""
    low, high = standing.delta_interval.low, standing.delta_interval.high
    needs, power = "", standing.power
    if standing.verdict == "open" and power is not None and not math.isnan(power.needed):
        needs = "draws" if power.needed <= power.documents else f"{power.needed:,.0f}"
    return [
        standing.system,
        ("+" if standing.delta >= 0 else "") + number(standing.delta, places),
        f"[{number(low, places)}, {number(high, places)}]",
        number(standing.p, 4),
        number(standing.p_holm, 4),
        standing.verdict,
        needs.replace("inf", "∞"),
    ]


def _cell(standing: SystemResult, places: int, systems: int) -> Text:
    from rich.text import Text

    rank = "" if standing.rank is None else f"#{standing.rank}"
    half = standing.interval.half_width
    marks = f" {MARKS[standing.verdict]}{rank}" if systems > 1 else ""
    best = standing.rank == 1 and systems > 1
    score = f"{number(standing.score, places)} ±{number(half, places)}{marks}"
    return Text(score, style="bold green" if best else "")


def _tsv(comparisons: Sequence[Comparison], domains: Domains) -> str:
    names = next((list(row) for rows in domains.values() for row in rows.values()), [])
    head = ["metric", "system", "score", "low", "high", "delta", "p", "p_holm", "rank", *names]
    lines = [terminal.tsv_row(head)]
    for comparison in comparisons:
        for s in comparison.standings:
            numbers = (s.score, s.interval.low, s.interval.high, s.delta, s.p, s.p_holm)
            cells = [comparison.label, s.system, *(repr(float(x)) for x in numbers), s.rank or ""]
            within = domains[comparison.metric][s.system].values() if names else ()
            lines.append(terminal.tsv_row([*cells, *map(repr, within)]))
    return "\n".join(lines)


def _latex(comparisons: Sequence[Comparison], domains: Domains) -> str:
    names = next((list(row) for rows in domains.values() for row in rows.values()), [])
    within = [printable(name).translate(LATEX) for name in names]
    marks = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$"}
    head = ["System"]
    for c in comparisons:
        arrow = r"$\uparrow$" if c.higher_is_better else r"$\downarrow$"
        head += [f"{c.label.translate(LATEX)} {arrow}", *within]
    rows = []
    for system in (standing.system for standing in comparisons[0].standings):
        cells = [printable(system).translate(LATEX)]
        for c in comparisons:
            standing, score = c[system], number(c[system].score, c.decimals)
            bold = rf"\textbf{{{score}}}" if standing.rank == 1 else score
            half = number(standing.interval.half_width, c.decimals)
            mark = marks.get(standing.verdict, "")
            cells.append(rf"{bold}{mark} {{\scriptsize$\pm${half}}}")
            if names:
                values = domains[c.metric][system].values()
                cells += [number(value, c.decimals) for value in values]
        rows.append(cells)
    return terminal.booktabs("l" + "r" * (len(head) - 1), [head], rows)
