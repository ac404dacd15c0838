"""`make bench`, first half: ten systems, BLEU and chrF with 1000 paired resamples, beside sacrebleu's own command.

Both are run as commands on the same files, one after the other, several rounds; the ratio of the best times counts.
Texts are the real ones beside the project where they are there, otherwise made from the bundled documents.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wholetext.demo import load

SYSTEMS, SEGMENTS, ROUNDS = 10, 1000, 3
DATA = Path(os.environ.get("WHOLETEXT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def real_texts(langs: str = "de-en") -> tuple[list[str], list[str], dict[str, list[str]]] | None:
    """Document ids, reference and outputs of WMT21 news."""
    root = DATA / "evalsets" / "wmt21.news"
    if not root.is_dir():
        return None

    def lines(path: Path) -> list[str]:
        return path.read_text("utf-8").split("\n")[:SEGMENTS]

    ids = [line.split("\t")[1] for line in lines(root / "documents" / f"{langs}.docs")]
    paths = sorted((root / "system-outputs" / langs).iterdir())[:SYSTEMS]
    return ids, lines(root / "references" / f"{langs}.refA.txt"), {p.stem: lines(p) for p in paths}


def made_texts() -> tuple[list[str], list[str], dict[str, list[str]]]:
    """The bundled documents over and over, outputs altered at random."""
    chance = random.Random(0)
    corpus, _ = load("de-en")
    ids, refs = [], []
    while len(refs) < SEGMENTS:
        for doc in corpus.docs:
            refs += [f"{segment} {len(refs)}" for segment in doc.refs["human"]]
            ids += [f"{doc.id}-{len(refs)}"] * len(doc)

    def altered(segment: str) -> str:
        return " ".join(word for word in segment.split() if chance.random() > 0.1)

    return ids[:SEGMENTS], refs[:SEGMENTS], {f"s{k}": [altered(r) for r in refs[:SEGMENTS]] for k in range(SYSTEMS)}


def main() -> None:
    ids, refs, outputs = real_texts() or made_texts()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stem, text in {"docs": ids, "ref": refs, **outputs}.items():
            (folder / f"{stem}.txt").write_text("".join(line + "\n" for line in text), "utf-8")
        files = [str(folder / f"{system}.txt") for system in outputs]
        ours = [
            sys.executable,
            "-m",
            "wholetext",
            "score",
            "-t",
            *files,
            "-r",
            str(folder / "ref.txt"),
            "-d",
            str(folder / "docs.txt"),
            "-m",
            "bleu",
            "-m",
            "chrf",
            "--test",
            "bootstrap",
            "--draws",
            "1000",
            "--resample",
            "segments",
            "--no-cache",
            "--no-flags",  # sacrebleu does not look for degenerate output either
            "-f",
            "json",
        ]
        theirs = [
            sys.executable,
            "-m",
            "sacrebleu",
            str(folder / "ref.txt"),
            "-i",
            *files,
            "-m",
            "bleu",
            "chrf",
            "--paired-bs",
            "-f",
            "text",  # its JSON cannot be written with numpy 2
            "--paired-bs-n",
            "1000",
        ]
        times: dict[str, list[float]] = {"wholetext": [], "sacrebleu": []}
        for _ in range(ROUNDS):
            for peer, command in (("wholetext", ours), ("sacrebleu", theirs)):
                began = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                times[peer].append(time.perf_counter() - began)
        best = {peer: min(found) for peer, found in times.items()}
        print(f"{len(outputs)} systems × {len(refs)} segments, BLEU + chrF, 1000 paired resamples, best of {ROUNDS}")
        for peer, seconds in best.items():
            print(f"  {peer:<10} {seconds:6.2f} s   (all: {', '.join(f'{t:.2f}' for t in times[peer])})")
        print(f"  ratio      {best['sacrebleu'] / best['wholetext']:6.2f} ×  (wanted: ≥ 3)")


if __name__ == "__main__":
    main()
