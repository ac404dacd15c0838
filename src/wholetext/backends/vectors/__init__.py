"""Vectors of texts: of tokens in context, of single words, of sentences."""
