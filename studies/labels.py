"""Writes studies/labels.json and .md: is a head that learns from MQM and direct assessment better than `wt-mini`?

    WHOLETEXT_DATA=../shared/data python studies/labels_features.py FOLDER
    WHOLETEXT_DATA=../shared/data python studies/labels.py FOLDER

Linear heads with weights of fixed signs over frozen MiniLM's features, fitted without one set (leave-set-out) or
without one language pair (leave-pair-out) at a time, which is then scored. Every variant that was looked at is in
``VARIANTS``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from labels_features import OWN, SETS

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import calibrate
from wholetext.meta.judgments import find_ratings
from wholetext.training.learned.folder import read_config, read_head
from wholetext.training.learned.forms import head_shapes, predictions, scaled
from wholetext.training.learned.likeness import NAMES

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("WHOLETEXT_DATA", ROOT.parent / "shared" / "data"))
FOUND = ROOT / "studies" / "labels.json"
PAGE = FOUND.with_suffix(".md")
WT_MINI = ROOT / "src/wholetext/training/bundled/wt-mini"
DRAWS = 60
DEEP = 27 + len(NAMES)  # features of the form `aligned`
SIDES = ("mean", "tail", "worst")
ALIGNED = [f"{side} {part} {layer}" for side in "PR" for part in SIDES for layer in (0, 3, 6)]
ONCE = [
    "order P",
    "order R",
    "poor P",
    "poor R",
    "cosine",
    "log ratio",
    "log words",
    "pieces P",
    "pieces R",
]
FEATURES = [*ALIGNED, *ONCE, *NAMES, *OWN]
# more is better (+), worse (−), either (0); what may not count is left out
SIGNS = {"order P": 1, "order R": 1, "poor P": -1, "poor R": -1, "cosine": 1, "sbert": 1, "its size": -1,
         "foreign script in the hypothesis alone": -1, "the same last character": 1, "equal": 1,
         **dict.fromkeys([*ALIGNED, *OWN], 1),
         **{name: 1 for name in NAMES if name.startswith(("precision", "recall"))}}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Part:
    """The sampled outputs of a set."""

    name: str
    x: np.ndarray  # (outputs, features)
    gold: np.ndarray  # (outputs,) official scores
    label: np.ndarray  # (outputs,) raters' effects removed; MQM per word
    doc: np.ndarray
    item: np.ndarray  # (outputs,) number of the segment
    sys: np.ndarray
    words: np.ndarray

    @property
    def lp(self) -> str:
        return self.name.split()[1]

    @property
    def human(self) -> str:
        return self.name.split()[2]


def parts(folder: Path) -> list[Part]:
    found = []
    for name, lp, human in SETS:
        path = folder / f"{name}.{lp}.npz"
        if path.exists():
            table = np.load(path)
            gold = table["gold"].astype(float)
            label = per_word(name, lp, table) if human == "mqm" else gold
            # raters may have seen few outputs: labels are bounded, and have the spread of their set
            label = np.clip((label - np.nanmean(label)) / np.nanstd(label), -4, 4)
            _, item = np.unique(table["seg"], return_inverse=True)
            found.append(Part(f"{name} {lp} {human}", table["features"], gold, np.nan_to_num(label),
                              table["doc"], item, table["sys"], table["words"].astype(float)))  # fmt: skip
    return found


def per_word(name: str, lp: str, table: Mapping[str, np.ndarray]) -> np.ndarray:
    """MQM penalty per word of the reference, each rater's mean and spread removed."""
    evalset = EvalSet.open(DATA / "evalsets" / name, lp)
    ratings = find_ratings(evalset, "mqm").ratings
    place = {segment: at for at, segment in enumerate(ratings.segments)}
    of_line = [
        place.get((run.doc, at - run.start))
        for run in evalset.documents
        for at in range(run.start, run.stop)
    ]
    words = np.ones(len(ratings.segments))
    for line, count in zip(table["seg"], table["words"]):
        if of_line[line] is not None:
            words[of_line[line]] = count
    rate = -np.log1p(
        10 * -np.minimum(ratings.score, 0) / words[ratings.item]
    )  # few segments have most of the penalty
    values = replace(ratings, score=rate).standardised().judgments().values
    row = {system: at for at, system in enumerate(ratings.systems)}
    return np.array(
        [
            values[row[s], of_line[line]] if s in row else np.nan
            for s, line in zip(table["sys"], table["seg"])
        ]
    )


# ---------------------------------------------------------------- heads


