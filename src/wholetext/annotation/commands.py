"""`wholetext sample` and `wholetext annotations`: documents for people to judge, and their
judgments.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options, terminal
from wholetext.cli.terminal import number, printable, warn
from wholetext.errors import InputError, count

if TYPE_CHECKING:
    from wholetext.annotation.annotations import PearmutAnnotations
    from wholetext.annotation.sampling import Sample

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite existing files in --out.")]


def sample(
    run: options.RunFolder,
    documents: Annotated[
        int | None, typer.Option("--documents", min=1, help="Number of documents.")
    ] = None,
    share: Annotated[
        float | None, typer.Option("--share", help="Share of the run, e.g. 0.25.")
    ] = None,
    of: Annotated[
        Literal["documents", "segments"], typer.Option("--of", help="Unit of --share.")
    ] = "documents",
    method: Annotated[
        Literal["length", "random", "spread", "overlap", "disagreement"],
        typer.Option(
            "--method",
            help="length, random: random sampling with weights; the others: selection by scores.",
        ),
    ] = "length",
    metric: Annotated[
        list[str] | None, options.metrics_option("Metrics of the run to select by")
    ] = None,
    seed: options.Seed = 12345,
    format: options.SampleFormat = "list",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file (default: standard output).")
    ] = None,
    overwrite: Overwrite = False,
    protocol: Annotated[
        Literal["ESA", "cESA"],
        typer.Option("--protocol", help="Campaign: one system at a time, or side by side."),
    ] = "ESA",
    spans: Annotated[
        str,
        typer.Option(
            "--spans", help="Campaign: metric whose error spans are prefilled, auto or none."
        ),
    ] = "auto",
    users: Annotated[
        int, typer.Option("--users", min=1, help="Campaign: number of annotators.")
    ] = 1,
    name: Annotated[str | None, typer.Option("--name", help="Campaign: id.")] = None,
) -> None:
    """Select documents of a run for human evaluation: as a list, JSON, or a Pearmut campaign with error spans.

    `length` and `random` sample documents with known probabilities; their weights keep estimates unbiased. `spread`,
    `overlap` and `disagreement` select documents where metrics separate systems, separate systems with overlapping
    intervals, or disagree with each other.
    """
    from wholetext.annotation.campaign import make_campaign
    from wholetext.annotation.sampling import sample as choose
    from wholetext.files.storage import write_file
    from wholetext.scoring.evaluate import open_run

    if out is not None and out.exists() and not overwrite:
        raise InputError(
            "this file exists already",
            where=str(out),
            next="choose another --out, or use --overwrite",
        )
    results = open_run(run)
    found = choose(
        results, documents, share=share, of=of, method=method, metrics=metric or (), seed=seed
    )
    notes = list(found.notes)
    if format == "pearmut":
        made = make_campaign(
            results,
            found.weights or found.ids,
            protocol=protocol,
            users=users,
            name=name,
            spans=None if spans == "none" else spans,
        )
        text, notes = json.dumps(made.content, ensure_ascii=False, indent=1), [*notes, *made.notes]
    elif format == "json":
        text = json.dumps(asdict(found), ensure_ascii=False, indent=1)
    else:
        text = "\n".join(map(printable, found.ids))
    warn(notes)
    if out is None:
        print(text)
        return
    write_file(out, f"{text}\n")
    print(f"{_size(found)}: {out}" + (f"   next: pearmut add {out}" if format == "pearmut" else ""))


def _size(found: Sample) -> str:
    return (
        f"{len(found.documents)} of {count(found.total_documents, 'document')}, "
        f"{found.segments} of {count(found.total_segments, 'segment')}"
    )


def annotations_(
    file: Annotated[
        Path, typer.Argument(help="Log of a Pearmut campaign (JSONL), or annotations.json.")
    ],
    run: Annotated[
        Path | None, typer.Option("--run", help="Run folder that the campaign was made from.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output EvalSet (input for `meta`).")
    ] = None,
    overwrite: Overwrite = False,
    langs: options.Langs = None,
    format: options.TableOrJson = "table",
) -> None:
    """Read the annotations of a Pearmut campaign: mean scores of systems, and an EvalSet with them as judgments.

    With --run the EvalSet has the texts of the run, references included; without it those that were annotated (-l).
    """
    from wholetext.annotation.annotations import read_pearmut, write_judgments
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import open_run

    if (
        out is not None
        and out.exists()
        and not overwrite
        and (not out.is_dir() or any(out.iterdir()))
    ):
        raise InputError(
            "this folder is not empty",
            where=str(out),
            next="choose another --out, or use --overwrite",
        )
    found = read_pearmut(file)
    warn(found.notes)
    if out is not None:
        results = open_run(run) if run is not None else None
        loaded = (
            Loaded(results.corpus, results.outputs) if results is not None else found.loaded(langs)
        )
        write_judgments(out, found, loaded)
    if format == "json":
        terminal.print_json(
            {"systems": _systems(found), "notes": found.notes, "out": out and str(out)}
        )
        return
    counts = ("segments", "raters", "major", "minor")
    rows = [
        [
            system,
            "–" if row["score"] is None else number(row["score"], 2),
            *(f"{row[name]:g}" for name in counts),
        ]
        for system, row in sorted(
            _systems(found).items(), key=lambda pair: -(pair[1]["score"] or 0)
        )
    ]
    terminal.print_blocks(["system", "ESA ↑", *counts], rows, 1, terminal.console(80))
    if out is not None:
        print(f"\nwritten: {out}   next: wholetext meta {out} --gold esa -m …")


def _systems(found: PearmutAnnotations) -> dict[str, dict[str, float | None]]:
    """System → its mean score, and how much of it was judged and marked."""
    means, rows = found.system_scores(), dict[str, dict[str, float | None]]()
    for system in dict.fromkeys(one.system for one in found.given):
        own = [one for one in found.given if one.system == system]
        severities = [mark.severity for one in own for mark in one.marks]
        rows[system] = {
            "score": means.get(system),
            "segments": len({one.segment for one in own if one.score is not None}),
            "raters": len({one.rater for one in own}),
            "major": severities.count("major"),
            "minor": severities.count("minor"),
        }
    return rows
