"""Studies of `meta agreement` and `meta contrast` as pages of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from wholetext.errors import count
from wholetext.reporting.panels import Bar, Bars, Curves, Grid, Line, Number, Panel, Study, Table

MAIN = 3  # charts of a picture
FIRST = ("spa", "acc_eq", "pearson")  # statistics that the field reports first
CURVES = {
    "accuracy": "system accuracy",
    "acc_eq": "acc_eq (ties calibrated)",
    "pearson": "Pearson's r",
    "sys_pearson": "Pearson's r of systems",
    "ties": "ties of the metric, a share of pairs",
    "direct_average": "Pearson's r between direct and averaged scoring",
}


def meta(record: Mapping[str, Any]) -> Study:
    """Agreement with clusters, its intervals, paragraph curves, correlation between metrics."""
    fields = record.get("fields", [])
    if len({(entry["set"], entry["langs"]) for entry in fields}) < len(fields):  # several golds
        named = {
            key: [
                {**entry, "where": f"{entry['where']} {entry['gold']}"}
                for entry in record.get(key, [])
            ]
            for key in ("tasks", "curves")
        }
        record = {**record, **named}
    facts = [
        (
            f"{entry['set']} {entry['langs']}",
            f"{entry['gold']}: {entry['judged']:,} judged segments, "
            f"{count(len(entry['systems']), 'system')}, {count(entry['documents'], 'document')}",
        )
        for entry in fields
    ]
    bars, grids = _intervals(record["tasks"]), _grids(record)
    curves = _paragraphs(record.get("curves", []))
    panels: list[Panel] = [_agreement(record), *bars, *grids, *_contests(record), *curves]
    bars_first = sorted(bars, key=lambda panel: (*FIRST, panel.axis).index(panel.axis))
    drawn = grids or curves[:MAIN] or bars_first[:MAIN]
    picture = tuple(panels.index(panel) for panel in drawn)
    panels += [
        Grid(
            f"Correlation between metrics, {entry['where']}, level {entry['level']}",
            tuple(entry["metrics"]),
            tuple(entry["metrics"]),
            tuple(map(tuple, entry["pearson"])),
            centred=True,
            note="Pearson's r of metric scores.",
        )
        for entry in record.get("between_metrics", [])
    ]
    metrics = tuple(
        (metric["name"], (f"{entry['set']} {entry['langs']}", metric["source"]))
        for entry in fields
        for metric in entry["metrics"]
    )
    panels += [Table("Metrics", ("set", "signature, or file"), metrics)] if metrics else []
    notes = tuple(record.get("notes", ()))
    return Study("meta", "Meta-evaluation", tuple(panels), tuple(facts), notes, picture)


def _agreement(record: Mapping[str, Any]) -> Table:
    tasks, average = record["tasks"], record.get("average")
    places = {task["where"] for task in tasks}
    columns = [("average", average["metrics"])] if average else []
    columns += [
        (f"{task['task']} {task['where'] if len(places) > 1 else ''}".rstrip(), task["metrics"])
        for task in tasks
    ]
    by_name = [{row["name"]: row for row in rows} for _, rows in columns]
    names = dict.fromkeys(name for rows in by_name for name in rows)
    values, ranks = (
        [tuple(rows.get(name, {}).get(key) for rows in by_name) for name in names]
        for key in ("value", "rank")
    )
    alpha = record.get("alpha", 0.05)
    place = f"{places.pop()}. " if len(places) == 1 else ""
    return Table(
        "Agreement with human judgment",
        tuple(title for title, _ in columns),
        tuple(zip(names, values)),
        ranks=tuple(ranks),
        note=f"{place}#n is the significance cluster at p ≤ {alpha}; best cluster in bold.",
    )


def _intervals(tasks: Sequence[Mapping[str, Any]]) -> list[Bars]:
    """One chart per statistic: metrics with their intervals, in groups by task."""
    panels: list[Bars] = []
    for statistic in dict.fromkeys(task["statistic"] for task in tasks):
        selected = [task for task in tasks if task["statistic"] == statistic]
        bars = []
        for task in selected:
            group = f"{task['level']} {task['where']}".strip()
            for row in task["metrics"]:
                low, high = row.get("interval") or (None, None)
                bars.append(Bar(group, row["name"], row["value"], low, high, row.get("pairs")))
            if (length := task.get("baseline")) and length["value"] is not None:
                bars.append(Bar(group, length["name"], length["value"]))
        levels = {row.get("chance") for task in selected for row in task["metrics"]}
        chance = levels.pop() if len(levels) == 1 else None
        panels.append(
            Bars(
                f"Agreement by {statistic}",
                tuple(bars),
                statistic,
                chance,
                "In brackets the number of pairs." + ("" if chance is None else " Dashed: chance."),
            )
        )
    return panels


def _grids(record: Mapping[str, Any]) -> list[Panel]:
    """Agreement over context sizes as curves, over windows and strides as heat-maps."""
    cells, panels = record.get("grid", []), list[Panel]()
    columns = [
        (
            f"mean of {mean['sets']} sets",
            mean["task"],
            dict(zip(mean["metrics"], zip(mean["values"], mean["intervals"]))),
        )
        for mean in record.get("means", [])
    ] + [
        (
            task["where"],
            task["task"],
            {row["name"]: (row["value"], row["interval"]) for row in task["metrics"]},
        )
        for task in record["tasks"]
    ]
    for metric in dict.fromkeys(cell["metric"] for cell in cells):
        own = [cell for cell in cells if cell["metric"] == metric]
        for task in dict.fromkeys(column[1] for column in columns):
            places = {where: values for where, name, values in columns if name == task}
            if any("prev" in cell for cell in own):
                panels.append(_context_curves(f"{metric}: {task}", own, places, task))
            panels += [
                _window_grid(f"{metric}: {task}, {where}, partial={partial}", own, values, partial)
                for where, values in places.items()
                for partial in dict.fromkeys(c["partial"] for c in own if "partial" in c)
            ]
    return panels


Values = Mapping[str, tuple[Number, Sequence[Number] | None]]  # metric → value and its interval


def _context_curves(
    title: str, cells: Sequence[Mapping[str, Any]], places: Mapping[str, Values], task: str
) -> Curves:
    sizes = tuple(sorted({cell["prev"] for cell in cells if "prev" in cell}))
    start = {cell["prev"]: cell["name"] for cell in cells if cell.get("prev") == 0}
    kinds = dict.fromkeys((c["hyp"], c["source"]) for c in cells if c.get("prev"))
    lines = []
    for hue, (where, values) in enumerate(places.items()):
        for hyp, source in kinds:
            own = [c for c in cells if (c.get("hyp"), c.get("source")) == (hyp, source)]
            names = {**start, **{c["prev"]: c["name"] for c in own}}
            drawn = [values.get(names.get(size, ""), (None, None)) for size in sizes]
            known = all(bounds for _, bounds in drawn)
            low, high = zip(*(bounds or (None, None) for _, bounds in drawn)) if known else ((), ())
            name = f"{where}{' own context' * (hyp == 'own')}{f' {source}' * (source != 'same')}"
            control = (hyp, source) != next(iter(kinds))
            lines.append(Line(name, tuple(v for v, _ in drawn), low, high, control, hue))
    axes = ("segments of context", task)
    return Curves(title, sizes, tuple(lines), axes, "Intervals over documents, where requested.")


def _window_grid(
    title: str, cells: Sequence[Mapping[str, Any]], values: Values, partial: str
) -> Grid:
    own = {(c["size"], c["step"]): c["name"] for c in cells if c.get("partial") == partial}
    own |= {(c["size"], c["step"]): c["name"] for c in cells if c.get("size") == 1}
    sizes, steps = (sorted({place[i] for place in own}) for i in (0, 1))
    rows = [
        [values.get(own.get((size, step), ""), (None, None)) for step in steps] for size in sizes
    ]
    return Grid(
        title,
        tuple(map(str, sizes)),
        tuple(map(str, steps)),
        tuple(tuple(value for value, _ in row) for row in rows),
        ("window", "stride"),
        tuple(tuple(_bounds(bounds) for _, bounds in row) for row in rows),
    )


def _bounds(bounds: Sequence[Number] | None) -> str:
    low, high = bounds or (None, None)
    return "" if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _contests(record: Mapping[str, Any]) -> list[Panel]:
    """Metrics with context less themselves by sentence, with p-values and win counts."""
    panels: list[Panel] = []
    for task, counts in record.get("wins", {}).items():
        rows = [row for row in record["contests"] if row["task"] == task]
        places = list(dict.fromkeys(row["where"] for row in rows))
        by_place = {(row["name"], row["where"]): row for row in rows}
        cells = tuple(
            (
                name,
                tuple(
                    by_place.get((name, place), {}).get(key)
                    for place in places
                    for key in ("difference", "p")
                ),
            )
            for name in dict.fromkeys(row["name"] for row in rows)
        )
        heads = tuple(head for place in places for head in (place, "p"))
        note = "Context wins {wins} of {of}; {significant_wins} of {significant} significant ones.".format(
            **counts
        )
        panels.append(Table(f"Context against single sentences: {task}", heads, cells, note=note))
    return panels


def _paragraphs(points: Sequence[Mapping[str, Any]]) -> list[Panel]:
    panels: list[Panel] = []
    for where in dict.fromkeys(point["where"] for point in points):
        selected = [point for point in points if point["where"] == where]
        lengths = tuple(sorted({point["k"] for point in selected}))
        metrics = list(dict.fromkeys(point["metric"] for point in selected))
        for measure, name in CURVES.items():
            modes = ("direct",) if measure == "direct_average" else ("direct", "average")
            known = {(p["metric"], p["mode"], p["k"]): p.get(measure) for p in selected}
            lines = [
                Line(
                    metric if mode == "direct" else f"{metric}, averaged",
                    tuple(known.get((metric, mode, length)) for length in lengths),
                    control=mode != "direct",
                    hue=metrics.index(metric),
                )
                for metric, mode in product(metrics, modes)
            ]
            note = "" if len(modes) == 1 else "Dashed: the mean of the sentences' scores."
            panels.append(
                Curves(
                    f"By paragraph length, {where}: {name}",
                    lengths,
                    tuple(lines),
                    ("segments in a paragraph", name),
                    note,
                )
            )
    return panels


def contrast(record: Mapping[str, Any]) -> Study:
    """Accuracy of each metric over all items, by type, by distance …, and McNemar's test of each pair."""
    metrics = record["metrics"]
    kinds = dict.fromkeys(kind for entry in metrics for kind in entry["groups"])
    panels: list[Panel] = [
        _accuracies("Accuracy", [("", entry["metric"], entry["all"]) for entry in metrics])
    ]
    whole = {entry["metric"]: entry["all"]["total"] for entry in metrics}
    for kind in kinds:
        if all(
            [row["total"] for row in entry["groups"].get(kind, [])] == [whole[entry["metric"]]]
            for entry in metrics
        ):
            continue  # a single group repeats the total
        rows = [
            (str(row["group"]), entry["metric"], row)
            for entry in metrics
            for row in entry["groups"].get(kind, [])
        ]
        order = list(dict.fromkeys(group for group, _, _ in rows))
        panels.append(_accuracies(f"By {kind}", sorted(rows, key=lambda row: order.index(row[0]))))
    if record["mcnemar"]:
        panels.append(
            Table(
                "McNemar's test",
                ("right alone", "the other right alone", "p"),
                tuple(
                    (
                        f"{test['first']} against {test['second']}",
                        (test["only_first"], test["only_second"], test["p"]),
                    )
                    for test in record["mcnemar"]
                ),
                of="pair",
            )
        )
    items = record["items"] if isinstance(record["items"], int) else len(record["items"])
    facts = (
        ("set", str(record["set"])),
        ("languages", "-".join(record["langs"])),
        ("items", f"{items:,}"),
    )
    notes = tuple(map(str, record.get("notes", ())))
    title = f"Contrast: {Path(str(record['set'])).stem}"
    bars = [at for at, panel in enumerate(panels) if isinstance(panel, Bars)]
    return Study("contrast", title, tuple(panels), facts, notes, tuple(bars[:MAIN]))


def _accuracies(title: str, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Bars:
    bars = tuple(
        Bar(
            group,
            metric,
            _percent(row["accuracy"]),
            _percent(row["low"]),
            _percent(row["high"]),
            row["total"],
        )
        for group, metric, row in rows
    )
    tied = sum(int(row.get("ties", 0)) for _, _, row in rows)
    return Bars(
        title,
        bars,
        "accuracy, %",
        note=f"Ties count as errors; there are {tied:,}." if tied else "",
    )


def _percent(share: Number) -> Number:
    return None if share is None else 100 * share
