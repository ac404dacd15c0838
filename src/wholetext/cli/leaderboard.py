"""Comparisons of systems as a terminal table, JSON, TSV or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, TIED, number, printable, warn
from wholetext.errors import count
from wholetext.scoring.significance.verdicts import (
    BASELINE,
    BETTER,
    MARKS,
    SAME,
    UNTESTED,
    WORSE,
)

if TYPE_CHECKING:
    from rich.console import Console

    from wholetext.scoring.comparison import Domains
    from wholetext.scoring.results import Results
    from wholetext.scoring.significance.compare import Comparison, SystemResult

ARROWS = {True: "↑", False: "↓"}  # to better scores
_PIPES = str.maketrans({"|": r"\|"})
_NEEDS = {
    "draws": "draws: close to significance, more --draws would settle it",
    "∞": "∞: the same score",
}
_UNDER = 18  # columns of the references under the name of a metric


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
    results = replace(results, comparisons={c.metric: c for c in comparisons})
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
        written = {"latex": _latex, "markdown": _markdown, "tsv": _tsv}[format]
        print(written(results, comparisons, domains))


def _table(
    results: Results,
    comparisons: Sequence[Comparison],
    notes: Sequence[str],
    signatures: bool,
    domains: Domains,
) -> None:
    from rich.text import Text

    first, corpus, console = comparisons[0], results.corpus, terminal.console(80)
    systems = [standing.system for standing in first.standings]  # best first
    cells = [[system, *(_cell(c[system], c.decimals) for c in comparisons)] for system in systems]
    titles = [f"{results.title(c)} {ARROWS[c.higher_is_better]}" for c in comparisons]
    heads = [
        Text(
            f"{terminal.wrapped(printable(title), 30, terminal.MARKS)}\n"
            f"{terminal.wrapped(printable(_references(results, c)), _UNDER, terminal.MARKS)}"
        )
        for title, c in zip(titles, comparisons)
    ]
    console.print(terminal.wrapped(printable(results.finding), console.width, " ") + "\n")
    terminal.print_blocks(["system", *heads], cells, 1, console)
    if results.controls:
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
    legend = _legend(comparisons)
    size = f"{count(len(corpus.docs), 'document')}, {count(int(corpus.sizes.sum()), 'segment')}"
    size = terminal.wrapped(f"{size}{langs}. {legend}", console.width, " ")
    console.print(f"\n{size}", style="dim")
    test = terminal.wrapped(f"test  {first.signature}", console.width, "|", " " * 6)
    console.print(test, style="dim")
    for comparison in comparisons:
        owners: dict[str, list[str]] = {}  # signature → systems
        for system, scores in results.scores[comparison.metric].items():
            signature = str(scores.signature) if signatures else scores.signature.short
            owners.setdefault(signature, []).append(system)
        for signature, names in owners.items():
            line = f"{signature}  {', '.join(names)}" if len(owners) > 1 else signature
            if not signatures:
                line = terminal.wrapped(line, console.width, "| ", "  ")
            console.print(line, style="dim", soft_wrap=True)
    terminal.warn(notes, console)


def _print_controls(results: Results, comparisons: Sequence[Comparison], console: Console) -> None:
    """Print the scores of the controls in a table of their own."""
    main = [comparison for comparison in comparisons if comparison.main]
    rows = [
        [
            control.text,
            *(number(control.scores.get(c.metric, math.nan), c.decimals) for c in main),
        ]
        for control in results.controls
    ]
    if main:
        titles = [f"{results.title(c)} {ARROWS[c.higher_is_better]}" for c in main]
        console.print()
        terminal.print_blocks(["control (no system)", *titles], rows, 1, console)


def _stated_controls(results: Results, comparisons: Sequence[Comparison]) -> list[str]:
    """Scores of the controls as notes, for formats whose rows are systems."""
    return [
        f"control, {control.text}: "
        + ", ".join(
            f"{results.title(c)} {number(control.scores.get(c.metric, math.nan), c.decimals)}"
            for c in comparisons
            if c.main
        )
        for control in results.controls
    ]


def pairs(results: Results, comparisons: Sequence[Comparison], decimals: int | None = None) -> None:
    """Print each system's difference to the baseline, and the documents needed for significance."""
    console, needs = terminal.console(80), set[str]()
    for comparison in comparisons:
        places = comparison.decimals if decimals is None else decimals
        rows = [_row(s, places) for s in comparison.standings if s.verdict != BASELINE]
        if rows:
            baseline = printable(comparison.baseline)
            title = f"{results.title(comparison)} {ARROWS[comparison.higher_is_better]}"
            console.print(f"\n{title}  against {baseline}")
            needed = {row[-1] for row in rows} - {""}
            head = ["system", "Δ", "95 %", "p", "Holm", "", "needs"][: 7 if needed else 6]
            terminal.print_blocks(head, [row[: len(head)] for row in rows], 1, console)
            needs |= needed
    if needs:
        documents = next(s.power.documents for c in comparisons for s in c.standings if s.power)
        legend = [
            "needs: about how many documents like these would separate them from the baseline "
            f"(there are {documents})",
            *(text for sign, text in _NEEDS.items() if sign in needs),
        ]
        shown = terminal.wrapped(f"{'; '.join(legend)}.", console.width, " ")
        console.print(f"\n{shown}", style="dim")


def _row(standing: SystemResult, places: int) -> list[str]:
    """A system's difference to the baseline, and the number of documents needed to settle it."""
    low, high = standing.delta_interval.low, standing.delta_interval.high
    needs, power = "", standing.power
    if standing.verdict == SAME and power is not None and not math.isnan(power.needed):
        needs = "draws" if power.needed <= power.documents else f"{power.needed:,.0f}"
    return [
        standing.system,
        ("+" if standing.delta >= 0 else "") + number(standing.delta, places),
        f"[{number(low, places)}, {number(high, places)}]",
        number(standing.p, 4),
        number(standing.p_holm, 4),
        f"{MARKS[standing.verdict]} {standing.verdict}".strip() if standing.verdict != SAME else "",
        needs.replace("inf", "∞"),
    ]


