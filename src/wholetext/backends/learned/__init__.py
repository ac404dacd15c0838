"""Metrics that ``wholetext train`` makes: a folder with a plain configuration and the tensors that were trained."""
