"""Verbs that open a connection to the outside."""
