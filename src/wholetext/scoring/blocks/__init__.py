"""Blocks of documents: the requests of a metric, and their measurement on an executor."""
