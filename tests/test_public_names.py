"""The package's names stay what they are promised to be, whichever modules were imported before."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import wholetext as wt


def test_functions_are_not_replaced_by_modules_of_the_same_name() -> None:
    for _ in range(2):
        assert wt.score_texts(["a b c"], refs=["a b c"], metric="chrf").score == 100.0
        importlib.import_module("wholetext.metrics.surface")
        assert not isinstance(wt.evaluate, ModuleType) and "chrf" in wt.metrics()
    for module in pkgutil.iter_modules(wt.__path__):
        if module.name not in ("backends", "report", "train", "__main__"):
            importlib.import_module(f"wholetext.{module.name}")
    for name in wt.__all__:
        assert not isinstance(getattr(wt, name), ModuleType), name


def test_every_public_name_is_listed() -> None:
    assert dir(wt) == sorted(wt.__all__)
