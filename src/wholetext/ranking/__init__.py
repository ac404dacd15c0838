"""One ranking of systems from many metrics."""
