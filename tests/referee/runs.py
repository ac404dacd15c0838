"""Run folders of earlier versions that still open, and what is frozen of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import api, commands
from .mask import masked

ORACLE = Path(__file__).parent.parent / "oracle"
FOLDERS = {"0.1.0": ORACLE / "run-0.1.0", "0.2.0": ORACLE / "run-0.2.0"}


def opened(folder: Path, place: Path) -> dict[str, Any]:
    """Scores and leaderboard of a run folder."""
    scores = api.run_scores(folder)
    printed = commands.execute(place, f"compare {folder} -f json", "")
    assert printed.code == 0, printed.err
    return {
        "scores": {spec: {system: {"corpus": score["corpus"], "docs": score["docs"], "hash": score["hash"]}
                          for system, score in by_system.items()} for spec, by_system in scores.items()},
        "leaderboard": masked(json.loads(printed.out)),
    }  # fmt: skip
