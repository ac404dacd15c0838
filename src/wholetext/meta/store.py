"""Meta-evaluation ⇄ JSON: one file that tables, reports and other programs read (docs/meta.md describes it)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wholetext.errors import RunError
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.io.formats.scores import write_table
from wholetext.meta.grid import Contest, GridCell, drawn, win_counts
from wholetext.meta.metric_scores import Gathered
from wholetext.meta.paragraphs import Point
from wholetext.meta.tasks import Average, SetMean, TaskResult, Williams
from wholetext.notebook.display import brief
from wholetext.scoring.comparison import plain
from wholetext.types import FloatArray
from wholetext.version import __version__

FORMAT = 1
FILE = "meta.json"
META = SharedFolder("folder of a meta-evaluation", RunError)
_OPTIONAL = ("williams", "means", "grid", "contests", "wins", "between_golds", "paired_t")
Correlations = tuple[str, str, list[str], FloatArray]  # where, level, names, (names, names)


@dataclass(frozen=True, eq=False)
class Meta:
    """All results of one meta-evaluation."""

    parts: tuple[Gathered, ...]
    results: tuple[TaskResult, ...]
    average: Average | None = None  # over the tasks, where there are several
    alpha: float = 0.05
    between: tuple[Correlations, ...] = ()  # of metrics
    curves: dict[str, list[Point]] = field(default_factory=dict)  # where → points
    notes: tuple[str, ...] = ()
    means: tuple[SetMean, ...] = ()  # over several sets
    grid: tuple[GridCell, ...] = ()  # where the metrics stand in a grid of views
    contests: tuple[Contest, ...] = ()  # metrics with context against themselves by sentence
    golds: tuple[Correlations, ...] = ()  # of kinds of human scores
    paired_t: tuple[list[str], FloatArray] | None = None  # metrics, p of their differences
    williams: tuple[Williams, ...] = ()
    named: bool = False  # tasks were named one by one: tables show all of them
    __repr__ = brief


def as_json(meta: Meta) -> dict[str, Any]:
    """Plain values: numbers are numbers, undefined ones null; sections that were not requested are absent."""
    average = meta.average
    content = {
        "kind": "meta",
        "format": FORMAT,
        "wholetext": __version__,
        "alpha": meta.alpha,
        "fields": [
            {
                "set": where.evalset.root.name,
                "test_set": where.test_set,
                "langs": where.langs,
                "gold": where.gold_name,
                "gold_of_systems": where.gold_at("sys"),
                "refs": where.refs,
                "systems": where.systems,
                "left_out": where.left_out,
                "documents": len(where.runs),
                "segments": int(where.runs[-1].stop),
                "judged": int(where.judged.sum()),
                "domains": where.choice.domains,
                "metrics": [
                    {"name": m.name, "refs": m.refs, "levels": sorted(m.levels), "source": m.source}
                    for m in metrics
                ],
            }
            for where, metrics in ((part.participants, part.metrics) for part in meta.parts)
        ],
        "tasks": [_task(result) for result in meta.results],
        "average": average
        and {
            "metrics": [
                {"name": name, "value": value, "mean_rank": mean_rank, "rank": rank}
                for name, value, mean_rank, rank in zip(
                    average.metrics, average.values, average.mean_ranks, average.ranks
                )
            ],
            "weights": average.weights,
            "p": average.p,
        },
        "between_metrics": _tables("metrics", meta.between),
        "williams": meta.williams,
        "curves": [
            {"where": where, **vars(point)}
            for where, points in meta.curves.items()
            for point in points
        ],
        "means": [
            {
                "task": mean.task,
                "gold": mean.gold,
                "sets": mean.sets,
                "metrics": mean.metrics,
                "values": mean.values,
                "intervals": mean.intervals,
                "baseline": mean.baseline,
            }
            for mean in meta.means
        ],
        "grid": [
            {"name": cell.name, "metric": cell.metric, **cell.settings} for cell in drawn(meta.grid)
        ],
        "contests": meta.contests,
        "wins": {
            task: win_counts([row for row in meta.contests if row.task == task], meta.alpha)
            for task in dict.fromkeys(row.task for row in meta.contests)
        },
        "notes": meta.notes,
        "between_golds": _tables("golds", meta.golds),
        "paired_t": meta.paired_t and dict(zip(("metrics", "p"), meta.paired_t)),
    }
    return {
        section: plain(value)
        for section, value in content.items()
        if value or section not in _OPTIONAL
    }


def _tables(names: str, tables: Sequence[Correlations]) -> list[dict[str, Any]]:
    return [
        {"where": where, "level": level, names: heads, "pearson": table}
        for where, level, heads, table in tables
    ]


def _task(result: TaskResult) -> dict[str, Any]:
    measure = result.task.measure
    rows = [
        {
            "name": name,
            "value": estimate.value,
            "rank": rank,
            "pairs": estimate.pairs,
            "rows": estimate.rows,
            "chance": estimate.chance,
            "epsilon": estimate.epsilon,
            "interval": interval,
        }
        for name, estimate, rank, interval in zip(
            result.metrics, result.estimates, result.ranks, result.intervals
        )
    ]
    return {
        "task": str(result.task),
        "level": result.task.level,
        "statistic": measure.statistic,
        "average": measure.average,
        "range": list(measure.range),
        "where": result.where,
        "gold": result.gold,
        "systems": result.systems,
        "items": result.items,
        "test": result.test,
        "draws": result.draws,
        "metrics": rows,
        "p": result.p,
        **({"baseline": dict(zip(("name", "value"), result.baseline))} if result.baseline else {}),
    }


def write_meta(folder: Path, meta: Meta) -> None:
    """``meta.json``, and the scores computed here as EvalSet files (``metric-scores/LP/NAME-REF.LEVEL.score``).

    Scores are of what people judged: those for several golds or of several sets are kept apart, in
    folders named after each.
    """
    several = len({part.participants.name for part in meta.parts}) < len(meta.parts)
    sets = len({part.participants.evalset.root for part in meta.parts}) > 1
    with changing(folder, META) as staged:
        write_file(
            staged / FILE, json.dumps(as_json(meta), ensure_ascii=False, indent=1) + "\n", RunError
        )
        computed = (
            (part.participants, metric)
            for part in meta.parts
            for metric in part.metrics
            if metric.source != "file"
        )
        for where, metric in computed:
            name = "".join(c if c.isalnum() or c in "+_()=," else "_" for c in metric.name)
            label = f"{name}-{'.'.join(sorted(metric.refs)) or 'src'}"
            for level, values in metric.levels.items():
                base = staged / where.evalset.root.name if sets else staged
                base = base / where.gold_name if several else base
                path = base / "metric-scores" / where.langs / f"{label}.{level}.score"
                write_table(path, where.systems, values, gaps=True)
