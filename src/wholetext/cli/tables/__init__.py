"""Results as people and programs read them: tables, JSON, TSV, LaTeX."""
