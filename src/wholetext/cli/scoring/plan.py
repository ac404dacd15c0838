"""`wholetext plan`: a dry run: what would be computed, and the text that each model would read."""

from __future__ import annotations

from typing import Annotated

import typer

from wholetext.cli import options as inputs
from wholetext.cli.terminal import printable as shown


def plan(
    input: inputs.Input = None,
    sources: inputs.Sources = None,
    translations: inputs.Translations = None,
    references: inputs.References = None,
    docs: inputs.Docs = None,
    metric: inputs.Metrics = ["chrf", "bleu"],  # noqa: B006  typer reads the default, nobody changes it
    langs: inputs.Langs = None,
    test_set: inputs.TestSet = None,
    reader: inputs.Reader = None,
    system: inputs.Systems = None,
    ref: inputs.RefNames = None,
    show: Annotated[int, typer.Option("--show", min=0, help="Number of rows to print in full.")] = 2,
    format: inputs.TableOrJson = "table",
    json_: inputs.Json = False,
) -> None:
    """Show what would be scored, without running models: rows, distinct inputs, truncation, example texts."""
    import json

    from wholetext.cli.tables.leaderboard import count
    from wholetext.scoring.plan import make_plan

    chosen = inputs.Chosen(langs, system, ref, reader)
    loaded = inputs.load(input, (sources, translations, references, docs), chosen, test_set)
    inputs.warn(loaded.warnings)
    plans = [make_plan(loaded.corpus, loaded.outputs, text, show=show) for text in metric]
    if json_ or format == "json":
        print(json.dumps([one.as_json() for one in plans], ensure_ascii=False, indent=1))
        return
    for one in plans:
        print(one.spec)
        left_out = f"{one.dropped} of {one.segments} segments are not scored"
        print(f"  {count(one.rows, 'row')} of {count(one.systems, 'system')}, {one.distinct} distinct requests, "
              f"{left_out if one.dropped else 'every segment is scored'}")
        if one.tokens is not None:
            print(f"  {one.tokens} tokens; {one.lost_context} rows would lose context, {one.lost_focus} scored text")
        for row in one.shown:
            print(f"  {shown(row.doc)} {row.start + 1}–{row.stop}, {shown(row.system)}  (« » marks what is scored)")
            for side, text in row.sides:
                print(f"    {side:<6} {shown(text)}")
