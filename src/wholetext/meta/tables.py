"""Meta-evaluations as people and programs read them: metrics by tasks, ranks, chance levels,
numbers of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, number
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.meta.paragraphs import Point
    from wholetext.meta.ranking import Average
    from wholetext.meta.spans.evaluate import RaterSpans, SpanMeasure, SpanResults
    from wholetext.meta.store import Meta
    from wholetext.meta.tasks import TaskResult
    from wholetext.scoring.significance.resample import Interval

CURVE = (
    "k",
    "metric",
    "scored",
    "sys accuracy",
    "acc_eq",
    "chance",
    "pearson",
    "direct~average",
    "paragraphs",
)


def render(meta: Meta, format: str) -> None:
    """Print in the requested format."""
    if format == "json":
        from wholetext.meta.store import as_json

        terminal.print_json(as_json(meta))
    elif format in ("tsv", "latex"):
        print(latex(meta) if format == "latex" else "\n".join(map(terminal.tsv_row, _tsv(meta))))
        terminal.warn(meta.notes)
    else:
        _print(meta)


def short(result: TaskResult, meta: Meta) -> str:
    """A column's title: the task, and the language pair and the gold where there are several."""
    names = [part.participants.name for part in meta.parts]
    title = str(result.task)
    if " + " in result.where:
        title += " (all)"
    elif len(set(names)) > 1:
        title += f" {result.where.split(' ')[-1]}"
    return f"{title} {result.gold}" if len(set(names)) < len(names) else title


def metric_order(meta: Meta) -> list[str]:
    """Metrics by their average where there is one, else by the first task.

    Then those that not all tasks have.
    """
    first = meta.table.average.metrics if meta.table.average else meta.table.results[0].metrics
    others = (name for result in meta.table.results for name in result.metrics)
    return list(dict.fromkeys([*first, *others]))


def _cell(result: TaskResult, name: str) -> str:
    """``rank value`` of a metric, its interval, and p that the column's best metric is better.

    – where unknown.
    """
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
    known = [estimate.chance for estimate in result.estimates if not math.isnan(estimate.chance)]
    low, high = number(min(known, default=math.nan)), number(max(known, default=math.nan))
    return low if low == high else f"{low}–{high}"


def _print(meta: Meta) -> None:
    from rich.text import Text

    results, average, console = meta.table.results, meta.table.average, terminal.console(80)
    blank = ["", ""] if average else []
    rows: list[list[Any]] = [
        [
            name,
            *(_averages(average, name) if average else []),
            *(_cell(result, name) for result in results),
        ]
        for name in metric_order(meta)
    ]
    rows += [
        [Text("chance", style="dim"), *blank, *map(_chance, results)],
        [Text("pairs", style="dim"), *blank, *(f"{r.estimates[0].pairs:,}" for r in results)],
        [
            Text("systems × items", style="dim"),
            *blank,
            *(f"{r.systems} × {r.items}" for r in results),
        ],
    ]
    lead = ["average", "mean rank"] if average else []
    terminal.print_blocks(
        ["metric", *lead, *(short(result, meta) for result in results)], rows, 1, console
    )
    for line in ["", *_explanations(meta)]:
        console.print(Text(line, style="dim"))
    for part in meta.parts:
        for metric in part.metrics:
            if metric.source != "file":
                terminal.print_signature(f"  {metric.name}  {metric.short}", console)
    for where, level, names, table in meta.between:
        console.print(Text(f"\nbetween metrics, {where}, {level} (Pearson)", style="dim"))
        cells = [
            [name, *(number(value) for value in row)] for name, row in zip(names, table.tolist())
        ]
        terminal.print_blocks(["", *names], cells, 1, console)
    for where, gold, points in _by_gold(meta):
        console.print(Text(f"\nby paragraph length, {where}, gold {gold}", style="dim"))
        terminal.print_blocks(CURVE, _curve(points), 3, console)
    terminal.notes(meta.notes, console)


def _averages(average: Average, name: str) -> list[str]:
    if name not in average.metrics:
        return ["–", "–"]
    i = average.metrics.index(name)
    value = f"{_rank(average.ranks[i])} {number(average.values[i])}{_p(float(average.p[0, i]))}"
    return [value, number(average.mean_ranks[i], 2)]


