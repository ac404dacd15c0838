"""Texts for tests of judges: a piece of the demo corpus, or segments that can be told apart in a prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from wholetext.demo import load
from wholetext.types import Corpus, Document, Output


def demo_piece(doc: str, segments: int | None = None, systems: tuple[str, ...] = ("coherent", "literal")
               ) -> tuple[Corpus, list[Output]]:
    """The beginning of a document of the demo corpus, as some of its systems translated it."""
    corpus, outputs = load("de-en")
    (found,) = [one for one in corpus.docs if one.id == doc]
    assert found.src is not None
    short = Document(doc, found.src[:segments], {name: text[:segments] for name, text in found.refs.items()})
    kept = [Output(one.system, {doc: one.docs[doc][:segments]}) for one in outputs if one.system in systems]
    return Corpus("demo-piece", corpus.langs, (short,)), kept


def numbered(documents: int, segments: int, systems: int = 1) -> tuple[Corpus, list[Output]]:
    """Segments with a name of their own: ``s0d1n2`` is system 0, document 1, segment 2."""
    docs = [Document(f"d{d}", [f"Satz d{d}n{n}." for n in range(segments)]) for d in range(documents)]
    outputs = [
        Output(f"s{s}", {f"d{d}": [f"Sentence s{s}d{d}n{n}." for n in range(segments)] for d in range(documents)})
        for s in range(systems)
    ]
    return Corpus("numbered", ("de", "en"), tuple(docs)), outputs


def names(body: Mapping[str, Any]) -> list[str]:
    """The numbered segments of translations that a request shows, in order."""
    first = next(message["content"] for message in body["messages"][::-1]
                 if message["role"] == "user" and "<translation" in message["content"])
    return re.findall(r"s\d+d\d+n\d+", first)
