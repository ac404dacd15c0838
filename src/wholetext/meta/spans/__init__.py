"""Error spans and error-free segments: what metrics and raters mark in outputs, and how well it agrees."""
