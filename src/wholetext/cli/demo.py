"""`wholetext demo`: the main job on bundled documents, from texts to table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from wholetext.cli import score as options


def demo(
    pair: Annotated[Literal["de-en", "zh-en"], typer.Option("-l", "--langs", help="Which bundled corpus.")] = "de-en",
    metric: Annotated[list[str] | None, typer.Option("-m", "--metric", help="Other metrics than the demo's.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Where the run folder goes.")] = Path("demo-run"),
) -> None:
    """Score the bundled documents with every kind of metric that is installed here."""
    from wholetext.demo import load
    from wholetext.evaluate import Options
    from wholetext.io import Loaded

    corpus, outputs = load(pair)
    print(f"wholetext score {corpus.id} ({len(corpus)} documents, {len(outputs)} systems)\n")
    shown = options.Presentation(out, "table", None, {}, quiet=False)
    options.run(Loaded(corpus, outputs, ()), metric or ["bleu", "chrf", "d-bleu"], Options(), shown)
    print(f"\nrun folder: {out}/   next: wholetext compare {out} --baseline {outputs[0].system}")
