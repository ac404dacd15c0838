"""Writes studies/stress.md: which metric of the box sees which document-level error, under which view.

    WHOLETEXT_DATA=../shared/data python studies/stress.py [--work FOLDER] [--sets …] [--groups …] [--page]

Every set of documents is stressed with one group of metrics at a time; the losses of a finished pair are a file of the
work folder and its rows are in a cache there, so that an interrupted study resumes, and a sample of the documents
(``--every 4``) is no lost work. The page has the groups of metrics that are finished for all sets, each on as many
documents as there are, beside the figures of other metrics that studies/stress.json has from earlier runs, and
names what is missing; ``--page`` only writes it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from stress_page import write_page

from wholetext.files.storage import write_file
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import Options, score
from wholetext.stress.evaluate import stress
from wholetext.stress.perturbation import DOSES, StressOptions
from wholetext.stress.statistics import Loss, spread, stress_cells
from wholetext.types import Corpus, Document, Output

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
FOUND = ROOT / "studies" / "stress.json"
SIZES = range(5, 15)  # segments of a document: longer ones are left out, or cut where they are talks
PART = 10  # segments of a part of a talk
SYSTEMS, SPREAD = 6, 12  # systems whose spread is the unit of effects, and documents of a set that it is taken from
DRAWS = 1_000
MOST = 8  # documents of which one is measured, at most
KEPT = ("metric", "change", "dose", "documents", "preferred", "low", "high", "ties", "undefined", "effect", "auc",
        "auc_low", "auc_high")  # fmt: skip


@dataclass(frozen=True)
class Set:
    """Documents of one language pair with two references: the second is changed, the first it is scored against."""

    folder: str
    langs: str
    domain: str
    test: bool = True  # False: documents for the design of metrics, on no page


SETS = {
    "news de-en": Set("wmt21.news", "de-en", "news"),
    "news ru-en": Set("wmt21.news", "ru-en", "news"),
    "news zh-en": Set("wmt21.news", "zh-en", "news"),
    "talks zh-en": Set("wmt21.tedtalks", "zh-en", "talks"),
    "dev de-en": Set("wmt22.da", "de-en", "dev", test=False),
    "dev cs-en": Set("wmt22.da", "cs-en", "dev", test=False),
    "dev zh-en": Set("wmt22.da", "zh-en", "dev", test=False),
}
EMBEDDED = ("bertscore", "sbert", "wt-mini")
SPECS = {"bertscore": "bertscore(align_scope=sentence)@minilm", "sbert": "sbert@minilm"}  # name here → what is scored


@dataclass(frozen=True)
class Group:
    """Metrics that are measured together."""

    metrics: tuple[str, ...]
    doses: tuple[str, ...] = ("all",)


GROUPS: Mapping[str, Group] = {
    "surface": Group(("bleu", "chrf", "ter", "d-bleu", "d-chrf"), DOSES),
    "wt-mini": Group(("wt-mini",)),
    "sentence": Group(("bertscore", "sbert")),
    "blonde": Group(("blonde", "d-blonde"), DOSES),
    "discourse": Group(("ds-focus@minilm", "ds-sent@minilm", "rc", "lc", "entity-graph", "lexical-chain", "freq",
                        "conn")),
    "context": Group(tuple(f"context(prev=2,hyp=own):{name}" for name in EMBEDDED)),
    "slide": Group(tuple(f"slide(size=6,step=6):{name}" for name in EMBEDDED)),
    "whole": Group(tuple(f"whole:{name}" for name in EMBEDDED)),
}  # fmt: skip


def load(which: Set, every: int = 1) -> tuple[Corpus, list[Output]]:
    """One document of so many of a set, talks in parts, and some of its systems, evenly over their names."""
    loaded = evalset.read(DATA / "evalsets" / which.folder, which.langs)
    corpus = loaded.corpus
    spans = [span for doc in corpus.docs for span in _spans(doc, which.domain)][::every]
    first, second = corpus.references[:2]
    docs = tuple(Document(_name(doc, span), None, {name: doc.refs[name][slice(*span)] for name in (first, second)})
                 for doc, span in spans)
    systems = [one for one in loaded.outputs if one.system not in corpus.references]
    picked = [systems[at] for at in np.linspace(0, len(systems) - 1, min(SYSTEMS, len(systems))).astype(int)]
    outputs = [Output(one.system, {_name(doc, span): one.docs[doc.id][slice(*span)] for doc, span in spans})
               for one in picked]
    return replace(corpus, docs=docs), outputs


def _spans(doc: Document, domain: str) -> Iterator[tuple[Document, tuple[int, int]]]:
    if domain == "talks":
        yield from ((doc, (at, at + PART)) for at in range(0, len(doc) - PART + 1, PART))
    elif len(doc) in SIZES:
        yield doc, (0, len(doc))


def _name(doc: Document, span: tuple[int, int]) -> str:
    return doc.id if span == (0, len(doc)) else f"{doc.id} {span[0] + 1}–{span[1]}"


# ---------------------------------------------------------------- losses of documents


def part_file(name: str, group: str, work: Path, every: int) -> Path:
    return work / f"{name}.{group}{f'.every{every}' if every > 1 else ''}.json"


def finest(group: str, work: Path) -> int:
    """One document of how many is measured for a group in all sets; 0: none."""
    tested = [name for name, one in SETS.items() if one.test]
    return next((every for every in range(1, MOST + 1)
                 if all(part_file(name, group, work, every).exists() for name in tested)), 0)


def measure(name: str, group: str, work: Path, every: int) -> None:
    """The losses of every changed document of a set under a group of metrics, written to the work folder."""
    file, chosen = part_file(name, group, work, every), GROUPS[group]
    if file.exists():
        return
    began = time.process_time()
    corpus, outputs = load(SETS[name], every)
    first, second = corpus.references
    options = Options(cache=work / "cache.sqlite", flags=False)
    specs = [spec_of(metric) for metric in chosen.metrics]
    found = stress(corpus, [], specs, StressOptions(doses=chosen.doses, text=second), options)
    names = dict(zip(found.metrics, chosen.metrics))  # as they are written here
    items = [{"change": one.change, "kind": one.kind, "dose": one.dose, "doc": one.doc, "share": one.made / one.sites,
              "sites": one.sites, "loss": {names[spec]: losses[at].loss for spec, losses in found.losses.items()}}
             for at, one in enumerate(found.perturbed.items)]  # fmt: skip
    told = {"documents": len(corpus), "segments": int(corpus.sizes.sum()), "text": found.text, "refs": found.refs,
            "systems": [one.system for one in outputs], "items": items, "notes": found.notes,
            "spreads": spreads(corpus, outputs, chosen.metrics, replace(options, refs=(first,))),
            "seconds": time.process_time() - began}  # fmt: skip
    write_file(file, json.dumps(plain(told), ensure_ascii=False))
    print(time.strftime("%H:%M:%S"), file.stem, f"{time.process_time() - began:.0f} s", flush=True)


def spec_of(metric: str) -> str:
    """The spec of a metric as it is written here."""
    view, colon, name = metric.rpartition(":")
    return f"{view}{colon}{SPECS.get(name, name)}"


def spreads(corpus: Corpus, outputs: Sequence[Output], metrics: Sequence[str], options: Options) -> dict[str, float]:
    """Standard deviation between systems of their mean scores of the same few documents."""
    docs = tuple(corpus.docs[at] for at in np.linspace(0, len(corpus) - 1, min(SPREAD, len(corpus))).astype(int))
    some = [Output(one.system, {doc.id: one.docs[doc.id] for doc in docs}) for one in outputs]
    results = score(Loaded(replace(corpus, docs=docs), some), [spec_of(metric) for metric in metrics], options=options)
    return {metric: spread(by_system, list(by_system)) for metric, by_system in zip(metrics, results.scores.values())}


# ---------------------------------------------------------------- figures


def figures(work: Path, groups: Mapping[str, int]) -> dict[str, Any]:
    """Cells of metrics × changes × doses by domain and over both, from the losses of all sets."""
    parts = {(name, group): json.loads(part_file(name, group, work, every).read_text("utf-8"))
             for name, one in SETS.items() if one.test for group, every in groups.items()}
    sets = {name: whole(name) for name, one in SETS.items() if one.test}
    cells: list[dict[str, Any]] = []
    for domain in ("all", *dict.fromkeys(one.domain for one in SETS.values() if one.test)):
        chosen = [name for name in sets if domain in ("all", SETS[name].domain)]
        for metric, losses in _pooled(parts, chosen, list(groups)):
            made = [cell for cell in stress_cells(metric, losses, 1.0, DRAWS, 12345)
                    if domain == "all" or cell.dose == "all"]  # fmt: skip
            cells += [{"domain": domain, **{key: vars(cell)[key] for key in KEPT}} for cell in made]
    seconds = {f"{name}, {group}": part["seconds"] for (name, group), part in parts.items()}
    found: dict[str, Any] = plain({"sets": sets, "cells": cells, "seconds": seconds,
                                   "sampled": {metric: every for group, every in groups.items() if every > 1
                                               for metric in GROUPS[group].metrics}})
    return found


def whole(name: str) -> dict[str, Any]:
    """All documents of a set, whether or not they are sampled."""
    corpus, outputs = load(SETS[name])
    return {"documents": len(corpus), "segments": int(corpus.sizes.sum()), "text": f"reference {corpus.references[1]}",
            "refs": list(corpus.references[:1]), "systems": [one.system for one in outputs]}


def _pooled(
    parts: Mapping[tuple[str, str], Any], sets: Sequence[str], groups: Sequence[str]
) -> Iterator[tuple[str, list[Loss]]]:
    """Losses of a metric over several sets, by change, each in units of the spread between the systems of its set."""
    sizes = {f"{name}/{doc}": size for name in sets
             for corpus in [load(SETS[name])[0]] for doc, size in zip(corpus.ids, corpus.sizes.tolist())}
    for group in groups:
        for metric in GROUPS[group].metrics:
            losses = []
            for name in sets:
                unit = parts[name, group]["spreads"][metric] or np.nan
                for item in parts[name, group]["items"]:
                    doc, loss = f"{name}/{item['doc']}", item["loss"][metric]
                    value = np.nan if loss is None else loss / unit
                    cost = value * sizes[doc] / round(item["share"] * item["sites"])
                    losses.append(Loss(item["change"], item["kind"], item["dose"], doc, value, cost))
            yield metric, losses


def together(found: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """New figures, and those of other metrics that an earlier run took on the same documents."""
    if before.get("sets") != found["sets"]:
        return dict(found)
    new = {one["metric"] for one in found["cells"]}
    kept = {key: [*(one for one in before[key] if one["metric"] not in new), *found[key]]
            for key in ("cells",)}  # fmt: skip
    sampled = {metric: every for metric, every in before["sampled"].items() if metric not in new}
    return {**found, **kept, "seconds": {**before["seconds"], **found["seconds"]},
            "sampled": sampled | found["sampled"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "stress", help="folder of finished parts")
    parser.add_argument("--sets", default=",".join(name for name, one in SETS.items() if one.test))
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--every", type=int, default=1, choices=range(1, MOST + 1), metavar="N",
                        help="one document of so many (default: all)")
    parser.add_argument("--page", action="store_true", help="write the page from finished parts")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for group in () if args.page else args.groups.split(","):
        for name in args.sets.split(","):
            measure(name, group, args.work, args.every)
    done = {group: every for group in GROUPS if (every := finest(group, args.work))}
    before = json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}
    found = together(figures(args.work, done), before) if done else before
    measured = {one["metric"] for one in found["cells"]}
    found["missing"] = [metric for one in GROUPS.values() for metric in one.metrics if metric not in measured]
    short = json.loads(json.dumps(found), parse_float=lambda number: round(float(number), 6))
    write_file(FOUND, json.dumps(short, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_page(found)


if __name__ == "__main__":
    main()
