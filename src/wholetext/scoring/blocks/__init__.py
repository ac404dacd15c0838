"""Blocks of documents: what is asked of a metric, and how it is measured on an executor."""
