"""A sample of format flags to be read by a person: studies/format-flags.md has the verdicts.

    python studies/sample_flags.py DATA [--size 200] [--seed 17]

DATA holds ``wmt26.outputs`` (no sources: only the checks that need none) and ``evalsets`` (wmt21.news, wmt22.da and
wmt21.tedtalks: system outputs with their sources, references not used). The sample has every hit of the WMT26 files, up
to ``--size``; the rest is drawn from the test sets, kinds in turn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from wholetext.flags.degenerate import Flag
from wholetext.flags.formats import WORDS, flags
from wholetext.io import read
from wholetext.types import Corpus, Document, Output

MARK = "_###_"


@dataclass(frozen=True)
class Hit:
    """A flag and the texts it is about."""

    test_set: str
    system: str
    flag: Flag
    src: str
    hyp: str

    @property
    def name(self) -> str:
        segment = "" if self.flag.segment is None else f" {self.flag.segment + 1}"
        return f"{self.test_set} {self.system} {(self.flag.doc or '').split(MARK)[-1]}{segment} {self.flag.kind}"


def wmt26(folder: Path) -> Iterator[tuple[str, Corpus, Output]]:
    """One corpus a file and language pair; a document is one segment, as submitted."""
    for path in sorted((folder / "wmt26.outputs").glob("*.jsonl")):
        pairs: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            source, target = row["doc_id"].split(MARK)[2:4]
            pairs[source, target][row["doc_id"]] = row["hypothesis"]
        for langs, texts in pairs.items():
            corpus = Corpus("wmt26", langs, tuple(Document(doc, None) for doc in texts))
            yield f"wmt26 {langs[1]}", corpus, Output(path.stem, {doc: (text,) for doc, text in texts.items()})


def evalsets(folder: Path) -> Iterator[tuple[str, Corpus, Output]]:
    for test_set in ("wmt21.news", "wmt22.da", "wmt21.tedtalks"):
        for source in sorted((folder / "evalsets" / test_set / "sources").glob("*.txt")):
            pair = source.name.split(".")[0]
            loaded = read(folder / "evalsets" / test_set, langs=pair)
            blind = replace(loaded.corpus, docs=tuple(replace(doc, refs={}) for doc in loaded.corpus.docs))
            for output in loaded.outputs:
                if not output.system.startswith("ref") and (output.system, pair) != ("AIST", "ja-en"):  # no language
                    yield f"{test_set} {pair}", blind, output


def hits(runs: Iterator[tuple[str, Corpus, Output]]) -> list[Hit]:
    found = []
    for name, corpus, output in runs:
        sources = {doc.id: doc.src for doc in corpus.docs}
        for flag in flags(corpus, output):
            if flag.kind in WORDS:
                part = slice(None) if flag.segment is None else slice(flag.segment, flag.segment + 1)
                src, hyp = ("\n".join((side or ())[part]) for side in (sources[flag.doc], output.docs[flag.doc]))
                found.append(Hit(name, output.system, flag, src, hyp))
    return found


def sample(found: list[Hit], size: int, draw: random.Random) -> list[Hit]:
    """Kinds in turn, so that rare ones are all read; distinct faults first, as systems make the same ones."""
    by_kind: dict[str, list[Hit]] = defaultdict(list)
    for hit in draw.sample(found, len(found)):
        by_kind[hit.flag.kind].append(hit)
    chosen: list[Hit] = []
    while len(chosen) < size and any(by_kind.values()):
        for kind in sorted(by_kind):
            if by_kind[kind] and len(chosen) < size:
                chosen.append(by_kind[kind].pop())
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    new, old = hits(wmt26(given.data)), hits(evalsets(given.data))
    for name, found in (("WMT26", new), ("test sets", old)):
        print(f"{name}:", dict(Counter(hit.flag.kind for hit in found)))
    chosen = sample(new, given.size, draw)
    for number, hit in enumerate([*chosen, *sample(old, max(0, given.size - len(chosen)), draw)], 1):
        print(f"\n{number}. {hit.name}: {hit.flag.note}\n   SRC {hit.src}\n   HYP {hit.hyp}")


if __name__ == "__main__":
    main()
