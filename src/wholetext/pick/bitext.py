"""Filtering of bitext by a metric, as a stream: constant memory, resumable.

Scores are appended to ``OUT.scores`` block by block, so an interrupted run continues where it
ended. A second pass over the texts writes the lines whose score is high enough.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError
from wholetext.files.storage import refusing, write_file, writing
from wholetext.io import from_texts
from wholetext.io.assembly import pair
from wholetext.io.text import FilePath, opened
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score

BLOCK = 20_000  # lines at a time


@dataclass(frozen=True)
class Filtered:
    """What a filter kept."""

    lines: int
    kept: int
    undefined: int  # lines without a score, which are left out
    threshold: float  # the lowest (or highest, where lower is better) score that was kept
    resumed: int  # lines whose scores an earlier run had left


def filter_bitext(
    src: FilePath,
    hyp: FilePath,
    metric: str,
    out: Path,
    *,
    least: float | None = None,
    share: float | None = None,
    langs: str | None = None,
    options: Options | None = None,
) -> Filtered:
    """Write the lines of two parallel files that a reference-free metric scores best.

    ``OUT`` gets source and output, divided by a tab; ``OUT.scores`` has the score of every line
    (float32) and lets the next run continue.

    Args:
        src: Source file, a segment per line; ``hyp`` is parallel to it.
        hyp: Output file.
        metric: A metric that needs no reference.
        out: File to write.
        least: Keep scores at least as good as this one.
        share: Or keep this share of all lines, the best ones (of equal scores the first).
        langs: Language pair.
        options: How to compute; the cache is not used.
    """
    chosen = scorer(metric)
    if "ref" in chosen.metric.needs:
        raise InputError(
            f"{chosen.spec} reads a reference, and bitext has none",
            next="use a metric without references: kiwi, comet-qe, sbert(against=src) …",
        )
    if (least is None) == (share is None) or not (share is None or 0 < share <= 1):
        raise InputError(
            "one of a threshold and a share decides what is kept",
            next="give --min SCORE, or --share from 0 to 1 (least=, share=)",
        )
    stored = out.with_name(out.name + ".scores")
    files = [_fingerprint(path) for path in (src, hyp)]
    resumed = _resume(stored, {"metric": chosen.spec, "langs": langs or "", "files": files})
    options = replace(options or Options(), cache=False, flags=False)
    with refusing(str(stored)), stored.open("ab") as file:
        pairs = islice(_pairs(src, hyp), resumed, None)
        while block := list(islice(pairs, BLOCK)):
            loaded = from_texts(
                {"bitext": [text for _, text in block]},
                srcs=[source for source, _ in block],
                docs=[str(number) for number in range(len(block))],
                langs=langs,
            )
            (by_system,) = score(loaded, [metric], options=options).scores.values()
            file.write(by_system["bitext"].at("segment").astype(np.float32).tobytes())
            file.flush()
    sign = np.float32(1 if chosen.metric.resolve(pair(langs)).higher_is_better else -1)
    scores = sign * np.fromfile(stored, dtype=np.float32)  # the higher the better
    keep = scores >= sign * np.float32(least or 0) if share is None else _best(scores, share)
    lowest = scores[keep].min() if keep.any() else np.nan
    threshold = float(sign * lowest) if least is None else least
    with writing(out) as target:
        for (source, text), kept in zip(_pairs(src, hyp), keep, strict=True):
            if kept:
                target.write(f"{source}\t{text}\n".encode())
    return Filtered(len(scores), int(keep.sum()), int(np.isnan(scores).sum()), threshold, resumed)


def _best(scores: NDArray[np.float32], share: float) -> NDArray[np.bool_]:
    """(lines,) whether a score is one of the highest; of equal scores the first are."""
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
    keep = np.zeros(len(scores), dtype=bool)
    keep[order[: round(share * len(scores))]] = True
    return keep & ~np.isnan(scores)


def _pairs(src: FilePath, hyp: FilePath) -> Iterator[tuple[str, str]]:
    number = 0
    with opened(src) as left, opened(hyp) as right:
        try:
            for number, texts in enumerate(zip(left.lines(), right.lines(), strict=True), 1):  # noqa: B007
                yield texts
        except ValueError:
            raise InputError(
                f"the files have different numbers of lines: one ends after line {number}",
                where=f"{left.name}, {right.name}",
                next="give parallel files, a segment per line",
            ) from None


def _resume(stored: Path, settings: Mapping[str, object]) -> int:
    """How many lines an interrupted run of the same settings has scored."""
    about = stored.with_name(stored.name + ".json")
    if stored.exists() and not about.exists():
        raise InputError(
            "this file exists, and wholetext did not write it",
            where=str(stored),
            next="move it elsewhere, or choose another --out",
        )
    text = json.dumps(settings, indent=1) + "\n"
    if not (stored.exists() and about.read_text("utf-8") == text):
        write_file(stored, b"")
        write_file(about, text)
    done = stored.stat().st_size // 4
    os.truncate(stored, 4 * done)  # a number may be incomplete
    return done


def _fingerprint(path: FilePath) -> str:
    """Size and first megabyte of a file: whether it is the same as before."""
    with opened(path), Path(path).open("rb") as file:
        digest = hashlib.sha256(file.read(1 << 20)).hexdigest()
        return f"{os.fstat(file.fileno()).st_size}:{digest[:16]}"
