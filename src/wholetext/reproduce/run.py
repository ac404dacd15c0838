"""Compute an entry and compare it with what was published."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, RunError
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.reproduce import blonde, context, discourse, paragraph
from wholetext.reproduce.catalogue import Cell, Entry, find_paper
from wholetext.reproduce.experiment import Experiment
from wholetext.scoring.evaluate import Options

KINDS = {**context.KINDS, **discourse.KINDS, **paragraph.KINDS, **blonde.KINDS}
FILE = "reproduce.json"
FOLDER = SharedFolder("folder of a reproduction", RunError)


@dataclass(frozen=True)
class Reproduction:
    """An entry as computed here."""

    entry: Entry
    columns: tuple[str, ...]
    obtained: Mapping[str, tuple[Cell, ...]]  # by row
    small: bool  # small models or bundled data: not comparable with the paper
    notes: tuple[str, ...] = ()

    def differences(self) -> dict[str, tuple[Cell, ...]]:
        """Obtained minus published, by row; None where either is missing."""
        return {
            row: tuple(
                None if ours is None or theirs is None else ours - theirs
                for ours, theirs in zip(cells, self.published(row))
            )
            for row, cells in self.obtained.items()
        }

    def published(self, row: str) -> tuple[Cell, ...]:
        """Return the published cells of a row, in the order of ``columns``."""
        cells = dict(zip(self.entry.columns, self.entry.published.get(row, ())))
        return tuple(cells.get(column) for column in self.columns)

    @property
    def status(self) -> str:
        """Say how many cells agree with the paper to the printed digit."""
        if self.small:
            return "small: not comparable with the paper"
        limit = 0.5 * 10.0**-self.entry.digits + 1e-9
        differences = [d for row in self.differences().values() for d in row if d is not None]
        equal = sum(abs(difference) <= limit for difference in differences)
        if not differences:
            return (
                "no published number was computed"
                if self.entry.published
                else "no numbers published"
            )
        return f"{equal} of {len(differences)} numbers equal to the printed digit"

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "reproduce",
            "entry": asdict(self.entry),
            "small": self.small,
            "status": self.status,
            "columns": list(self.columns),
            "rows": [
                {
                    "name": row,
                    "obtained": list(cells),
                    "published": list(self.published(row)),
                    "difference": list(self.differences()[row]),
                }
                for row, cells in self.obtained.items()
            ],
            "notes": list(self.notes),
        }


def reproduce(
    paper: str,
    name: str,
    *,
    data: Path | str | None = None,
    small: bool = False,
    options: Options | None = None,
    out: Path | str | None = None,
) -> Reproduction:
    """Compute a table or figure of a paper.

    Args:
        paper: the letter of the paper: V, S, D, P or B.
        name: the entry, e.g. ``table1``.
        data: folder of the data sets.
        small: use small models and, without ``data``, bundled texts.
        options: how to run the metrics.
        out: folder for the results and what is needed to resume.
    """
    entry = find_paper(paper)[name]
    if small:
        entry = replace(entry, **entry.small)
    if not entry.kind:
        raise InputError(
            f"{entry.paper} {entry.name} cannot be computed",
            where=entry.title,
            next=entry.note or "`wholetext help papers` says what was tried",
        )
    folder = Path(data) if data is not None else None
    experiment = Experiment(entry, folder, small, options or Options())
    columns, obtained = KINDS[entry.kind](experiment)
    result = Reproduction(entry, columns, obtained, small, tuple(dict.fromkeys(experiment.notes)))
    if out is not None:
        with changing(Path(out), FOLDER) as staged:
            text = json.dumps(result.as_json(), ensure_ascii=False, indent=1) + "\n"
            write_file(staged / FILE, text, RunError)
    return result
