"""Meta-evaluations as people and programs read them: metrics by tasks, with ranks, chance levels and numbers of
pairs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, number
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.meta.paragraphs import Point
    from wholetext.meta.store import Meta
    from wholetext.meta.tasks import TaskResult

CURVE = ("k", "metric", "scored", "sys accuracy", "acc_eq", "chance", "pearson", "direct~average", "paragraphs")


def render(meta: Meta, format: str) -> None:
    """Print in the wanted format."""
    if format == "json":
        from wholetext.meta.store import as_json

        print(json.dumps(as_json(meta), ensure_ascii=False, indent=1))
    elif format in ("tsv", "latex"):
        print(latex(meta) if format == "latex" else "\n".join(map(terminal.tsv_row, _tsv(meta))))
        terminal.warn(meta.notes)
    else:
        _print(meta)


def short(result: TaskResult, meta: Meta) -> str:
    """A column's title: the task, and the language pair where there are several."""
    if " + " in result.where:
        return f"{result.task} (all)"
    return f"{result.task} {result.where.split(' ')[-1]}" if len(meta.parts) > 1 else str(result.task)


def metric_order(meta: Meta) -> list[str]:
    """Metrics by their average where there is one, else by the first task; then those that not all tasks have."""
    first = meta.table.average.metrics if meta.table.average else meta.table.results[0].metrics
    others = (name for result in meta.table.results for name in result.metrics)
    return list(dict.fromkeys([*first, *others]))


def cells(result: TaskResult, names: Sequence[str]) -> list[str]:
    """``rank value`` of every metric, its interval, and p that the column's best metric is better; – where unknown."""
    out = []
    for name in names:
        if name not in result.metrics:
            out.append("–")
            continue
        i = result.metrics.index(name)
        known = result.low and not math.isnan(result.low[i])
        bounds = f" [{number(result.low[i])}, {number(result.high[i])}]" if known else ""
        out.append(f"{_rank(result.ranks[i])} {number(result.value(name))}{bounds}{_p(result.p_best(name))}")
    return out


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _p(p: float) -> str:
    return "" if math.isnan(p) else " p<.001" if p < 0.001 else f" p={p:.3f}".replace("0.", ".", 1)


def _span(values: Sequence[float], places: int = 3) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "–"
    low, high = number(min(known), places), number(max(known), places)
    return low if low == high else f"{low}–{high}"


def _print(meta: Meta) -> None:
    from rich.text import Text

    results, names = meta.table.results, metric_order(meta)
    console, table = terminal.console(max(100, 34 * (len(results) + 2))), terminal.plain_table()
    table.add_column("metric", no_wrap=True)
    average = meta.table.average
    if average:
        table.add_column("average", justify="right")
        table.add_column("mean rank", justify="right")
    for result in results:
        table.add_column(Text(short(result, meta)), justify="right", overflow="fold")
    columns = [cells(result, names) for result in results]
    for i, name in enumerate(names):
        lead = _averages(meta, name) if average else []
        table.add_row(Text(terminal.printable(name)), *lead, *(column[i] for column in columns))
    blank = ["", ""] if average else []
    table.add_row(Text("chance", style="dim"), *blank, *(_span([e.chance for e in r.estimates]) for r in results))
    table.add_row(Text("pairs", style="dim"), *blank, *(f"{r.estimates[0].pairs:,}" for r in results))
    table.add_row(Text("systems × items", style="dim"), *blank, *(f"{r.systems} × {r.items}" for r in results))
    console.print(table)
    for line in _explanations(meta):
        console.print(Text(line, style="dim"), soft_wrap=True)
    for _, points in meta.curves.items():
        _print_curves(points, console)
    for note in meta.notes:
        console.print(Text(f"! {note}", style="yellow"), soft_wrap=True)


def _averages(meta: Meta, name: str) -> list[str]:
    average = meta.table.average
    if average is None or name not in average.metrics:
        return ["–", "–"]
    i = average.metrics.index(name)
    value = f"{_rank(average.ranks[i])} {number(average.values[i])}{_p(float(average.p[0, i]))}"
    return [value, number(average.mean_ranks[i], 2)]


