"""Metrics that are part of the package: their folders, and their entries of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wholetext.models.catalogue import ModelEntry

FOLDERS = {"wt-mini": Path(__file__).parent / "wt-mini"}
# by the base model that each reads with
ENTRIES: Mapping[str, ModelEntry] = {
    "minilm": ModelEntry(
        "wt-mini",
        ("wt-mini", "doc-wt-mini", "wt-mini-penalty"),
        "apache-2.0",
        1e-4,
        about="trained here, English; part of wholetext, reads with minilm",
    ),
}
