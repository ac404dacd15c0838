"""Controlled changes of documents, and what metrics make of them: which metric sees which error."""
