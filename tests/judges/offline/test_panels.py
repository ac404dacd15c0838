"""judge-check.json as panels: curves of length bias, dots with intervals, a table of everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wholetext.reporting import read_study
from wholetext.reporting.panels import Bars, Curves, Table


def measure(check: str, judge: str, name: str, setting: str, value: float | None) -> dict[str, Any]:
    bounds = (None, None) if value is None else (value - 0.1, value + 0.1)
    return {"check": check, "judge": judge, "measure": name, "setting": setting, "value": value, "low": bounds[0],
            "high": bounds[1], "count": 7}  # fmt: skip


def write(folder: Path, measures: list[dict[str, Any]]) -> Path:
    found = {"kind": "judge-check", "corpus": "c", "langs": ["de", "en"], "documents": 2, "systems": ["a", "b"],
             "judges": ["j", "k"], "settings": {"draws": 100}, "measures": measures, "notes": ["said"]}  # fmt: skip
    (folder / "judge-check.json").write_text(json.dumps(found), encoding="utf-8")
    return folder / "judge-check.json"


def test_every_figure_is_drawn(tmp_path: Path) -> None:
    rates = [measure("length", judge, "errors per 1,000 characters", f"window {size}", size / 3)
             for judge in "jk" for size in (1, 4) if (judge, size) != ("k", 4)]  # fmt: skip
    others = [measure("position", "j", "flip rate", "", 0.5), measure("position", "j", "first of two chosen", "", None),
              measure("length", "j", "ratio of error rates", "window 4 to 1", 0.9)]  # fmt: skip
    study = read_study(write(tmp_path, [*others, *rates]))
    assert study.kind == "judge-check" and study.warnings == ("said",)
    flips, first = [panel for panel in study.panels if isinstance(panel, Bars)]
    assert (flips.bars[0].value, flips.bars[0].low, flips.bars[0].high, flips.bars[0].count) == (0.5, 0.4, 0.6, 7)
    assert first.bars[0].value is None
    (curves,) = [panel for panel in study.panels if isinstance(panel, Curves)]
    assert curves.x == (1, 4) and [line.name for line in curves.lines] == ["j", "k"]
    assert curves.lines[0].y == (1 / 3, 4 / 3) and curves.lines[1].y == (1 / 3, None)
    (table,) = [panel for panel in study.panels if isinstance(panel, Table)]
    assert len(table.rows) == 6 and table.rows[0] == ("j", ("flip rate", 0.5, 0.4, 0.6, 7))
