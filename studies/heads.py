"""Writes the part on heads of studies/learned.md: which head agrees with people on language pairs it has not seen.

    WHOLETEXT_DATA=../shared/data python studies/heads.py [--work FOLDER] [--minutes N] [--only features,heads,page]

Features of the forms `matched` and `aligned` are computed once for examples of `recipes/wt-mini-2.toml` and for outputs
with MQM into German, in chunks that mix all sets; an interrupted study resumes, and the page has what is finished.
Each head is then fitted without one language pair at a time and predicts that pair. No test set is read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mini import both_features, read_set, view_of
from paragraphs import replace_part

from wholetext.files.storage import replacing, write_file
from wholetext.meta.agreement.correlation import pearson_rows
from wholetext.meta.agreement.ties import calibrate
from wholetext.meta.judgments.ratings import mean_table
from wholetext.models.device import Precision, torch_module
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.training.bundled import FOLDERS
from wholetext.training.examples import read_examples
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import WEIGHTS, Config, HeadShape, read_config
from wholetext.training.learned.folder import PREFIX, read_weights
from wholetext.training.learned.forms import head_module, predictions, scaled, standardise
from wholetext.training.learned.matched import PER_LAYER, Matched
from wholetext.training.linear import signed_ridge
from wholetext.training.recipe import read_recipe
from wholetext.types import FloatArray, IntArray, Request

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
FOUND, PAGE, PART = ROOT / "studies/learned.json", ROOT / "studies/learned.md", "heads"
GERMAN = {"news": ("wmt21.news.mqm", "en-de", "mqm"), "TED": ("wmt21.tedtalks", "en-de", "mqm")}
SYSTEMS, CHUNK, SEED = 10, 512, 7  # systems of a document, outputs of a chunk; order of documents
SEEN = 34  # first documents of each set: wt-mini-1 was trained on them
LAYERS = 7


class Row(NamedTuple):
    """A judged output."""

    hyp: str
    ref: str
    score: float
    part: str
    doc: str
    start: int
    system: str


# ---------------------------------------------------------------- features, once


def rated() -> list[Row]:
    """All direct assessment that the recipe may use."""
    every = {"most": 0, "validation_most": 0, "share": 0.0001}
    found, _ = read_examples(read_recipe(ROOT / "recipes" / "wt-mini-2.toml", every), DATA)
    return [Row(pair.hyp[0].text, pair.refs[0].text, float(score), at.part, at.doc, at.start, at.system)
            for pair, score, at in zip(found.pairs, found.gold, found.places)]


def german() -> list[Row]:
    """Outputs with MQM into German: no test set is into German."""
    rows = []
    for name, source in GERMAN.items():
        judged = read_set(source, 150)
        for (i, j), (hyp, _, ref) in zip(np.argwhere(~np.isnan(judged.gold)), judged.texts()):
            rows.append(Row(hyp, ref, float(judged.gold[i, j]), f"{name.lower()} en-de mqm", f"d{j // 10}", int(j),
                            judged.where.systems[i]))  # fmt: skip
    return rows


def chunks(rows: Sequence[Row], mixed: bool) -> list[list[int]]:
    """Whole documents in a random order, some systems of each; ``mixed``: every part at the same pace."""
    names: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        names.setdefault((row.part, row.doc), set()).add(row.system)
    keep = {key: set(random.Random(str(key)).sample(sorted(found), min(len(found), SYSTEMS)))
            for key, found in names.items()}  # fmt: skip
    docs: dict[str, dict[str, list[int]]] = {}
    for i, row in enumerate(rows):
        if not mixed or row.system in keep[row.part, row.doc]:
            doc = f"{row.doc}/{row.start // 40}" if row.part.startswith("mlqe") else row.doc
            docs.setdefault(row.part, {}).setdefault(doc, []).append(i)
    rng, placed = random.Random(SEED), []
    for part, by_doc in docs.items():
        groups = list(by_doc.values())
        rng.shuffle(groups)
        flat = [i for group in groups for i in group]
        if part.startswith("mlqe"):
            groups = [flat[at : at + 100] for at in range(0, len(flat), 100)]
        done = 0
        for group in groups:
            placed.append((done / (len(flat) if mixed else 1), group))
            done += len(group)
    found: list[list[int]] = [[]]
    for _, group in sorted(placed, key=lambda one: one[0]):
        if len(found[-1]) >= CHUNK:
            found.append([])
        found[-1] += group
    return found


def open_form(engine: Engine) -> Matched:
    base = locate("minilm")
    config = Config("matched", base.name, base.revision, head=HeadShape())
    return Matched(Opening(config, base, Precision(engine.device, engine.dtype), engine))


def extract(rows: Sequence[Row], mixed: bool, folder: Path, until: float) -> None:
    """Features of both forms, chrF and BLEU, chunk by chunk."""
    from sacrebleu.metrics import BLEU, CHRF

    engine = Engine(("", "en"))
    form = open_form(engine)
    surface = (CHRF(), BLEU(effective_order=True))
    folder.mkdir(parents=True, exist_ok=True)
    for number, chosen in enumerate(chunks(rows, mixed)):
        path = folder / f"{number:05d}.npz"
        if path.exists() or time.monotonic() > until:
            continue
        some = [rows[i] for i in chosen]
        pairs = [Request((view_of(row.hyp),), None, (view_of(row.ref),)) for row in some]
        plain = [[metric.sentence_score(row.hyp, [row.ref]).score for metric in surface] for row in some]
        with replacing(path) as beside, beside.open("wb") as file:
            np.savez(file, ix=np.array(chosen), x=both_features(form, pairs, engine).astype(np.float32),
                     sf=np.array(plain, dtype=np.float32))  # fmt: skip
        print(time.strftime("%H:%M:%S"), path.parent.name, number, flush=True)


# ---------------------------------------------------------------- examples as arrays


@dataclass(frozen=True, eq=False)
class Table:
    """Judged outputs with their features."""

    rows: list[Row]
    features: FloatArray  # (n, width) of `matched`
    old: FloatArray  # (n, width) of `aligned`
    surface: FloatArray  # (n, 2) chrF, BLEU
    item: IntArray

    @property
    def gold(self) -> FloatArray:
        return np.array([row.score for row in self.rows])

    @property
    def part(self) -> Any:
        return np.array([row.part for row in self.rows])

    @property
    def lp(self) -> Any:
        return np.array([row.part.split(" ")[1] for row in self.rows])

    def take(self, mask: Any) -> Table:
        kept = np.flatnonzero(mask)
        return Table([self.rows[i] for i in kept], self.features[kept], self.old[kept], self.surface[kept],
                     self.item[kept])  # fmt: skip

    def plain(self) -> dict[str, FloatArray]:
        """Scores that need no fitting."""
        precision, recall = self.features[:, LAYERS // 2], self.features[:, LAYERS + LAYERS // 2]
        return {"sbert": self.features[:, PER_LAYER * LAYERS - 1],
                "bertscore": 2 * precision * recall / np.maximum(precision + recall, 1e-9),
                "chrf": self.surface[:, 0], "bleu": self.surface[:, 1], "wt-mini-1": shipped(self.old, True),
                "wt-mini-1, not cut off at 0 and 100": shipped(self.old, False)}


def load(rows: Sequence[Row], folder: Path, width: int) -> Table:
    files = [np.load(path) for path in sorted(folder.glob("*.npz"))]
    at, features, surface = (np.concatenate([file[key] for file in files]) for key in ("ix", "x", "sf"))
    chosen, known = [rows[i] for i in at], {}
    item = np.array([known.setdefault((row.part, row.doc, row.start), len(known)) for row in chosen])
    exact = features.astype(np.float64)
    return Table(chosen, exact[:, :width], exact[:, width:], surface.astype(np.float64), item)


def shipped(features: FloatArray, kept_within: bool) -> FloatArray:
    """(n,) scores of wt-mini-1 from features of `aligned`, within 0 … 100 as they are shipped or not."""
    config, tensors = read_config(FOLDERS["wt-mini"]), read_weights(FOLDERS["wt-mini"] / WEIGHTS)
    found = predictions(features, config.head, {name[len(PREFIX) :]: tensors[name] for name in tensors})
    return scaled(found, config.output if kept_within else replace(config.output, low=None, high=None))


def agreement(table: Table, scores: FloatArray) -> tuple[float, float, float]:
    """Means over sets of acc_eq*, Pearson's r and the share of systems in order (by means less those of the items)."""
    found, gold, part = [], table.gold, table.part
    for name in dict.fromkeys(part):
        mine = part == name
        if name.startswith("mlqe"):  # one output of each sentence
            continue
        systems, row = np.unique([one.system for one, here in zip(table.rows, mine) if here], return_inverse=True)
        items, column = np.unique(table.item[mine], return_inverse=True)
        people, metric = (mean_table(values[mine], (row, column), (len(systems), len(items)))
                          for values in (gold, scores))  # fmt: skip
        means = [np.nanmean(one - np.nanmean(one, axis=0), axis=1) for one in (people, metric)]
        first, second = np.triu_indices(len(systems), 1)
        order = [one[first] > one[second] for one in means]
        found.append((calibrate(people, metric, "item").value, float(pearson_rows(gold[mine], scores[mine])),
                      float((order[0] == order[1]).mean())))  # fmt: skip
    acc, pearson, right = np.mean(found, axis=0).tolist()
    return acc, pearson, right


