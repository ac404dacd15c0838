"""`wholetext align`: outputs with other sentence breaks aligned to the segments of the source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from wholetext.cli import options, terminal
from wholetext.cli.options import option, refuse_existing
from wholetext.cli.terminal import warn


def align(
    files: options.Files = options.Files(),
    *,
    out: Annotated[
        Path, option("-o", "--out", help="Output JSONL `FILE` (input for `wholetext score`).")
    ],
    langs: options.Langs = None,
    test_set: options.TestSet = None,
    reader: options.Reader = None,
    columns: options.Columns = None,
    system: options.Systems = None,
    segments: options.Segments = "auto",
    to: Annotated[
        str,
        option(
            "--align-to",
            rare=True,
            help="Align to: auto (a reference if available), source, or a reference by NAME.",
        ),
    ] = "auto",
    split: Annotated[
        Literal["rules", "none"],
        option("--split", rare=True, help="Sentence splitter for the outputs."),
    ] = "rules",
    similarity: Annotated[
        Literal["auto", "vectors", "words"],
        option(
            "--similarity",
            rare=True,
            help="Align by sentence vectors (auto: if they support both languages) or words.",
        ),
    ] = "auto",
    nulls: options.Nulls = None,
    realign: Annotated[
        bool,
        option("--realign", help="Also align documents whose number of segments already matches."),
    ] = False,
    overwrite: options.Overwrite = False,
    workers: options.Workers = None,
    format: options.TableOrJson = "table",
) -> None:
    """Align outputs that have other sentence breaks than the source; report omissions and additions.

    Examples:
        wholetext align corpus.jsonl -l de-en -o aligned.jsonl
        wholetext align corpus.jsonl -l de-en --system llm --realign -o aligned.jsonl
    """
    from rich.text import Text

    from wholetext.alignment.realign import KINDS, AlignOptions, align as run
    from wholetext.io.formats import jsonl

    refuse_existing(out, files, overwrite)
    chosen = options.Chosen(
        langs=langs,
        test_set=test_set,
        reader=reader,
        columns=columns,
        system=system,
        segments=segments,
    )
    loaded = options.load(files, chosen, resegmented=True)
    with options.Execution(workers=workers).executor as executor:
        done = run(
            loaded.corpus,
            loaded.outputs,
            AlignOptions(to, split, realign, similarity, nulls or "count"),
            executor=executor,
        )
    jsonl.write(out, replace(loaded, outputs=done.outputs))
    warn([*loaded.warnings, *done.notes])
    if format == "json":
        by_words = {
            system: {record.doc: record.note for record in records if record.note}
            for system, records in done.documents.items()
        }
        terminal.print_json(
            {
                "out": str(out),
                "systems": done.summary(),
                "by_words": by_words,
                "notes": [*loaded.warnings, *done.notes],
                "documents": done.details,
            }
        )
        return
    console = terminal.console(80)
    cells = [
        [f"{value:.1%}" if isinstance(value, float) else str(value) for value in row.values()]
        for row in done.summary()
    ]
    heads = ["system", "documents", *KINDS, "moved", "omitted", "added"]
    terminal.print_blocks(heads, cells, 1, console)
    console.print(
        Text(
            "documents that were aligned; beads of segments–sentences (1–0 left out, 0–1 added; moved: out of order); "
            "mean share of characters left out and added",
            style="dim",
        )
    )
    print(f"\nwritten: {out}   next: wholetext score {out} -m …")
