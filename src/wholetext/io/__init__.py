"""Reading and writing corpora, outputs and scores: one format per file."""
