"""Meta-evaluations in print: a row per metric, a column per task, chance levels, pair counts.

JSON has everything; tables have what is read first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from wholetext.cli import terminal
from wholetext.cli.terminal import LATEX, listed, number
from wholetext.errors import count
from wholetext.meta.agreement.measures import Bounds, Ranked
from wholetext.meta.grid import drawn, win_counts
from wholetext.meta.tasks import DEFAULTS, Average, SetMean, TaskResult
from wholetext.scoring.run_files import plain
from wholetext.scoring.significance.resample import Interval

if TYPE_CHECKING:
    from wholetext.meta.grid import GridCell, Setting
    from wholetext.meta.spans.evaluate import RaterSpans, SpanResults
    from wholetext.meta.store import Meta

Column = Average | SetMean | TaskResult
CURVE = ("k", "metric", "scored", "sys accuracy", "acc_eq", "chance", "pearson")
#: tasks that tables show first, and what they measure; of the usual ones of a level the rest is in JSON
FIRST = {
    "sys:spa": "soft pairwise accuracy of systems",
    "doc:acc_eq": "pairs of documents ordered as people order them",
    "domain:pearson": "correlation over domains",
    "seg:acc_eq": "pairs of outputs of a segment ordered as people order them",
    "seg:pearson": "correlation over all segments",
    "doc:pearson": "correlation over all documents",
    "sys:pearson": "correlation over systems",
    "sys:accuracy": "pairs of systems ordered as people order them",
}
_ROUNDING = 0.0005  # values that print alike are not above one another
_SHOWN = 3  # columns, sets described one by one, metrics named in a sentence


def render(meta: Meta, format: str) -> None:
    """Print in the requested format."""
    from wholetext.meta.store import as_json

    if format == "json":
        terminal.print_json(as_json(meta))
    elif format == "table":
        from rich.text import Text

        columns = headline(meta)
        head, rows, foot = _columns(meta, columns)
        rows += [[Text(first, style="dim"), *cells] for first, *cells in foot]
        tables = list(_grids(meta, columns)) or [("", head, rows, 1)]
        page = _finding(meta, columns), tables, _explanations(meta, columns), meta.notes
        print_page(*page, further=_further(meta))
    else:
        _tsv(as_json(meta)) if format == "tsv" else print(latex(meta))
        terminal.warn(meta.notes)


Block = tuple[str, Sequence[str], Sequence[Sequence[Any]], int]  # title, head, rows, fixed columns


def print_page(
    finding: str,
    tables: Sequence[Block],
    lines: Sequence[str],
    notes: Sequence[str] = (),
    further: Iterable[Block] = (),
) -> None:
    """Print a finding, its tables, explanations of them, further tables, and notes."""
    from rich.text import Text

    console = terminal.console(80)
    terminal.print_finding(finding, console)
    for at, (title, head, rows, fixed) in enumerate(tables):
        if title:
            console.print(Text(f"\n{title}" if at else title, style="dim"))
        terminal.print_blocks(head, rows, fixed, console)
    terminal.print_footer("\n".join(lines), console)
    for title, head, rows, fixed in further:
        terminal.print_footer(title, console)
        terminal.print_blocks(head, rows, fixed, console)
    terminal.warn(notes, console)


def _usual(meta: Meta) -> set[str]:
    """Tasks that were run because their level was."""
    names = {str(result.task) for result in meta.results}
    return {task for tasks in DEFAULTS.values() if names.issuperset(tasks) for task in tasks}


def shown_results(meta: Meta) -> list[TaskResult]:
    """The tasks that were asked for by name; of the usual ones of levels, the first three."""
    usual = _usual(meta)
    first = [task for task in FIRST if task in usual][:_SHOWN]
    shown = [r for r in meta.results if str(r.task) in first or str(r.task) not in usual]
    if all(str(result.task) in usual for result in shown):
        shown.sort(key=lambda result: first.index(str(result.task)))
    return shown


def headline(meta: Meta) -> list[Column]:
    """The columns of the table: tasks named one by one; else at most three of each gold.

    Of several sets they are means; of the tasks of a year the average, the pooled accuracy and the
    last mean.
    """
    results = shown_results(meta)
    average = _average(meta) if any(str(r.task) not in _usual(meta) for r in results) else []
    if meta.named or not meta.means:
        return [*average, *meta.means, *results]
    pooled: list[Column] = [result for result in results if result.pooled > 1]
    tasks = {str(result.task) for result in results}
    means = [mean for mean in meta.means if mean.task in tasks]
    if average:
        return [*[*average, *pooled, *means][:2], *means[-1:]]
    means.sort(key=lambda mean: [*FIRST, mean.task].index(mean.task))
    golds = len({part.participants.gold_name for part in meta.parts})
    return list(means[: _SHOWN * golds])


def _average(meta: Meta) -> list[Column]:
    shown = len(shown_results(meta)) == len(meta.results)
    return [meta.average] if shown and meta.average else []


def _title(column: Column, meta: Meta) -> str:
    """The task, and the language pair and the gold where there are several."""
    if isinstance(column, Average):
        return "average"
    langs = {part.participants.name: part.participants.langs for part in meta.parts}
    sets = {part.participants.evalset.root for part in meta.parts}
    gold = f" {column.gold}" if len(langs) < len(meta.parts) else ""
    place = ""
    if isinstance(column, SetMean):
        place = f" (mean of {column.sets})"
    elif column.pooled > 1:
        place = " (all)"
    elif len(langs) > 1:
        place = f" {column.where if len(sets) > 1 else langs[column.where]}"
    return f"{column.task}{place}{gold}"


def _columns(
    meta: Meta, columns: Sequence[Column]
) -> tuple[list[str], list[list[Any]], list[list[str]]]:
    """Head, rows of metrics (by the first column, best first), and rows below them."""
    names = dict.fromkeys(name for column in columns for name in column.metrics)
    head = ["metric", *(_title(column, meta) for column in columns)]
    rows = [[name, *(_cell(column, name) for column in columns)] for name in names]
    lengths = [column.baseline for column in columns]
    foot = [
        [label, *(number(part[1]) if part else "" for part in lengths)]
        for label, _ in list(filter(None, lengths))[:1]
    ]
    foot.append(["chance", *map(_chance, columns)])
    tasks = [column if isinstance(column, TaskResult) else None for column in columns]
    if any(tasks):
        foot += [
            ["pairs", *(f"{task.estimates[0].pairs:,}" if task else "" for task in tasks)],
            ["systems × items", *(f"{t.systems} × {t.items}" if t else "" for t in tasks)],
        ]
    return head, rows, foot


def _cell(column: Ranked, name: str) -> str:
    """``#cluster value`` of a metric and its interval; – where unknown."""
    if name not in column.metrics:
        return "–"
    i = column.metrics.index(name)
    rank = "" if column.ranks[i] is None else f"#{column.ranks[i]} "
    return f"{rank}{number(column.values[i])}{_within(column.intervals[i])}"


