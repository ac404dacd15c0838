"""Which of two outputs is better: relative rankings and pairwise preferences, and how often a metric prefers the
same.

WMT relative rankings order up to five outputs of a segment (1 = best, equal ranks are ties); each pair of them is a
preference.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import integer, read_json
from wholetext.io.text import FilePath, at, opened
from wholetext.types import FloatArray


@dataclass(frozen=True, slots=True)
class Preference:
    """Two outputs of one item; ``sign`` is 1 where the first is better, -1 where the second is, 0 for a tie."""

    item: str
    first: str
    second: str
    sign: int
    rater: str = ""


def preferences_of_ranking(item: str, ranks: Sequence[tuple[str, int]], rater: str = "") -> Iterator[Preference]:
    """Every pair of a ranking; a lower rank is better."""
    for i, (one, a) in enumerate(ranks):
        for two, b in ranks[i + 1 :]:
            yield Preference(item, one, two, (b > a) - (b < a), rater)


def read_rankings(path: FilePath) -> list[Preference]:
    """WMT's CSV of relative rankings: ``segmentId`` (or ``srcIndex``), ``judgeId``, ``system1Id`` … ``system1rank`` …

    A rank of -1 is an output that was not ranked.
    """
    with opened(path) as file, _csv(file.name):
        rows = csv.DictReader(file.lines())
        names = rows.fieldnames or []
        count = sum(name.startswith("system") and name.endswith("Id") for name in names)
        item = next((name for name in ("segmentId", "srcIndex") if name in names), None)
        if item is None or count < 2:
            raise InputError("not a table of relative rankings", where=file.name,
                             next="its columns are segmentId, judgeId, system1Id, system1rank, system2Id …")
        found: list[Preference] = []
        for number, row in enumerate(rows, 2):
            places = [(row.get(f"system{i}Id"), row.get(f"system{i}rank")) for i in range(1, count + 1)]
            where = at(file.name, number)
            if any(not isinstance(each, str) for place in places for each in place) or row[item] is None:
                raise InputError("a rank or a name is missing", where=where)
            ranks = [(str(system), integer(str(rank), what="a rank", where=where)) for system, rank in places]
            kept = [(system, rank) for system, rank in ranks if rank >= 0]
            found += preferences_of_ranking(row[item], kept, row.get("judgeId") or "")
        return found


@contextmanager
def _csv(name: str) -> Iterator[None]:
    try:
        yield
    except csv.Error as fault:  # a cell of more than 128 KB
        raise InputError(f"this CSV cannot be read ({fault})", where=name) from None


@dataclass(frozen=True)
class PreferenceItem:
    """A pairwise judgment with its texts: what a metric has to choose between."""

    preference: Preference
    langs: tuple[str, str]
    src: str
    ref: str
    texts: tuple[str, str]  # of the first and of the second output


def read_preferences(path: FilePath) -> list[PreferenceItem]:
    """JSONL of paragraph preferences: source, target (the reference), text1, text2, their tags, choice (text1 or
    text2).
    """
    needed = ("source", "target", "text1", "text2", "text1_tag", "text2_tag", "choice")
    found = []
    with opened(path) as file:
        for number, line in enumerate(file.lines(), 1):
            if not line.strip():
                continue
            row = read_json(line, where=at(file.name, number), next=f"a line has {', '.join(needed)}")
            try:
                missing = [name for name in needed if not isinstance(row[name], str)]
            except (KeyError, TypeError, IndexError) as error:
                raise InputError(f"not a preference ({type(error).__name__}: {error})",
                                 where=at(file.name, number), next=f"a line has {', '.join(needed)}") from None
            if missing or row["choice"] not in ("text1", "text2", "tie"):
                raise InputError(f"{missing[0] if missing else 'choice'} is missing or invalid",
                                 where=at(file.name, number), next="choice is text1, text2 or tie")
            sign = {"text1": 1, "text2": -1, "tie": 0}[row["choice"]]
            item, rater = str(row.get("id", number)), str(row.get("eval", ""))
            judged = Preference(item, row["text1_tag"], row["text2_tag"], sign, rater)
            langs = (str(row.get("source_lang", "")), str(row.get("target_lang", "")))
            found.append(PreferenceItem(judged, langs, row["source"], row["target"], (row["text1"], row["text2"])))
    return found


@dataclass(frozen=True)
class PreferenceAgreement:
    """How a metric's choices agree with people's: ties of people are not counted, ties of the metric are errors."""

    right: int
    pairs: int
    metric_ties: int
    human_ties: int
    chance: float = 0.5

    @property
    def accuracy(self) -> float:
        return self.right / self.pairs if self.pairs else float("nan")

    @property
    def tau(self) -> float:
        """The same as (C - D) / (C + D)."""
        return 2 * self.accuracy - 1


def agreement(
    preferences: Sequence[Preference], score: Callable[[Preference], tuple[float, float]]
) -> PreferenceAgreement:
    """Compare people's preferences with ``score``, the metric's scores of the first and the second output."""
    right = pairs = ties = human_ties = 0
    for one in preferences:
        if one.sign == 0:
            human_ties += 1
            continue
        first, second = score(one)
        pairs += 1
        ties += first == second
        right += (first > second) - (first < second) == one.sign
    return PreferenceAgreement(right, pairs, ties, human_ties)


def expected_wins(preferences: Iterable[Preference], systems: Sequence[str] = ()) -> tuple[tuple[str, ...], FloatArray]:
    """System → mean over the other systems of its share of wins against each, ties left out (WMT's expected wins)."""
    table = list(preferences)
    names = tuple(systems) or tuple(sorted({name for one in table for name in (one.first, one.second)}))
    place = {name: i for i, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for one in table:
        for name in (one.first, one.second):
            if name not in place:
                raise InputError(f"there is no system {name!r}", next=did_you_mean(name, list(names)))
        if one.sign:
            winner, loser = (one.first, one.second) if one.sign > 0 else (one.second, one.first)
            wins[place[winner], place[loser]] += 1
    met = wins + wins.T
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(met > 0, wins / met, np.nan)
        return names, np.array([np.nan if np.isnan(row).all() else np.nanmean(row) for row in share])
