"""Verbs of studies with tables of their own."""
