"""Which sentences a document has, and in which order."""
