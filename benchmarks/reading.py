"""Time and memory of reading a million segments (source, reference, one output) as lines, TSV and JSONL."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEGMENTS = 1_000_000


def write(folder: Path) -> None:
    """The same texts in three formats, in documents of twenty segments."""
    with (
        (folder / "text.txt").open("w", encoding="utf-8") as text,
        (folder / "ids.txt").open("w", encoding="utf-8") as ids,
        (folder / "corpus.tsv").open("w", encoding="utf-8") as tsv,
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as jsonl,
    ):
        tsv.write("doc\tsrc\tref\thyp\n")
        for i in range(SEGMENTS):
            doc, line = (
                f"doc{i // 20}",
                f"Sentence {i} has a tail of words à la façon de {i}, as long as news text often is.",
            )
            text.write(line + "\n")
            ids.write(doc + "\n")
            tsv.write(f"{doc}\t{line}\t{line}\t{line}\n")
            jsonl.write(json.dumps({"doc": doc, "src": line, "ref": line, "hyp": line}, ensure_ascii=False) + "\n")


def child(folder: Path, format: str) -> None:
    from wholetext.io import LineFiles, read

    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    text = folder / "text.txt"
    lines = LineFiles(src=text, refs=[text], hyps=[text], docs=folder / "ids.txt")
    began = time.process_time()
    loaded = read(lines if format == "lines" else folder / f"corpus.{format}")
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - base
    texts = sum(sys.getsizeof(t) for doc in loaded.corpus.docs for side in (doc.src, *doc.refs.values()) for t in side)
    texts += sum(sys.getsizeof(t) for segments in loaded.outputs[0].docs.values() for t in segments)
    print(f"| {format} | {seconds:.1f} | {peak:.0f} | {texts / 1e6:.0f} |")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        print("| | s | peak MB | MB of text |\n|---|---|---|---|", flush=True)
        for format in ("lines", "tsv", "jsonl"):
            subprocess.run([sys.executable, __file__, name, format], check=True)


if __name__ == "__main__":
    child(Path(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else main()
