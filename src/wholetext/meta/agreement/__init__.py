"""Agreement of metrics with people: correlation, pairwise accuracy, ties, permutation tests.

Numpy only.
"""
