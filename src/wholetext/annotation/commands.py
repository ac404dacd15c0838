"""`wholetext annotate`: documents for people to judge, and their judgments."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from wholetext.cli import options, terminal
from wholetext.cli.options import option
from wholetext.cli.terminal import number, printable, warn
from wholetext.errors import InputError, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wholetext.annotation.annotations import PearmutAnnotations
    from wholetext.annotation.relative_ranking import RankingUnit
    from wholetext.scoring.results import Results


def sample(
    run: options.RunFolder,
    /,
    *,
    number: Annotated[
        int | None, option("-n", "--number", low=1, help="Number of documents.")
    ] = None,
    share: Annotated[float | None, option("--share", help="`SHARE` of the run, e.g. 0.25.")] = None,
    of: Annotated[
        Literal["documents", "segments"], option("--of", help="Unit of --share.")
    ] = "documents",
    by: Annotated[
        Literal["length", "random", "spread"],
        option(
            "--by",
            help="length, random: random sampling with weights; spread: selection by scores.",
        ),
    ] = "length",
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics of the run to select by")
    ] = None,
    seed: options.Seed = 12345,
    format: Annotated[
        Literal["list", "json", "pearmut", "ranking"],
        option(
            "-f",
            "--format",
            help="List of documents, JSON, a campaign for Pearmut, or items to rank systems by.",
        ),
    ] = "list",
    out: Annotated[
        Path | None, option("-o", "--out", help="Output `FILE` (default: standard output).")
    ] = None,
    overwrite: options.Overwrite = False,
    protocol: Annotated[
        Literal["ESA", "cESA"],
        option("--protocol", help="Campaign: one system at a time, or side by side."),
    ] = "ESA",
    spans: Annotated[
        str,
        option(
            "--spans",
            rare=True,
            help="Campaign: `METRIC` whose error spans are prefilled, auto or none.",
        ),
    ] = "auto",
    users: Annotated[int, option("--users", low=1, help="Campaign: number of annotators.")] = 1,
    name: Annotated[str | None, option("--name", rare=True, help="Campaign: its id.")] = None,
    unit: Annotated[
        Literal["documents", "sentences"],
        option(
            "--unit", rare=True, help="Ranking: blocks of documents in order, or sentences alone."
        ),
    ] = "documents",
    hide_source: Annotated[
        bool,
        option("--hide-source", rare=True, help="Ranking: without the source (fluency)."),
    ] = False,
    control_share: Annotated[
        float,
        option(
            "--control-share",
            low=0,
            high=1,
            rare=True,
            help="Ranking: `SHARE` of items with nonsense.",
        ),
    ] = 0.1,
) -> None:
    """Choose documents of a run for people to judge.

    Writes a list, JSON, a Pearmut campaign with error spans, or items to rank. `length` and
    `random` sample documents with known probabilities, whose weights keep estimates unbiased;
    `spread` selects the documents on which metrics separate systems most.

    Examples:
        wholetext annotate sample run -n 20
        wholetext annotate sample run --share .25 -f pearmut -o campaign.json
        wholetext annotate sample run -n 10 -f ranking -o items.jsonl
    """
    from wholetext.annotation.campaign import make_campaign
    from wholetext.annotation.sampling import sample as choose
    from wholetext.files.storage import write_file
    from wholetext.scoring.evaluate import open_run

    if out is not None:
        options.refuse_existing(out, options.Files(), overwrite)
    results = open_run(run)
    chosen = choose(results, number, share=share, of=of, method=by, metrics=metric or (), seed=seed)
    notes = list(chosen.notes)
    if format == "ranking":
        _ranking(results, chosen.ids, out, unit, not hide_source, control_share, seed)
        return
    if format == "pearmut":
        campaign = make_campaign(
            results,
            chosen.weights or chosen.ids,
            protocol=protocol,
            users=users,
            name=name,
            spans=None if spans == "none" else spans,
        )
        text = json.dumps(campaign.content, ensure_ascii=False, indent=1)
        notes += campaign.notes
    elif format == "json":
        text = json.dumps(asdict(chosen), ensure_ascii=False, indent=1)
    else:
        text = "\n".join(map(printable, chosen.ids))
    warn(notes)
    if out is None:
        print(text)
        return
    write_file(out, f"{text}\n")
    size = (
        f"{len(chosen.documents)} of {count(chosen.total_documents, 'document')}, "
        f"{chosen.segments} of {count(chosen.total_segments, 'segment')}"
    )
    print(f"{size}: {out}" + (f"   next: pearmut add {out}" if format == "pearmut" else ""))


def _ranking(
    results: Results,
    documents: Sequence[str],
    out: Path | None,
    unit: RankingUnit,
    source: bool,
    controls: float,
    seed: int | None,
) -> None:
    from wholetext.annotation.relative_ranking import ranking_items, write_items

    if out is None:
        raise InputError("items to rank and their key are two files", next="name one with --out")
    items = ranking_items(
        results, documents, unit=unit, source=source, controls=controls, seed=seed
    )
    shown, key = write_items(out, items)
    marked = sum(bool(item.control) for item in items)
    print(f"{count(len(items), 'item')}, {count(marked, 'control')}: {shown}, key: {key}")


def read(
    file: Annotated[
        Path,
        Parameter(help="Log of a Pearmut campaign (JSONL), annotations.json, or a folder of BWB."),
    ],
    /,
    *,
    key: Annotated[
        Path | None,
        option("--key", help="Key `FILE` of ranked items (`annotate sample -f ranking`)."),
    ] = None,
    run: Annotated[
        Path | None, option("--run", help="Run `FOLDER` that the campaign was made from.")
    ] = None,
    out: Annotated[
        Path | None, option("-o", "--out", help="Output `FOLDER`: an EvalSet (input for `meta`).")
    ] = None,
    overwrite: options.Overwrite = False,
    format: options.TableOrJson = "table",
) -> None:
    """Read the annotations of a campaign: scores of systems, judgments.

    The EvalSet (--out) has the texts of the run (--run), references included. Of BWB, whose annotators marked errors,
    it counts the sentences with each type of error.

    Examples:
        wholetext annotate read annotations.json --run run -o judged
        wholetext annotate read rankings.jsonl --key items.key.jsonl
        wholetext annotate read BWB
    """
    from wholetext.annotation.annotations import read_pearmut, write_judgments
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import open_run

    if file.is_dir() or key is not None:
        _rankings(file, key, format) if key else _error_types(file, format)
        return
    taken = out is not None and out.exists() and (not out.is_dir() or any(out.iterdir()))
    if out is not None and (run is None or (taken and not overwrite)):
        raise InputError(
            "the run of the campaign is not named" if run is None else "this folder is not empty",
            where=str(out),
            next="add --run FOLDER" if run is None else "choose another --out, or use --overwrite",
        )
    annotations = read_pearmut(file)
    warn(annotations.notes)
    if out is not None and run is not None:
        results = open_run(run)
        write_judgments(out, annotations, Loaded(results.corpus, results.outputs))
    if format == "json":
        terminal.print_json(
            {"systems": _systems(annotations), "notes": annotations.notes, "out": out and str(out)}
        )
        return
    counts = ("segments", "raters", "major", "minor")
    rows = [
        [
            system,
            "–" if row["score"] is None else terminal.number(row["score"], 2),
            *(f"{row[name]:g}" for name in counts),
        ]
        for system, row in sorted(
            _systems(annotations).items(), key=lambda pair: -(pair[1]["score"] or 0)
        )
    ]
    terminal.print_blocks(["system", "ESA ↑", *counts], rows, 1, terminal.console(80))
    if out is not None:
        print(f"\nwritten: {out}   next: wholetext meta {out} --gold esa -m …")


def _rankings(answers: Path, key: Path, format: str) -> None:
    """Print how often systems won, how raters did on control items, and how far they agree."""
    from wholetext.annotation.relative_ranking import read_rankings

    rankings = read_rankings(answers, key)
    if format == "json":
        terminal.print_json(rankings.as_json())
        return
    console = terminal.console(80)
    wins = sorted(rankings.wins.items(), key=lambda pair: -pair[1])
    terminal.print_blocks(["system", "won"], [[n, terminal.number(w)] for n, w in wins], 1, console)
    rows = [[rater, f"{right} of {seen}"] for rater, (right, seen) in rankings.controls.items()]
    terminal.print_blocks(["rater", "controls ranked last"], rows, 1, console)
    agreed = [[*pair, terminal.number(k), str(n)] for pair, (k, n) in rankings.kappa.items()]
    terminal.print_blocks(["rater 1", "rater 2", "kappa", "pairs"], agreed, 2, console)


def _error_types(folder: Path, format: str) -> None:
    """Print the sentences of BWB by type of error, and what outputs keep of its layers.

    Jiang et al. 2022, Table 2, and Jiang et al. 2023.
    """
    from wholetext.annotation.bwb_layers import MEASURES, layer_statistics
    from wholetext.io.formats.bwb import error_types, has_errors, has_layers

    layers = layer_statistics(folder) if has_layers(folder) else None
    errors = error_types(folder) if layers is None or has_errors(folder) else None
    if format == "json":
        counted = {"sentences": errors[0], "errors": errors[1]} if errors else {}
        terminal.print_json(counted | ({"layers": asdict(layers)} if layers else {}))
        return
    if errors:
        sentences, counts = errors
        rows = [[kind, str(n), f"{100 * n / sentences:.1f} %"] for kind, n in counts.items()]
        head = ["error type", f"of {count(sentences, 'sentence')}", "share"]
        terminal.print_blocks(head, rows, 1, terminal.console(80))
    if layers:
        marks = [[kind, str(times)] for kind, times in layers.counts.items()]
        head = ["marked in the reference", f"in {count(layers.sentences, 'sentence')}"]
        terminal.print_blocks(head, marks, 1, terminal.console(80))
        kept = [
            [name, *(number(own[part], 3) for part in MEASURES)]
            for name, own in layers.kept.items()
        ]
        terminal.print_blocks(["kept by", *MEASURES], kept, 1, terminal.console(100))
        slips = len(layers.slips)
        warn([f"{count(slips, 'slip')} in the layers, e.g. {layers.slips[0]}"] if slips else [])


def _systems(annotations: PearmutAnnotations) -> dict[str, dict[str, float | None]]:
    """Return by system its mean score, and how much of it was judged and marked."""
    means, rows = annotations.system_scores(), dict[str, dict[str, float | None]]()
    for system in dict.fromkeys(annotation.system for annotation in annotations.given):
        own = [annotation for annotation in annotations.given if annotation.system == system]
        severities = [mark.severity for annotation in own for mark in annotation.marks]
        rows[system] = {
            "score": means.get(system),
            "segments": len(
                {annotation.segment for annotation in own if annotation.score is not None}
            ),
            "raters": len({annotation.rater for annotation in own}),
            "major": severities.count("major"),
            "minor": severities.count("minor"),
        }
    return rows
