"""An entry to be computed, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wholetext.reproduce.bundled import stand_in
from wholetext.reproduce.catalogue import Cell, Entry, locate
from wholetext.scoring.evaluate import Options

Result = tuple[tuple[str, ...], dict[str, tuple[Cell, ...]]]  # columns, cells by row


@dataclass
class Experiment:
    """An entry to be computed, and where its data lies."""

    entry: Entry
    folder: Path | None
    small: bool
    options: Options
    notes: list[str] = field(default_factory=list)

    def path(self, name: str) -> Path:
        """Return where a data set lies; with ``small`` and no data folder, a bundled one."""
        if self.small and self.folder is None:
            self.notes.append("judgments are stand-ins: chrF against the reference, not people")
            return stand_in()
        return locate(name, self.folder)

    def setting(self, name: str, default: Any) -> Any:
        return self.entry.settings.get(name, default)
