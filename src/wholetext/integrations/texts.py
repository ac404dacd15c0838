"""Texts as harnesses and training loops pass them, scored as `wholetext score` scores files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wholetext.errors import AlignmentError, count
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results


def scored(
    hyps: Any,
    metrics: str | Sequence[str],
    *,
    refs: Sequence[Any] | None = None,
    srcs: Any = None,
    docs: Sequence[str] | None = None,
    langs: str | None = None,
    options: Options | None = None,
) -> Results:
    """Score one system; ``refs`` has a reference, or a list of references, for each text."""
    return score(
        hyps,
        metrics,
        refs=None if refs is None else by_name(refs),
        srcs=srcs,
        docs=docs,
        langs=langs,
        options=options,
    )


def by_name(refs: Sequence[Any]) -> Mapping[str, list[Any]]:
    """Transpose lists of references per text to texts per reference (``ref``, or ``ref0`` …)."""
    lists = [list(some) if isinstance(some, (list, tuple)) else [some] for some in refs]
    size = len(lists[0]) if lists else 0
    for at, some in enumerate(lists):
        if len(some) != size:
            raise AlignmentError(
                f"this text has {count(len(some), 'reference')}, and the first has {size}",
                where=f"references[{at}]",
                next="every text needs the same number of references: leave out the surplus ones",
            )
    if size == 1:
        return {"ref": [some[0] for some in lists]}
    return {f"ref{i}": [some[i] for some in lists] for i in range(size)}


def outcome(results: Results, *metrics: str) -> dict[str, float]:
    """Map metrics, as they were written, to the score of the only system."""
    return {metric: next(iter(results[metric].values())).score for metric in metrics}
