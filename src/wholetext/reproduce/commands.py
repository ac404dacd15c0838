"""`wholetext reproduce`: the tables and figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from wholetext.cli import options, terminal
from wholetext.cli.options import option
from wholetext.cli.terminal import progress_bar, warn
from wholetext.errors import WholetextError

if TYPE_CHECKING:
    from wholetext.reproduce.catalogue import Cell, Entry, Paper
    from wholetext.reproduce.run import Reproduction


def reproduce(
    paper: Annotated[str | None, Parameter(help="Letter of a paper: V, S, D, P or B.")] = None,
    entry: Annotated[str | None, Parameter(help="Table or figure, e.g. table1.")] = None,
    /,
    *,
    data: Annotated[
        Path | None,
        option("--data", help="`FOLDER` of the EvalSets and other data.", env_var="WHOLETEXT_DATA"),
    ] = None,
    small: Annotated[
        bool, option("--small", help="Small models and, without --data, bundled texts.")
    ] = False,
    needs: Annotated[
        bool, option("--needs", help="Instead, say which data and models are missing.")
    ] = False,
    out: Annotated[
        Path | None,
        option("-o", "--out", help="Output `FOLDER` of the results, which `report` reads."),
    ] = None,
    format: options.Format = "table",
    execution: options.Execution = options.Execution(),
    quiet: options.Quiet = False,
) -> None:
    """Compute the tables and figures of the papers again, beside the published numbers.

    Examples:
        wholetext reproduce V
        wholetext reproduce V table1 --needs --data DATA
        wholetext reproduce B table4 --data DATA -o results
        wholetext reproduce S figure2 --small
    """
    from wholetext.reproduce.catalogue import find_paper, papers
    from wholetext.reproduce.run import reproduce as run

    if paper is None:
        for listed in papers().values():
            _list(listed, brief=True)
        print("\nwholetext reproduce V lists the entries of a paper")
        return
    chosen = find_paper(paper)
    if needs:
        for known in [chosen[entry]] if entry else chosen.entries.values():
            _check(known, data)
        return
    if entry is None:
        _list(chosen, brief=False)
        return
    with progress_bar(quiet) as progress:
        result = run(
            paper,
            entry,
            data=data,
            small=small,
            options=execution.options(progress=progress),
            out=out,
        )
    if format == "json":
        terminal.print_json(result.as_json())
    else:
        _print(result)
    warn(result.notes)


def _list(paper: Paper, brief: bool) -> None:
    print(f"{paper.letter}  {paper.authors}: {paper.title}")
    width = max(map(len, paper.entries))
    for name, entry in paper.entries.items() if not brief else ():
        title = entry.title + ("" if entry.kind else " (not computed)")
        terminal.entry(f"  {name:{width}}  ", title)


def _check(entry: Entry, data: Path | None) -> None:
    """Print which data sets, models and files an entry has and which it lacks; fetch nothing."""
    from wholetext.models.hub.locate import cached, is_local
    from wholetext.reproduce.catalogue import locate

    print(f"{entry.paper} {entry.name}: {entry.title}")
    if not entry.kind:
        terminal.entry("  not computed: ", entry.note)
    for name in entry.data:
        try:
            print(f"  data   {name}: {locate(name, data)}")
        except WholetextError as fault:
            terminal.entry(f"  data   {name}: ", f"missing; {fault.next}")
    for model, head in _models(entry).items():
        if is_local(model) or cached(model):
            state = "here"
        elif "/" in model:
            state = f"missing; wholetext models fetch {model}"
        else:
            state = "missing; put it into a folder of this name"
        terminal.entry(f"  model  {model}{head}: ", state)
    for file in _files(entry):
        where = "here" if Path(file).is_file() else "missing; put it into this folder"
        terminal.entry(f"  file   {file}: ", where)


def _models(entry: Entry) -> dict[str, str]:
    """Map the models of an entry to a remark on those that a metric chooses by language."""
    from wholetext.models import catalogue
    from wholetext.registry import scorer

    models = {entry.settings["tokenizer"]: ""} if "tokenizer" in entry.settings else {}
    for metric in (scorer(spec).metric for spec in entry.metrics.values()):
        if model := getattr(metric, "model", None):
            models[model] = ""
        elif model is not None:
            known = [entry.name for entry in catalogue.entries() if metric.name in entry.used_by]
            remark = " (by language)" if len(known) > 1 else ""
            models |= {name: remark for name in known if name not in models}
    return models


def _files(entry: Entry) -> list[str]:
    """List the files of word vectors that the metrics of an entry read."""
    from wholetext.metrics.cohesion.vectors import EMBEDDED
    from wholetext.registry import scorer

    metrics = [scorer(spec).metric for spec in entry.metrics.values()]
    files = [getattr(metric, "vectors", EMBEDDED) for metric in metrics]
    return [file for file in dict.fromkeys(files) if file != EMBEDDED]


def _print(result: Reproduction) -> None:
    """Print each cell as obtained, with the published number below."""
    from rich.table import Table

    entry, digits = result.entry, result.entry.digits
    print(f"{entry.paper} {entry.name}: {entry.title}")
    table = Table("", *result.columns, box=None)

    def cell(ours: Cell, theirs: Cell) -> str:
        first = "–" if ours is None else f"{ours:.{digits}f}"
        return first if theirs is None or result.small else f"{first}\n[{theirs:.{digits}f}]"

    for row, cells in result.obtained.items():
        pairs = zip(cells, result.published(row))
        table.add_row(row, *(cell(ours, theirs) for ours, theirs in pairs))
    terminal.console().print(table, markup=False)
    if result.small:
        print(result.status)
        return
    print("[ ] published")
    print(result.status)
    for note in filter(None, (entry.note, *entry.remarks)):
        terminal.entry("", note)