def _explanations(meta: Meta) -> list[str]:
    lines = []
    first = meta.table.results[0]
    if first.draws:
        lines.append(
            "The first number is the rank cluster: a metric opens a new one when some metric above "
            "it in the "
            f"same cluster is better at p ≤ {meta.alpha} ({first.draws} draws: PERM-BOTH, pairs "
            "test for "
            "calibrated ties). p is that of the column's best metric being better."
        )
    else:
        lines.append("Ranks are unknown (–): nothing was tested.")
    if meta.table.average:
        lines.append(
            "Averages are over all columns, each rescaled to 0-1, with the weights "
            f"{' '.join(f'{weight:.3g}' for weight in meta.table.average.weights)}."
        )
    measure = first.task.measure
    if measure.micro or measure.nan_as_zero:
        rules = ["rows weigh by their number of scores"] * measure.micro
        rules += ["undefined rows count as 0"] * measure.nan_as_zero
        lines.append(f"Where rows are averaged, {' and '.join(rules)}.")
    for part in meta.parts:
        where = part.participants
        out = "; ".join(f"{name}: {why}" for name, why in where.left_out.items()) or "nobody"
        gold = (
            where.gold_name
            if where.gold_at("sys") == where.gold_name
            else (f"{where.gold_name} ({where.gold_at('sys')} of systems)")
        )
        lines.append(
            f"{where.name}: gold {gold}, reference {', '.join(where.refs) or 'none'}, "
            f"{count(len(where.systems), 'system')}, left out: {out}."
        )
    return lines


def _by_gold(meta: Meta) -> list[tuple[str, str, list[Point]]]:
    """Where, gold and points of each table of curves."""
    return [
        (where, gold, [point for point in points if point.gold == gold])
        for where, points in meta.curves.items()
        for gold in dict.fromkeys(point.gold for point in points)
    ]


def _curve(points: Sequence[Point]) -> list[list[str]]:
    """A line per point, as ``CURVE`` names its columns."""
    return [
        [
            str(p.k),
            p.metric,
            p.mode,
            number(p.accuracy),
            number(p.acc_eq),
            number(p.chance["acc_eq"]),
            number(p.pearson),
            number(p.direct_average),
            str(p.paragraphs),
        ]
        for p in points
    ]


def _tsv(meta: Meta) -> list[list[str]]:
    head = "task where gold metric value low high rank pairs chance epsilon systems p_best"
    rows = [head.split()]
    for result in meta.table.results:
        for i, (name, estimate) in enumerate(zip(result.metrics, result.estimates)):
            bounds = [repr(result.low[i]), repr(result.high[i])] if result.low else ["", ""]
            rows.append(
                [
                    str(result.task),
                    result.where,
                    result.gold,
                    name,
                    repr(estimate.value),
                    *bounds,
                    "" if result.ranks[i] is None else str(result.ranks[i]),
                    str(estimate.pairs),
                    repr(estimate.chance),
                    "" if estimate.epsilon is None else repr(estimate.epsilon),
                    str(result.systems),
                    "" if math.isnan(result.p_best(name)) else repr(result.p_best(name)),
                ]
            )
    for where, gold, points in _by_gold(meta):
        rows += [[], ["where", *CURVE, "gold"], *([where, *row, gold] for row in _curve(points))]
    return rows


def latex(meta: Meta) -> str:
    """A booktabs table: rank and value per task, the best cluster bold, chance levels and pairs at
    the foot.
    """
    results, average = meta.table.results, meta.table.average
    heads = [
        *(["average"] if average else []),
        *(short(result, meta).translate(LATEX) for result in results),
    ]
    rows = []
    for name in metric_order(meta):
        row = [name.translate(LATEX)]
        if average:
            known = name in average.metrics
            i = average.metrics.index(name) if known else 0
            row.append(_latex_cell(average.ranks[i], average.values[i]) if known else "-- & --")
        for result in results:
            row.append(
                _latex_cell(result.rank(name), result.value(name))
                if name in result.metrics
                else "-- & --"
            )
        rows.append(row)
    blank = ["&"] if average else []
    foot = [
        ["chance", *blank, *(_two("r", _chance(result)) for result in results)],
        ["pairs", *blank, *(_two("r", result.estimates[0].pairs) for result in results)],
    ]
    head = ["Metric", *(_two("c", title) for title in heads)]
    tables = [terminal.booktabs("l" + "rr" * len(heads), [head], rows, foot)]
    for where, gold, points in _by_gold(meta):
        lines = [
            [cell.translate(LATEX).replace("–", "--") for cell in row] for row in _curve(points)
        ]
        tables += [
            "",
            rf"% {where}, gold {gold}: agreement by paragraph length",
            terminal.booktabs("rllrrrrrr", [[title.translate(LATEX) for title in CURVE]], lines),
        ]
    return "\n".join(tables)


def _two(place: str, text: object) -> str:
    return rf"\multicolumn{{2}}{{{place}}}{{{text}}}"


def _latex_cell(rank: int | None, value: float) -> str:
    text, shown = number(value).replace("–", "--"), _rank(rank).replace("–", "--")
    return rf"\textbf{{{shown}}} & \textbf{{{text}}}" if rank == 1 else f"{shown} & {text}"


# ---------------------------------------------------------------- error spans

TITLES = {
    "characters": "character F1",
    "matching": "matching F1",
    "accuracy": "error-free accuracy",
    "error-free": "error-free F1",
    "auc": "error-free AUC",
}


