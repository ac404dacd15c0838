"""Measures studies/context.md: does document context help, and is it the context that helps?

    WHOLETEXT_DATA=../shared/data python studies/context.py [--work FOLDER] [--stages …] [--minutes 60] [--page]

A part is one set of documents under one setting of the context, or under all windows of one size. The document scores
of a finished part are added to the file of its set in studies/context_parts, so that any number of runs add up; rows of
an unfinished part are cached in the work folder. ``--minutes`` begins no part after so many; ``--page`` only writes the
page, from the parts that there are.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from context_page import write_page

from wholetext.files.storage import write_file
from wholetext.io import Loaded, read
from wholetext.io.formats.evalset import EvalSet
from wholetext.registry import Scorer, scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.sweep import Axes, Cell
from wholetext.types import Corpus, Output

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PARTS = ROOT / "studies" / "context_parts"
BERTSCORE, SBERT = "bertscore@minilm", "sbert@minilm"


@dataclass(frozen=True)
class Source:
    """An evaluation set: folder, language pair, human score, reference."""

    folder: str
    langs: str
    human: str
    ref: str

    @property
    def name(self) -> str:
        return f"{self.folder} {self.langs}"

    @property
    def file(self) -> Path:
        return PARTS / f"{self.folder}.{self.langs}.json"


MQM = (Source("wmt21.news.mqm", "zh-en", "mqm", "refB"), Source("wmt21.tedtalks", "zh-en", "mqm", "refB"))
DA = tuple(Source("wmt21.news", f"{lang}-en", "wmt-z", "refA") for lang in ("cs", "de", "ha", "is", "ja", "ru"))
CONTEXT, WINDOWS = Axes(context=3), Axes(window=6)


@dataclass(frozen=True)
class Part:
    """What is measured at once: cells of a grid, by their settings."""

    stage: str
    source: Source
    metric: str
    cells: tuple[tuple[dict[str, Any], str], ...]  # settings, spec


def stages() -> dict[str, Iterator[Part]]:
    """Every part of the study, those that matter most first."""
    def contexts(stage: str, metric: str, sources: Sequence[Source], prev: int, froms: Sequence[str]) -> Iterator[Part]:
        for source in sources:
            for settings, spec in _cells(CONTEXT, metric):
                if settings["prev"] == prev and settings["source"] in froms:
                    yield Part(stage, source, metric, ((settings, spec),))

    def windows(stage: str, metric: str) -> Iterator[Part]:
        for size in range(1, (WINDOWS.window or 0) + 1):
            for source in MQM:
                yield Part(stage, source, metric,
                           tuple(cell for cell in _cells(WINDOWS, metric) if cell[0]["size"] == size))

    every = (*MQM, *DA)
    return {
        "none": contexts("none", BERTSCORE, every, 0, ("–",)),
        "two": contexts("two", BERTSCORE, every, 2, ("same", "other")),
        "windows": windows("windows", BERTSCORE),
        "two-shuffled": contexts("two-shuffled", BERTSCORE, every, 2, ("shuffled",)),
        "one": contexts("one", BERTSCORE, every, 1, ("same", "other", "shuffled")),
        "three": contexts("three", BERTSCORE, every, 3, ("same", "other", "shuffled")),
        "sbert-windows": windows("sbert-windows", SBERT),
        "sbert-none": contexts("sbert-none", SBERT, MQM, 0, ("–",)),
        "sbert-two": contexts("sbert-two", SBERT, MQM, 2, ("same", "other", "shuffled")),
    }


def _cells(axes: Axes, metric: str) -> Iterator[tuple[dict[str, Any], str]]:
    one = scorer(metric.replace("bertscore@", "bertscore(align_scope=sentence)@"))
    for settings, view in axes.views():
        yield settings, Scorer(view, one.metric).spec


# ---------------------------------------------------------------- documents


@dataclass(frozen=True)
class Judged:
    """All documents of an evaluation set, the outputs of judged systems, and what people thought of the systems."""

    corpus: Corpus
    outputs: tuple[Output, ...]
    gold: tuple[float, ...]  # official system scores


def load(source: Source) -> Judged:
    folder = str(DATA / "evalsets" / source.folder)
    human = EvalSet.open(folder, source.langs).human(source.human, "sys")
    scores = dict(zip(human.systems, human.values[:, 0].tolist()))
    judged = [name for name, value in scores.items() if np.isfinite(value) and not name.startswith("ref")]
    loaded = read(folder, langs=source.langs, systems=judged, refs=[source.ref])
    outputs = {one.system: one for one in loaded.outputs}
    return Judged(loaded.corpus, tuple(outputs[name] for name in judged), tuple(scores[name] for name in judged))


def known(source: Source) -> dict[str, Any]:
    """What earlier runs measured on a set."""
    found: dict[str, Any] = json.loads(source.file.read_text("utf-8")) if source.file.exists() else {}
    return found


def begin(source: Source, loaded: Judged) -> dict[str, Any]:
    """The head of a set's file; an error if what earlier runs measured is of other documents or systems."""
    head = {"set": source.name, "human": source.human, "reference": source.ref,
            "systems": [one.system for one in loaded.outputs], "gold": [round(one, 6) for one in loaded.gold],
            "documents": list(loaded.corpus.ids), "sizes": loaded.corpus.sizes.tolist()}  # fmt: skip
    before = known(source)
    if before and {key: before[key] for key in head} != head:
        raise SystemExit(f"{source.file} was measured on other documents or systems: move it away")
    return {**head, "cells": before.get("cells", [])}


