"""`wholetext rank`: one ranking from many metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from wholetext.cli import options, terminal
from wholetext.cli.options import option, several
from wholetext.cli.terminal import number
from wholetext.errors import count

if TYPE_CHECKING:
    from wholetext.ranking.procedure import Ranking


def rank(
    source: Annotated[
        list[Path],
        Parameter(
            help="`RUN` folder written by `wholetext score --out`, or published score files or their "
            "folder."
        ),
    ],
    /,
    *,
    metric: Annotated[
        list[str] | None, options.metrics_option("Rank by these metrics only")
    ] = None,
    without: Annotated[
        list[str] | None, several("--without", help="`METRIC` to leave out.")
    ] = None,
    lower: Annotated[
        list[str] | None,
        several("--lower", help="Published `METRIC` where lower is better (known for runs)."),
    ] = None,
    method: Annotated[
        Literal["autorank", "mean-rank", "borda"],
        option("--method", help="How metrics are combined."),
    ] = "autorank",
    langs: options.Langs = None,
    by_domain: options.ByDomain = False,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output `FOLDER` for ranking.json (read by report)."),
    ] = None,
    format: options.TableJsonTsv = "table",
    draws: Annotated[
        int | None,
        option(
            "--draws",
            low=0,
            rare=True,
            help="Bootstrap resamples of documents (default: 1,000 or more; 0: none).",
        ),
    ] = None,
    seed: options.Seed = 12345,
    alpha: options.Alpha = 0.05,
) -> None:
    """Rank systems by several metrics at once: AutoRank (WMT25), mean rank or Borda count.

    Intervals of value and rank come from resampled documents; systems of one cluster are not significantly different.
    Of a published table, -m takes the metrics as its header names them.

    Examples:
        wholetext rank run
        wholetext rank run --method mean-rank -m chrf d-blonde --by-domain
        wholetext rank published-scores --lower MetricX-25 -l en-uk
    """
    from wholetext.ranking.procedure import rank as ranked

    ranking = ranked(
        source,
        metric or (),
        without=without or (),
        lower_is_better=lower or (),
        method=method,
        langs=langs or "",
        draws=draws,
        seed=seed,
        alpha=alpha,
        out=out,
    )
    head, rows = _cells(ranking, by_domain)
    if format == "json":
        terminal.print_json(ranking.as_json())
    elif format == "tsv":
        terminal.warn(ranking.notes)
        columns = ["cluster", "system", ranking.method, "interval", "ranks", *head[5:]]
        terminal.print_tsv(columns, rows)
    else:
        _table(ranking, head, rows)


def _cells(ranking: Ranking, by_domain: bool) -> tuple[list[str], list[list[str]]]:
    """Make header and rows: cluster, system, value, interval, ranks, then domains, then metrics."""
    from wholetext.ranking.procedure import METHODS

    how = METHODS[ranking.method]
    domains = list(ranking.systems[0].domains) if by_domain else []

    rows = []
    for system in ranking.systems:
        bounds = (system.interval.low, system.interval.high) if system.places else ()
        rows.append(
            [
                f"#{system.cluster}" if system.cluster else "–",
                system.system,
                number(system.value, how.decimals),
                "–".join(number(bound, how.decimals) for bound in bounds) or "–",
                "–".join(map(str, system.places or ())) or "–",
                *(number(system.domains[name], how.decimals) for name in domains),
                *(number(system.scores[name], ranking.decimals[name]) for name in ranking.metrics),
            ]
        )
    arrow = "↑" if how.higher_is_better else "↓"
    return [
        "#",
        "system",
        f"{how.label} {arrow}",
        "95 %",
        "ranks",
        *domains,
        *ranking.metrics,
    ], rows


def _table(ranking: Ranking, head: list[str], rows: list[list[str]]) -> None:
    console = terminal.console(80)
    terminal.print_blocks(head, rows, 2, console)
    summary = (
        f"{count(len(rows), 'system')}, {count(ranking.documents, 'document')}"
        f"{', ' * bool(ranking.langs)}{ranking.langs}; "
        f"{count(len(ranking.metrics), 'metric')}: {', '.join(ranking.metrics)}."
    )
    if ranking.draws:
        summary += (
            f" 95 % intervals of value and rank over {ranking.draws:,} resamples of documents; "
            "# is the rank cluster."
        )
    terminal.print_footer(summary, console)
    console.print(terminal.wrapped(ranking.signature, console.width, "| ", "  "), style="dim")
    terminal.warn(ranking.notes, console)
