"""Reading of studies into report pages: sweeps here, those of slices by the functions they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from wholetext import slices
from wholetext.errors import RunError
from wholetext.files.parsing import read_json, reading
from wholetext.reporting.panels import Curves, Grid, Line, Number, Panel, Study, Table
from wholetext.scoring.results import Results

LOSSES = {
    "dropped": "segments in no window",
    "lost_context": "rows that lost context",
    "lost_focus": "rows that lost scored text",
}


def study_files(folder: Path) -> list[Path]:
    """The studies in a folder, by the names of their files."""
    names = ("grid", *slices.added("studies"))
    return [file for name in names if (file := folder / f"{name}.json").is_file()]


def remedy() -> str:
    """Name everything that a report reads."""
    kinds = {place: kind for kind, place in reversed(slices.added("studies").items())}
    names = ", ".join(
        ["sweep", *sorted(kinds.values())]
    )  # of several names of a function the first
    return f"give what `wholetext score` or a study ({names}) wrote with --out"


def read_study(path: Path) -> Study:
    """Read a study from its JSON; its kind is in the file (``kind``), or the name of the file."""
    with reading(str(path), remedy(), RunError, "this is not a study that a report can show"):
        study = read_json(path.read_bytes(), where=str(path), error=RunError, constants=True)
        place = slices.added("studies").get(study.get("kind", path.stem))
        page: Study = slices.load(place)(study) if place else sweep(study)
        return page


# ---------------------------------------------------------------- controls


def controls(results: Results) -> list[Study]:
    """Show the scores of controls beside those of the best and the worst system."""
    if not results.controls:
        return []
    rows = [
        (control.text, tuple(control.scores.get(spec) for spec in results.scores))
        for control in results.controls
    ]
    ends = []
    for by_system in results.scores.values():
        values = sorted(own.score for own in by_system.values())
        higher = next(iter(by_system.values())).higher_is_better
        ends.append((values[-1], values[0]) if higher else (values[0], values[-1]))
    rows += [("best system", tuple(best for best, _ in ends))]
    rows += [("worst system", tuple(worst for _, worst in ends))]
    note = "Controls are not systems: they are neither ranked nor tested."
    table = Table("Scores of nonsense", tuple(results.scores), tuple(rows), of="text", note=note)
    return [Study("controls", "Controls", (table,))]


# ---------------------------------------------------------------- sweeps


def sweep(study: Mapping[str, Any]) -> Study:
    """Draw windows by strides as heat-maps, or context sizes as curves with their controls."""
    cells = study["cells"]
    langs, windows = "-".join(study["langs"]), "size" in study["axes"]
    facts = (
        ("corpus", study["corpus"] if study["corpus"] == langs else f"{study['corpus']} {langs}"),
        ("systems", ", ".join(study["systems"])),
        ("direction", "higher is better" if study["higher_is_better"] else "lower is better"),
    )
    panels = _windows(study, cells) if windows else _contexts(study, cells)
    title = f"{'Windows' if windows else 'Context'}: {study['metric']}"
    notes = tuple(study.get("warnings", ()))
    return Study("sweep", title, tuple(panels), facts, notes, picture=(0,))


def _windows(study: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sizes, steps = (sorted({cell[axis] for cell in cells}) for axis in ("size", "step"))
    by_place = {(cell["size"], cell["step"]): cell for cell in cells}

    def grid(title: str, value: Callable[[Mapping[str, Any]], Number], note: str = "") -> Grid:
        rows = [[by_place.get((size, step)) for step in steps] for size in sizes]
        return Grid(
            title,
            tuple(map(str, sizes)),
            tuple(map(str, steps)),
            tuple(tuple(None if cell is None else value(cell) for cell in row) for row in rows),
            ("window", "stride"),
            tuple(tuple("" if cell is None else _losses(cell) for cell in row) for row in rows),
            note=note,
        )

    panels: list[Panel] = [
        grid(f"{study['metric']} by window and stride", _mean, "The mean over systems.")
    ]
    for loss, name in LOSSES.items():
        if any(cell.get(loss) for cell in cells):
            panels.append(grid(f"Share of {name}, in %", partial(_percent, loss)))
    return [*panels, _by_system(study, cells)]


def _contexts(study: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sizes = tuple(sorted({cell["prev"] for cell in cells}))
    start = [cell for cell in cells if cell["prev"] == 0]
    settings = dict.fromkeys((cell["hyp"], cell["source"]) for cell in cells if cell["prev"])

    def line(
        hyp: str, source: str, value: Callable[[Mapping[str, Any]], Number], name: str
    ) -> Line:
        own = [c for c in cells if (c["hyp"], c["source"]) == (hyp, source)]
        by_size = {c["prev"]: c for c in [*start, *own]}
        values = tuple(value(by_size[size]) if size in by_size else None for size in sizes)
        return Line(name, values, control=source != "same")

    words = {"same": "", "shuffled": ", shuffled", "other": ", another document's"}
    lines = [
        line(
            *setting,
            _mean,
            f"{'reference' if setting[0] == 'ref' else setting[0]} context{words.get(setting[1], setting[1])}",
        )
        for setting in settings
    ]
    axes = ("segments of context", str(study["metric"]))
    panels: list[Panel] = [
        Curves(
            f"{study['metric']} by size of context",
            sizes,
            tuple(lines),
            axes,
            "The mean over systems. Dashed: controls, whose context is uninformative.",
        )
    ]
    real = [setting for setting in settings if setting[1] == "same"][:1]
    for setting in real:
        by_system = tuple(
            line(*setting, lambda c, s=system: c["scores"].get(s), system)  # type: ignore[misc]
            for system in study["systems"][:8]
        )
        panels.append(
            Curves(f"Systems, {lines[list(settings).index(setting)].name}", sizes, by_system, axes)
        )
    return [*panels, _by_system(study, cells)]


def _by_system(study: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    columns = (*study["systems"], "dropped %", "context cut %", "text cut %")
    rows = tuple(
        (
            " ".join(f"{axis}={cell[axis]}" for axis in study["axes"]),
            (
                *(cell["scores"].get(system) for system in study["systems"]),
                *(_percent(loss, cell) for loss in LOSSES),
            ),
        )
        for cell in cells
    )
    return Table("All cells", columns, rows, of="setting")


def _mean(cell: Mapping[str, Any]) -> Number:
    known = [value for value in cell["scores"].values() if value is not None]
    return fmean(known) if known else None


def _losses(cell: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{100 * cell[loss]:.1f} % {name}" for loss, name in LOSSES.items() if cell.get(loss)
    )


def _percent(loss: str, cell: Mapping[str, Any]) -> Number:
    share = cell.get(loss)
    return None if share is None else 100 * share
