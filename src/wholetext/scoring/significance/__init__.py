"""Significance between systems: resampling, intervals, p-values, rank clusters, power."""
