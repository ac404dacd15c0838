"""Figures of `meta stress` as panels of the report: heat-maps of metrics by changes, doses, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wholetext.errors import count
from wholetext.reporting.panels import Examples, Grid, Marked, Number, Panel, Study, Table

Figures = Sequence[Mapping[str, Any]]
KINDS = {
    "document": "errors of the document",
    "sentence": "errors of a sentence (control)",
    "harmless": "harmless changes (control)",
}
_SEGMENTS = 2  # of an example


def stress(study: Mapping[str, Any]) -> Study:
    """Preferences, false alarms, separation and losses as heat-maps, losses by dose, examples."""
    largest = study["settings"]["doses"][-1]
    figures = [figure for figure in study["figures"] if figure["dose"] == largest]
    errors = [figure for figure in figures if figure["kind"] != "harmless"]
    harmless = [figure for figure in figures if figure["kind"] == "harmless"]
    grids = (
        (
            "How often the original is preferred, in %",
            errors,
            "preferred",
            "A metric that does not detect a change has few; one that is moved at random has 50.",
        ),
        (
            "False alarms on harmless changes, in %",
            harmless,
            "preferred",
            "Documents in which the original is preferred although the change says the same.",
        ),
        (
            "Errors told from harmless changes, in %",
            errors,
            "auc",
            "Share of pairs in which one place of the error costs more than one place of a "
            "harmless change of words or marks (AUC). 50: no difference.",
        ),
        (
            "Loss in standard deviations between systems",
            figures,
            "effect",
            "1 is a typical difference between systems.",
        ),
    )
    panels: list[Panel] = [
        _grid(title, study["metrics"], rows, key, f"Dose {largest}. {note}")
        for title, rows, key, note in grids
        if any(figure[key] is not None for figure in rows)
    ]
    picture = tuple(range(min(3, len(panels))))
    panels += [_doses(study), *_examples(study)]
    facts = (
        ("corpus", f"{study['corpus']} {'-'.join(study['langs'])}"),
        ("documents", str(study["documents"])),
        ("text under test", str(study["text"])),
        ("references", ", ".join(study["references"]) or "none"),
        ("systems", ", ".join(study["systems"])),
        ("tagger", str(study["tagger"] or "none")),
        ("seed", str(study["settings"]["seed"])),
    )
    notes = tuple(map(str, study["notes"]))
    return Study("stress", "Stress test", tuple(panels), facts, notes, picture)


def _grid(title: str, metrics: Sequence[str], figures: Figures, key: str, note: str) -> Grid:
    """Changes by metrics; shares in %, all with the same colours."""
    cells = {(figure["change"], figure["metric"]): figure for figure in figures}
    changes = tuple(dict.fromkeys(figure["change"] for figure in figures))
    centred = key == "effect"
    scale, ends = (1, None) if centred else (100, (0.0, 100.0))
    rows = [[cells[change, metric] for metric in metrics] for change in changes]
    values = [[None if cell[key] is None else scale * cell[key] for cell in row] for row in rows]
    return Grid(
        title,
        changes,
        tuple(metrics),
        tuple(map(tuple, values)),
        ("change", "metric"),
        tuple(tuple(map(_details, row)) for row in rows),
        centred,
        note,
        ends,
    )


def _details(cell: Mapping[str, Any]) -> str:
    """Describe a cell: the interval, the documents, ties."""
    inside = (
        ""
        if cell["low"] is None
        else f"[{100 * cell['low']:.0f}, {100 * cell['high']:.0f}] % preferred, "
    )
    loss = "" if cell["effect"] is None else f"loss {cell['effect']:.2f}, "
    return (
        f"{KINDS[cell['kind']]}; {inside}{loss}{count(cell['documents'], 'document')}, "
        f"{count(cell['ties'], 'tie')}, {cell['undefined']} undefined"
    )


def _doses(study: Mapping[str, Any]) -> Table:
    """Tabulate the loss at each dose."""
    doses = study["settings"]["doses"]
    losses: dict[str, dict[str, Number]] = {}
    for figure in study["figures"]:
        row = losses.setdefault(f"{figure['change']} · {figure['metric']}", {})
        row[figure["dose"]] = figure["effect"]
    return Table(
        "Loss by dose",
        tuple(f"dose {dose}" for dose in doses),
        tuple((name, tuple(row.get(dose) for dose in doses)) for name, row in losses.items()),
        of="change and metric",
        note="In standard deviations between systems.",
    )


def _examples(study: Mapping[str, Any]) -> list[Panel]:
    rows = []
    for example in study["examples"]:
        for part in example["segments"][:_SEGMENTS]:
            edits = [edit for edit in example["edits"] if edit["segment"] == part["segment"]]
            original = _marked(part["original"], [edit["was"] for edit in edits])
            changed = _marked(part["changed"], [edit["now"] for edit in edits])
            place = f"{example['doc']}, {part['segment'] + 1}"
            rows.append((str(example["change"]), place, original, changed))
    if not rows:
        return []
    return [
        Examples(
            "Examples",
            tuple(rows),
            of="change",
            lang=str(study["langs"][1]),
            note=f"Dose {study['examples'][0]['dose']}: what differs is marked.",
        )
    ]


def _marked(text: str, places: Sequence[Sequence[int]]) -> Marked:
    """Cut a text into stretches, marked or not."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in sorted((int(start), int(end)) for start, end in places):
        parts += [(text[at:start], False), (text[start:end], True)]
        at = end
    return tuple((part, mark) for part, mark in (*parts, (text[at:], False)) if part or mark)
