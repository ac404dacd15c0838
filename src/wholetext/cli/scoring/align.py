"""`wholetext align`: align outputs with other sentence boundaries to the source, into one JSONL file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli import terminal
from wholetext.errors import InputError

if TYPE_CHECKING:
    from wholetext.alignment.realign import Realigned

Out = Annotated[Path, typer.Option("--out", "-o", help="Output JSONL file (input for `wholetext score`).")]
To = Annotated[
    str, typer.Option("--to", help="Align to: auto (a reference if available), source, or a reference by NAME.")
]
Split = Annotated[
    Literal["rules", "pysbd", "blingfire", "none"], typer.Option("--split", help="Sentence splitter for the outputs.")
]
Every = Annotated[bool, typer.Option("--all", help="Also realign documents whose number of segments already matches.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing output file.")]
SHOWN = 10  # notes on single documents of a system
KINDS = ("1–1", "1–n", "n–m", "1–0", "0–1")


def align(
    out: Out,
    input: inputs.Input = None,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    langs: inputs.Langs = None,
    test_set: inputs.TestSet = None,
    reader: inputs.Reader = None,
    system: inputs.Systems = None,
    to: To = "auto",
    split: Split = "rules",
    every: Every = False,
    overwrite: Overwrite = False,
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
) -> None:
    """Align outputs with other sentence boundaries to the source segments; report omissions and additions."""
    from dataclasses import replace

    from wholetext.alignment.realign import AlignOptions, realign
    from wholetext.io.formats import jsonl

    refuse_existing(out, [input, sources, docs, *(translations or ()), *(references or ())], overwrite)
    loaded = inputs.load(input, (sources, translations, references, docs), inputs.Chosen(langs, system, None, reader),
                         test_set)
    choices = AlignOptions(to, split, every)
    pairs = [realign(loaded.corpus, output, choices) for output in loaded.outputs]
    jsonl.write(out, replace(loaded, outputs=tuple(output for output, _ in pairs)))
    inputs.warn([*loaded.warnings, *(note for output, done in pairs for note in notes(output.system, done))])
    rows = [summary(output.system, done) for output, done in pairs]
    if json_ or format == "json":
        import json

        by_words = {output.system: {one.doc: one.note for one in done if one.note} for output, done in pairs}
        print(json.dumps({"out": str(out), "systems": rows, "by_words": by_words}, ensure_ascii=False, indent=1))
        return
    _table(rows)
    print(f"\nwritten: {out}   next: wholetext score {out} -m …")


def refuse_existing(out: Path, given: list[str | None], overwrite: bool) -> None:
    """Raise if the output file exists and may not be replaced; an input file never may."""
    if not out.is_file():
        return
    files = [path for one in given if one for path in (Path(one), Path(one.partition("=")[2] or one))]
    if any(os.path.exists(path) and path.samefile(out) for path in files):  # noqa: PTH110 - names may be too long
        raise InputError("this is one of the input files", where=str(out), next="choose another --out")
    if not overwrite:
        raise InputError("this file exists already", where=str(out),
                         next="choose another --out, or replace it with --overwrite")


def notes(system: str, done: tuple[Realigned, ...]) -> list[str]:
    """A sentence for each document whose sentence breaks were of no use; the rest counted after ten."""
    noted = [f"{system}, document {one.doc}: {one.note}" for one in done if one.note]
    more = len(noted) - SHOWN
    return noted[:SHOWN] + ([f"{system}: {more} more documents were lined up by words"] if more > 0 else [])


def summary(system: str, done: tuple[Realigned, ...]) -> dict[str, object]:
    """What was done to one system's output."""
    kinds = {kind: sum(one.kinds()[kind] for one in done) for kind in KINDS}
    count = max(1, len(done))
    return {"system": system, "documents": len(done), **kinds, "omitted": sum(one.omitted for one in done) / count,
            "added": sum(one.added for one in done) / count}


def _table(rows: list[dict[str, object]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("system", "documents", *KINDS, "omitted", "added"):
        table.add_column(name, justify="left" if name == "system" else "right")
    for row in rows:
        cells = [f"{value:.1%}" if isinstance(value, float) else str(value) for value in row.values()]
        table.add_row(*(Text(terminal.printable(cell)) for cell in cells))
    terminal.console().print(table)
    print("documents that were lined up; beads of segments–sentences (1–0 left out, 0–1 added); "
          "mean share of characters left out and added")