def _within(bounds: Bounds) -> str:
    if isinstance(bounds, Interval):
        return f" ±{number(bounds.half_width)}" if _bounds(bounds) else ""
    if bounds is None or math.isnan(bounds[0]):
        return ""
    return f" [{number(bounds[0])}, {number(bounds[1])}]"


def _chances(column: Column) -> list[float]:
    """Chance levels of the metrics; an undefined one where none is known."""
    return [value for value in column.chance if not math.isnan(value)] or [math.nan]


def _chance(column: Column) -> str:
    if isinstance(column, Average):
        return ""
    low, high = number(min(_chances(column))), number(max(_chances(column)))
    return low if low == high else f"{low}–{high}"


def _further(meta: Meta) -> Iterator[Block]:
    """The tables below the first."""
    kinds = (("metrics", meta.between), ("human scores", meta.golds))
    matrices = [
        (f"between {kind}, {where}, {level} (Pearson)", names, table)
        for kind, tables in kinds
        for where, level, names, table in tables
    ]
    if meta.paired_t:
        over = f"paired over {count(len(meta.results), 'task')}"
        matrices.append((f"t-test between metrics, {over} (p, two-sided)", *meta.paired_t))
    for title, names, table in matrices:
        cells = [[name, *map(number, row)] for name, row in zip(names, table.tolist())]
        yield title, ["", *names], cells, 1
    for test in meta.williams:
        title = f"Williams' test, {test.where}, {test.level}: p that the row correlates higher"
        values = zip(test.metrics, test.pearson, test.p.tolist())
        cells = [[name, number(r), *map(number, row)] for name, r, row in values]
        yield title, ["", "|Pearson|", *test.metrics], cells, 2
    for where, points in meta.curves.items():
        for gold in dict.fromkeys(point.gold for point in points):
            lines = [
                [str(p.k), p.metric, p.mode, *map(number, values)]
                for p in points
                if p.gold == gold
                for values in [(p.accuracy, p.acc_eq, p.chance["acc_eq"], p.pearson)]
            ]
            yield f"by paragraph length, {where}, gold {gold}", CURVE, lines, 3