def render_spans(results: SpanResults, format: str) -> None:
    """Metrics against gold."""
    if format == "json":
        terminal.print_json(spans_json(results))
        return
    names = next(
        (measure for measure in results.measures if not all(map(math.isnan, measure.values))),
        results.measures[0],
    ).metrics
    if format == "tsv":
        head = [
            "metric",
            *(f"{name} {part}" for name in TITLES for part in ("value", "low", "high", "rank")),
        ]
        print(terminal.tsv_row(head))
        for name in names:
            print(
                terminal.tsv_row(
                    [
                        name,
                        *(
                            cell
                            for measure in results.measures
                            for cell in _span_tsv(measure, name)
                        ),
                    ]
                )
            )
        terminal.warn(results.notes)
        return
    rows = [[name, *(_span_cell(measure, name) for measure in results.measures)] for name in names]
    majority = max(results.error_free, results.segments - results.error_free) / results.segments
    _print_table(
        ["metric", *(TITLES[measure.measure] for measure in results.measures)],
        rows,
        (
            "Rank cluster (metrics without significant differences by document), value, "
            "95 % interval by document; P, R: precision and recall.",
            f"{results.segments:,} segments of {results.documents:,} documents, {results.spans:,} "
            "spans; "
            f"{results.error_free:,} segments ({results.error_free / results.segments:.1%}) are "
            "error-free: saying the more "
            f"frequent of both always has accuracy {number(majority)}, chance has AUC 0.5.",
        ),
        results.notes,
    )


def render_raters(raters: Sequence[RaterSpans], notes: Sequence[str], format: str) -> None:
    """Raters against each other."""
    if format == "json":
        from wholetext.scoring.comparison import plain

        rows = [
            {
                "one": row.one,
                "two": row.two,
                "segments": row.segments,
                "documents": row.documents,
                **row.scores,
                "intervals": {name: _bounds(bounds) for name, bounds in row.intervals.items()},
            }
            for row in raters
        ]
        terminal.print_json(plain({"raters": rows, "notes": notes}))
        return
    measures = list(raters[0].scores)
    if format == "tsv":
        print(terminal.tsv_row(["one", "two", "segments", "documents", *measures]))
        for row in raters:
            print(
                terminal.tsv_row(
                    [row.one, row.two, row.segments, row.documents, *row.scores.values()]
                )
            )
        terminal.warn(notes)
        return
    table = [
        [
            row.one,
            row.two,
            f"{row.segments:,}",
            *(f"{number(row.scores[name])}{_bracketed(row.intervals[name])}" for name in measures),
        ]
        for row in raters
    ]
    _print_table(
        ["rater", "rater", "segments", *(TITLES[name] for name in measures)],
        table,
        ("Texts that both raters marked; 95 % intervals by document.",),
        notes,
        fixed=2,
    )


def spans_json(results: SpanResults) -> dict[str, Any]:
    """Everything, undefined numbers as null."""
    from wholetext.scoring.comparison import plain

    values: dict[str, Any] = plain(
        {
            "segments": results.segments,
            "documents": results.documents,
            "spans": results.spans,
            "error_free": results.error_free,
            "measures": [
                {
                    "measure": measure.measure,
                    "metrics": [
                        {
                            "name": name,
                            "value": value,
                            "precision": precision,
                            "recall": recall,
                            "interval": _bounds(bounds),
                            "rank": rank,
                        }
                        for name, value, precision, recall, bounds, rank in zip(
                            measure.metrics,
                            measure.values,
                            measure.precision,
                            measure.recall,
                            measure.intervals,
                            measure.ranks,
                        )
                    ],
                    "p": measure.p,
                }
                for measure in results.measures
            ],
            "notes": results.notes,
        }
    )
    return values


def _span_cell(measure: SpanMeasure, name: str) -> str:
    i = measure.metrics.index(name)
    rank = "–" if measure.ranks[i] is None else str(measure.ranks[i])
    sides = (
        ""
        if math.isnan(measure.precision[i])
        else f" P {number(measure.precision[i])} R {number(measure.recall[i])}"
    )
    return f"{rank} {number(measure.values[i])}{_bracketed(measure.intervals[i])}{sides}"


def _span_tsv(measure: SpanMeasure, name: str) -> list[object]:
    i = measure.metrics.index(name)
    return [
        measure.values[i],
        measure.intervals[i].low,
        measure.intervals[i].high,
        "" if measure.ranks[i] is None else measure.ranks[i],
    ]


def _bracketed(bounds: Interval) -> str:
    return "" if math.isnan(bounds.low) else f" [{number(bounds.low)}, {number(bounds.high)}]"


def _bounds(bounds: Interval) -> list[float] | None:
    return None if math.isnan(bounds.low) else [bounds.low, bounds.high]


def _print_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    lines: Sequence[str],
    notes: Sequence[str],
    fixed: int = 1,
) -> None:
    from rich.text import Text

    console = terminal.console(80)
    terminal.print_blocks(head, rows, fixed, console)
    for line in lines:
        console.print(Text(line, style="dim"))
    terminal.notes(notes, console)
