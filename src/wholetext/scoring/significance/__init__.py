"""Significance between systems: resampling by document, intervals, p-values, rank clusters, power. numpy only."""
