"""An entry to be computed, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wholetext.errors import WholetextError
from wholetext.meta import Meta, MetaTasks, MetricTests, Selection, meta_evaluate
from wholetext.reproduce.bundled import stand_in
from wholetext.reproduce.catalogue import Cell, Entry, locate
from wholetext.scoring.evaluate import Options

Result = tuple[tuple[str, ...], dict[str, tuple[Cell, ...]]]  # columns, cells by row
Place = Mapping[str, Any]  # column or row, data, langs, gold


@dataclass
class Experiment:
    """An entry to be computed, and where its data lies."""

    entry: Entry
    folder: Path | None
    small: bool
    options: Options
    notes: list[str] = field(default_factory=list)
    faults: list[WholetextError] = field(default_factory=list)  # of what is left out

    @property
    def bundled(self) -> bool:
        """Tell whether bundled texts take the place of the data."""
        return self.small and self.folder is None

    def path(self, name: str) -> Path:
        """Return where a data set lies, or the bundled one in its place."""
        if self.bundled:
            self.notes.append("judgments are stand-ins: chrF against the reference, not people")
            return stand_in()
        return locate(name, self.folder)

    def setting(self, name: str, default: Any) -> Any:
        return self.entry.settings.get(name, default)

    @property
    def places(self) -> Sequence[Place]:
        """Descriptions of the sets that are computed: the setting ``where``."""
        return tuple(self.setting("where", ()))

    def sets(self, key: str = "column") -> Iterator[tuple[str, Place, Path]]:
        """Yield name, description and folder of every set that is there."""
        for place in self.places:
            try:
                yield place[key], place, self.path(place["data"])
            except WholetextError as fault:
                self.fail(place[key], fault)

    def fail(self, what: str, fault: WholetextError) -> None:
        """Note why a set or a metric is left out."""
        self.faults.append(fault)
        self.notes.append(f"{what} is left out: {fault.what} ({fault.next})")

    def finish(self, columns: Sequence[str], rows: Mapping[str, Sequence[Cell]]) -> Result:
        """Return the result, or raise the first fault if nothing could be computed."""
        if self.faults and all(cell is None for cells in rows.values() for cell in cells):
            raise self.faults[0]
        return tuple(columns), {row: tuple(cells) for row, cells in rows.items()}

    def langs(self, place: Place) -> tuple[str, ...]:
        """Return the language pair of a set; bundled texts have another, the only one."""
        return () if self.bundled or "langs" not in place else (place["langs"],)

    def gold(self, place: Place) -> str | None:
        """Return the name of the human scores of a set, where it is stated."""
        return None if self.bundled else place.get("gold")

    def meta(
        self,
        place: Place,
        metrics: Iterable[str],
        tasks: MetaTasks,
        *,
        langs: Sequence[str] | None = None,
        draws: int = 0,
        lengths: Sequence[int] = (),
        **selection: Any,
    ) -> Meta:
        """Compute agreement with people on a set; ``selection`` is of systems and documents."""
        gold = self.gold(place)
        meta = meta_evaluate(
            self.path(place["data"]),
            self.langs(place) if langs is None else langs,
            tuple(dict.fromkeys(metrics)),
            tasks,
            selection=Selection((gold,) if gold else (), **selection),
            tests=MetricTests(draws),
            lengths=lengths,
            options=self.options,
        )
        self.notes += meta.notes
        return meta
