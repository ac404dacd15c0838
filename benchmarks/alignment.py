"""How well outputs are lined up: WMT 2021 outputs with sentences merged, split, dropped and added, then aligned.

    python benchmarks/alignment.py DATA      DATA holds evalsets/wmt21.news

Prints, against the source and against a reference: F1 of segment–sentence links, precision and recall of left-out
segments, and F1 of the links of the untouched output. The constants of text/alignment.py were chosen on the first
three pairs (first system); the others, with another system, were not looked at for that.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from wholetext.alignment.alignment import align
from wholetext.alignment.realign import expected_ratio
from wholetext.io import read

CHOSEN_ON, HELD_OUT = ("de-en", "ru-en", "zh-en"), ("cs-en", "ja-en", "is-en", "en-de", "en-ru")
Links = set[tuple[int, int]]


def disturb(segments: tuple[str, ...], rng: random.Random, pool: list[str]) -> tuple[list[str], Links]:
    """3 % dropped, 3 % added, 15 % merged with the one before, 12 % split; and which sentence is from which segment."""
    out: list[tuple[str, set[int]]] = []
    for i, text in enumerate(segments):
        if not text.strip() or rng.random() < 0.03:
            continue
        if rng.random() < 0.03:
            out.append((rng.choice(pool), set()))
        chance = rng.random()
        if out and out[-1][1] and chance < 0.15:
            out[-1] = (f"{out[-1][0]} {text}", out[-1][1] | {i})
            continue
        at = text.find(" ", len(text) // 3 + rng.randrange(max(1, len(text) // 3)))
        parts = [text[:at], text[at + 1 :]] if chance < 0.27 and len(text) > 40 and at > 0 else [text]
        out += [(part, {i}) for part in parts]
    return [text for text, _ in out], {(i, j) for j, (_, origins) in enumerate(out) for i in origins}


def f1(hits: int, found: int, wanted: int) -> float:
    return 2 * hits / (found + wanted) if hits else 0.0


def measure(folder: Path, pair: str, to: str, system: int) -> list[float]:
    loaded = read(folder, langs=pair)
    output, rng = loaded.outputs[system], random.Random(5)
    pool = [text for texts in output.docs.values() for text in texts]
    langs = pair.split("-")
    counts = [[0, 0, 0] for _ in range(3)]  # links, left out, links untouched: hits, found, wanted
    for doc in loaded.corpus.docs:
        fixed = doc.src if to == "source" else doc.refs["refA"]
        assert fixed is not None
        for free, links, touched in (
            (*disturb(output.docs[doc.id], rng, pool), True),
            (list(output.docs[doc.id]), {(i, i) for i in range(len(fixed))}, False),
        ):
            ratio = expected_ratio([fixed], [free], (langs[0] if to == "source" else langs[1], langs[1]))
            found = {(i, j) for bead in align(fixed, free, ratio=ratio)
                     for i in range(*bead.fixed) for j in range(*bead.free)}
            gone, lost = ({*range(len(fixed))} - {i for i, _ in side} for side in (links, found))
            rows = [(0, links, found), (1, gone, lost)] if touched else [(2, links, found)]
            for row, wanted, got in rows:
                for k, size in enumerate((len(wanted & got), len(got), len(wanted))):
                    counts[row][k] += size
    (hits, got, wanted), dropped, untouched = counts
    return [f1(hits, got, wanted), dropped[0] / max(1, dropped[1]), dropped[0] / max(1, dropped[2]), f1(*untouched)]


def main() -> None:
    folder = Path(sys.argv[1]) / "evalsets/wmt21.news"
    print("| pair | to | links F1 | left out P | left out R | untouched F1 |\n|---|---|---|---|---|---|")
    for pair in (*CHOSEN_ON, *HELD_OUT):
        for to in ("source", "reference"):
            numbers = measure(folder, pair, to, 0 if pair in CHOSEN_ON else 2)
            print(f"| {pair} | {to} | {' | '.join(f'{value:.3f}' for value in numbers)} |", flush=True)


if __name__ == "__main__":
    main()