# ---------------------------------------------------------------- heads

Head = Callable[[Table, Table], FloatArray]  # fitted on one table, scores of the other


def z(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / values.std())


def linear(signs: FloatArray, anchor: float, ridge: float) -> Head:
    def head(train: Table, test: Table) -> FloatArray:
        mean, spread = train.features.mean(axis=0), np.maximum(train.features.std(axis=0), 1e-6)
        wanted = z(train.gold) + anchor * z(train.plain()["sbert"])
        weights = signed_ridge((train.features - mean) / spread, wanted, train.item, signs, (ridge, 4.0))
        return np.asarray((test.features - mean) / spread @ weights)
    return head


def network(old: bool, anchor: float) -> Head:
    """The network of wt-mini-1's recipe, on the features of either form, eight epochs."""
    def head(train: Table, test: Table) -> FloatArray:
        torch = torch_module()
        torch.manual_seed(1)
        inputs, asked = (one.old if old else one.features for one in (train, test))
        wanted = z(train.gold) + anchor * z(train.plain()["bertscore"])
        shape = HeadShape((32, 16), "gelu")
        module = head_module(inputs.shape[1], shape, 0.1)
        standardise(module, inputs)
        x, y = (torch.from_numpy(values.astype(np.float32)) for values in (inputs, wanted))
        steps = list(batches(train.item))
        optimizer = torch.optim.AdamW(module.parameters(), lr=2e-3, weight_decay=0.01)
        for step, chosen in enumerate(steps):
            error = module(x[chosen]) - y[chosen]
            same = torch.from_numpy(train.item[chosen][:, None] == train.item[chosen]).float()
            means = same @ error / same.sum(dim=1)
            loss = (means**2).mean() + 4.0 * ((error - means) ** 2).mean()
            optimizer.param_groups[0]["lr"] = 2e-3 * min(1.0, 10 * (step + 1) / len(steps)) * (1 - step / len(steps))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        module.eval()
        state = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
        return predictions(asked, shape, state)
    return head


