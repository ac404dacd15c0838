"""Documents that are tagged by hand, so that tests of changes depend on no tagger."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from wholetext.stress.change import TaggedText
from wholetext.text.taggers.analysis import Analysis, Entity, Token

Tagged = Callable[..., TaggedText]


def analysed(tagged: str, persons: Sequence[str], labels: dict[str, str], glue: str) -> tuple[str, Analysis]:
    """``He/PRP left/VBD/leave ./.`` → the segment and its analysis; a word without a tag has none."""
    segment, tokens = "", []
    for part in tagged.split():
        word, tag, lemma = (*part.split("/"), "", "")[:3] if "/" in part else (part, "", "")
        word = word.replace("_", " ")
        attached = not segment or tag in (".", ",", "POS") or word in ("n't", "-")
        segment += "" if attached else glue
        pos = "PROPN" if tag.startswith("NNP") else ""
        tokens.append(Token(word, lemma or word.lower(), tag, pos, "", len(segment), len(segment) + len(word)))
        segment += word
    entities = [Entity(name, labels.get(name, "PERSON"), at, at + len(name)) for name in persons
                if (at := segment.find(name)) >= 0]
    return segment, Analysis(tuple(tokens), tuple(entities), ((0, len(segment)),))


@pytest.fixture
def tagged() -> Tagged:
    """A function from hand-tagged segments to a document; ``persons`` are its entities, ``labels`` their labels."""

    def made(*segments: str, lang: str = "en", persons: Sequence[str] = (), **labels: str) -> TaggedText:
        glue = "" if lang == "zh" else " "
        found = [analysed(one, persons, labels, glue) for one in segments]
        return TaggedText("doc", lang, tuple(text for text, _ in found), tuple(one for _, one in found), (), glue)

    return made
