"""Executors: where work is computed."""
