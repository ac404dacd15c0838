"""Weights that are part of the package: short name → model folder."""

from __future__ import annotations

from pathlib import Path

FOLDERS = {"wt-mini": Path(__file__).parent / "wt-mini"}
