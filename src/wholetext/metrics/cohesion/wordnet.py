"""WordNet where its data is present (through nltk, never downloaded): which words share a meaning."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def version() -> str:
    """The version of the WordNet on this machine, ``""`` where there is none."""
    reader = _reader()
    return str(reader.get_version()) if reader is not None else ""


def synonym_groups(lemmas: Iterable[str]) -> list[tuple[str, ...]]:
    """Lemmas in groups: two belong together when they share a synset, directly or over others."""
    reader = _reader()
    parent = {lemma: lemma for lemma in lemmas}

    def root(lemma: str) -> str:
        while parent[lemma] != lemma:
            parent[lemma] = parent[parent[lemma]]
            lemma = parent[lemma]
        return lemma

    first: dict[str, str] = {}  # synset → the first lemma that has it
    for lemma in list(parent):
        for synset in reader.synsets(lemma) if reader is not None else ():
            other = first.setdefault(synset.name(), lemma)
            parent[root(lemma)] = root(other)
    groups: dict[str, list[str]] = {}
    for lemma in parent:
        groups.setdefault(root(lemma), []).append(lemma)
    return [tuple(group) for group in groups.values()]


@lru_cache(maxsize=1)
def _reader() -> Any:
    """nltk's reader, or None without nltk or without the data."""
    try:
        from nltk.corpus import wordnet

        wordnet.ensure_loaded()
    except (ImportError, LookupError):
        return None
    return wordnet
