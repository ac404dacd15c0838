"""The changes, one per file: consistency, relations between sentences, structure, controls."""
