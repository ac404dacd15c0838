"""Writes the tables of studies/wt-doc.md: how wt-doc and wt-mini agree with people on segments.

    WHOLETEXT_DATA=../shared/data python studies/wt_doc.py [--work FOLDER] [--sets …] [--page]

Scores of a finished set are in the work folder. ``sentence`` of wt-doc is wt-mini's score, so that one run gives both.
What the metrics see is copied from studies/stress.json; ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from paragraphs import replace_part

from wholetext.files.storage import write_file
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, estimate, system_means
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.participants import Selection, read_participants
from wholetext.scoring.evaluate import Options, evaluate
from wholetext.types import FloatArray, Output

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "studies" / "wt-doc.md"
FOUND = PAGE.with_suffix(".json")
STRESS = PAGE.with_name("stress.json")
SEEING = ("wt-doc", "wt-mini", "sbert", "bertscore", "d-blonde", "bleu", "chrf", "d-chrf")
SEEN = ("pronoun", "tense", "name", "swap", "drop")


class Set(NamedTuple):
    """Judged outputs: folder, languages, human scores, documents that are sampled (0: all)."""

    folder: str
    langs: str
    human: str
    sample: int = 0
    test: bool = True
    without: str = ""  # a folder whose documents are left out


SETS = {
    "dev DA de-en": Set("wmt22.da", "de-en", "wmt-z", 60, test=False),
    "dev DA cs-en": Set("wmt22.da", "cs-en", "wmt-z", 60, test=False),
    "dev DA zh-en": Set("wmt21.news", "zh-en", "wmt-z", 36, test=False, without="wmt21.news.mqm"),
    "dev DA ja-en": Set("wmt21.news", "ja-en", "wmt-z", 60, test=False),
    "news MQM zh-en": Set("wmt21.news.mqm", "zh-en", "mqm"),
    "TED MQM zh-en": Set("wmt21.tedtalks", "zh-en", "mqm"),
    "DA zh-en": Set("wmt22.da", "zh-en", "wmt-z", 50),
    "DA uk-en": Set("wmt22.da", "uk-en", "wmt-z", 200),
}


def measure(name: str, work: Path) -> None:
    """Gold, chrF and all outputs of wt-doc by system and segment, in the work folder."""
    file, (folder, langs, human, sample, _, without) = work / f"{name}.npz", SETS[name]
    if file.exists():
        return
    began = time.process_time()
    where = read_participants(EvalSet.open(DATA / "evalsets" / folder, langs), Selection(gold=human, sample=sample))
    loaded, gold = where.evalset.load(), where.gold("seg")
    out = {run.doc for run in EvalSet.open(DATA / "evalsets" / without, langs).documents} if without else set()
    chosen = [run for run in where.runs if run.doc not in out and not np.isnan(gold[:, run.start : run.stop]).all()]
    ids = {doc.id for doc in loaded.corpus.docs} & {run.doc for run in chosen}
    corpus = type(loaded.corpus)(loaded.corpus.id, loaded.corpus.langs,
                                 tuple(doc for doc in loaded.corpus.docs if doc.id in ids))
    texts = [Output(one.system, {doc: one.docs[doc] for doc in corpus.ids}) for one in loaded.outputs
             if one.system in where.systems]
    found = evaluate(corpus, texts, ["wt-doc", "chrf"], Options(refs=where.refs, cache=work / "cache.sqlite",
                                                                flags=False)).scores
    outputs = next(iter(found["wt-doc"].values())).outputs
    table = np.stack([found["wt-doc"][system].table("segment") for system in where.systems])
    chrf = np.stack([found["chrf"][system].at("segment") for system in where.systems])
    kept = np.concatenate([np.arange(run.start, run.stop) for run in where.runs if run.doc in ids])
    np.savez_compressed(file, gold=gold[:, kept], table=table, chrf=chrf, outputs=np.array(outputs),
                        refs=np.array(where.refs))
    print(time.strftime("%H:%M:%S"), name, table.shape, f"{time.process_time() - began:.0f} s", flush=True)


def agreement(name: str, work: Path) -> dict[str, Any]:
    """acc_eq* and Pearson of wt-doc, wt-mini and chrF, and p that wt-doc's is higher or lower by chance."""
    with np.load(work / f"{name}.npz") as kept:
        gold, table, chrf = kept["gold"], kept["table"], kept["chrf"]
    judged = ~np.isnan(gold)
    scored = {"wt-doc": table[..., 0], "wt-mini": table[..., 1], "chrf": chrf}
    scored = {metric: np.where(judged, values, np.nan) for metric, values in scored.items()}
    found: dict[str, Any] = {"systems": len(gold), "judged": int(judged.sum()),
                             "changed": float((table[..., 0] != table[..., 1])[judged].mean())}
    stack = np.stack(list(scored.values()))
    for measure in (Measure("acc_eq", "item"), Measure("pearson", "none")):
        p = compare(gold, stack, measure).p  # (metrics, metrics): that the row's advantage over the column is chance
        found[measure.statistic] = {metric: estimate(gold, values, measure).value for metric, values in scored.items()}
        found[measure.statistic] |= {"p gain": p[0, 1], "p loss": p[1, 0]}
    people = system_means(gold)[:, None]
    for metric, values in scored.items():
        right = estimate(people, system_means(values)[:, None], Measure("accuracy"))
        found.setdefault("systems_right", {})[metric] = (round(right.value * right.pairs), right.pairs)
    found["calibration"] = calibration(gold, scored)
    return found


