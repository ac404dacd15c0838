"""Weights that are part of the package: short name → model folder."""

from __future__ import annotations

from pathlib import Path

FOLDERS = {name: Path(__file__).parent / name for name in ("wt-mini", "wt-qe")}
