"""How well outputs are lined up: WMT 2021 outputs with sentences merged, split, dropped, added and moved, then aligned.

    python benchmarks/alignment.py DATA [--in-order] [PAIR …]
    python benchmarks/alignment.py DATA --speed [PAIR …]
                    DATA holds evalsets/wmt21.news; `pip install mweralign sentencepiece` adds the peer

Of every output, 5 % of the sentences are dropped, 3 % added (from other documents), 15 % stand in one line with the one
before, 12 % are broken into two lines at a random word, and in each document of six or more segments one paragraph of
two to four is moved elsewhere (not with --in-order). Outputs are lined up as `wholetext align --realign` does it.

Links: a piece of text is what one line has of one segment. It is linked with the segment that gets most of its
characters; F1 counts added pieces that are linked, and pieces that are not, as errors. Left out: segments without text.
chrF: of the corpus, beside the score of the same pieces put in their segments by hand, and beside that of the
undisturbed output (there without the segments that were left out, `--nulls drop`).
The constants of alignment/beads.py were chosen with other random seeds: those for vectors on CHOSEN_ON, those for words
on cs-en and is-en against the source (first system), those of alignment/lexicon.py on cs-en, is-en and ha-en (the first
two systems). HELD_OUT are measured with another system.
--speed: documents of 500 sentences (the first of a pair, as one document), and of 5,000 that repeat every 1,000,
disturbed in the same way; all sentences are encoded anew.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from wholetext.alignment import vectors
from wholetext.alignment.realign import AlignOptions, realign
from wholetext.io import read
from wholetext.types import Corpus, Document, Output

CHOSEN_ON, HELD_OUT = ("de-en", "zh-en"), ("ja-en", "ru-en", "cs-en", "is-en", "ha-en", "en-de", "en-ru")
PROMISED = ("de-en", "zh-en", "ja-en", "ru-en")
Piece = tuple[str, int]  # text, the segment it is from (-1: added)
Ranges = list[list[tuple[int, int]]]  # of each segment: stretches of the output, counted without blanks


@dataclass
class Case:
    """A document, the output, and what was made of the output."""

    doc: Document
    whole: tuple[str, ...]
    lines: list[list[Piece]]

    @property
    def text(self) -> tuple[str, ...]:
        return tuple(" ".join(text for text, _ in line) for line in self.lines)

    @property
    def pieces(self) -> list[Piece]:
        return [piece for line in self.lines for piece in line]

    def by_hand(self, added: bool = True) -> tuple[str, ...]:
        """The pieces in their segments; what was ``added``, with the piece before or nowhere."""
        found: list[list[str]] = [[] for _ in self.whole]
        before = 0
        for text, at in (piece for piece in self.pieces if added or piece[1] >= 0):
            before = before if at < 0 else at
            found[before].append(text)
        return tuple(map(" ".join, found))


def moved(count: int, rng: random.Random) -> list[int]:
    """The order of segments after one paragraph was moved."""
    order = list(range(count))
    if count < 6:
        return order
    size = rng.randint(2, 4)
    start = rng.randrange(count - size + 1)
    block, rest = order[start : start + size], order[:start] + order[start + size :]
    at = rng.choice([place for place in range(len(rest) + 1) if place != start])
    return rest[:at] + block + rest[at:]


def disturb(segments: Sequence[str], rng: random.Random, pool: Sequence[str], in_order: bool) -> list[list[Piece]]:
    out: list[list[Piece]] = []
    for i in range(len(segments)) if in_order else moved(len(segments), rng):
        text = segments[i]
        if not text.strip() or rng.random() < 0.05:
            continue
        if rng.random() < 0.03:
            out.append([(rng.choice(pool), -1)])
        chance = rng.random()
        if out and out[-1][-1][1] == i - 1 and chance < 0.15:
            out[-1].append((text, i))
            continue
        at = text.find(" ", len(text) // 3 + rng.randrange(max(1, len(text) // 3)))
        parts = [text[:at], text[at + 1 :]] if chance < 0.27 and len(text) > 40 and at > 0 else [text]
        out += [[(part, i)] for part in parts]
    return out or [[(segments[0], 0)]]


def cases(folder: Path, pair: str, system: int, seed: int, in_order: bool = False) -> tuple[Corpus, list[Case]]:
    loaded, rng = read(folder, langs=pair), random.Random(seed)
    output = loaded.outputs[system]
    pool = [text for texts in output.docs.values() for text in texts if text.strip()]
    return loaded.corpus, [Case(doc, output.docs[doc.id], disturb(output.docs[doc.id], rng, pool, in_order))
                           for doc in loaded.corpus.docs]


def solid(text: str) -> int:
    return sum(not char.isspace() for char in text)


def counts(case: Case, ranges: Ranges) -> np.ndarray:
    """(2, 3) links and left-out segments: right, found, wanted."""
    ends = [0, *accumulate(solid(text) for text, _ in case.pieces)]
    owner = np.full(ends[-1], -1)
    for at, some in enumerate(ranges):
        for start, stop in some:
            owner[start:stop] = at
    right = found = 0
    for (_, true), start, stop in zip(case.pieces, ends, ends[1:]):
        values, sizes = np.unique(owner[start:stop], return_counts=True)
        best = int(values[sizes.argmax()]) if len(values) else -1
        found += best >= 0
        right += best >= 0 and best == true
    there = {at for _, at in case.pieces}
    gone = {at for at, text in enumerate(case.whole) if text.strip() and at not in there}
    empty = {at for at, some in enumerate(ranges) if not some and case.whole[at].strip()}
    wanted = sum(at >= 0 for _, at in case.pieces)
    return np.array([[right, found, wanted], [len(gone & empty), len(empty), len(gone)]])


def ours(corpus: Corpus, some: Sequence[Case], to: str) -> tuple[Output, list[Ranges], tuple[float, float]]:
    """The segments, where the text went, and seconds of the processor and of the clock."""
    given = Output("x", {case.doc.id: case.text for case in some})
    begin = time.process_time(), time.perf_counter()
    output, done = realign(corpus, given, AlignOptions(to=to, every=True))
    spent = time.process_time() - begin[0], time.perf_counter() - begin[1]
    ranges: list[Ranges] = []
    for one in done:
        before = np.cumsum([0, *(not char.isspace() for char in " ".join(one.sentences))])
        ranges.append([[(int(before[a]), int(before[b])) for a, b in spans] for spans in one.spans]
                      if one.spans else in_turn(one.segments))  # fmt: skip
    return output, ranges, spent


def in_turn(segments: Sequence[str]) -> Ranges:
    ends = [0, *accumulate(map(solid, segments))]
    return [[(a, b)] if a < b else [] for a, b in pairwise(ends)]


def mweralign(some: Sequence[Case], reference: str, model: Path) -> tuple[list[Ranges], list[tuple[str, ...]]]:
    """Its command, with documents and a SentencePiece model that changes no characters, as it recommends."""
    with tempfile.TemporaryDirectory() as folder:
        ref, hyp, ids, out = (Path(folder) / name for name in ("ref", "hyp", "ids", "out"))
        ref.write_text("".join(f"{line}\n" for case in some for line in case.doc.refs[reference]), "utf-8")
        hyp.write_text("".join(" ".join(case.text) + "\n" for case in some), "utf-8")
        ids.write_text("".join(f"{at}\n" for at, case in enumerate(some) for _ in case.whole), "utf-8")
        subprocess.run([sys.executable, "-m", "mweralign.mweralign", "-r", ref, "-t", hyp, "-d", ids, "-o", out, "-m",
                        model], check=True, capture_output=True)  # fmt: skip
        lines = iter(out.read_text("utf-8").splitlines())
    texts = [tuple(next(lines) for _ in case.whole) for case in some]
    return [in_turn(text) for text in texts], texts


def pieces_model(texts: Iterable[str], folder: str) -> Path | None:
    """A SentencePiece model of these texts that normalises nothing; None without the packages."""
    try:
        import mweralign as _  # noqa: F401
        import sentencepiece
    except ImportError:
        return None
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=f"{folder}/pieces", vocab_size=8000, character_coverage=1.0,
        normalization_rule_name="identity", minloglevel=2, hard_vocab_limit=False)
    return Path(folder) / "pieces.model"


def chrf(some: Sequence[Case], texts: Sequence[Sequence[str]], reference: str, drop: bool = False) -> float:
    rows = [(text, ref) for case, hyp in zip(some, texts) for text, ref in zip(hyp, case.doc.refs[reference])
            if text or not drop]
    return float(CHRF().corpus_score([text for text, _ in rows], [[ref for _, ref in rows]]).score)


def row(name: str, some: Sequence[Case], ranges: Sequence[Ranges], texts: Sequence[Sequence[str]], dropped: float,
        seconds: float) -> str:  # fmt: skip
    links, left = sum(counts(case, one) for case, one in zip(some, ranges))
    f1, p, r = 2 * links[0] / (links[1] + links[2]), left[0] / max(1, left[1]), left[0] / max(1, left[2])
    by_hand, whole = chrf(some, [case.by_hand() for case in some], "refA"), chrf(some, [c.whole for c in some], "refA")
    return (f"| {name} | {f1:.3f} | {p:.3f} | {r:.3f} | {chrf(some, texts, 'refA') - by_hand:+.2f} | "
            f"{dropped - whole:+.2f} | {seconds:.1f} |")


def one_document(folder: Path, pair: str) -> tuple[Corpus, Case]:
    """The first 500 segments of a pair as one document."""
    corpus, some = cases(folder, pair, 0, seed=5)
    sides = [[text for case in some for text in side(case)][:500]
             for side in (lambda case: case.doc.src, lambda case: case.doc.refs["refA"], lambda case: case.whole)]
    return _long(corpus.langs, *sides)


def _long(langs: tuple[str, str], src: Sequence[str], ref: Sequence[str], hyp: Sequence[str]) -> tuple[Corpus, Case]:
    doc = Document("long", tuple(src), {"refA": tuple(ref)})
    return Corpus("long", langs, (doc,)), Case(doc, tuple(hyp), disturb(hyp, random.Random(5), hyp, in_order=False))


def speed(folder: Path, pairs: Sequence[str]) -> None:
    """Seconds of the processor and of the clock; without loading the model."""
    numbered = [f"Sentence number {i} is about {i * i} things that nobody has seen." for i in range(1000)] * 5
    found = {pair: one_document(folder, pair) for pair in pairs}
    found["5,000 that repeat"] = _long(("de", "en"), numbered, numbered, numbered)
    ours(*_listed(_long(("de", "en"), *[["Ein Hund.", "Eine Katze."]] * 3)), "refA")  # loads the model
    print("| document, to | links F1 | s of processor | s of clock | memory, MB more |\n|---|---|---|---|---|")
    for name, pair in found.items():
        for to in ("refA", "source") if len(pair[1].whole) == 500 else ("refA",):
            vectors._encoded.cache_clear()
            memory = getrusage(RUSAGE_SELF).ru_maxrss
            _, ranges, spent = ours(*_listed(pair), to)
            more = (getrusage(RUSAGE_SELF).ru_maxrss - memory) / 1024
            links = counts(pair[1], ranges[0])[0]
            print(f"| {name}, {to} | {2 * links[0] / (links[1] + links[2]):.3f} | {spent[0]:.2f} | {spent[1]:.2f} | "
                  f"{more:.0f} |", flush=True)


def _listed(pair: tuple[Corpus, Case]) -> tuple[Corpus, list[Case]]:
    return pair[0], [pair[1]]


def main() -> None:
    folder = Path(sys.argv[1]) / "evalsets/wmt21.news"
    pairs = [name for name in sys.argv[2:] if not name.startswith("--")]
    if "--speed" in sys.argv:
        speed(folder, pairs or PROMISED)
        return
    pairs = pairs or [*CHOSEN_ON, *HELD_OUT]
    print("| pair, to | links F1 | left out P | left out R | chrF − by hand | chrF − undisturbed | s |")
    print("|---|---|---|---|---|---|---|")
    for pair in pairs:
        corpus, some = cases(folder, pair, 0 if pair in CHOSEN_ON else 2, seed=5, in_order="--in-order" in sys.argv)
        for to in ("refA", "source"):
            output, ranges, (seconds, _) = ours(corpus, some, to)
            texts = [output.docs[case.doc.id] for case in some]
            without = [output.nulls[case.doc.id].without_additions(output.docs[case.doc.id]) for case in some]
            dropped = chrf(some, without, "refA", drop=True)
            print(row(f"{pair}, {to}", some, ranges, texts, dropped, seconds), flush=True)
        exact = chrf(some, [case.by_hand(added=False) for case in some], "refA", drop=True)
        whole = chrf(some, [case.whole for case in some], "refA")
        print(f"| {pair}, by hand | 1 | 1 | 1 | 0 | {exact - whole:+.2f} | |", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            lines = [line for case in some for line in (*case.doc.refs["refA"], *case.whole)]
            if model := pieces_model(lines, scratch):
                begin = time.perf_counter()
                ranges, texts = mweralign(some, "refA", model)
                dropped = chrf(some, texts, "refA", drop=True)
                print(row(f"{pair}, mweralign", some, ranges, texts, dropped, time.perf_counter() - begin), flush=True)


if __name__ == "__main__":
    main()
