"""All that the referee calls: the command line, in this process, and a few top-level names of the package."""

from __future__ import annotations

import contextlib
import io
import math
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wholetext as wt
from wholetext.cli.main import main

DEMO = Path(wt.__file__).parent / "demo"
CHECKPOINTS = Path(__file__).parent.parent / "oracle" / "neural" / "models"  # small ones of every architecture


@dataclass(frozen=True)
class Printed:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def command(argv: Sequence[str]) -> Printed:
    """Run ``wholetext ARGV…`` in this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(argv))
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return Printed(code, out.getvalue(), err.getvalue())


def demo_scores(
    pair: str, specs: Sequence[str], documents: int | None = None, systems: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Score the first documents of a demo corpus: spec → system → corpus score, document scores, signature."""
    loaded = wt.read(DEMO / f"{pair}.jsonl", langs=pair)
    docs = loaded.corpus.docs[:documents]
    corpus = wt.Corpus(loaded.corpus.id, loaded.corpus.langs, docs)
    outputs = [wt.Output(output.system, {doc.id: output.docs[doc.id] for doc in docs})
               for output in loaded.outputs if systems is None or output.system in systems]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wt.WholetextWarning)
        results = wt.score(wt.Loaded(corpus, outputs), list(specs), options=wt.Options(flags=False, device="cpu"))
    return {spec: _by_system(results[spec]) for spec in specs}


def run_scores(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the scores of a run folder, in the form of ``demo_scores``."""
    results = wt.open_run(folder)
    return {spec: _by_system(results[spec]) for spec in results}


def _by_system(scores: Any) -> dict[str, Any]:
    return {
        system: {
            "corpus": _number(score.score),
            "docs": [_number(value) for value in score.at("doc")],
            "signature": str(score.signature),
            "hash": score.signature.hash,
        }
        for system, score in scores.items()
    }


def _number(score: float) -> float | None:
    return None if math.isnan(score) else float(score)


def refusal(spec: str) -> str | None:
    """Name the class of the error that a spec ends in, on one document; None where it is scored."""
    try:
        demo_scores("de-en", [spec], 1)
    except wt.WholetextError as error:
        return type(error).__name__
    return None


@contextlib.contextmanager
def working_in(folder: Path, **variables: str) -> Iterator[None]:
    """Work in a folder, so that paths in arguments and output are relative; restore the environment at the end."""
    directory, environment = Path.cwd(), dict(os.environ)
    os.environ.update(variables)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
