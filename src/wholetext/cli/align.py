"""`wholetext align`: align outputs with other sentence boundaries to the source, into one JSONL file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wholetext.cli import options, terminal
from wholetext.errors import InputError


def align(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Output JSONL file (input for `wholetext score`).")],
    files: options.Files,
    langs: options.Langs = None,
    test_set: options.TestSet = None,
    reader: options.Reader = None,
    system: options.Systems = None,
    to: Annotated[
        str, typer.Option("--to", help="Align to: auto (a reference if available), source, or a reference by NAME.")
    ] = "auto",
    split: Annotated[
        Literal["rules", "pysbd", "blingfire", "none"],
        typer.Option("--split", help="Sentence splitter for the outputs."),
    ] = "rules",
    every: Annotated[
        bool, typer.Option("--all", help="Also realign documents whose number of segments already matches.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing output file.")] = False,
    format: options.TableOrJson = "table",
    json_: options.Json = False,
) -> None:
    """Align outputs with other sentence boundaries to the source segments; report omissions and additions."""
    from wholetext.alignment.realign import AlignOptions
    from wholetext.alignment.realign import align as run
    from wholetext.io.formats import jsonl

    refuse_existing(out, files, overwrite)
    loaded = options.load(files, options.Chosen(langs, test_set, reader, system))
    done = run(loaded.corpus, loaded.outputs, AlignOptions(to, split, every))
    jsonl.write(out, replace(loaded, outputs=done.outputs))
    terminal.warn([*loaded.warnings, *done.notes])
    if json_ or format == "json":
        by_words = {system: {one.doc: one.note for one in some if one.note} for system, some in done.documents.items()}
        terminal.print_json({"out": str(out), "systems": done.summary(), "by_words": by_words})
        return
    _table(done.summary())
    print(f"\nwritten: {out}   next: wholetext score {out} -m …")


def refuse_existing(out: Path, files: options.Files, overwrite: bool) -> None:
    """Raise if the output file exists and may not be replaced; an input file never may."""
    if not out.is_file():
        return
    given = [files.input, files.sources, files.docs, *(files.translations or ()), *(files.references or ())]
    paths = [path for one in given if one for path in (Path(one), Path(one.partition("=")[2] or one))]
    if any(os.path.exists(path) and path.samefile(out) for path in paths):  # noqa: PTH110 - names may be too long
        raise InputError("this is one of the input files", where=str(out), next="choose another --out")
    if not overwrite:
        raise InputError("this file exists already", where=str(out),
                         next="choose another --out, or replace it with --overwrite")


def _table(rows: Sequence[dict[str, Any]]) -> None:
    from rich.text import Text

    from wholetext.alignment.realign import KINDS

    table = terminal.plain_table()
    for name in ("system", "documents", *KINDS, "omitted", "added"):
        table.add_column(name, justify="left" if name == "system" else "right")
    for row in rows:
        cells = [f"{value:.1%}" if isinstance(value, float) else str(value) for value in row.values()]
        table.add_row(*(Text(terminal.printable(cell)) for cell in cells))
    terminal.console().print(table)
    print("documents that were lined up; beads of segments–sentences (1–0 left out, 0–1 added); "
          "mean share of characters left out and added")
