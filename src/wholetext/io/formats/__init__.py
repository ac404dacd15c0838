"""File formats, one per file."""
