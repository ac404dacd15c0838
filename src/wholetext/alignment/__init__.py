"""Sentence splitting, and alignment of output that has other segments than its document."""