def calibration(gold: FloatArray, scored: dict[str, FloatArray]) -> dict[str, list[list[float]]]:
    """Mean score and mean judgment in fifths of the judged outputs by score."""
    known, found = ~np.isnan(gold), {}
    for metric, values in scored.items():
        order = np.argsort(values[known], kind="stable")
        fifths = np.array_split(order, 5)
        found[metric] = [[float(values[known][some].mean()), float(gold[known][some].mean())] for some in fifths]
    return found


def seen_table(stress: dict[str, Any]) -> list[str]:
    """Of each change: preferred and effect at the full dose, and how often it costs more than a harmless change."""
    cells = {(one["metric"], one["change"]): one for one in stress["cells"]
             if one["domain"] == one["dose"] == "all"}
    head = [f"{change} ({cells[SEEING[0], change]['documents']})" for change in SEEN]
    lines = ["", f"| metric | {' | '.join(head)} |", "|---|" + "---:|" * len(SEEN)]
    for metric in SEEING:
        row = [f"{100 * cells[metric, change]['preferred']:.0f} %, {cells[metric, change]['effect']:.2f}, "
               f"{100 * cells[metric, change]['auc']:.0f} %" for change in SEEN]
        lines.append(f"| `{metric}` | {' | '.join(row)} |")
    return [*lines, ""]


def agreement_table(told: dict[str, Any]) -> list[str]:
    lines = ["", "| set | judged outputs | changed | metric | acc_eq* | p | Pearson | p | systems in order |",
             "|---|---:|---:|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, one in told.items():
        for metric in ("wt-doc", "wt-mini", "chrf"):
            first = (name, f"{one['judged']:,}", f"{100 * one['changed']:.0f} %") if metric == "wt-doc" else ("",) * 3
            cells = []
            for statistic in ("acc_eq", "pearson"):
                gain, loss = one[statistic]["p gain"], one[statistic]["p loss"]
                p = f"{min(gain, loss):.3f} {'better' if gain < loss else 'worse'}" if metric == "wt-doc" else ""
                cells += [f"{one[statistic][metric]:.4f}", p]
            right, pairs = one["systems_right"][metric]
            lines.append(f"| {' | '.join(first)} | `{metric}` | {' | '.join(cells)} | {right} of {pairs} |")
    return [*lines, ""]


def calibration_table(told: dict[str, Any]) -> list[str]:
    lines = ["", "| set | metric | 1st fifth | 2nd | 3rd | 4th | 5th |", "|---|---|---:|---:|---:|---:|---:|"]
    for name, one in told.items():
        for metric in ("wt-doc", "wt-mini"):
            cells = [f"{score:.1f} ({human:.2f})".replace("-", "−") for score, human in one["calibration"][metric]]
            lines.append(f"| {name if metric == 'wt-doc' else ''} | `{metric}` | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wt-doc", help="folder of finished sets")
    parser.add_argument("--sets", default=",".join(name for name, one in SETS.items() if one.test))
    parser.add_argument("--page", action="store_true", help="write the page from finished sets")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    told = json.loads(FOUND.read_text("utf-8")) if FOUND.exists() else {}
    for name in () if args.page else args.sets.split(","):
        measure(name, args.work)
        told[name] = agreement(name, args.work)
        print(name, {key: told[name][key] for key in ("acc_eq", "pearson", "systems_right")}, flush=True)
    told = {name: told[name] for name in SETS if name in told}
    write_file(FOUND, json.dumps(told, indent=1) + "\n")
    page = replace_part(PAGE.read_text("utf-8"), "seen", seen_table(json.loads(STRESS.read_text("utf-8"))))
    page = replace_part(page, "agreement", agreement_table(told))
    write_file(PAGE, replace_part(page, "calibration", calibration_table(told)))


if __name__ == "__main__":
    main()
