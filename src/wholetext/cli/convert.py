"""`wholetext convert`: any corpus that can be read, in any format that can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from wholetext.cli import options
from wholetext.cli.options import option
from wholetext.cli.terminal import warn
from wholetext.errors import count


def convert(
    files: options.Files = options.Files(),
    out: Annotated[
        Path | None,
        option(
            "--out",
            "-o",
            help="`FILE` to write, .jsonl, .json, .csv, .tsv or .xlsx (.gz also), or a folder: an "
            "EvalSet.",
        ),
    ] = None,
    *,
    to: Annotated[
        str | None,
        option(
            "--to",
            help="`FORMAT` to write (default: by the name): jsonl, table, evalset, wmt; of a run "
            "folder, a submission: wmt26.",
        ),
    ] = None,
    items: Annotated[
        str | None, option("--items", rare=True, help="wmt26: `FILE` of the items to predict.")
    ] = None,
    metric: Annotated[
        str | None, option("-m", "--metric", rare=True, help="wmt26: `METRIC` of the run.")
    ] = None,
    range: Annotated[
        str | None,
        option(
            "--range",
            rare=True,
            help="wmt26: `LOW,HIGH` of the metric's scores, mapped to 0 and 100 (default: its own).",
        ),
    ] = None,
    chosen: options.Chosen = options.Chosen(),
    overwrite: Annotated[bool, option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Write a corpus and its outputs in another format.

    What the format cannot hold is an error or a note.

    Examples:
        wholetext convert corpus.csv corpus.jsonl
        wholetext convert -s src.txt -t sys.txt -r ref.txt -d ids.txt -o corpus.jsonl
        wholetext convert wmt21.news corpus.tsv -l de-en
        wholetext convert run submission.jsonl --to wmt26 --items mteval-test26.jsonl
    """
    from wholetext.errors import InputError
    from wholetext.io.conversion import convert as write

    if out is None:
        raise InputError(
            "there is no file or folder to write",
            next="wholetext convert corpus.csv corpus.jsonl, or wholetext convert -s src.txt "
            "-r ref.txt -t sys.txt -o corpus.jsonl",
        )
    if to == "wmt26":
        _submission(files.input, out, items, metric, range, overwrite)
        return
    if items or metric or range:
        raise InputError("--items, -m and --range go with --to wmt26", next="add it, or omit them")
    options.refuse_existing(out, files, overwrite)
    if out.is_dir() and any(out.iterdir()) and not overwrite:
        raise InputError(
            "this folder exists already, and is not empty",
            where=str(out),
            next="choose another one, or write into it with --overwrite",
        )
    loaded = options.load(files, chosen)
    name, notes = write(loaded, out, to)
    if (Path(files.input or "") / "human-scores").is_dir():
        notes.append("not kept: human scores and metric scores of the EvalSet")
    warn([*loaded.warnings, *notes])
    corpus = loaded.corpus
    sizes = count(len(corpus), "document"), count(int(corpus.sizes.sum()), "segment")
    print(f"written: {out} ({name}: {', '.join((*sizes, count(len(loaded.outputs), 'system')))})")


def _submission(
    run: str | None,
    out: Path,
    items: str | None,
    metric: str | None,
    scale: str | None,
    overwrite: bool,
) -> None:
    """Write or complete a submission to WMT26's evaluation task."""
    from wholetext.errors import InputError
    from wholetext.files.parsing import number
    from wholetext.scoring.results import open_run
    from wholetext.scoring.submission import write_submission

    if run is None or items is None:
        raise InputError(
            "a submission needs a run folder and the file of items",
            next="wholetext convert RUN submission.jsonl --to wmt26 --items mteval-test26.jsonl",
        )
    form = "write --range=LOW,HIGH, such as --range=0,1"
    low, _, high = (scale or "").partition(",")
    bounds = (number(low, next=form), number(high, next=form)) if scale else None
    results = open_run(run)
    summary, notes = write_submission(
        results, out, items, metric=metric, range=bounds, overwrite=overwrite
    )
    warn(notes)
    print(f"written: {out} (wmt26: {summary})")
