"""Meta-evaluations as people and programs read them: metrics by tasks, ranks, chance levels, numbers of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, number
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.meta.paragraphs import Point
    from wholetext.meta.ranking import Average
    from wholetext.meta.store import Meta
    from wholetext.meta.tasks import TaskResult

CURVE = ("k", "metric", "scored", "sys accuracy", "acc_eq", "chance", "pearson", "direct~average", "paragraphs")


def render(meta: Meta, format: str) -> None:
    """Print in the wanted format."""
    if format == "json":
        from wholetext.meta.store import as_json

        terminal.print_json(as_json(meta))
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


def _cell(result: TaskResult, name: str) -> str:
    """``rank value`` of a metric, its interval, and p that the column's best metric is better; – where unknown."""
    if name not in result.metrics:
        return "–"
    i = result.metrics.index(name)
    known = result.low and not math.isnan(result.low[i])
    bounds = f" [{number(result.low[i])}, {number(result.high[i])}]" if known else ""
    return f"{_rank(result.ranks[i])} {number(result.value(name))}{bounds}{_p(result.p_best(name))}"


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _p(p: float) -> str:
    return "" if math.isnan(p) else " p<.001" if p < 0.001 else f" p={p:.3f}".replace("0.", ".", 1)


def _chance(result: TaskResult) -> str:
    known = [one.chance for one in result.estimates if not math.isnan(one.chance)]
    low, high = number(min(known, default=math.nan)), number(max(known, default=math.nan))
    return low if low == high else f"{low}–{high}"


def _print(meta: Meta) -> None:
    from rich.text import Text

    results, names = meta.table.results, metric_order(meta)
    average, console = meta.table.average, terminal.console(max(100, 34 * (len(results) + 2)))
    table = terminal.plain_table(["metric"], ["average", "mean rank"] if average else [])
    for result in results:
        table.add_column(Text(short(result, meta)), justify="right", overflow="fold")
    for name in names:
        lead = _averages(average, name) if average else []
        table.add_row(Text(terminal.printable(name)), *lead, *(_cell(result, name) for result in results))
    blank = ["", ""] if average else []
    table.add_row(Text("chance", style="dim"), *blank, *map(_chance, results))
    table.add_row(Text("pairs", style="dim"), *blank, *(f"{r.estimates[0].pairs:,}" for r in results))
    table.add_row(Text("systems × items", style="dim"), *blank, *(f"{r.systems} × {r.items}" for r in results))
    console.print(table)
    for line in _explanations(meta):
        console.print(Text(line, style="dim"), soft_wrap=True)
    for points in meta.curves.values():
        curve = terminal.plain_table()
        for title in CURVE:
            curve.add_column(title, justify="left" if title in ("metric", "scored") else "right")
        for row in _curve(points):
            curve.add_row(*row)
        console.print(curve)
    for note in meta.notes:
        console.print(Text(f"! {note}", style="yellow"), soft_wrap=True)


def _averages(average: Average, name: str) -> list[str]:
    if name not in average.metrics:
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
    results, average = meta.table.results, meta.table.average
    heads = [*(["average"] if average else []), *(short(result, meta).translate(LATEX) for result in results)]
    rows = []
    for name in metric_order(meta):
        row = [name.translate(LATEX)]
        if average:
            known = name in average.metrics
            i = average.metrics.index(name) if known else 0
            row.append(_latex_cell(average.ranks[i], average.values[i]) if known else "-- & --")
        for result in results:
            row.append(_latex_cell(result.rank(name), result.value(name)) if name in result.metrics else "-- & --")
        rows.append(row)
    blank = ["&"] if average else []
    foot = [["chance", *blank, *(_two("r", _chance(result)) for result in results)],
            ["pairs", *blank, *(_two("r", result.estimates[0].pairs) for result in results)]]
    head = ["Metric", *(_two("c", title) for title in heads)]
    tables = [terminal.booktabs("l" + "rr" * len(heads), [head], rows, foot)]
    for where, points in meta.curves.items():
        lines = [[cell.translate(LATEX).replace("–", "--") for cell in row] for row in _curve(points)]
        tables += ["", rf"% {where}: agreement by paragraph length",
                   terminal.booktabs("rllrrrrrr", [[title.translate(LATEX) for title in CURVE]], lines)]
    return "\n".join(tables)


def _two(place: str, text: object) -> str:
    return rf"\multicolumn{{2}}{{{place}}}{{{text}}}"


def _latex_cell(rank: int | None, value: float) -> str:
    text, shown = number(value).replace("–", "--"), _rank(rank).replace("–", "--")
    return rf"\textbf{{{shown}}} & \textbf{{{text}}}" if rank == 1 else f"{shown} & {text}"