def measure(part: Part, loaded: Judged, work: Path) -> None:
    """Scores of every document and system in each cell of a part, added to the file of its set."""
    began = time.process_time()
    full = [spec for _, spec in part.cells]
    texts = Loaded(loaded.corpus, loaded.outputs)
    found = score(texts, full, options=Options(cache=work / "cache.sqlite", flags=False))
    seconds = time.process_time() - began
    new = []
    for settings, spec in part.cells:
        cell = Cell(settings, spec, found.scores[spec])
        by_system = [cell.scores[one.system] for one in loaded.outputs]
        rows = np.bincount(by_system[0].rows.doc, minlength=len(loaded.corpus)).tolist()
        scores = [[None if np.isnan(value) else round(float(value), 6) for value in one.at("doc")] for one in by_system]
        losses = {name: round(share, 4) for name, share in cell.losses.items()}
        new.append({"metric": part.metric, **settings, "rows": rows, **losses,
                    "seconds": round(seconds / len(part.cells), 1), "scores": scores})  # fmt: skip
    told = begin(part.source, loaded)
    told["cells"] += new
    write_file(part.source.file, _compact(told))
    print(time.strftime("%H:%M:%S"), part.stage, part.source.name, *part.cells[0][0].values(), f"{seconds:.0f} s",
          flush=True)


def _compact(told: dict[str, Any]) -> str:
    """One line for the head, and one for each cell."""
    short = {"ensure_ascii": False, "separators": (",", ":")}
    head = json.dumps({key: value for key, value in told.items() if key != "cells"}, **short)  # type: ignore[arg-type]
    lines = [json.dumps(cell, **short) for cell in told["cells"]]  # type: ignore[arg-type]
    return head[:-1] + ',"cells":[\n' + ",\n".join(lines) + "\n]}\n"


def is_measured(part: Part) -> bool:
    there = [(cell["metric"], *(cell[key] for key in part.cells[0][0] if key in cell))
             for cell in known(part.source).get("cells", [])]
    return all((part.metric, *settings.values()) in there for settings, _ in part.cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "context", help="folder of the cache")
    parser.add_argument("--sets", default="", help="names of sets, separated by commas (default: all)")
    parser.add_argument("--stages", default="", help=f"of {', '.join(stages())} (default: all)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no part after so many")
    parser.add_argument("--page", action="store_true", help="write the page from finished parts")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    PARTS.mkdir(parents=True, exist_ok=True)
    every = [part for name, parts in stages().items() if name in (args.stages.split(",") if args.stages else stages())
             for part in parts if not args.sets or part.source.name in args.sets.split(",")]
    began, loaded = time.monotonic(), {}
    for part in () if args.page else every:
        if time.monotonic() - began < 60 * args.minutes and not is_measured(part):
            if part.source.name not in loaded:
                loaded[part.source.name] = load(part.source)
            measure(part, loaded[part.source.name], args.work)
    if args.page:
        if not all(source.file.exists() for source in (*MQM, *DA)):
            raise SystemExit("the page needs all sets without context: run with --stages none first")
        asked = [(part.source.name, part.metric, settings) for parts in stages().values() for part in parts
                 for settings, _ in part.cells]
        write_page([known(source) for source in (*MQM, *DA)], asked)


if __name__ == "__main__":
    main()
