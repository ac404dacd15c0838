"""Locating, downloading and verifying models."""
