"""Verbs that score texts and show scores."""
