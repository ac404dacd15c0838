"""A ranking as a page of the report: ranks with their intervals, by metric and by domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wholetext.ranking.procedure import METHODS, rank, ranks
from wholetext.reporting.panels import Bar, Bars, Grid, Number, Study, Table
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Significance


def run_ranking(results: Results, how: Significance) -> list[Study]:
    """Rank a run by AutoRank where several metrics score all of several systems."""
    complete = all(len(scores) == len(results.systems) for scores in results.scores.values())
    if min(len(results.scores), len(results.systems)) < 2 or not complete:
        return []
    return [ranking(rank(results, seed=how.seed, alpha=how.alpha).as_json())]


def ranking(record: Mapping[str, Any]) -> Study:
    """Draw the rank plot, ranks under each metric and in each domain, and all numbers."""
    method, systems, metrics = METHODS[record["method"]], record["systems"], record["metrics"]
    facts = {
        "metrics": ", ".join(metrics),
        "method": method.label,
        "documents": f"{record['documents']:,}",
        **({"languages": record["langs"]} if record["langs"] else {}),
    }
    domains = tuple(systems[0]["domains"]) if systems else ()
    panels = (
        _plot(record),
        _by_metric(record, domains),
        _numbers(record, domains),
    )
    return Study(
        "rank",
        f"Ranking: {method.label}",
        panels if systems else (),
        tuple(facts.items()),
        tuple(map(str, record.get("notes", ()))),
    )


def _places(values: Sequence[Number], higher_is_better: bool) -> list[int | None]:
    """Rank values, 1 for the best; equal values share the better rank."""
    signed = np.array(values, dtype=float) * (1 if higher_is_better else -1)
    return [None if np.isnan(place) else int(place) for place in ranks(signed)]


def _plot(record: Mapping[str, Any]) -> Bars:
    systems, method = record["systems"], METHODS[record["method"]]
    places = _places([system["value"] for system in systems], method.higher_is_better)
    bars = tuple(
        Bar(
            f"cluster {system['cluster']}" if system["cluster"] else "",
            system["system"],
            place,
            *(system["places"] or (None, None)),
        )
        for system, place in zip(systems, places)
    )
    note = f"Dots: rank by {method.label}."
    if record["draws"]:
        note += (
            f" Lines: the middle 95 % of ranks over {record['draws']:,} resamples of documents. A "
            f"system that is significantly worse (p ≤ {record['alpha']}) than one above it in the "
            "cluster opens a new cluster."
        )
    return Bars("Ranks", bars, f"rank by {method.label} (1 is the best)", note=note)


def _by_metric(record: Mapping[str, Any], domains: tuple[str, ...]) -> Grid:
    """Tabulate ranks under each metric alone, and by the method within each domain."""
    systems, higher = record["systems"], METHODS[record["method"]].higher_is_better
    columns = [
        _places(
            [system["scores"][name] for system in systems], name not in record["lower_is_better"]
        )
        for name in record["metrics"]
    ] + [_places([system["domains"][name] for system in systems], higher) for name in domains]
    return Grid(
        "Ranks by metric and domain" if domains else "Ranks by metric",
        tuple(system["system"] for system in systems),
        (*record["metrics"], *domains),
        tuple(zip(*columns)),
        ("systems", "metrics, then domains" if domains else "metrics"),
        note="1 is the best. Where the columns of a row differ, metrics or domains disagree about "
        "the system.",
    )


def _numbers(record: Mapping[str, Any], domains: tuple[str, ...]) -> Table:
    method, systems, metrics = METHODS[record["method"]], record["systems"], record["metrics"]
    columns = (method.label, "low", "high", *domains, *metrics)
    rows = tuple(
        (
            system["system"],
            (
                system["value"],
                *(system["interval"][bound] for bound in ("low", "high")),
                *(system["domains"][name] for name in domains),
                *(system["scores"][name] for name in metrics),
            ),
        )
        for system in systems
    )
    ranks = tuple((system["cluster"], *[None] * (len(columns) - 1)) for system in systems)
    better = "higher" if method.higher_is_better else "lower"
    by_domain = f", then {method.label} by domain" * bool(domains)
    note = (
        f"{method.label} ({better} is better; #n is the rank cluster) and its 95 % interval"
        f"{by_domain}, then scores."
    )
    return Table("All values", columns, rows, "system", ranks, note)
