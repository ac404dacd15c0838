"""Comparisons as people and programs read them: a terminal table, JSON, TSV, LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, TIED, number, printable, warn
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.scoring.comparison import Domains
    from wholetext.scoring.results import Results
    from wholetext.scoring.significance.compare import Comparison, SystemResult
    from wholetext.types import Scores

MARKS = {"better": "▲", "worse": "▼", "open": " ", "baseline": "="}


def render(
    results: Results,
    compared: Mapping[str, Comparison],
    format: str,
    signatures: bool = False,
    decimals: int | None = None,
    by_domain: bool = False,
) -> None:
    """Print the comparisons, one per metric, in the requested format; notes that it cannot hold go to stderr.

    The format ``scores`` has one line per system, in the order of the run, with the scores separated by tabs.
    """
    from wholetext.scoring.comparison import notes_with, run_json, scores_by_domain

    comparisons = [compared[spec] for spec in results.scores]
    if decimals is not None:
        comparisons = [replace(each, decimals=decimals) for each in comparisons]
    notes = notes_with(results, comparisons)
    domains = scores_by_domain(results, comparisons) if by_domain else {}
    if by_domain and not any(map(any, domains.values())):
        notes.append("no document has a domain: there are no scores by domain")
    if format == "table":
        _table(results, comparisons, notes, signatures, domains)
    elif format == "json":
        terminal.print_json(run_json(results, comparisons, notes))
    elif format == "scores":
        warn(notes)
        for system in results.systems:
            print("\t".join(number(each[system].score, each.decimals) for each in comparisons))
    else:
        warn(notes)
        made = (
            _latex(comparisons, domains)
            if format == "latex"
            else "\n".join(map(terminal.tsv_row, _tsv(comparisons, domains)))
        )
        print(made)


def arrow(comparison: Comparison) -> str:
    return "↑" if comparison.higher_is_better else "↓"


def order(comparisons: Sequence[Comparison]) -> list[str]:
    """Systems in the order of the first metric, best first."""
    return [standing.system for standing in comparisons[0].standings]


def _table(
    results: Results,
    comparisons: Sequence[Comparison],
    notes: Sequence[str],
    signatures: bool,
    domains: Domains,
) -> None:
    from rich.text import Text

    first, corpus, console = comparisons[0], results.corpus, terminal.console(80)
    _scores(comparisons, console)
    for each in comparisons:
        rows = domains.get(each.metric, {})
        if rows:
            names = [f"{each.label} {arrow(each)}", *next(iter(rows.values()))]
            cells = [
                [system, *(number(value, each.decimals) for value in rows[system].values())]
                for system in order(comparisons)
            ]
            console.print("\nBy domain")
            terminal.print_blocks(names, cells, 1, console)
    langs = f", {'-'.join(corpus.langs)}" if any(corpus.langs) else ""
    legend = f"± is a 95{TIED}% interval"
    if len(first.standings) > 1:
        against = first.baseline if len({c.baseline for c in comparisons}) == 1 else "the best"
        legend += (
            f"; {MARKS['better']} {MARKS['worse']} differ from {printable(against)} (=) at "
            f"p{TIED}≤{TIED}{first.signature['alpha']}, Holm-corrected; #n is the rank cluster"
        )
    segments = int(corpus.sizes.sum())
    said = f"{count(len(corpus), 'document')}, {count(segments, 'segment')}{langs}. {legend}."
    console.print(Text("\n" + terminal.wrapped(said, console.width, " "), style="dim"))
    console.print(
        Text(terminal.wrapped(f"test  {first.signature}", console.width, "|", " " * 6), style="dim")
    )
    for comparison in comparisons:
        for signature in _signatures(results.scores[comparison.metric], signatures):
            text = (
                signature if signatures else terminal.wrapped(signature, console.width, "| ", "  ")
            )
            console.print(Text(text, style="dim"), soft_wrap=True)
    terminal.notes(notes, console)


def _signatures(by_system: Mapping[str, Scores], full: bool) -> list[str]:
    """The signature that all systems share, or each with the systems it is of."""
    found: dict[str, list[str]] = {}
    for system, scores in by_system.items():
        found.setdefault(str(scores.signature) if full else scores.signature.short, []).append(
            system
        )
    return (
        list(found)
        if len(found) == 1
        else [f"{signature}  {', '.join(of)}" for signature, of in found.items()]
    )


def _scores(comparisons: Sequence[Comparison], console: Any) -> None:
    """Systems x metrics; metrics that have no room beside one another go one block under another, none is cut."""
    systems = order(comparisons)
    heads = [f"{each.label} {arrow(each)}" for each in comparisons]
    rows = [
        [system, *(_cell(each[system], each.decimals, len(systems)) for each in comparisons)]
        for system in systems
    ]
    terminal.print_blocks(["system", *heads], rows, 1, console)


def pairs(comparisons: Sequence[Comparison], decimals: int | None = None) -> None:
    """One line per system and metric: the difference to the baseline, and the documents needed for significance."""
    from rich.text import Text

    console, seen = terminal.console(80), set[str]()
    for comparison in comparisons:
        places = comparison.decimals if decimals is None else decimals
        rows = []
        for s in comparison.standings:
            if s.verdict == "baseline":
                continue
            low, high = number(s.delta_interval.low, places), number(s.delta_interval.high, places)
            delta = number(s.delta, places)
            rows.append(
                [
                    s.system,
                    f"+{delta}" if s.delta >= 0 else delta,
                    f"[{low}, {high}]",
                    number(s.p, 4),
                    number(s.p_holm, 4),
                    s.verdict,
                    _needed(s),
                ]
            )
        if rows:
            console.print(
                Text(
                    f"\n{comparison.label} {arrow(comparison)}  against {printable(comparison.baseline)}"
                )
            )
            needs = {row[-1] for row in rows}
            head = ["system", "Δ", "95 %", "p", "Holm", "", "needs"][: 7 if needs - {""} else 6]
            terminal.print_blocks(head, [row[: len(head)] for row in rows], 1, console)
            seen |= needs
    if seen - {""}:
        there = next(s.power.documents for c in comparisons for s in c.standings if s.power)
        said = f"needs: about how many documents like these would separate them from the baseline (there are {there})"
        said += (
            "; draws: close to significance, more --draws would settle it"
            if "draws" in seen
            else ""
        )
        said += "; ∞: the same score" if "∞" in seen else ""
        console.print(Text("\n" + terminal.wrapped(f"{said}.", console.width, " "), style="dim"))


def _needed(standing: SystemResult) -> str:
    """How many documents an open comparison would need to become significant."""
    power = standing.power
    if standing.verdict != "open" or power is None or math.isnan(power.needed):
        return ""
    if math.isinf(power.needed):
        return "∞"
    return "draws" if power.needed <= power.documents else f"{power.needed:,.0f}"


def _cell(standing: SystemResult, places: int, systems: int) -> Any:
    from rich.text import Text

    rank = "" if standing.rank is None else f"#{standing.rank}"
    half = standing.interval.half_width
    marks = f" {MARKS[standing.verdict]}{rank}" if systems > 1 else ""
    text = Text(f"{number(standing.score, places)} ±{number(half, places)}{marks}")
    if standing.rank == 1 and systems > 1:
        text.stylize("bold green")
    return text


def _tsv(comparisons: Sequence[Comparison], domains: Domains) -> list[list[str]]:
    names = next((list(row) for rows in domains.values() for row in rows.values()), [])
    rows = [["metric", "system", "score", "low", "high", "delta", "p", "p_holm", "rank", *names]]
    for comparison in comparisons:
        for s in comparison.standings:
            numbers = (s.score, s.interval.low, s.interval.high, s.delta, s.p, s.p_holm)
            within = domains[comparison.metric][s.system].values() if names else ()
            rows.append(
                [
                    comparison.label,
                    s.system,
                    *(repr(float(x)) for x in numbers),
                    str(s.rank or ""),
                    *map(repr, within),
                ]
            )
    return rows


def _latex(comparisons: Sequence[Comparison], domains: Domains) -> str:
    arrows = {"↑": r"$\uparrow$", "↓": r"$\downarrow$"}
    names = next((list(row) for rows in domains.values() for row in rows.values()), [])
    within = [printable(name).translate(LATEX) for name in names]
    head = ["System"]
    for c in comparisons:
        head += [f"{c.label.translate(LATEX)} {arrows[arrow(c)]}", *within]
    rows = []
    for system in order(comparisons):
        cells = []
        for comparison in comparisons:
            standing, places = comparison[system], comparison.decimals
            half = standing.interval.half_width
            mark = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$"}.get(
                standing.verdict, ""
            )
            score = number(standing.score, places)
            bold = rf"\textbf{{{score}}}" if standing.rank == 1 else score
            cells.append(rf"{bold}{mark} {{\scriptsize$\pm${number(half, places)}}}")
            cells += (
                [number(value, places) for value in domains[comparison.metric][system].values()]
                if names
                else []
            )
        rows.append([printable(system).translate(LATEX), *cells])
    return terminal.booktabs("l" + "r" * (len(head) - 1), [head], rows)
