"""Files that `meta`, `sweep`, `contrast`, `rank`, `judge-check` and `stress` write, read into pages of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from wholetext.errors import InputError, RunError, count
from wholetext.files.parsing import read_json, reader
from wholetext.reporting.judge_panels import judge_check
from wholetext.reporting.panels import Bar, Bars, Curves, Grid, Line, Number, Panel, Study, Table
from wholetext.reporting.rankings import ranking
from wholetext.reporting.stress_panels import stress

FILES = ("meta.json", "grid.json", "contrast.json", "ranking.json", "judge-check.json", "stress.json")  # in folders
CURVES = {"accuracy": "system accuracy", "acc_eq": "acc_eq (ties calibrated)", "pearson": "Pearson's r",
          "direct_average": "Pearson's r between direct and averaged scoring"}  # fmt: skip
LOSSES = {"dropped": "segments in no window", "lost_context": "rows that lost context",
          "lost_focus": "rows that lost scored text"}  # fmt: skip


@reader
def read_study(path: Path) -> Study:
    """A study from its JSON; its kind is in the file (``kind``) or follows from its shape."""
    try:
        found = read_json(path.read_bytes(), constants=True)
        if not isinstance(found, Mapping):
            raise ValueError("not a JSON object")
        kind = "sweep" if "cells" in found else "contrast" if "mcnemar" in found else ""
        kind = found["kind"] if found.get("kind") in READERS else kind
        if not kind:
            raise ValueError(f"unknown kind {found.get('kind')!r}")
        return READERS[kind](found)
    except OSError as fault:
        raise RunError(f"it cannot be read ({fault.strerror})", where=str(path),
                       next="give a run folder, or what `meta`, `sweep`, `contrast` or `rank` wrote") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError,
            InputError) as fault:
        raise RunError(f"this is not a study that a report can show ({type(fault).__name__}: {fault})", where=str(path),
                       next="give what `wholetext meta`, `sweep`, `contrast` or `rank` wrote with --out") from fault


# ---------------------------------------------------------------- meta-evaluation


def meta(found: Mapping[str, Any]) -> Study:
    """Agreement with clusters, its intervals, paragraph curves, correlation between metrics."""
    fields = found.get("fields", [])
    if len({(one["set"], one["langs"]) for one in fields}) < len(fields):  # several golds
        named = {key: [{**one, "where": f"{one['where']} {one['gold']}"} for one in found.get(key, [])]
                 for key in ("tasks", "curves")}
        found = {**found, **named}
    facts = [(f"{one['set']} {one['langs']}", f"{one['gold']}: {one['judged']:,} judged segments, "
              f"{count(len(one['systems']), 'system')}, {count(one['documents'], 'document')}") for one in fields]
    panels: list[Panel] = [_agreement(found), *_intervals(found["tasks"]), *_paragraphs(found.get("curves", []))]
    panels += [
        Grid(f"Correlation between metrics, {one['where']}, level {one['level']}", tuple(one["metrics"]),
             tuple(one["metrics"]), tuple(map(tuple, one["pearson"])), centred=True,
             note="Pearson's r of metric scores.")
        for one in found.get("between_metrics", [])
    ]
    return Study("meta", "Meta-evaluation", tuple(panels), tuple(facts), tuple(found.get("notes", ())))


def _agreement(found: Mapping[str, Any]) -> Table:
    tasks, average = found["tasks"], found.get("average")
    columns = [{row["name"]: (row["value"], row["rank"]) for row in task["metrics"]} for task in tasks]
    places = {task["where"] for task in tasks}
    titles = [task["task"] if len(places) == 1 else f"{task['task']} {task['where']}".strip() for task in tasks]
    order = {row["name"]: None for task in tasks for row in task["metrics"]}
    if average:
        columns.insert(0, {row["name"]: (row["value"], row["rank"]) for row in average["metrics"]})
        titles.insert(0, "average")
        order = {**{row["name"]: None for row in average["metrics"]}, **order}
    empty = (None, None)
    rows = tuple((name, tuple(column.get(name, empty)[0] for column in columns)) for name in order)
    ranks = tuple(tuple(column.get(name, empty)[1] for column in columns) for name in order)
    alpha = found.get("alpha", 0.05)
    said = f"{places.pop()}. " if len(places) == 1 else ""
    return Table("Agreement with human judgment", tuple(titles), rows, ranks=ranks,
                 note=f"{said}#n is the significance cluster at p ≤ {alpha}; best cluster in bold.")


def _intervals(tasks: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """One chart per statistic: metrics with their intervals, in groups by task."""
    panels: list[Panel] = []
    for statistic in dict.fromkeys(task["statistic"] for task in tasks):
        mine = [task for task in tasks if task["statistic"] == statistic]
        bars = []
        for task in mine:
            group = f"{task['level']} {task['where']}".strip()
            for row in task["metrics"]:
                low, high = row.get("interval") or (None, None)
                bars.append(Bar(group, row["name"], row["value"], low, high, row.get("pairs")))
        levels = {row.get("chance") for task in mine for row in task["metrics"]}
        chance = levels.pop() if len(levels) == 1 else None
        panels.append(Bars(f"Agreement by {statistic}", tuple(bars), statistic, chance,
                           "In brackets the number of pairs." + ("" if chance is None else " Dashed: chance.")))
    return panels


def _paragraphs(points: Sequence[Mapping[str, Any]]) -> list[Panel]:
    panels: list[Panel] = []
    for where in dict.fromkeys(point["where"] for point in points):
        mine = [point for point in points if point["where"] == where]
        lengths = tuple(sorted({point["k"] for point in mine}))
        for measure, name in CURVES.items():
            modes = ("direct",) if measure == "direct_average" else ("direct", "average")
            lines = []
            for hue, metric in enumerate(dict.fromkeys(point["metric"] for point in mine)):
                for mode in modes:
                    by_length = {p["k"]: p[measure] for p in mine if p["metric"] == metric and p["mode"] == mode}
                    values = tuple(by_length.get(length) for length in lengths)
                    title = metric if mode == "direct" else f"{metric}, averaged"
                    lines.append(Line(title, values, control=mode != "direct", hue=hue))
            note = "" if len(modes) == 1 else "Dashed: the mean of the sentences' scores."
            panels.append(Curves(f"By paragraph length, {where}: {name}", lengths, tuple(lines),
                                 ("segments in a paragraph", name), note))
    return panels


# ---------------------------------------------------------------- sweeps


def sweep(found: Mapping[str, Any]) -> Study:
    """Windows by strides as heat-maps, or curves over context sizes with their controls."""
    cells = found["cells"]
    langs, windows = "-".join(found["langs"]), "size" in found["axes"]
    facts = (("corpus", found["corpus"] if found["corpus"] == langs else f"{found['corpus']} {langs}"),
             ("systems", ", ".join(found["systems"])),
             ("direction", "higher is better" if found["higher_is_better"] else "lower is better"))
    panels = _windows(found, cells) if windows else _contexts(found, cells)
    title = f"{'Windows' if windows else 'Context'}: {found['metric']}"
    return Study("sweep", title, tuple(panels), facts, tuple(found.get("warnings", ())))


def _windows(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sizes, steps = (sorted({cell[axis] for cell in cells}) for axis in ("size", "step"))
    by_place = {(cell["size"], cell["step"]): cell for cell in cells}

    def grid(title: str, value: Callable[[Mapping[str, Any]], Number], note: str = "") -> Grid:
        rows = [[by_place.get((size, step)) for step in steps] for size in sizes]
        return Grid(
            title, tuple(map(str, sizes)), tuple(map(str, steps)),
            tuple(tuple(None if cell is None else value(cell) for cell in row) for row in rows), ("window", "stride"),
            tuple(tuple("" if cell is None else _losses(cell) for cell in row) for row in rows), note=note,
        )

    panels: list[Panel] = [grid(f"{found['metric']} by window and stride", _mean, "The mean over systems.")]
    for loss, name in LOSSES.items():
        if any(cell.get(loss) for cell in cells):
            panels.append(grid(f"Share of {name}, in %", lambda cell, loss=loss: _percent(cell.get(loss))))  # type: ignore[misc]
    return [*panels, _by_system(found, cells)]


def _contexts(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sizes = tuple(sorted({cell["prev"] for cell in cells}))
    start = [cell for cell in cells if cell["prev"] == 0]
    settings = dict.fromkeys((cell["hyp"], cell["source"]) for cell in cells if cell["prev"])

    def line(hyp: str, source: str, value: Callable[[Mapping[str, Any]], Number], name: str) -> Line:
        mine = {c["prev"]: c for c in [*start, *(c for c in cells if (c["hyp"], c["source"]) == (hyp, source))]}
        values = tuple(value(mine[size]) if size in mine else None for size in sizes)
        return Line(name, values, control=source != "same")

    words = {"same": "", "shuffled": ", shuffled", "other": ", another document's"}
    lines = [line(*one, _mean, f"{'reference' if one[0] == 'ref' else one[0]} context{words.get(one[1], one[1])}")
             for one in settings]
    axes = ("segments of context", str(found["metric"]))
    panels: list[Panel] = [Curves(f"{found['metric']} by size of context", sizes, tuple(lines), axes,
                                  "The mean over systems. Dashed: controls, whose context is uninformative.")]
    real = [one for one in settings if one[1] == "same"][:1]
    for setting in real:
        by_system = tuple(line(*setting, lambda c, s=system: c["scores"].get(s), system)  # type: ignore[misc]
                          for system in found["systems"][:8])
        panels.append(Curves(f"Systems, {lines[list(settings).index(setting)].name}", sizes, by_system, axes))
    return [*panels, _by_system(found, cells)]


def _by_system(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    columns = (*found["systems"], "dropped %", "context cut %", "text cut %")
    rows = tuple(
        (" ".join(f"{axis}={cell[axis]}" for axis in found["axes"]),
         (*(cell["scores"].get(system) for system in found["systems"]), *(_percent(cell.get(loss)) for loss in LOSSES)))
        for cell in cells
    )
    return Table("All cells", columns, rows, of="setting")


def _mean(cell: Mapping[str, Any]) -> Number:
    known = [value for value in cell["scores"].values() if value is not None]
    return fmean(known) if known else None


def _losses(cell: Mapping[str, Any]) -> str:
    return ", ".join(f"{100 * cell[loss]:.1f} % {name}" for loss, name in LOSSES.items() if cell.get(loss))


def _percent(share: Number) -> Number:
    return None if share is None else 100 * share


# ---------------------------------------------------------------- contrastive sets


def contrast(found: Mapping[str, Any]) -> Study:
    """Accuracy of each metric over all items, by type, by distance …, and McNemar's test of each pair."""
    metrics = found["metrics"]
    kinds = dict.fromkeys(kind for one in metrics for kind in one["groups"])
    panels: list[Panel] = [_accuracies("Accuracy", [("", one["metric"], one["all"]) for one in metrics])]
    whole = {one["metric"]: one["all"]["total"] for one in metrics}
    for kind in kinds:
        if all([row["total"] for row in one["groups"].get(kind, [])] == [whole[one["metric"]]] for one in metrics):
            continue  # a single group repeats the total
        rows = [(str(row["group"]), one["metric"], row) for one in metrics for row in one["groups"].get(kind, [])]
        order = list(dict.fromkeys(group for group, _, _ in rows))
        panels.append(_accuracies(f"By {kind}", sorted(rows, key=lambda row: order.index(row[0]))))
    if found["mcnemar"]:
        panels.append(Table(
            "McNemar's test", ("right alone", "the other right alone", "p"),
            tuple((f"{test['first']} against {test['second']}", (test["only_first"], test["only_second"], test["p"]))
                  for test in found["mcnemar"]), of="pair"))
    items = found["items"] if isinstance(found["items"], int) else len(found["items"])
    facts = (("set", str(found["set"])), ("languages", "-".join(found["langs"])), ("items", f"{items:,}"))
    notes = tuple(map(str, found.get("notes", ())))
    return Study("contrast", f"Contrast: {Path(str(found['set'])).stem}", tuple(panels), facts, notes)


def _accuracies(title: str, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Bars:
    bars = tuple(
        Bar(group, metric, _percent(row["accuracy"]), _percent(row["low"]), _percent(row["high"]), row["total"])
        for group, metric, row in rows
    )
    tied = sum(int(row.get("ties", 0)) for _, _, row in rows)
    return Bars(title, bars, "accuracy, %", note=f"Ties count as errors; there are {tied:,}." if tied else "")


READERS: Mapping[str, Callable[[Mapping[str, Any]], Study]] = {
    "meta": meta, "sweep": sweep, "contrast": contrast, "rank": ranking, "judge-check": judge_check, "stress": stress,
}
