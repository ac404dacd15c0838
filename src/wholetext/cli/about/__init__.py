"""Verbs that tell what is there: metrics, models, cache."""
