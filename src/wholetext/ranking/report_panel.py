"""One ranking from many metrics as a page of the report: ranks with their intervals, and by metric
and domain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wholetext.ranking.aggregate import METHODS
from wholetext.ranking.rank import rank
from wholetext.reporting.panels import Bar, Bars, Grid, Number, Panel, Study, Table
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Significance


def run_ranking(results: Results, how: Significance) -> list[Study]:
    """AutoRank of a run that has several metrics and systems; none of another."""
    everywhere = all(
        len(by_system) == len(results.systems) for by_system in results.scores.values()
    )
    if min(len(results.scores), len(results.systems)) < 2 or not everywhere:
        return []
    return [ranking(rank(results, seed=how.seed, alpha=how.alpha).as_json())]


def ranking(record: Mapping[str, Any]) -> Study:
    """The rank plot, ranks under each metric and in each domain, and all numbers."""
    systems, method = record["systems"], METHODS[record["method"]]
    title = f"Ranking: {method.label}"
    facts = (
        ("metrics", ", ".join(record["metrics"])),
        ("method", method.label),
        ("documents", f"{record['documents']:,}"),
        *((("languages", record["langs"]),) if record["langs"] else ()),
    )
    panels: list[Panel] = [_plot(record), _by_metric(record), _numbers(record)]
    return Study(
        "rank",
        title,
        tuple(panels) if systems else (),
        facts,
        tuple(map(str, record.get("notes", ()))),
    )


def beside(study: Study, results: Results) -> Study:
    """A ranking as shown beside a run: with a warning if it rests on other scores than those of the
    run.
    """
    table = next((panel for panel in study.panels if isinstance(panel, Table)), None)
    if study.kind != "rank" or table is None:
        return study
    names = dict(study.facts)["metrics"].split(", ")
    for system, cells in table.rows:
        for name, value in zip(names, cells[-len(names) :]):
            own = results.scores.get(name, {}).get(system)
            if own is None or (
                isinstance(value, float) and not math.isclose(value, own.score, rel_tol=1e-9)
            ):
                note = (
                    f"this ranking is not of the run in this report: it has another {name} of "
                    f"{system}; "
                    "`wholetext rank RUN --out RUN` makes one of the run"
                )
                return replace(study, warnings=(note, *study.warnings))
    return study


def _places(values: Sequence[Number], higher: bool) -> list[int | None]:
    """1 for the best value; equal values share the better rank."""
    known = [value for value in values if value is not None]
    return [
        None
        if value is None
        else 1 + sum(other > value if higher else other < value for other in known)
        for value in values
    ]


def _plot(record: Mapping[str, Any]) -> Bars:
    systems, method = record["systems"], METHODS[record["method"]]
    places = _places([system["value"] for system in systems], method.higher_is_better)
    bars = []
    for system, place in zip(systems, places):
        low, high = system["places"] or (None, None)
        bars.append(
            Bar(
                f"cluster {system['cluster']}" if system["cluster"] else "",
                system["system"],
                place,
                low,
                high,
            )
        )
    note = f"Dots: rank by {method.label}."
    if record["draws"]:
        note += (
            f" Lines: the middle 95 % of ranks over {record['draws']:,} resamples of documents. A "
            "system that is "
            f"significantly worse (p ≤ {record['alpha']}) than one above it in the cluster opens a "
            "new cluster."
        )
    return Bars("Ranks", tuple(bars), "rank", note=note)


def _by_metric(record: Mapping[str, Any]) -> Grid:
    """Ranks of the systems under each metric alone, and by the method within each domain."""
    systems, higher = record["systems"], METHODS[record["method"]].higher_is_better
    columns = [
        _places(
            [system["scores"][name] for system in systems], name not in record["lower_is_better"]
        )
        for name in record["metrics"]
    ]
    domains = tuple(systems[0]["domains"]) if systems else ()
    columns += [
        _places([system["domains"][name] for system in systems], higher) for name in domains
    ]
    return Grid(
        "Ranks by metric and domain" if domains else "Ranks by metric",
        tuple(system["system"] for system in systems),
        (*record["metrics"], *domains),
        tuple(zip(*columns)),
        ("systems", "metrics, then domains" if domains else "metrics"),
        note="1 is the best. Where the columns of a row differ, metrics or domains disagree about "
        "the system.",
    )


def _numbers(record: Mapping[str, Any]) -> Table:
    method, systems = METHODS[record["method"]], record["systems"]
    domains = tuple(systems[0]["domains"]) if systems else ()
    columns = (method.label, "low", "high", *domains, *record["metrics"])
    rows = tuple(
        (
            system["system"],
            (
                system["value"],
                system["interval"]["low"],
                system["interval"]["high"],
                *(system["domains"][name] for name in domains),
                *(system["scores"][name] for name in record["metrics"]),
            ),
        )
        for system in systems
    )
    ranks = tuple((system["cluster"], *[None] * (len(columns) - 1)) for system in systems)
    better, by = (
        "higher" if method.higher_is_better else "lower",
        f", then {method.label} by domain" * bool(domains),
    )
    return Table(
        "All values",
        columns,
        rows,
        "system",
        ranks,
        f"{method.label} ({better} is better; #n is the rank cluster) and its 95 % interval{by}, "
        "then scores.",
    )
