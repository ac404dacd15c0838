"""Catalogue entries of the bundled metrics, by the base model that each reads with."""

from __future__ import annotations

from collections.abc import Mapping

from wholetext.models.catalogue import Entry

ENTRIES: Mapping[str, Entry] = {
    "minilm": Entry(
        "wt-mini",
        ("wt-mini", "doc-wt-mini", "wt-mini-penalty"),
        "apache-2.0",
        1e-4,
        about="trained here, English; part of wholetext, reads with minilm",
    ),
}
