"""`wholetext contrast`: accuracy of reference-free metrics on contrastive test sets."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli import terminal
from wholetext.cli.scoring.score import BatchTokens, Device, Dtype, NoCache

if TYPE_CHECKING:
    from wholetext.meta.contrast import ContrastAccuracy, ContrastComparison, Decisions

Set = Annotated[
    str, typer.Argument(metavar="FILE", help="Contrastive set: JSONL, ContraPro, DiscEvalMT, Voita or ctxpro JSON.")
]
Which = Annotated[
    list[str] | None, typer.Option("-m", "--metric", help="Reference-free metric to evaluate (repeatable).")
]
Given = Annotated[list[str] | None, typer.Option("--scores", help="Precomputed scores, NAME=FILE (repeatable).")]
Minimize = Annotated[bool, typer.Option("--minimize", help="Lower is better in --scores files.")]
DocumentsAt = Annotated[
    Path | None, typer.Option("--documents", help="Line-aligned documents with the context (folder or TSV).")
]
ContextSize = Annotated[
    int, typer.Option("--context", min=0, help="Number of context sentences to take from --documents.")
]
ReaderName = Annotated[
    str, typer.Option("--reader", help="Input format: auto, jsonl, contrapro, ctxpro, discevalmt or voita.")
]
SplitBy = Annotated[
    Literal["distance", "flag"],
    typer.Option("--split", help="Define intra-sentential by distance 0 or by the item's flag."),
]
Out = Annotated[Path | None, typer.Option("--out", help="Write contrast.json into this folder.")]


def contrast(
    set: Set,
    metric: Which = None,
    scores: Given = None,
    minimize: Minimize = False,
    documents: DocumentsAt = None,
    context: ContextSize = 3,
    langs: inputs.Langs = None,
    reader: ReaderName = "auto",
    split: SplitBy = "distance",
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
    out: Out = None,
    no_cache: NoCache = False,
    device: Device = "auto",
    dtype: Dtype = "fp32",
    batch_tokens: BatchTokens = 1024,
) -> None:
    """Evaluate metrics on a contrastive set: accuracy by group, confidence intervals, McNemar's test."""
    from wholetext.errors import InputError
    from wholetext.files.output_folder import check
    from wholetext.io.assembly import pair
    from wholetext.meta.contrast import compare, decide, given_scores, read
    from wholetext.meta.contrast.accuracy import CONTRAST, FILE, as_json, write
    from wholetext.meta.contrast.items import Wanted
    from wholetext.scoring.evaluate import Options

    if out is not None:
        check(out, CONTRAST, (FILE,))
    if not metric and not scores:
        raise InputError("nothing to judge", where=set, next="name a metric (-m) or a file of scores (--scores)")
    items = read(set, Wanted(pair(langs) if langs else None, documents, context), reader)
    inputs.warn(items.warnings)
    options = Options(cache=not no_cache, device=device, dtype=dtype, batch_tokens=batch_tokens)
    found = [decide(items, one, options) for one in metric or ()]
    for entry in inputs.named(scores):
        name, path = entry if isinstance(entry, tuple) else ("", entry)
        found.append(given_scores(items, path, higher_is_better=not minimize, name=name))
    for one in found:
        inputs.warn(one.warnings)
    tests = [compare(first, second) for first, second in combinations(found, 2)]
    content = as_json(found, tests, split)
    if out is not None:
        write(out, content)
    if json_ or format == "json":
        print(json.dumps(content, ensure_ascii=False, indent=1))
    else:
        _table(found, tests, split)


def _table(found: list[Decisions], tests: list[ContrastComparison], split: Literal["distance", "flag"]) -> None:
    from rich.table import Table
    from rich.text import Text

    from wholetext.meta.contrast import groups, overall

    wide = terminal.console()
    console = wide if wide.is_terminal else terminal.console(width=max(80, 40 + 36 * len(found)))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("group", no_wrap=True)
    table.add_column("items", justify="right")
    table.add_column("chance", justify="right")
    for one in found:
        table.add_column(Text(one.metric), overflow="fold")
    everything = {"": [[overall(one)] for one in found]}
    by_group = [groups(one, split) for one in found]
    everything |= {kind: [parts[kind] for parts in by_group] for kind in by_group[0]}
    for kind, columns in everything.items():
        for row in zip(*columns):
            label = f"{kind} {row[0].group}".strip()
            chance = f"{100 * row[0].chance:.1f}"
            table.add_row(Text(label), str(row[0].total), chance, *(Text(_cell(cell)) for cell in row))
    console.print(table)
    console.print(Text("\nAccuracy in %, with Wilson's 95 % interval. Ties (=) and undefined scores (?) are errors. "
                       "Chance is what random scores without ties reach.",
                       style="dim"))
    for test in tests:
        console.print(Text(f"McNemar  {test.first} alone right {test.only_first}, {test.second} alone right "
                           f"{test.only_second}, p = {test.p:.4g}"))


def _cell(one: ContrastAccuracy) -> str:
    marks = (f" ={one.ties}" if one.ties else "") + (f" ?{one.undefined}" if one.undefined else "")
    return f"{100 * one.accuracy:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]{marks}"
