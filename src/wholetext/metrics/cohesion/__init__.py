"""Cohesion metrics: rc, lc, entity and lexical graphs, lexical chains, freq and conn."""
