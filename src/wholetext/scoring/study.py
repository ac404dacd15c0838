"""The JSON of a study that scores a corpus (`judge-check`, `stress`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wholetext.scoring.comparison import plain
from wholetext.scoring.results import Results

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def study_json(
    kind: str, results: Results, settings: DataclassInstance, notes: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Plain values of a study and of the run behind it; undefined numbers are null."""
    corpus = results.corpus
    values: dict[str, Any] = plain(
        {
            "kind": kind,
            "corpus": corpus.id,
            "langs": corpus.langs,
            "documents": len(corpus),
            "systems": results.systems,
            "settings": asdict(settings),
            **more,
            "signatures": {
                spec: {system: str(scores.signature) for system, scores in by_system.items()}
                for spec, by_system in results.scores.items()
            },
            "counts": results.counts,
            "notes": notes,
        }
    )
    return values
