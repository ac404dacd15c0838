"""Flags for degenerate output: how often they fall on human translations, what they find, how long they take.

    python benchmarks/flags.py DATA [--segments 1000000]

DATA holds ``evalsets/`` (EvalSet folders with two references or more). Each reference is taken as an output and judged
by another one, then by the source alone. Then every tenth segment is damaged in a known way.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

from wholetext.flags.degenerate import Flag, Kind, degenerate, side_by_side
from wholetext.io import read
from wholetext.types import Corpus, Output

EVERY = 10
Damage = Callable[[Corpus, Output, str, int], str]


def flags(corpus: Corpus, output: Output) -> tuple[Flag, ...]:
    """The flags for degenerate output."""
    return degenerate(side_by_side(corpus, output))


def human(folder: Path) -> Iterator[tuple[str, Corpus, Output]]:
    """(name, corpus with one reference or none, another reference as output)."""
    for test_set in ("wmt21.news", "wmt22.da", "wmt21.tedtalks"):
        sources = sorted((folder / "evalsets" / test_set / "sources").glob("*.txt"))
        for pair in (source.name.split(".")[0] for source in sources):
            corpus = read(folder / "evalsets" / test_set, langs=pair).corpus
            for name in corpus.references:
                output = Output(name, {doc.id: doc.refs[name] for doc in corpus.docs})
                for other in (*corpus.references, None):
                    if other != name:
                        yield f"{test_set} {pair}", keep(corpus, other), output


def keep(corpus: Corpus, ref: str | None) -> Corpus:
    return replace(corpus, docs=tuple(replace(doc, refs={ref: doc.refs[ref]} if ref else {}) for doc in corpus.docs))


def french(folder: Path) -> Iterator[str]:
    """French text of about three sentences at a time."""
    lines = (folder / "contrastive" / "contrapro-large.en-fr.jsonl").read_text(encoding="utf-8").splitlines()
    targets = [json.loads(line)["target"] for line in lines]
    return (" ".join(targets[at : at + 3]) for at in range(0, len(targets), 3))


def damages(foreign: Iterator[str]) -> dict[str, Damage]:
    """What is done to a segment: (corpus, output, document, segment) → text."""

    def source(corpus: Corpus, output: Output, doc: str, at: int) -> str:
        found = next(each for each in corpus.docs if each.id == doc)
        return found.src[at] if found.src else ""

    def other_source(corpus: Corpus, output: Output, doc: str, at: int) -> str:
        number = [each.id for each in corpus.docs].index(doc)
        found = corpus.docs[(number + 7) % len(corpus.docs)]
        return found.src[at % len(found)] if found.src else ""

    def text(output: Output, doc: str, at: int) -> list[str]:
        return output.docs[doc][at].split()

    return {
        "empty": lambda c, o, d, i: "",
        "copied": source,
        "source language, other text": other_source,
        "French, other text": lambda c, o, d, i: next(foreign),
        "loop": lambda c, o, d, i: " ".join([*text(o, d, i), *(text(o, d, i)[-3:] * 5)]),
        "cut to a quarter": lambda c, o, d, i: " ".join(text(o, d, i)[: max(1, len(text(o, d, i)) // 4)]),
        "one text for all": lambda c, o, d, i: "I'm sorry, but I can't help with translating this text.",
    }


def on_people(folder: Path) -> None:
    """The share of human translations that are flagged: false alarms, or faults of the references."""
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    segments: Counter[bool] = Counter()
    for _, corpus, output in human(folder):
        judged = bool(corpus.references)
        counts[judged] += Counter(flag.kind for flag in flags(corpus, output) if flag.segment is not None)
        segments[judged] += sum(map(len, corpus.docs))
    kinds = get_args(Kind)
    print(f"| human translations judged by | segments | flagged | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 3)}")
    for judged, name in ((True, "another reference"), (False, "the source alone")):
        total = sum(counts[judged].values())
        each = " | ".join(str(counts[judged][kind]) for kind in kinds)
        print(f"| {name} | {segments[judged]} | {total} ({total / segments[judged]:.3%}) | {each} |")


def on_damage(folder: Path, pair: str) -> None:
    """The share of damaged segments that are flagged, as whatever kind."""
    corpus = read(folder / "evalsets" / "wmt21.news", langs=pair).corpus
    first, second = corpus.references[:2]
    corpus, output = keep(corpus, first), Output("x", {doc.id: doc.refs[second] for doc in corpus.docs})
    for name, damage in damages(french(folder)).items():
        chosen, docs, place = set(), {}, 0
        for doc in corpus.docs:
            segments = list(output.docs[doc.id])
            for at, segment in enumerate(segments):
                place += 1
                if place % EVERY == 0 and len(segment) >= 60:
                    segments[at] = damage(corpus, output, doc.id, at)
                    chosen.add((doc.id, at))
            docs[doc.id] = tuple(segments)
        found: dict[tuple[str | None, int | None], Flag] = {
            (flag.doc, flag.segment): flag for flag in flags(corpus, Output("x", docs)) if flag.segment is not None
        }
        kinds = Counter(found[at].kind for at in chosen if at in found)
        hit = sum(kinds.values())
        named = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        print(f"| {pair} | {name} | {len(chosen)} | {hit / len(chosen):.0%} | {named} |")


def on_size(folder: Path, segments: int) -> None:
    """Time for a large corpus, made of the de-en test set with a number on each line so that no two are equal."""
    corpus = keep(read(folder / "evalsets" / "wmt21.news", langs="de-en").corpus, "refA")
    second = read(folder / "evalsets" / "wmt21.news", langs="de-en").corpus
    docs, texts = [], {}
    total = sum(map(len, corpus.docs))
    for copy in range(segments // total):
        for doc, other in zip(corpus.docs, second.docs):
            name = f"{doc.id} {copy}"

            def marked(side: tuple[str, ...], copy: int = copy) -> tuple[str, ...]:
                return tuple(f"{text} {copy}" for text in side)

            docs.append(replace(doc, id=name, src=marked(doc.src or ()), refs={"refA": marked(doc.refs["refA"])}))
            texts[name] = marked(other.refs["refB"])
    large = replace(corpus, docs=tuple(docs))
    wall, cpu = time.perf_counter(), time.process_time()
    flags(large, Output("x", texts))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count = sum(map(len, docs))
    print(f"{count} segments: {wall:.1f} s, of one core {cpu:.1f} s ({count / cpu * 60 / 1e6:.1f} M segments a minute)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--segments", type=int, default=1_000_000)
    arguments = parser.parse_args()
    on_people(arguments.data)
    print("\n| pair | damage | segments | flagged | as |\n|---|---|---|---|---|")
    for pair in ("de-en", "zh-en"):
        on_damage(arguments.data, pair)
    print()
    on_size(arguments.data, arguments.segments)


if __name__ == "__main__":
    main()