@dataclass(frozen=True)
class Variant:
    """What is learnt from, and how."""

    humans: tuple[str, ...] = ("mqm", "wmt-z")
    features: str = "all"  # aligned, +sbert, all
    within: float = 2.0  # weight of differences within an item against those between items
    ridge: float = 0.3
    mqm: float = 1.0  # weight of a set with MQM against one with direct assessment
    lengths: bool = False  # outputs weigh by the length of the reference: short ones are judged less surely
    network: int = 0  # units of a hidden layer, with a rank loss within items; 0: a linear head
    mixed: float = 0.0  # how much of `wt-mini`, not cut off, is added, in spreads of the training outputs


def columns(features: str) -> list[int]:
    last = {"aligned": DEEP, "+sbert": DEEP + 1, "all": len(FEATURES)}[features]
    return [at for at in range(last) if FEATURES[at] in SIGNS]


def centred(
    values: np.ndarray, item: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Deviations from the item's mean, and that mean for every row."""
    total = np.bincount(item, weight)
    if values.ndim == 1:
        mean = (np.bincount(item, weight * values) / total)[item]
    else:
        mean = np.stack(
            [(np.bincount(item, weight * col) / total)[item] for col in values.T], axis=1
        )
    return values - mean, mean


def fit(train: list[Part], variant: Variant) -> np.ndarray:
    """(features,) weights; zero for what is not used. They are for features as they are."""
    from scipy.optimize import nnls

    chosen = columns(variant.features)
    sign = np.array([SIGNS[FEATURES[at]] for at in chosen], dtype=float)
    spread = np.concatenate([part.x for part in train]).std(axis=0)[chosen]
    spread = np.where(spread < 1e-6, 1.0, spread)
    gram, moment, total = np.zeros((len(chosen),) * 2), np.zeros(len(chosen)), 0.0
    for part in train:
        x = part.x[:, chosen] * sign / spread
        weight = part.words / (part.words + 10) if variant.lengths else np.ones(len(x))
        share = (variant.mqm if part.human == "mqm" else 1.0) / weight.sum()
        (dx, mx), (dy, my) = centred(x, part.item, weight), centred(part.label, part.item, weight)
        mx, my = mx - np.average(mx, axis=0, weights=weight), my - np.average(my, weights=weight)
        for a, b, strength in ((dx, dy, variant.within), (mx, my, 1.0)):
            gram += strength * share * (a * weight[:, None]).T @ a
            moment += strength * share * (a * weight[:, None]).T @ b
        total += share * weight.sum()
    gram = gram / total + variant.ridge * np.eye(len(chosen)) * 0.1
    root = np.linalg.cholesky(gram).T
    beta, _ = nnls(root, np.linalg.solve(root.T, moment / total), maxiter=10000)
    weights = np.zeros(len(FEATURES))
    weights[chosen] = beta * sign / spread
    return weights


# ---------------------------------------------------------------- agreement


def tables(part: Part, values: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
    """(systems, segments); ``docs``: numbers of documents, drawn with repetition."""
    systems, row = np.unique(part.sys, return_inverse=True)
    table = np.full((len(systems), part.item.max() + 1), np.nan)
    table[row, part.item] = values
    if docs is None:
        return table
    _, doc = np.unique(part.doc, return_inverse=True)
    of_item = np.zeros(table.shape[1], dtype=int)
    of_item[part.item] = doc
    places = {number: np.flatnonzero(of_item == number) for number in range(doc.max() + 1)}
    return table[:, np.concatenate([places[number] for number in docs])]


def agreement(gold: np.ndarray, metric: np.ndarray) -> tuple[float, float, float]:
    known = ~np.isnan(gold) & ~np.isnan(metric)
    pearson = float(np.corrcoef(gold[known], metric[known])[0, 1])
    # systems that judged few of the segments would leave none in common
    full = known.mean(axis=1) >= 0.5 * known.mean(axis=1).max()
    spa = soft(np.where(known, gold, np.nan)[full], np.where(known, metric, np.nan)[full])
    return calibrate(gold, metric, "item").value, pearson, spa


def soft(gold: np.ndarray, metric: np.ndarray) -> float:
    """Soft pairwise accuracy, each pair of systems on the segments they have in common; p by the normal law."""
    from scipy.special import ndtr

    first, second = np.triu_indices(len(gold), 1)
    sides = []
    for table in (gold, metric):
        gap = table[first] - table[second]
        count = (~np.isnan(gap)).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.nansum(gap, axis=1) / np.sqrt(np.nansum(gap**2, axis=1))
        sides.append(np.where(count > 1, ndtr(np.nan_to_num(z)), np.nan))
    return 1 - float(np.nanmean(np.abs(sides[0] - sides[1])))


def baselines(part: Part) -> dict[str, np.ndarray]:
    x = part.x
    p, r = x[:, FEATURES.index("P mean 3")], x[:, FEATURES.index("R mean 3")]
    config = read_config(WT_MINI)
    head = read_head(WT_MINI, head_shapes(DEEP, config.head))
    raw = predictions(x[:, :DEEP], config.head, head)
    mini = scaled(raw, config.output)
    shape = config.penalty
    f = 2 * p * r / np.maximum(p + r, 1e-9)
    return {"uncut": raw, "sbert": x[:, FEATURES.index("sbert")], "bertscore": f, "wt-mini": mini,
            "wt-mini-penalty": -shape.rate * part.words**shape.length * np.maximum(0, 1 - mini / 100) ** shape.shape,
            "minus words": -part.words}  # fmt: skip


def held_out(every: list[Part], variant: Variant, mode: str) -> dict[str, np.ndarray]:
    """Set → predictions of a head that was fitted without it, or without its language pair."""
    found = {}
    for part in every:
        if part.human == "z":
            continue
        train = [other for other in every if other.human in variant.humans and other is not part
                 and (mode == "set" or other.lp != part.lp)]  # fmt: skip
        if variant.network:
            found[part.name] = network(train, variant, part.x)
            continue
        weights = fit(train, variant)
        found[part.name] = part.x @ weights
        if variant.mixed:
            own, mini = (np.concatenate(values).std() for values in (
                [other.x @ weights for other in train], [baselines(other)["uncut"] for other in train]))  # fmt: skip
            found[part.name] = found[part.name] / own + variant.mixed * baselines(part)["uncut"] / mini
    return found


def network(train: list[Part], variant: Variant, x: np.ndarray) -> np.ndarray:
    """Predictions of a network with one hidden layer: squared errors, and a logistic loss on pairs within an item."""
    import torch

    torch.manual_seed(1)
    chosen = columns(variant.features)
    every = np.concatenate([part.x[:, chosen] for part in train])
    mean, spread = every.mean(axis=0), np.where(every.std(axis=0) < 1e-6, 1.0, every.std(axis=0))
    features = torch.tensor((every - mean) / spread, dtype=torch.float32)
    labels = torch.tensor(np.concatenate([part.label for part in train]), dtype=torch.float32)
    sizes = [len(part.label) for part in train]
    weight = torch.tensor(np.concatenate([np.full(size, 1 / size) for size in sizes]), dtype=torch.float32)
    first, second, rng, base = [], [], np.random.default_rng(1), 0
    for part, size in zip(train, sizes):
        for item in range(part.item.max() + 1):
            rows = rng.permutation(np.flatnonzero(part.item == item)) + base
            first += rows.tolist()
            second += np.roll(rows, 1).tolist()
        base += size
    gap = labels[first] - labels[second]
    model = torch.nn.Sequential(torch.nn.Linear(len(chosen), variant.network), torch.nn.GELU(), torch.nn.Dropout(0.2),
                                torch.nn.Linear(variant.network, 1))  # fmt: skip
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
    for _ in range(120):
        said = model(features)[:, 0]
        ranks = torch.nn.functional.softplus(-torch.sign(gap) * (said[first] - said[second])) * gap.abs()
        loss = (weight * (said - labels) ** 2).sum() + variant.within * (weight[first] * ranks).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval()
    with torch.no_grad():
        return model(torch.tensor((x[:, chosen] - mean) / spread, dtype=torch.float32))[:, 0].numpy().astype(float)


VARIANTS: dict[str, Variant] = {
    "DA": Variant(humans=("wmt-z",)),
    "MQM": Variant(humans=("mqm",)),
    "DA + MQM": Variant(),
    "DA + MQM + MLQE-PE": Variant(humans=("mqm", "wmt-z", "z")),
    "DA + 3 MQM": Variant(mqm=3.0),
    "DA + 8 MQM": Variant(mqm=8.0),
    "aligned features": Variant(features="aligned"),
    "aligned features, Sentence-BERT": Variant(features="+sbert"),
    "within 1": Variant(within=1.0),
    "within 5": Variant(within=5.0),
    "ridge 0.03": Variant(ridge=0.03),
    "ridge 3": Variant(ridge=3.0),
    "weights by length": Variant(lengths=True),
    "network of 16": Variant(network=16),
    "mixed with wt-mini": Variant(mixed=1.0),
    "mixed with wt-mini, within 1": Variant(within=1.0, mixed=1.0),
}


SHOWN = ("sbert", "bertscore", "wt-mini", "uncut", "within 1", "mixed with wt-mini, within 1")
STATISTICS = ("acc_eq*", "Pearson", "SPA")


def main() -> None:
    every = parts(Path(sys.argv[1]))
    judged = [part for part in every if part.human != "z"]
    gold = {part.name: tables(part, part.gold) for part in judged}
    base = {part.name: baselines(part) for part in judged}
    names = next(iter(base.values()))
    scores = {name: {part: values[name] for part, values in base.items()} for name in names}
    for mode in ("set", "pair"):
        for name, variant in VARIANTS.items():
            # both sets with MQM are of one language pair; networks take long, and were looked at once
            if (mode == "set" or name != "MQM") and not variant.network:
                scores[f"{mode}: {name}"] = held_out(every, variant, mode)
    found: dict[str, object] = {"outputs": {part.name: len(part.gold) for part in every}}
    found["agreement"] = {
        name: {part.name: [round(float(value), 4) for value in
                           agreement(gold[part.name], tables(part, values[part.name]))] for part in judged}
        for name, values in scores.items()
    }  # fmt: skip
    FOUND.write_text(json.dumps(found, indent=1), "utf-8")
    kept = {name: scores.get(name) or scores[f"set: {name}"] for name in SHOWN}
    found["differences"] = differences(judged, kept)
    FOUND.write_text(json.dumps(found, indent=1), "utf-8")
    page(found)


def differences(judged: list[Part], scores: Mapping[str, Mapping[str, np.ndarray]]) -> dict[str, object]:
    """Of each shown score from the three baselines: 95 % intervals over draws of documents, by set and in the mean."""
    rng, drawn = np.random.default_rng(1), {name: [] for name in scores}  # type: dict[str, list[list[np.ndarray]]]
    for part in judged:
        number = len(np.unique(part.doc))
        print(part.name, number, flush=True)
        samples = [rng.integers(0, number, number) for _ in range(DRAWS)]
        people = [tables(part, part.gold, docs) for docs in samples]
        for name, values in scores.items():
            own = [tables(part, values[part.name], docs) for docs in samples]
            drawn[name].append([np.array(agreement(*pair)) for pair in zip(people, own)])
    table = {name: np.array(values) for name, values in drawn.items()}  # (sets, draws, statistics)
    found: dict[str, object] = {}
    for name in SHOWN[3:]:
        for other in SHOWN[:3]:
            gap = table[name] - table[other]
            by_set = {part.name: np.nanpercentile(gap[at], [2.5, 97.5], axis=0).T.round(4).tolist()
                      for at, part in enumerate(judged)}  # fmt: skip
            mean = np.nanpercentile(np.nanmean(gap, axis=0), [2.5, 97.5], axis=0).T.round(4).tolist()
            found[f"{name} - {other}"] = {"mean": mean, "sets": by_set}
    return found


BASELINES = ("sbert", "bertscore", "wt-mini")


def page(found: Mapping[str, Any]) -> None:
    """Write the tables between the marks of the page; what is read from them is written by hand."""
    table: Mapping[str, Mapping[str, list[float]]] = found["agreement"]
    sets = list(table["sbert"])
    da, mqm = ([name for name in sets if human in name] for human in ("wmt-z", "mqm"))
    lines = ["| score | " + " | ".join(f"{name}, DA" for name in STATISTICS) + " | news MQM | TED MQM | above sbert | "
             "above bertscore | above wt-mini |", "|---|" + "---:|" * 8]  # fmt: skip
    for name, values in table.items():
        mean = np.mean([values[part] for part in da], axis=0)
        cells = [f"{value:.4f}" for value in mean] + [" / ".join(f"{v:.3f}" for v in values[part]) for part in mqm]
        for other in BASELINES:
            wins = np.sum([np.array(values[part]) > np.array(table[other][part]) for part in sets], axis=0)
            cells.append("" if name == other else ", ".join(map(str, wins)))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| difference | acc_eq* | Pearson | SPA | significantly below | above |", "|---|---|---|---|---|---|"]
    for name, values in found["differences"].items():
        cells = [f"[{low:+.4f}, {high:+.4f}]" for low, high in values["mean"]]
        ranges = [(part, statistic, *bounds) for part, row in values["sets"].items()
                  for statistic, bounds in zip(STATISTICS, row)]  # fmt: skip
        below = "; ".join(f"{part} {statistic}" for part, statistic, _, high in ranges if high < 0)
        lines.append(f"| {name} | {' | '.join(cells)} | {below or 'none'} | {sum(low > 0 for *_, low, _ in ranges)} |")
    old, mark = PAGE.read_text("utf-8"), "<!-- tables -->"
    before, _, rest = old.partition(mark)
    PAGE.write_text(before + "\n".join([mark, "", *lines, "", mark]) + rest.partition(mark)[2], "utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        main()
    else:
        page(json.loads(FOUND.read_text("utf-8")))
