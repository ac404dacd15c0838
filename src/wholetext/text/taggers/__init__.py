"""Taggers: words, lemmas, tags, entities and sentences of a text; one tool per file."""
