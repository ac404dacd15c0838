"""Small data to train on: real sentences of the demo corpus, outputs with words missing, scores for that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wholetext.demo import load
from wholetext.training.recipe import Recipe, read_recipe

TINY = Path(__file__).resolve().parent.parent / "oracle" / "neural" / "models"
SYSTEMS = ("a", "b", "c", "d")


def make(folder: Path, documents: int = 8, scored: bool = True) -> Path:
    """An EvalSet ``small``, de-en: four systems, DA by two raters, each document by one of them."""
    root, rng = folder / "small", np.random.default_rng(0)
    corpus, _ = load("de-en")
    docs = corpus.docs[:documents]
    ref = [text for doc in docs for text in next(iter(doc.refs.values()))]
    src = [text for doc in docs for text in doc.src or ()]
    ids = [doc.id for doc in docs for _ in range(len(doc))]
    for part in ("sources", "documents", "references", "system-outputs/de-en", "human-scores"):
        (root / part).mkdir(parents=True)
    write(root / "sources/de-en.txt", src)
    write(root / "documents/de-en.docs", [f"all\t{doc}" for doc in ids])
    write(root / "references/de-en.refA.txt", ref)
    ratings, scores = ["system\tseg\tdoc\trater\ttype\traw"], []
    for system in SYSTEMS:
        missing = rng.random(len(ref)) * 0.7
        texts = [" ".join(word for word in text.split() if rng.random() > gone) or "x"
                 for text, gone in zip(ref, missing)]
        write(root / f"system-outputs/de-en/{system}.txt", texts)
        raw = [round(float(100 * (1 - gone) + rng.normal() * 3), 2) for gone in missing]
        for i, score in enumerate(raw):
            ratings.append(f"{system}\t{i}\t{ids[i]}\trater{sum(map(ord, ids[i])) % 2}\tSYSTEM\t{score}")
        scores += [f"{system}\t{score if scored else 'None'}" for score in raw]
    if scored:
        write(root / "human-scores/de-en.wmt.ratings.tsv", ratings)
    write(root / "human-scores/de-en.wmt-z.seg.score", scores)
    return root


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def recipe(root: Path, **settings: Any) -> Recipe:
    """A run of a few seconds on a tiny encoder; names with ``__`` for tables (adapter__kind)."""
    given = {"data": [{"evalset": str(root), "human": "wmt-z"}], "base": str(TINY / "tiny-bert"), "k": [1, 2, 3],
             "share": 0.25, "epochs": 2, "batch": 16, "rate": 3e-3, "head.hidden": [16]}
    return read_recipe(None, {**given, **{name.replace("__", "."): value for name, value in settings.items()}})
