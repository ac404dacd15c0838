"""Which documents of a system need a human? Scores files of parallel lines and lists the weakest documents.

python weak_documents.py ref.txt system.txt docids.txt
"""

from __future__ import annotations

import sys
from pathlib import Path

import wholetext as wt


def weakest(files: wt.LineFiles, metric: str = "d-chrf", number: int = 5) -> list[tuple[str, float]]:
    """(document, score) of the documents with the lowest scores."""
    loaded = wt.read(files)
    system = loaded.outputs[0].system
    scores = wt.score(loaded, metric)[metric][system]
    found: list[tuple[str, float]] = list(zip(scores.rows.docs, scores.at("doc").tolist()))
    return sorted(found, key=lambda entry: entry[1])[:number]


if __name__ == "__main__":
    ref, hyp, docs = map(Path, sys.argv[1:4])
    for doc, score in weakest(wt.LineFiles(refs=[ref], hyps=[hyp], docs=docs)):
        sys.stdout.write(f"{score:6.2f}  {doc}\n")
