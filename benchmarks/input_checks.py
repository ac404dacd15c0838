"""Checks of the input as a whole: how often they are wrong on real test sets, what they find in damaged copies.

    python benchmarks/input_checks.py DATA

DATA holds ``evalsets/``. Every pair of every set is checked as it is, with its references and without, and so is every
reference as an output; then outputs and language pairs are damaged in known ways.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wholetext.flags.input_checks import input_notes
from wholetext.io import read
from wholetext.types import Corpus, Output


def loaded(folder: Path) -> Iterator[tuple[str, Corpus, Sequence[Output]]]:
    for source in sorted((folder / "evalsets").glob("*/sources/*.txt")):
        pair = source.name.split(".")[0]
        found = read(source.parents[1], langs=pair)
        yield f"{source.parents[1].name} {pair}", found.corpus, found.outputs


def without_references(corpus: Corpus) -> Corpus:
    return replace(corpus, docs=tuple(replace(doc, refs={}) for doc in corpus.docs))


def swapped(corpus: Corpus, outputs: Sequence[Output]) -> list[str]:
    return input_notes(replace(corpus, langs=corpus.langs[::-1]), outputs)


def wrong(corpus: Corpus, outputs: Sequence[Output], side: int) -> list[str]:
    """The pair with another language, written in the same script, on one side."""
    langs = list(corpus.langs)
    others = {"en": "nl", "de": "nl", "cs": "hu", "ru": "bg", "uk": "ru", "zh": "ja", "ja": "zh"}
    langs[side] = others.get(langs[side], "fi")
    return input_notes(replace(corpus, langs=(langs[0], langs[1])), outputs)


def half_source(corpus: Corpus, output: Output) -> Output:
    """Every other document in the source language."""
    docs = {doc.id: (doc.src or ()) if i % 2 else output.docs[doc.id] for i, doc in enumerate(corpus.docs)}
    return Output(output.system, docs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    folder = parser.parse_args().data
    hits: Counter[tuple[str, bool]] = Counter()
    tries: Counter[tuple[str, bool]] = Counter()
    checked, alarms = 0, list[str]()

    def count(kind: str, blind: bool, found: bool) -> None:
        tries[kind, blind] += 1
        hits[kind, blind] += found

    for name, corpus, outputs in loaded(folder):
        for blind, base in ((False, corpus), (True, without_references(corpus))):
            start = time.perf_counter()
            notes = input_notes(base, outputs)
            checked += len(outputs)
            spent = time.perf_counter() - start
            alarms += [f"{name} ({len(outputs)} outputs, {spent:.2f} s): {note}" for note in notes]
            some = outputs[len(outputs) // 2 :][:1]
            for output in some:
                mixed = input_notes(base, [half_source(base, output)])
                count("every other document is the source", blind, any("mixes languages" in note for note in mixed))
            count("pair swapped", blind, any("swapped" in note for note in swapped(base, outputs)))
            for side in (0, 1):
                found = wrong(base, outputs, side)
                count("another language on one side", blind, any("the pair is" in note for note in found))
        for ref in corpus.references:
            blind_corpus = without_references(corpus)
            human = Output(ref, {doc.id: doc.refs[ref] for doc in corpus.docs})
            checked += 1
            alarms += [f"{name} human: {note}" for note in input_notes(blind_corpus, [human])]
    print(f"{checked} outputs checked as they are; alarms: {len(alarms)}")
    print("\n".join(alarms))
    print("| damage | found with references | found by the source alone |\n|---|---|---|")
    for kind in dict.fromkeys(kind for kind, _ in tries):
        cells = [f"{hits[kind, blind]} of {tries[kind, blind]}" for blind in (False, True)]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
