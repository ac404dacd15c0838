"""Words of a language that the sentence vectors do not know, learned from the texts themselves."""

from __future__ import annotations

import random

import pytest

from wholetext.alignment.beads import Bead
from wholetext.alignment.lexicon import learn, support, translated
from wholetext.alignment.realign import AlignOptions, align
from wholetext.alignment.segments import Sentences
from wholetext.types import Corpus, Document, Output

WORDS = [a + b + c for a in ("ka", "lo", "mi", "su") for b in ("ra", "ne", "ti", "vo") for c in ("n", "s", "l")]


def translation(text: str) -> str:
    """Spell every word backwards: lengths stay, and no word is shared."""
    return " ".join(word[::-1] for word in text.rstrip(".").split()).capitalize() + "."


def documents(number: int, segments: int = 12) -> list[tuple[str, ...]]:
    rng = random.Random(4)
    return [
        tuple(" ".join(rng.sample(WORDS, 7)).capitalize() + "." for _ in range(segments)) for _ in range(number)
    ]


def outputs(sources: list[tuple[str, ...]]) -> tuple[Corpus, Output, dict[str, tuple[str, ...]]]:
    """One paragraph of each document is moved from its start to its end."""
    corpus = Corpus("c", ("is", "en"), tuple(Document(f"d{at}", source) for at, source in enumerate(sources)))
    texts = {doc.id: tuple(map(translation, doc.src or ())) for doc in corpus.docs}
    return corpus, Output("s", {doc: (*text[3:], *text[:3]) for doc, text in texts.items()}), texts


def test_model_1_finds_translations() -> None:
    pairs = [(source, translation(source)) for document in documents(20) for source in document]
    lexicon = learn(pairs)
    for word in WORDS:
        assert max(lexicon[word], key=lexicon[word].__getitem__) == word[::-1]
    assert learn([]) == {} and learn([("", "")]) == {}
    assert learn([("hapax once", "only here")]) == {}  # one occurrence is no evidence


def test_a_sentence_is_not_translated_by_its_own_bead() -> None:
    source = Sentences(("Lo ka 7.", *("Mi su.",) * 7), tuple(range(8)), 8)
    target = Sentences(("Ol ak 7.", *("Im us.",) * 7), tuple(range(8)), 8)
    beads = [Bead((at, at + 1), (at, at + 1)) for at in range(8)]
    (bags,) = translated([(source, target, beads)])
    assert bags[0] == {"lo": 1, "ka": 1, "7": 1}
    assert set(bags[1]) == {"im", "us"}
    assert support(source, target, beads[:1], bags) == len("Ol ak 7.")
    assert support(source, target, [Bead((1, 2), (0, 1))], bags) == 0
    assert translated([]) == []


def test_moved_paragraphs_of_an_unknown_language() -> None:
    corpus, output, texts = outputs(documents(20))
    options = AlignOptions(every=True)
    done = align(corpus, [output], options)
    right = sum(a == b for doc in texts for a, b in zip(done.outputs[0].docs[doc], texts[doc]))
    assert right >= 0.9 * 240  # no word is shared, and lengths are nearly equal
    assert not any(getattr(note, "kind", "") == "uncertain-alignment" for note in done.notes)
    plain = align(corpus, [output], AlignOptions(every=True, similarity="words")).outputs[0]
    assert sum(a == b for doc in texts for a, b in zip(plain.docs[doc], texts[doc])) < 0.5 * 240


def test_too_little_text_to_learn_from_is_noted() -> None:
    corpus, output, _ = outputs(documents(1))
    (note,) = [
        note for note in align(corpus, [output], AlignOptions(every=True)).notes
        if getattr(note, "kind", "") == "uncertain-alignment"
    ]  # fmt: skip
    assert note.startswith("the alignment is uncertain: words do not confirm the segment of much of the text (s ")
    assert "align to a reference" in note


@pytest.mark.parametrize("order", [1, -1])
def test_an_alignment_does_not_depend_on_other_systems(order: int) -> None:
    corpus, output, texts = outputs(documents(6))
    other = Output("t", {doc: text[:2] for doc, text in texts.items()})
    alone = align(corpus, [output]).outputs[0]
    together = align(corpus, [output, other][::order]).outputs
    assert next(item for item in together if item.system == "s") == alone