def _grids(meta: Meta, columns: Sequence[Column]) -> Iterator[Block]:
    """Arrange each task over the grid of each metric: context sizes, or windows and strides."""
    cells = drawn(meta.grid)
    for column, metric in product(columns, dict.fromkeys(cell.metric for cell in cells)):
        if isinstance(column, Average):
            continue
        own = [cell for cell in cells if cell.metric == metric and cell.settings]
        across, down = ("step", "size") if "size" in own[-1].settings else ("prev", "hyp")
        known = {name: number(column.value(name)) for name in column.metrics}
        places = {(_row(cell, down), cell.settings[across]): cell.name for cell in own}
        heads = sorted({head for _, head in places}, key=int)
        start: dict[Setting, str] = {}  # by column, where every row of contexts begins
        if down == "hyp":
            start = {cell.settings[across]: cell.name for cell in own if cell.sentence}
            own = [cell for cell in own if not cell.sentence]
        rows = [
            [row, *(known.get(places.get((row, h), start.get(h, "")), "") for h in heads)]
            for row in dict.fromkeys(_row(cell, down) for cell in own)
        ]
        title = f"{metric}: {_title(column, meta)}"
        yield title, [f"{down} \\ {across}", *map(str, heads)], rows, 1


def _row(cell: GridCell, down: str) -> str:
    """The row of a grid: its size, or where its context comes from; partial windows apart."""
    parts = [cell.settings.get(key, "") for key in (down, "partial", "source")]
    return " ".join(str(part) for part in parts if part not in ("", "drop", "same"))


def _finding(meta: Meta, columns: Sequence[Column]) -> str:
    """State the finding: which metric agrees best by which task, or whether context helps."""
    if meta.contests:
        gains = []
        for task in dict.fromkeys(row.task for row in meta.contests):
            won = win_counts([row for row in meta.contests if row.task == task], meta.alpha)
            tested = any(result.draws for result in meta.results)
            clear = f"{won['significant_wins']} significantly" if tested else "not tested"
            gains.append(f"in {won['wins']} of {won['of']} by {task} ({clear})")
        return f"With context, metrics agree better than by sentence {' and '.join(gains)}."
    leaders = [
        (column.task if isinstance(column, SetMean) else _title(column, meta), _leaders(column))
        for column in columns
    ]
    chance = [
        _title(column, meta)
        for column in columns
        if max(column.values) < max(_chances(column)) + _ROUNDING
    ]
    below = f" No metric is above chance by {listed(chance)}." if chance else ""
    return f"{_sentence(leaders)}{below}"


def _leaders(column: Ranked) -> str:
    """Name the leaders of a column: the first cluster; untested, the highest value."""
    names, ranks = column.metrics, column.ranks
    if len(names) == 1:
        return f"{names[0]} has {number(column.values[0])}"
    first = [name for name, rank in zip(names, ranks) if rank == 1]
    if not first:
        return f"{names[0]} is highest, which was not tested"
    if len(first) == len(names):
        return f"{count(len(names), 'metric')} do not differ significantly"
    return f"{listed(first)} {'lead' if len(first) > 1 else 'leads'}"


def _sentence(leaders: Sequence[tuple[str, str]]) -> str:
    """Join (column, leaders) to a sentence; columns with equal leaders share a clause."""
    titles: dict[str, list[str]] = {}
    for title, clause in leaders:
        titles.setdefault(clause, []).append(title)
    clauses = [f"by {listed(names)}, {clause}" for clause, names in titles.items()]
    return f"B{'; '.join(clauses)[1:]}." if clauses else "Nothing here could be compared."


def _explanations(meta: Meta, columns: Sequence[Column]) -> list[str]:
    shown = {str(getattr(column, "task", "")) for column in columns}
    measured = [f"{task}: {what}" for task, what in FIRST.items() if task in shown]
    lines = [f"{'; '.join(measured)}."] if measured else []
    if any(isinstance(column, Average) for column in columns):
        tasks = count(len(meta.results), "task")
        lines.append(f"average: mean of {tasks}, each rescaled from its range to 0…1.")
    draws = meta.results[0].draws
    lines.append(
        "# is the rank cluster: metrics of one are not significantly different (p > "
        f"{meta.alpha}, {draws} draws)."
        if draws
        else "Nothing was tested, so there are no ranks."
    )
    if label := next((r.baseline[0] for r in meta.results if r.baseline), ""):
        lines.append(
            f"{label}: what the length of the reference alone reaches; a penalty is a sum, so that "
            "it owes part of its correlation to length. – where a length cannot order outputs."
        )
    if len(meta.parts) > _SHOWN:
        names = listed(list(dict.fromkeys(part.participants.name for part in meta.parts)))
        return [
            *lines,
            f"{count(len(meta.parts), 'set')} of judgments: {names}; -f json has each.",
        ]
    for where in (part.participants for part in meta.parts):
        out = "; ".join(f"{name}: {why}" for name, why in where.left_out.items()) or "none"
        own = where.gold_at("sys")
        systems = "" if own == where.gold_name else f" ({own} of systems)"
        lines.append(
            f"{where.name}: gold {where.gold_name}{systems}, reference "
            f"{listed(where.refs) or 'none'}, {count(len(where.systems), 'system')}, left out: {out}."
        )
    return lines