def _cell(standing: SystemResult, places: int) -> str:
    """Score, interval, mark and rank cluster; the last two where differences were tested."""
    half = standing.interval.half_width
    spread = "" if math.isnan(half) else f" ±{number(half, places)}"
    score = f"{number(standing.score, places)}{spread}"
    if standing.rank is None:
        return score
    return f"{score} {MARKS[standing.verdict] or ' '}#{standing.rank}"


def _legend(comparisons: Sequence[Comparison]) -> str:
    """Explain every sign in the cells, and what it means that there is none."""
    first = comparisons[0]
    every = [standing for c in comparisons for standing in c.standings]
    parts = []
    if not all(math.isnan(standing.interval.half_width) for standing in every):
        parts.append(f"± is a 95{TIED}% interval")
    if any(standing.rank for standing in every):
        same = len({c.baseline for c in comparisons}) == 1
        against = printable(first.baseline) if same else "the best"
        marks = [
            f"{MARKS[verdict]}{TIED}significantly {verdict}"
            for verdict in (BETTER, WORSE)
            if any(standing.verdict == verdict for standing in every)
        ]
        level = f"(p{TIED}≤{TIED}{first.signature['alpha']}, Holm-corrected)"
        parts.append(
            f"compared with {against}{TIED}(=): {', '.join(marks)}, no mark: {SAME} {level}"
            if marks
            else f"no mark: {SAME} to {against}{TIED}(=) {level}"
        )
        parts.append("#n is the rank cluster")
    elif len(first.standings) > 1:
        parts.append(f"differences were {UNTESTED}")
    return "".join(f"{part[0].upper()}{part[1:]}. " for part in parts).strip()


def _references(results: Results, comparison: Comparison) -> str:
    """Number and names of the references that a metric used."""
    names = next(iter(results.scores[comparison.metric].values())).references
    return f"{count(len(names), 'ref')}: {', '.join(names)}" if names else "no reference"


def _tsv(results: Results, comparisons: Sequence[Comparison], domains: Domains) -> str:
    names = _domain_names(domains)
    head = ["metric", "system", "score", "low", "high", "delta", "p", "p_holm", "rank", *names]
    lines = [terminal.tsv_row([*head, "verdict", "references"])]
    for comparison in comparisons:
        title, references = results.title(comparison), results.references(comparison.metric)
        for s in comparison.standings:
            numbers = (s.score, s.interval.low, s.interval.high, s.delta, s.p, s.p_holm)
            within = domains[comparison.metric][s.system].values() if names else ()
            cells = [title, s.system, *map(repr, map(float, numbers)), s.rank or ""]
            lines.append(
                terminal.tsv_row([*cells, *map(repr, within), s.verdict, ",".join(references)])
            )
    return "\n".join(lines)


def _domain_names(domains: Domains) -> list[str]:
    return next((list(row) for rows in domains.values() for row in rows.values()), [])


def _rows(
    comparisons: Sequence[Comparison],
    domains: Domains,
    cell: Callable[[Comparison, SystemResult], str],
) -> list[list[str]]:
    """A row per system, best first: its cell of each metric, with scores within domains behind."""
    rows = [[standing.system] for standing in comparisons[0].standings]
    for c, row in product(comparisons, rows):
        within = domains[c.metric][row[0]].values() if _domain_names(domains) else ()
        row += [cell(c, c[row[0]]), *(number(value, c.decimals) for value in within)]
    return rows


def _markdown(results: Results, comparisons: Sequence[Comparison], domains: Domains) -> str:
    """A table for Markdown, under the finding, with the legend below."""
    head = ["system"]
    for c in comparisons:
        title = f"{results.title(c)} {ARROWS[c.higher_is_better]}<br>{_references(results, c)}"
        head += [title, *_domain_names(domains)]
    rows = _rows(comparisons, domains, lambda c, s: _cell(s, c.decimals).replace("  #", " #"))
    table = [
        "| " + " | ".join(printable(cell).translate(_PIPES) for cell in line) + " |"
        for line in (head, ["---"] + ["---:"] * (len(head) - 1), *rows)
    ]
    legend = _legend(comparisons).replace(TIED, " ")
    return "\n".join([printable(results.finding), "", *table, "", legend])


def _latex(results: Results, comparisons: Sequence[Comparison], domains: Domains) -> str:
    def cell(c: Comparison, standing: SystemResult) -> str:
        score = number(standing.score, c.decimals)
        bold = rf"\textbf{{{score}}}" if standing.rank == 1 else score
        half = number(standing.interval.half_width, c.decimals)
        return rf"{bold}{marks.get(standing.verdict, '')} {{\scriptsize$\pm${half}}}"

    marks = {BETTER: r"$^{\uparrow}$", WORSE: r"$^{\downarrow}$"}
    within = [printable(name).translate(LATEX) for name in _domain_names(domains)]
    head, under = ["System"], [""]
    for c in comparisons:
        arrow = r"$\uparrow$" if c.higher_is_better else r"$\downarrow$"
        head += [f"{results.title(c).translate(LATEX)} {arrow}", *within]
        references = printable(_references(results, c)).translate(LATEX)
        under += [rf"{{\scriptsize {references}}}", *[""] * len(within)]
    rows = [
        [printable(system).translate(LATEX), *cells]
        for system, *cells in _rows(comparisons, domains, cell)
    ]
    return terminal.booktabs("l" + "r" * (len(head) - 1), [head, under], rows)
