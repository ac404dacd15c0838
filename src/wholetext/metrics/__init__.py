"""The metrics, one family per file; wholetext.registry knows their names."""