def _tsv(content: dict[str, Any]) -> None:
    """Print a line per task and metric."""
    head = "task where gold metric value low high rank pairs chance epsilon systems p_best"
    rows = [
        [
            *(task[name] for name in ("task", "where", "gold")),
            *(row["name"], row["value"], *(row["interval"] or ("", ""))),
            *(row[name] for name in ("rank", "pairs", "chance", "epsilon")),
            task["systems"],
            p,
        ]
        for task in content["tasks"]
        for row, p in zip(task["metrics"], task["p"][0])
    ]
    terminal.print_tsv(
        head.split(), [["" if cell is None else cell for cell in row] for row in rows]
    )


def latex(meta: Meta) -> str:
    """A booktabs table: cluster and value per task, the best cluster bold; chance and pairs."""
    columns = [*_average(meta), *meta.means, *shown_results(meta)]
    head, rows, foot = _columns(meta, columns)

    def tex(cell: str) -> str:
        escaped = cell.translate(LATEX).replace("–", "--")
        return rf"\textbf{{{escaped}}}" if cell.startswith("#1 ") else escaped

    parts = [[list(map(tex, row)) for row in part] for part in ([head], rows, foot)]
    return terminal.booktabs("l" + "r" * (len(head) - 1), *parts)


# ---------------------------------------------------------------- error spans

TITLES = {
    "characters": "character F1",
    "matching": "matching F1",
    "accuracy": "error-free accuracy",
    "error-free": "error-free F1",
    "auc": "error-free AUC",
}
FIRST_SPANS = ("characters", "matching", "auc")  # measures of the table


def render_spans(results: SpanResults, format: str) -> None:
    """Print the measures of metrics against gold."""
    if format == "json":
        terminal.print_json(spans_json(results))
        return
    defined = [part for part in results.measures if not all(map(math.isnan, part.values))]
    shown = [part for part in defined if part.measure in FIRST_SPANS] or defined[:_SHOWN]
    names = dict.fromkeys(name for part in shown for name in part.metrics)
    rows = [[name, *(_cell(measure, name) for measure in shown)] for name in names]
    majority = max(results.error_free, results.segments - results.error_free) / results.segments
    lines = (
        "± is a 95 % interval by document; # is the rank cluster: metrics of one do not differ "
        "significantly by document.",
        f"{results.segments:,} segments of {results.documents:,} documents, {results.spans:,} "
        f"spans; {results.error_free:,} segments ({results.error_free / results.segments:.1%}) are "
        "error-free: saying the more frequent of both always has accuracy "
        f"{number(majority)}, chance has AUC 0.5.",
        "-f json has precision, recall, the bounds of intervals, p-values, and "
        f"{listed([TITLES[part.measure] for part in defined if part not in shown])}.",
    )
    head = ["metric", *(TITLES[measure.measure] for measure in shown)]
    finding = _sentence([(TITLES[part.measure], _leaders(part)) for part in shown])
    print_page(finding, [("", head, rows, 1)], lines, results.notes)


def render_raters(raters: Sequence[RaterSpans], notes: Sequence[str], format: str) -> None:
    """Print the measures of raters against each other."""
    if format == "json":
        rows = [
            {
                "one": row.first,
                "two": row.second,
                "segments": row.segments,
                "documents": row.documents,
                **row.scores,
                "intervals": {name: _bounds(bounds) for name, bounds in row.intervals.items()},
            }
            for row in raters
        ]
        terminal.print_json(plain({"raters": rows, "notes": notes}))
        return
    measures = [name for name in raters[0].scores if name in FIRST_SPANS]
    table = [
        [row.first, row.second, f"{row.segments:,}"]
        + [
            f"{number(row.scores[name])}{_within(_bounds(row.intervals[name]))}"
            for name in measures
        ]
        for row in raters
    ]
    head = ["rater", "rater", "segments", *(TITLES[name] for name in measures)]
    lines = (
        "Texts that both raters marked; 95 % intervals by document. -f json has error-free "
        "accuracy and F1.",
    )
    together = raters[-1]
    finding = (
        f"Two raters mark the same errors with {TITLES[measures[0]]} "
        f"{number(together.scores[measures[0]])} over {count(together.segments, 'segment')}: a "
        "metric that reaches it agrees with a rater as well as another rater does."
    )
    print_page(finding, [("", head, table, 2)], lines, notes)


def spans_json(results: SpanResults) -> dict[str, Any]:
    """Return everything as plain values; undefined numbers are null."""
    measures = [
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
    ]
    return {
        "segments": results.segments,
        "documents": results.documents,
        "spans": results.spans,
        "error_free": results.error_free,
        "measures": plain(measures),
        "notes": list(results.notes),
    }


def _bounds(bounds: Interval) -> tuple[float, float] | None:
    return None if math.isnan(bounds.low) else (bounds.low, bounds.high)
