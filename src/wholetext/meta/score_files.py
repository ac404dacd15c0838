"""Score files of a meta-evaluation: those of the EvalSet, others by path, and scores as WMT25 published them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import DocumentRun
from wholetext.io.formats.evalset import entries
from wholetext.io.formats.published_scores import (
    Place,
    PublishedScores,
    read_published,
    score_files,
)
from wholetext.io.formats.scores import ScoreLevel, read_scores, score_names, split_label
from wholetext.io.formats.wmt import facts
from wholetext.io.text import is_folder
from wholetext.meta.participants import Participants
from wholetext.types import Judgments


@dataclass(frozen=True)
class StoredFile:
    """One score file: of the EvalSet, or from elsewhere."""

    label: str
    level: ScoreLevel
    path: Path
    published: Judgments | None = None  # what is in it, where a file has several metrics

    def read(self, where: Participants) -> Judgments:
        """The scores; NaN where there is none."""
        return self.published or read_scores(
            self.path, self.label, self.level, items=where.evalset.items(self.level), gaps=True
        )


def stored_files(where: Participants, elsewhere: Sequence[Path]) -> list[StoredFile]:
    """Score files that may be used: those whose references are within those of the metrics."""
    evalset = where.evalset
    files = {
        (label, level): StoredFile(label, level, evalset.metric_files[f"{label}.{level}.score"])
        for label, level in evalset.metric_names
    }
    for file in (file for path in elsewhere for file in _outside(path, where)):
        if files.setdefault((file.label, file.level), file) is not file:
            raise InputError(
                f"two files contain {file.label}.{file.level}",
                where=str(file.path),
                next="rename one of them",
            )
    return [file for file in files.values() if not _foreign_references(file.label, where)]


def _foreign_references(label: str, where: Participants) -> set[str]:
    """References that a metric used and that are not those of this evaluation."""
    used = split_label(label)[1]
    refs = set(where.evalset.references if used == ("all",) else used)
    return refs - set(where.refs) if where.refs else set()


def _outside(path: Path, where: Participants) -> Iterator[StoredFile]:
    """A score file, or those in a folder, its ``LP/`` or ``metric-scores/LP/``.

    Or scores as WMT25 published them.
    """
    if path.suffix == ".jsonl" or (
        path.is_dir() and score_files([path]) and not any(path.glob("*.score"))
    ):
        yield from _published(path, where)
        return
    if os.path.isfile(path):  # noqa: PTH113 - pathlib raises where a name is too long
        file = _outside_file(path, where)
        foreign = _foreign_references(file.label, where)
        if foreign and not file.label.endswith("-all"):
            raise InputError(
                f"these scores use {', '.join(sorted(foreign))}, the metrics' reference is "
                f"{', '.join(where.refs)}",
                where=str(path),
                next="name their references with --ref",
            )
        yield file
        return
    if not is_folder(path):
        raise InputError(
            "there is no such score file or folder", where=str(path), next="check the path"
        )
    folders = (path / "metric-scores" / where.langs, path / where.langs, path)
    folder = next(folder for folder in folders if folder.is_dir())
    names = sorted(entry for entry in entries(folder) if entry.name.endswith(".score"))
    if not names:
        raise InputError(
            f"there are no score files (*.score) of {where.langs} here",
            where=str(folder),
            next="give a run folder, a score file, or a folder of METRIC-REF.LEVEL.score files",
        )
    for entry in names:
        yield _outside_file(entry, where)


def _outside_file(path: Path, where: Participants) -> StoredFile:
    """Label and level from ``NAME-REF.LEVEL.score``.

    Else from its name and its number of scores.
    """
    bare = path.name.removesuffix(".score")
    label, level = next(iter(score_names([f"{bare}.score"])), (bare, None))
    _, dash, ref = label.rpartition("-")
    known = {*where.evalset.references, *where.refs}
    if not dash or not (ref in ("src", "all") or set(ref.split(".")) <= known):
        label = f"{label}-src"
    if level is None:
        count = read_scores(path, path.name, "seg", gaps=True).values.shape[1]
        segments, documents = where.runs[-1].stop, len(where.runs)
        sizes: dict[int, ScoreLevel] = {segments: "seg", documents: "doc", 1: "sys"}
        level = sizes.get(count)
        if level is None:
            raise AlignmentError(
                f"{count} scores per system are neither one, nor one per document ({documents}), "
                f"nor one per segment ({segments})",
                where=str(path),
                next="call the file NAME-REF.seg.score, .doc.score or .sys.score",
            )
    return StoredFile(label, level, path)


# ---------------------------------------------------------------- published scores


def _published(path: Path, where: Participants) -> Iterator[StoredFile]:
    """Scores of every segment by each metric; a document is found by its id and domain.

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
                        f"{run.stop - run.start} segments",
                        where=f"{path}, system {system}",
                        next="scores are one per segment: use the EvalSet whose segments were "
                        "scored",
                    )
                values[s, run.start : run.stop] = scores
        judgments = Judgments(name, "seg", tuple(published.systems), values)
        yield StoredFile(f"{name}-src", "seg", path, judgments)


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
        pairs += [(run, place) for place in same]
    if not pairs:
        raise InputError(
            f"none of the {len(published.documents)} published documents is in the EvalSet",
            where=path,
            next=f"published is e.g. {published.documents[0][1]!r}, the EvalSet has "
            f"{where.runs[0].doc!r}",
        )
    return pairs
