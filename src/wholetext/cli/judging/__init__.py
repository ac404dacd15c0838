"""Verbs that compare metrics with people, and train them."""
