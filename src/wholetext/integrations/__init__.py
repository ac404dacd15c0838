"""Scores sent to experiment trackers."""
