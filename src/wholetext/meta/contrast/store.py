"""Contrastive results → JSON: one file that reports and other programs read (docs/contrast.md describes it)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wholetext.errors import RunError
from wholetext.files.output_folder import changing, shared_kind
from wholetext.files.storage import write_file
from wholetext.meta.contrast.accuracy import ContrastAccuracy, ContrastComparison, Split, groups, overall
from wholetext.meta.contrast.decisions import Decisions
from wholetext.version import __version__

FORMAT = 1
FILE = "contrast.json"


def as_json(
    found: Sequence[Decisions], tests: Sequence[ContrastComparison], split: Split = "distance"
) -> dict[str, Any]:
    """Plain values: numbers are numbers, undefined ones null."""
    items = found[0].set
    return {
        "kind": "contrast", "format": FORMAT, "wholetext": __version__,
        "set": items.name, "langs": list(items.langs), "items": [item.id for item in items.items],
        "metrics": [
            {
                "metric": one.metric, "all": _row(overall(one)),
                "groups": {kind: [_row(part) for part in parts] for kind, parts in groups(one, split).items()},
                "margins": [_number(margin) for margin in one.margin.tolist()],
            }
            for one in found
        ],
        "mcnemar": [asdict(test) for test in tests],
        "notes": [*items.warnings, *(note for one in found for note in one.warnings)],
    }


def write(folder: Path, content: dict[str, Any]) -> Path:
    """Write ``contrast.json`` into a folder."""
    with changing(folder, CONTRAST) as staged:
        write_file(staged / FILE, json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False), RunError)
    return folder / FILE


def _of_0_1_0(folder: Path) -> dict[str, str]:
    """The file of 0.1.0, which listed none."""
    try:
        return {FILE: ""} if json.loads((folder / FILE).read_bytes())["kind"] == "contrast" else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


CONTRAST = shared_kind("folder of contrastive results", RunError, _of_0_1_0)


def _row(one: ContrastAccuracy) -> dict[str, Any]:
    return {key: _number(value) if isinstance(value, float) else value
            for key, value in {**asdict(one), "accuracy": one.accuracy}.items()}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
