"""Flags: output that looks degenerate, wrong or misplaced, found without a model."""
