"""Features and labels of a sample of judged outputs, for studies/labels.py: MiniLM's layers, Sentence-BERT, surface.

    WHOLETEXT_DATA=../shared/data python studies/labels_features.py FOLDER

Whole documents in a random order, so many that a set has about ``MOST`` judged outputs; one table per set in FOLDER.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.participants import Selection, read_participants
from wholetext.models.device import Precision
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.training.learned.aligned import LayerSettings, Units, matched, tail
from wholetext.training.learned.likeness import likeness
from wholetext.types import Excerpt

DATA = Path(
    os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
NEWS, DA22 = (
    ("cs-en", "de-en", "ha-en", "is-en", "ja-en", "ru-en", "zh-en"),
    ("zh-en", "uk-en", "ru-en", "ja-en", "cs-en", "de-en"),
)
SETS = [("wmt21.news.mqm", "zh-en", "mqm"), ("wmt21.tedtalks", "zh-en", "mqm"),
        *(("wmt22.da", lp, "wmt-z") for lp in DA22), *(("wmt21.news", lp, "wmt-z") for lp in NEWS),
        *(("mlqe-pe", lp, "z") for lp in ("ro-en",))]  # fmt: skip
MOST = {"mqm": 2400, "wmt-z": 500, "z": 300}
OWN = [
    "sbert",
    *(
        f"{side} {part} {layer}"
        for layer in (1, 2, 4, 5)
        for side in "PR"
        for part in ("mean", "tail", "worst")
    ),
]


def order(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(f"labels:{name}".encode()).hexdigest())


def rows_of(name: str, lp: str, human: str) -> list[dict[str, Any]]:
    """Judged outputs: set, document, segment, system, texts, score."""
    if name == "mlqe-pe":
        lines = (DATA / name / f"{lp}.jsonl").read_text("utf-8").splitlines()
        every = [dict(json.loads(line), seg=at) for at, line in enumerate(lines)]
        known = [row for row in every if row["pe"]]
        chosen = order([str(row["seg"]) for row in known])[: MOST[human]]
        return [{"doc": str(row["seg"]), "seg": row["seg"], "sys": "mt", "hyp": row["hyp"], "ref": row["pe"],
                 "gold": row["z"]} for row in known if str(row["seg"]) in set(chosen)]  # fmt: skip
    evalset = EvalSet.open(DATA / "evalsets" / name, lp)
    where = read_participants(evalset, Selection(), human)
    loaded = evalset.load()
    outputs = {output.system: output.docs for output in loaded.outputs}
    left_out = set()
    if name == "wmt21.news" and lp == "zh-en":
        left_out = {
            doc.id for doc in EvalSet.open(DATA / "evalsets/wmt21.news.mqm", lp).load().corpus.docs
        }
    docs, rows = {doc.id: doc for doc in loaded.corpus.docs}, []
    spans = {run.doc: run for run in where.runs}
    for doc in order([doc for doc in spans if doc not in left_out]):
        if len(rows) >= MOST[human]:
            break
        for at in range(spans[doc].start, spans[doc].stop):
            judged = [(place, system) for place, system in enumerate(where.systems)
                      if where.seg is not None and not np.isnan(where.seg[place, at])]  # fmt: skip
            for place, system in judged:
                inside = at - spans[doc].start
                ref = docs[doc].refs[where.refs[0]][inside]
                rows.append({"doc": doc, "seg": at, "sys": system, "hyp": outputs[system][doc][inside], "ref": ref,
                             "gold": float(where.seg[place, at])})  # fmt: skip
    return rows


def features(rows: list[dict[str, Any]], units: Units) -> np.ndarray:
    """(rows, features): those of the form `aligned`, then ``OWN``."""
    tokenizer = units.tokenizer
    by_ref: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        by_ref.setdefault(row["ref"], []).append(at)
    found: dict[int, np.ndarray] = {}
    for ref, members in by_ref.items():
        texts = list(dict.fromkeys([ref, *(rows[at]["hyp"] for at in members)]))
        layouts = [tokenizer.layout(Excerpt((text,), (0, 1)), units.reading) for text in texts]
        states = units.encoder.vectors(
            [one.ids for one in layouts], units.layers, [range(len(one.ids)) for one in layouts]
        )
        known = {}
        for text, layout, vectors in zip(texts, layouts, states):
            scored = vectors[:, layout.start : layout.stop].astype(np.float64)
            scored /= np.maximum(np.linalg.norm(scored, axis=2, keepdims=True), 1e-12)
            pooled = vectors[-1].mean(axis=0).astype(np.float64)
            known[text] = scored, pooled / max(np.linalg.norm(pooled), 1e-12)
        for at in members:
            hyp, ref_ = known[rows[at]["hyp"]], known[ref]
            deep = matched(hyp[0][[0, 3, 6]], ref_[0][[0, 3, 6]], (rows[at]["hyp"], ref))
            more = [float(hyp[1] @ ref_[1])]
            for layer in (1, 2, 4, 5):
                for side in sides(hyp[0][layer], ref_[0][layer]):
                    more += [float(side.mean()), float(tail(side[None])[0]), float(side.min())]
            found[at] = np.array([*deep, *more])
    columns = np.stack([found[at] for at in range(len(rows))])
    surface = likeness([row["hyp"] for row in rows], [row["ref"] for row in rows])
    deep = columns.shape[1] - len(OWN)
    return np.concatenate([columns[:, :deep], surface, columns[:, deep:]], axis=1)


def sides(hyp: np.ndarray, ref: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(hyp) or not len(ref):
        return np.zeros(1), np.zeros(1)
    similar = hyp @ ref.T
    return similar.max(axis=1), similar.max(axis=0)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    units = Units(
        locate("minilm"),
        Precision("cpu", "fp32"),
        Engine(("", "en")),
        LayerSettings(tuple(range(7))),
    )
    for name, lp, human in SETS:
        path = folder / f"{name}.{lp}.npz"
        if path.exists():
            continue
        begin, cpu = time.monotonic(), time.process_time()
        rows = rows_of(name, lp, human)
        table = features(rows, units)
        np.savez(path, features=table, gold=np.array([row["gold"] for row in rows]),
                 doc=np.array([row["doc"] for row in rows]), seg=np.array([row["seg"] for row in rows]),
                 sys=np.array([row["sys"] for row in rows]),
                 words=np.array([max(1, len(row["ref"].split())) for row in rows]))  # fmt: skip
        print(
            name,
            lp,
            len(rows),
            f"{time.monotonic() - begin:.0f} s, {time.process_time() - cpu:.0f} s CPU",
            flush=True,
        )


if __name__ == "__main__":
    main()
