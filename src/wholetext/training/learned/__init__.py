"""Metrics that ``wholetext train`` makes: folders of a configuration and trained tensors."""