def batches(item: IntArray, epochs: int = 8, size: int = 512) -> Iterator[IntArray]:
    rng = np.random.default_rng(1)
    for _ in range(epochs):
        order = np.argsort(rng.permutation(int(item.max()) + 1)[item], kind="stable")
        yield from (order[at : at + size] for at in range(0, len(order), size))


def left_out(table: Table, other: Table, head: Head, share: float) -> tuple[FloatArray, FloatArray]:
    """(n,) each language pair scored by a head that was fitted on (a share of the items of) the others; and another
    table, scored by a head that was fitted on all of them.
    """
    kept = (np.random.default_rng(1).random(int(table.item.max()) + 1) < share)[table.item]
    found = np.zeros(len(table.rows))
    for lp in dict.fromkeys(table.lp):
        mine = table.lp == lp
        found[mine] = head(table.take(~mine & kept), table.take(mine))
    return found, head(table.take(kept), other)


# ---------------------------------------------------------------- page


def study(table: Table, other: Table, unseen: Any, signs: FloatArray, kept: Path) -> None:
    """Agreement of every score: language pairs left out, documents that wt-mini-1 has not seen, MQM into German.

    Finished rows are in the file ``kept``, and are not computed again for the same examples.
    """
    heads: dict[str, tuple[Head, float]] = {
        **{f"linear, ridge {ridge:g}, anchor {anchor:g}": (linear(signs, anchor, ridge), 1.0)
           for ridge, anchor in ((0.3, 0.0), (1.0, 0.0), (0.3, 0.15), (0.3, 0.3), (0.3, 0.5))},
        **{f"linear, ridge 0.3, anchor 0.15, {share:.0%} of the examples": (linear(signs, 0.15, 0.3), share)
           for share in (0.1, 0.25)},
        "network, `aligned`": (network(True, 0.3), 1.0), "network, `matched`": (network(False, 0.3), 1.0),
    }  # fmt: skip
    told: dict[str, Any] = {"examples": len(table.rows), "unseen": int(unseen.sum()), "german": len(other.rows)}
    before = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    rows = before["rows"] if {**before, "rows": {}} == {**told, "rows": {}} else {}
    scores = [(name, (lambda name=name: (table.plain()[name], other.plain()[name]))) for name in table.plain()]
    scores += [(name, (lambda head=head, share=share: left_out(table, other, head, share)))
               for name, (head, share) in heads.items()]  # fmt: skip
    for name, score in scores:
        if name not in rows:
            mine, german = score()
            rows[name] = [*agreement(table, mine), *agreement(table.take(unseen), mine[unseen]),
                          *agreement(other, german)]  # fmt: skip
            write_file(kept, json.dumps({**told, "rows": rows}))
            print(time.strftime("%H:%M:%S"), name, *(f"{value:.4f}" for value in rows[name]), flush=True)


