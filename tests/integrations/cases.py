"""The demo corpus as harnesses hold it, one row per segment, and its scores by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.demo import load

LANGS = "de-en"


def rows(documents: int = 4, system: int = 0) -> list[dict[str, str]]:
    """Segments of the first documents: document, source, reference and the output of a system."""
    corpus, outputs, *_ = load(LANGS)
    return [
        {"doc": doc.id, "src": doc.src[i], "ref": refs[i], "hyp": outputs[system].docs[doc.id][i]}
        for doc in corpus.docs[:documents]
        for refs in [next(iter(doc.refs.values()))]
        for i in range(len(doc))
    ]


def by_command(
    capsys: pytest.CaptureFixture[str], folder: Path, segments: list[dict[str, str]], *specs: str
) -> list[float]:
    """The scores that `wholetext score` prints for these segments, in the order of the specs."""
    for side in ("doc", "src", "ref", "hyp"):
        (folder / f"{side}.txt").write_text("".join(row[side] + "\n" for row in segments), "utf-8")
    files = [f"{folder}/{side}.txt" for side in ("src", "hyp", "ref", "doc")]
    sides = [word for pair in zip(("-s", "-t", "-r", "-d"), files) for word in pair]
    capsys.readouterr()  # what was printed before
    code, out, err = call(capsys, "score", *sides, "-l", LANGS, "-m", *specs, "-f", "json")
    assert code == 0, err
    return [metric["systems"][0]["score"] for metric in json.loads(out)["metrics"]]
