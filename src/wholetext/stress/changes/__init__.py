"""The built-in changes: consistency, relations between sentences, structure, controls."""
