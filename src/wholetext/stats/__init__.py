"""Statistics on arrays: resampling by document, permutation, correlation, ties, rank clusters. numpy only."""