def _explanations(meta: Meta) -> list[str]:
    lines = [""]
    first = meta.table.results[0]
    if first.draws:
        lines.append("The first number is the rank cluster: a metric opens a new one when some metric above it in the "
                     f"same cluster is better at p ≤ {meta.alpha} ({first.draws} draws: PERM-BOTH, pairs test for "
                     "calibrated ties). p is that of the column's best metric being better.")
    else:
        lines.append("Ranks are unknown (–): nothing was tested.")
    if meta.table.average:
        lines.append("Averages are over all columns, each rescaled to 0-1, with the weights "
                     f"{' '.join(f'{weight:.3g}' for weight in meta.table.average.weights)}.")
    measure = first.task.measure
    if measure.micro or measure.nan_as_zero:
        rules = ["rows weigh by their number of scores"] * measure.micro
        rules += ["undefined rows count as 0"] * measure.nan_as_zero
        lines.append(f"Where rows are averaged, {' and '.join(rules)}.")
    for part in meta.parts:
        where = part.field
        out = "; ".join(f"{name}: {why}" for name, why in where.left_out.items()) or "nobody"
        gold = where.gold_name if where.gold_at("sys") == where.gold_name else (
            f"{where.gold_name} ({where.gold_at('sys')} of systems)")
        lines.append(f"{where.name}: gold {gold}, reference {', '.join(where.refs) or 'none'}, "
                     f"{count(len(where.systems), 'system')}, left out: {out}.")
        lines += [f"  {m.name}  {m.short}" for m in part.metrics if m.source != "file"]
    for where_name, level, names, table in meta.between:
        lines.append(f"between metrics, {where_name}, {level} (Pearson):")
        lines += [f"  {name:<24}" + " ".join(f"{value:6.3f}" for value in row)
                  for name, row in zip(names, table.tolist())]
    return lines


def _print_curves(points: Sequence[Point], console: object) -> None:

    table = terminal.plain_table()
    for title in CURVE:
        table.add_column(title, justify="left" if title in ("metric", "scored") else "right")
    for row in _curve(points):
        table.add_row(*row)
    console.print(table)  # type: ignore[attr-defined]


def _curve(points: Sequence[Point]) -> list[list[str]]:
    """A line per point, as ``CURVE`` names its columns."""
    return [[str(p.k), p.metric, p.mode, number(p.accuracy), number(p.acc_eq), number(p.chance["acc_eq"]),
             number(p.pearson), number(p.direct_average), str(p.paragraphs)] for p in points]


def _tsv(meta: Meta) -> list[list[str]]:
    head = "task where gold metric value low high rank pairs chance epsilon systems p_best"
    rows = [head.split()]
    for result in meta.table.results:
        for i, (name, one) in enumerate(zip(result.metrics, result.estimates)):
            bounds = [repr(result.low[i]), repr(result.high[i])] if result.low else ["", ""]
            rows.append([str(result.task), result.where, result.gold, name, repr(one.value), *bounds,
                         "" if result.ranks[i] is None else str(result.ranks[i]), str(one.pairs), repr(one.chance),
                         "" if one.epsilon is None else repr(one.epsilon), str(result.systems),
                         "" if math.isnan(result.p_best(name)) else repr(result.p_best(name))])
    for where, points in meta.curves.items():
        rows += [[], ["where", *CURVE], *([where, *row] for row in _curve(points))]
    return rows


def latex(meta: Meta) -> str:
    """A booktabs table: rank and value per task, the best cluster bold, chance levels and pairs at the foot."""
    results, names, average = meta.table.results, metric_order(meta), meta.table.average
    heads = [*(["average"] if average else []), *(short(result, meta).translate(LATEX) for result in results)]
    lines = [r"\begin{tabular}{l" + "rr" * len(heads) + "}", r"\toprule",
             " & ".join(["Metric", *(rf"\multicolumn{{2}}{{c}}{{{head}}}" for head in heads)]) + r" \\", r"\midrule"]
    for name in names:
        row = [name.translate(LATEX)]
        if average:
            known = name in average.metrics
            i = average.metrics.index(name) if known else 0
            row.append(_latex_cell(average.ranks[i], average.values[i]) if known else "-- & --")
        for result in results:
            row.append(_latex_cell(result.rank(name), result.value(name)) if name in result.metrics else "-- & --")
        lines.append(" & ".join(row) + r" \\")
    blank = ["&"] if average else []
    chance = [*blank, *(rf"\multicolumn{{2}}{{r}}{{{_span([e.chance for e in r.estimates])}}}" for r in results)]
    pairs = [*blank, *(rf"\multicolumn{{2}}{{r}}{{{r.estimates[0].pairs}}}" for r in results)]
    lines += [r"\midrule", " & ".join(["chance", *chance]) + r" \\", " & ".join(["pairs", *pairs]) + r" \\"]
    lines += [r"\bottomrule", r"\end{tabular}"]
    for where, points in meta.curves.items():
        lines += ["", rf"% {where}: agreement by paragraph length", *_latex_curve(points)]
    return "\n".join(lines)


def _latex_curve(points: Sequence[Point]) -> list[str]:
    rows = [" & ".join(cell.translate(LATEX).replace("–", "--") for cell in row) + r" \\" for row in _curve(points)]
    head = " & ".join(title.translate(LATEX) for title in CURVE) + r" \\"
    return [r"\begin{tabular}{rllrrrrrr}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]


def _latex_cell(rank: int | None, value: float) -> str:
    text, shown = number(value).replace("–", "--"), _rank(rank).replace("–", "--")
    return rf"\textbf{{{shown}}} & \textbf{{{text}}}" if rank == 1 else f"{shown} & {text}"
