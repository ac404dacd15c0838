"""Files that `meta`, `sweep`, `contrast`, `rank`, `judge-check` and `stress` write, read into pages of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from wholetext import slices
from wholetext.errors import InputError, RunError
from wholetext.files.parsing import read_json, reader
from wholetext.reporting.panels import Curves, Grid, Line, Number, Panel, Study, Table

FILES = (
    "meta.json",
    "grid.json",
    "contrast.json",
    "ranking.json",
    "judge-check.json",
    "stress.json",
)  # in folders
LOSSES = {
    "dropped": "segments in no window",
    "lost_context": "rows that lost context",
    "lost_focus": "rows that lost scored text",
}


@reader
def read_study(path: Path) -> Study:
    """A study from its JSON; its kind is in the file (``kind``) or follows from its shape."""
    try:
        found = read_json(path.read_bytes(), constants=True)
        if not isinstance(found, Mapping):
            raise ValueError("not a JSON object")
        kind = "sweep" if "cells" in found else "contrast" if "mcnemar" in found else ""
        kind = found["kind"] if found.get("kind") in kinds() else kind
        if not kind:
            raise ValueError(f"unknown kind {found.get('kind')!r}")
        return page_of(kind)(found)
    except OSError as fault:
        raise RunError(
            f"it cannot be read ({fault.strerror})",
            where=str(path),
            next="give a run folder, or what `meta`, `sweep`, `contrast` or `rank` wrote",
        ) from None
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        OverflowError,
        ZeroDivisionError,
        InputError,
    ) as fault:
        raise RunError(
            f"this is not a study that a report can show ({type(fault).__name__}: {fault})",
            where=str(path),
            next="give what `wholetext meta`, `sweep`, `contrast` or `rank` wrote with --out",
        ) from fault


# ---------------------------------------------------------------- sweeps


def sweep(found: Mapping[str, Any]) -> Study:
    """Windows by strides as heat-maps, or curves over context sizes with their controls."""
    cells = found["cells"]
    langs, windows = "-".join(found["langs"]), "size" in found["axes"]
    facts = (
        ("corpus", found["corpus"] if found["corpus"] == langs else f"{found['corpus']} {langs}"),
        ("systems", ", ".join(found["systems"])),
        ("direction", "higher is better" if found["higher_is_better"] else "lower is better"),
    )
    panels = _windows(found, cells) if windows else _contexts(found, cells)
    title = f"{'Windows' if windows else 'Context'}: {found['metric']}"
    return Study("sweep", title, tuple(panels), facts, tuple(found.get("warnings", ())))


def _windows(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
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
        grid(f"{found['metric']} by window and stride", _mean, "The mean over systems.")
    ]
    for loss, name in LOSSES.items():
        if any(cell.get(loss) for cell in cells):
            shares = partial(_share, loss)
            panels.append(grid(f"Share of {name}, in %", shares))
    return [*panels, _by_system(found, cells)]


def _contexts(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[Panel]:
    sizes = tuple(sorted({cell["prev"] for cell in cells}))
    start = [cell for cell in cells if cell["prev"] == 0]
    settings = dict.fromkeys((cell["hyp"], cell["source"]) for cell in cells if cell["prev"])

    def line(
        hyp: str, source: str, value: Callable[[Mapping[str, Any]], Number], name: str
    ) -> Line:
        mine = {
            c["prev"]: c
            for c in [*start, *(c for c in cells if (c["hyp"], c["source"]) == (hyp, source))]
        }
        values = tuple(value(mine[size]) if size in mine else None for size in sizes)
        return Line(name, values, control=source != "same")

    words = {"same": "", "shuffled": ", shuffled", "other": ", another document's"}
    lines = [
        line(
            *one,
            _mean,
            f"{'reference' if one[0] == 'ref' else one[0]} context{words.get(one[1], one[1])}",
        )
        for one in settings
    ]
    axes = ("segments of context", str(found["metric"]))
    panels: list[Panel] = [
        Curves(
            f"{found['metric']} by size of context",
            sizes,
            tuple(lines),
            axes,
            "The mean over systems. Dashed: controls, whose context is uninformative.",
        )
    ]
    real = [one for one in settings if one[1] == "same"][:1]
    for setting in real:
        by_system = tuple(
            line(*setting, lambda c, s=system: c["scores"].get(s), system)  # type: ignore[misc]
            for system in found["systems"][:8]
        )
        panels.append(
            Curves(f"Systems, {lines[list(settings).index(setting)].name}", sizes, by_system, axes)
        )
    return [*panels, _by_system(found, cells)]


def _by_system(found: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    columns = (*found["systems"], "dropped %", "context cut %", "text cut %")
    rows = tuple(
        (
            " ".join(f"{axis}={cell[axis]}" for axis in found["axes"]),
            (
                *(cell["scores"].get(system) for system in found["systems"]),
                *(_percent(cell.get(loss)) for loss in LOSSES),
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


def _share(loss: str, cell: Mapping[str, Any]) -> Number:
    return _percent(cell.get(loss))


def _percent(share: Number) -> Number:
    return None if share is None else 100 * share


def kinds() -> list[str]:
    """Kinds of studies that a report can show: sweeps, and those of the slices."""
    return ["sweep", *slices.added("studies")]


def page_of(kind: str) -> Callable[[Mapping[str, Any]], Study]:
    """The function that turns the JSON of a study into a page of the report."""
    if kind == "sweep":
        return sweep
    loaded: Callable[[Mapping[str, Any]], Study] = slices.load(slices.added("studies")[kind])
    return loaded
