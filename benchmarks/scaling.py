"""`make bench`, second half: chrF on 10k, 100k and 1M segments; time per segment and peak memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (10_000, 100_000, 1_000_000)
WORDS = ["the", "a", "of", "to", "and", "in", "house", "river", "night", "street", "music", "winter", "letter", "table"]


def write(folder: Path, segments: int) -> None:
    """Files of distinct segments of ten to eighteen words, in documents of twenty."""
    with (
        (folder / "ref.txt").open("w") as ref,
        (folder / "hyp.txt").open("w") as hyp,
        (folder / "docs.txt").open("w") as docs,
    ):
        for i in range(segments):
            words = [WORDS[(i * 7 + j * j * 3 + i // 18 * j) % len(WORDS)] for j in range(10 + i % 9)]
            ref.write(f"{' '.join(words)} {i}\n")
            words[i % len(words)] = "other"
            hyp.write(f"{' '.join(words)} {i}\n")
            docs.write(f"d{i // 20}\n")


def child(folder: str) -> None:
    from wholetext.cli.main import build
    from wholetext.cli.options import spread

    began = time.perf_counter()
    argv = [
        "score",
        "-t",
        f"{folder}/hyp.txt",
        "-r",
        f"{folder}/ref.txt",
        "-d",
        f"{folder}/docs.txt",
        "-m",
        "chrf",
        "-f",
        "json",
    ]
    build()(spread(argv), standalone_mode=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": time.perf_counter() - began, "peak_gb": peak}), file=sys.stderr)


def main() -> None:
    print("chrF, one system, files in, JSON out, cache on")
    base = None
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), size)
            run = subprocess.run(
                [sys.executable, __file__, name],
                check=True,
                capture_output=True,
                text=True,
                env={**__import__("os").environ, "WHOLETEXT_CACHE": f"{name}/cache.sqlite"},
            )
            found = json.loads(run.stderr.strip().splitlines()[-1])
            each = 1e6 * found["seconds"] / size
            base = base or each
            print(
                f"  {size:>9} segments  {found['seconds']:7.1f} s  {each:6.1f} µs each ({each / base:.2f} × of 10k)"
                f"  peak {found['peak_gb']:.2f} GB",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(sys.argv[1])
    else:
        main()