def page(told: Mapping[str, Any]) -> list[str]:
    lines = ["", f"{told['examples']} judged outputs, {told['unseen']} of documents that `wt-mini-1` has not seen; "
             f"{told['german']} with MQM into German.", "",
             "| score | acc_eq* | Pearson | systems | acc_eq*, unseen documents | Pearson | systems "
             "| acc_eq*, MQM en-de | Pearson | systems |", "|---|" + "---:|" * 9]
    lines += [f"| {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |" for name, row in told["rows"].items()]
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "heads")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop computing features after this long")
    parser.add_argument("--only", default="features,heads,page", help="which steps")
    args = parser.parse_args()
    kept, steps = args.work / "heads.json", args.only.split(",")
    if steps != ["page"]:
        rows, others = rated(), german()
    if "features" in steps:
        until = time.monotonic() + 60 * args.minutes
        extract(others, False, args.work / "ende", until)
        extract(rows, True, args.work / "train", until)
    if "heads" in steps:
        form = open_form(Engine())
        place: dict[str, dict[str, int]] = {}
        for row in rows:
            place.setdefault(row.part, {}).setdefault(row.doc, len(place[row.part]) if row.part in place else 0)
        table, other = (load(each, args.work / name, form.width) for each, name in ((rows, "train"), (others, "ende")))
        unseen = np.array([not row.part.startswith("mlqe") and place[row.part][row.doc] >= SEEN for row in table.rows])
        study(table, other, unseen, form.signs, kept)
    if "page" in steps:
        told = json.loads(kept.read_text("utf-8"))
        found = json.loads(FOUND.read_text("utf-8")) | {PART: told}
        FOUND.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        PAGE.write_text(replace_part(PAGE.read_text("utf-8"), PART, page(told)), "utf-8")


if __name__ == "__main__":
    main()
