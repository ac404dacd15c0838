"""Figures of `stress` as panels of the report: heat-maps of metrics by changes, doses, examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
_SHOWN = 600  # characters of a segment in an example


def stress(found: Mapping[str, Any]) -> Study:
    """How often the original is preferred, what a change costs, both by dose, and what the changes look like."""
    figures, largest = found["figures"], found["settings"]["doses"][-1]
    shown = [one for one in figures if one["dose"] == largest]
    errors = [one for one in shown if one["kind"] != "harmless"]
    harmless = [one for one in shown if one["kind"] == "harmless"]
    panels: list[Panel] = []
    if errors:
        panels.append(
            _grid(
                "How often the original is preferred, in %",
                found["metrics"],
                errors,
                _preferred,
                f"Dose {largest}. A metric that does not see a change has few; one that is moved at "
                "random has 50.",
            )
        )
    if harmless:
        panels.append(
            _grid(
                "False alarms on harmless changes, in %",
                found["metrics"],
                harmless,
                _preferred,
                f"Dose {largest}. Documents in which the original is preferred although the change says "
                "the same.",
            )
        )
    if any(one.get("auc") is not None for one in errors):  # files of earlier versions have none
        panels.append(
            _grid(
                "Errors told from harmless changes, in %",
                found["metrics"],
                errors,
                _auc,
                f"Dose {largest}. Share of pairs in which one place of the error costs more than one place "
                "of a harmless change of words or marks (AUC). 50: no difference.",
            )
        )
    if any(one["effect"] is not None for one in shown):
        panels.append(
            _grid(
                "Loss in standard deviations between systems",
                found["metrics"],
                shown,
                lambda one: one["effect"],
                f"Dose {largest}. 1 is a typical difference between systems.",
                centred=True,
            )
        )
    panels += [_doses(found), *_examples(found)]
    facts = (
        ("corpus", f"{found['corpus']} {'-'.join(found['langs'])}"),
        ("documents", str(found["documents"])),
        ("text under test", str(found["text"])),
        ("references", ", ".join(found["references"]) or "none"),
        ("systems", ", ".join(found["systems"])),
        ("tagger", str(found["tagger"] or "none")),
        ("seed", str(found["settings"]["seed"])),
    )
    return Study("stress", "Stress test", tuple(panels), facts, tuple(map(str, found["notes"])))


def _grid(
    title: str,
    metrics: Sequence[str],
    figures: Figures,
    value: Callable[[Mapping[str, Any]], Number],
    note: str,
    centred: bool = False,
) -> Grid:
    """Changes by metrics."""
    cells = {(one["change"], one["metric"]): one for one in figures}
    changes = tuple(dict.fromkeys(one["change"] for one in figures))
    rows = [[cells.get((change, metric)) for metric in metrics] for change in changes]
    values = tuple(tuple(None if one is None else value(one) for one in row) for row in rows)
    extra = tuple(tuple("" if one is None else _said(one) for one in row) for row in rows)
    ends = None if centred else (0.0, 100.0)  # 100 % has the same colour in every grid
    return Grid(
        title, changes, tuple(metrics), values, ("change", "metric"), extra, centred, note, ends
    )


def _preferred(one: Mapping[str, Any]) -> float:
    return 100 * float(one["preferred"])


def _auc(one: Mapping[str, Any]) -> Number:
    return None if one["auc"] is None else 100 * float(one["auc"])


def _said(one: Mapping[str, Any]) -> str:
    """Text about a cell: the interval, the documents, ties."""
    inside = (
        ""
        if one["low"] is None
        else f"[{100 * one['low']:.0f}, {100 * one['high']:.0f}] % preferred, "
    )
    loss = "" if one["effect"] is None else f"loss {one['effect']:.2f}, "
    ties = f", {one['ties']:,} ties" if one["ties"] else ""
    undefined = f", {one['undefined']:,} undefined" if one["undefined"] else ""
    return f"{KINDS[one['kind']]}; {inside}{loss}{count(one['documents'], 'document')}{ties}{undefined}"


def _doses(found: Mapping[str, Any]) -> Table:
    """The loss at each dose, and its slope."""
    doses = found["settings"]["doses"]
    cells = {(one["change"], one["metric"], one["dose"]): one for one in found["figures"]}
    slopes = {(one["change"], one["metric"]): one for one in found["slopes"]}
    pairs = dict.fromkeys((one["change"], one["metric"]) for one in found["figures"])
    rows = []
    for change, metric in pairs:
        losses = [
            cells[change, metric, dose]["effect"] if (change, metric, dose) in cells else None
            for dose in doses
        ]
        slope = slopes.get((change, metric), {})
        rows.append(
            (
                f"{change} · {metric}",
                (*losses, slope.get("slope"), slope.get("low"), slope.get("high")),
            )
        )
    return Table(
        "Loss by dose",
        (*(f"dose {dose}" for dose in doses), "slope", "low", "high"),
        tuple(rows),
        of="change and metric",
        note="In standard deviations between systems. The slope is from no place "
        "changed to all of them, over documents with several places, with its 95 % interval.",
    )


def _examples(found: Mapping[str, Any]) -> list[Panel]:
    rows = []
    for one in found["examples"]:
        more = len(one["segments"]) - _SEGMENTS
        for number, part in enumerate(one["segments"][:_SEGMENTS], 1):
            edits = [edit for edit in one["edits"] if edit["segment"] == part["segment"]]
            texts = (
                _marked(part["original"], [edit["was"] for edit in edits]),
                _marked(part["changed"], [edit["now"] for edit in edits]),
            )
            rest = (
                f" (and {count(more, 'more segment')})" if more > 0 and number == _SEGMENTS else ""
            )
            rows.append((str(one["change"]), f"{one['doc']}, {part['segment'] + 1}{rest}", *texts))
    if not rows:
        return []
    return [
        Examples(
            "Examples",
            tuple(rows),
            of="change",
            lang=str(found["langs"][1]),
            note=f"Dose {found['examples'][0]['dose']}: what differs is marked.",
        )
    ]


def _marked(text: str, places: Sequence[Sequence[int]]) -> Marked:
    """Stretches of a text, marked or not; long ones are shortened around what is marked."""
    if not isinstance(text, str):
        raise TypeError("the text of an example is not a string")
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in sorted((int(a), int(b)) for a, b in places):
        parts += [(_short(text[at:start]), False), (_short(text[start:end]), True)]
        at = end
    return tuple(
        (part, mark) for part, mark in (*parts, (_short(text[at:]), False)) if part or mark
    )


def _short(text: str) -> str:
    half = _SHOWN // 2
    return text if len(text) <= _SHOWN else f"{text[:half]} … {text[-half:]}"
