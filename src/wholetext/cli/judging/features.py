"""`wholetext features`: in how many documents a discourse feature is higher or lower than in the reference."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wholetext.cli import options as inputs
from wholetext.cli import terminal

if TYPE_CHECKING:
    from wholetext.meta.features import Discriminativeness

Which = Annotated[
    list[str] | None,
    typer.Option("-m", "--metric", help="Discourse feature of one text: freq, conn, rc, lc (repeatable)."),
]
Format = Annotated[Literal["table", "json", "tsv"], typer.Option("-f", "--format", help="Output format.")]


def features(
    input: inputs.Input = None,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    metric: Which = None,
    langs: inputs.Langs = None,
    test_set: inputs.TestSet = None,
    reader: inputs.Reader = None,
    system: inputs.Systems = None,
    ref: inputs.RefNames = None,
    format: Format = "table",
    json_: inputs.Json = False,
) -> None:
    """Compare discourse features of outputs and references for each document."""
    from wholetext.meta.features import FEATURES, discriminativeness

    chosen = inputs.Chosen(langs, system, ref, reader)
    loaded = inputs.load(input, (sources, translations, references, docs), chosen, test_set)
    inputs.warn(loaded.warnings)
    found = discriminativeness(loaded.corpus, loaded.outputs, metric or FEATURES)
    if json_ or format == "json":
        print(json.dumps([_plain(one) for one in found], ensure_ascii=False, indent=1))
    elif format == "tsv":
        names = [field.name for field in dataclasses.fields(found[0])]
        print("\n".join(map(terminal.tsv_row, [names, *([getattr(one, n) for n in names] for one in found)])))
    else:
        _table(found)


def _plain(one: Discriminativeness) -> dict[str, object]:
    """As JSON has it: undefined is null."""
    return {key: None if value != value else value for key, value in dataclasses.asdict(one).items()}


def _table(found: list[Discriminativeness]) -> None:
    from rich.table import Table
    from rich.text import Text

    wide = terminal.console()
    console = wide if wide.is_terminal else terminal.console(width=120)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("feature", "system"):
        table.add_column(name, no_wrap=True)
    for name in ("output", "reference", "ref lower", "equal", "ref higher", "pairs", "identical"):
        table.add_column(name, justify="right")
    for one in found:
        shares = (f"{100 * share:.1f} %" for share in (one.below, one.equal, one.above))
        names = Text(one.feature), Text(terminal.printable(one.system))
        table.add_row(*names, f"{one.hyp:.4f}", f"{one.ref:.4f}", *shares, str(one.pairs),
                      str(one.identical))
    console.print(table)
    console.print(Text("\nShares of (document, reference) pairs; pairs of equal texts are left out.", style="dim"))
