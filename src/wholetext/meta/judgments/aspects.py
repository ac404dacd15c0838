"""Ratings by aspect (coherence, fluency, …) of summaries and other text: SummEval, NeR18, and files like them.

JSONL, a line per text: ``id``, ``system``, and either ``scores`` {aspect: mean} or groups of raters such as
``expert`` and ``turker``, each a list of {aspect: score}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import read_json
from wholetext.io.text import FilePath, at, opened
from wholetext.meta.judgments.ratings import Ratings, gather
from wholetext.types import Judgments


@dataclass(frozen=True, eq=False)
class AspectRatings:
    """Per aspect and group of raters: the ratings; every item is a document of one segment."""

    items: tuple[str, ...]
    texts: Mapping[tuple[str, str], str]  # (system, item) → text
    groups: Mapping[str, Mapping[str, Ratings]]  # group of raters → aspect → ratings

    def aspects(self, group: str) -> tuple[str, ...]:
        return tuple(self._group(group))

    def judgments(self, aspect: str, group: str) -> Judgments:
        """(systems, items) means over the raters of a group."""
        found = self._group(group)
        if aspect not in found:
            raise InputError(f"there is no aspect {aspect!r}", next=did_you_mean(aspect, list(found))
                             or f"there are {', '.join(found)}")
        values = found[aspect].judgments()
        return Judgments(f"{group}:{aspect}", "doc", values.systems, values.values, self.items)

    def _group(self, name: str) -> Mapping[str, Ratings]:
        if name not in self.groups:
            raise InputError(f"there are no raters called {name!r}", next=f"there are {', '.join(self.groups)}")
        return self.groups[name]


def read_aspects(path: FilePath) -> AspectRatings:
    """Read such a file; groups of raters are all fields that hold ratings (``scores`` is a group of one)."""
    items: dict[str, None] = {}
    texts: dict[tuple[str, str], str] = {}
    rows: dict[str, dict[str, list[tuple[str, tuple[str, int], str, float]]]] = {}
    with opened(path) as file:
        for number, line in enumerate(file.lines(), 1):
            if not line.strip():
                continue
            where = at(file.name, number)
            entry = _entry(line, where)
            item, system = str(entry["id"]), str(entry["system"])
            if (system, item) in texts:
                raise InputError(f"system {system!r} has two texts of item {item!r}", where=where)
            items[item] = None
            texts[system, item] = str(entry.get("summary") or entry.get("text") or "")
            for group, raters in _groups(entry).items():
                for i, scores in enumerate(raters):
                    for aspect, score in scores.items():
                        row = (system, (item, 0), f"{group}{i + 1}", _score(score, aspect, where))
                        rows.setdefault(group, {}).setdefault(aspect, []).append(row)
    segments = [(item, 0) for item in items]
    groups = {group: {aspect: gather(aspect, table, segments) for aspect, table in aspects.items()}
              for group, aspects in rows.items()}
    if not groups:
        raise InputError("there are no ratings in this file", where=file.name,
                         next='a line has "scores": {"coherence": 3.5} or a list of such ratings per group of raters')
    return AspectRatings(tuple(items), texts, groups)


def _entry(line: str, where: str) -> dict[str, Any]:
    entry = read_json(line, where=where)
    if not isinstance(entry, dict) or "id" not in entry or "system" not in entry:
        raise InputError("this line has no id and system", where=where)
    return entry


def _groups(entry: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for name, value in entry.items():
        if name == "scores" and isinstance(value, dict):
            found[name] = [value]
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            found[name] = value
    return found


def _score(value: Any, aspect: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{aspect} is {value!r}, not a number", where=where)
    return float(value)
