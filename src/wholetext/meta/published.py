"""Published metric scores (WMT25) as metrics of a meta-evaluation: their documents are found in the
EvalSet.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import DocumentRun
from wholetext.io.formats.published_scores import (
    Place,
    PublishedScores,
    read_published,
    score_files,
)
from wholetext.io.formats.wmt import facts
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.participants import Participants
from wholetext.types import Judgments


def is_published(path: Path) -> bool:
    """Whether this is a file of published scores, or a folder of them and of no EvalSet's score
    files.
    """
    return path.suffix == ".jsonl" or (
        path.is_dir() and bool(score_files([path])) and not any(path.glob("*.score"))
    )


def published_scores(path: Path, where: Participants) -> Iterator[tuple[str, Judgments]]:
    """(label, scores of every segment) of each metric; a document is found by its id and domain.

    ``document_id`` is the EvalSet's id, or the name in it (``en-is_IS_#_news_#_NAME``). Which
    references a metric used is not stated, so that it counts as one without (``-src``).
    """
    published = read_published([path], where.langs)
    places = _places(published, where, str(path))
    for name in published.metrics:
        values = np.full((len(published.systems), where.runs[-1].stop), np.nan)
        for s, (system, documents) in enumerate(published.systems.items()):
            for run, place in places:
                scores = documents.get(place, {}).get(name)
                if scores is None:
                    continue
                if len(scores) != run.stop - run.start:
                    raise AlignmentError(
                        f"{name} has {len(scores)} scores of document {run.doc!r}, which has "
                        f"{run.stop - run.start} "
                        f"segments",
                        where=f"{path}, system {system}",
                        next="scores are one per segment: use the EvalSet whose segments were "
                        "scored",
                    )
                values[s, run.start : run.stop] = scores
        yield f"{name}-src", Judgments(name, "seg", tuple(published.systems), values)


def gap_error(name: str, gaps: BoolArray, where: Participants, path: Path) -> InputError:
    """The error that names the first judged segment without a score.

    ``gaps`` are (systems, segments).
    """
    row, segment = map(int, np.argwhere(gaps)[0])
    doc = next(run.doc for run in where.runs if run.start <= segment < run.stop)
    return InputError(
        f"{name} has no score of {count(int(gaps.sum()), 'judged segment')} (first: system "
        f"{where.systems[row]}, document {doc!r})",
        where=str(path),
        next="--allow-missing counts them as not judged",
    )


def _places(
    published: PublishedScores, where: Participants, path: str
) -> list[tuple[DocumentRun, Place]]:
    """The published document of every document of the EvalSet."""
    by_name: dict[str, list[Place]] = {}
    for place in published.documents:
        by_name.setdefault(place[1], []).append(place)
    pairs = []
    for run in where.runs:
        domain = facts(run.doc)[1]
        name = run.doc.partition(f"_#_{domain}_#_")[2] if domain else run.doc
        same = by_name.get(run.doc) or by_name.get(name, [])
        domain = domain or run.meta.get("domain", "")
        same = [place for place in same if place[0] == domain] or same
        if len(same) > 1:
            raise InputError(
                f"document {run.doc!r} is published in {len(same)} domains",
                where=path,
                next=f"name its domain in documents/{where.langs}.docs",
            )
        pairs += [(run, same[0])] if same else []
    if not pairs:
        raise InputError(
            f"none of the {len(published.documents)} published documents is in the EvalSet",
            where=path,
            next=f"published is e.g. {published.documents[0][1]!r}, the EvalSet has "
            f"{where.runs[0].doc!r}",
        )
    return pairs
