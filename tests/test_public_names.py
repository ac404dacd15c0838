"""The package's names stay what they are promised to be, whichever modules were imported before."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import wholetext as wt

# what is promised: adding a name is a decision, taking one away breaks programs
PUBLIC = [
    "Backend", "Comparison", "Corpus", "Document", "Excerpt", "Fit", "FloatArray", "Judgments", "LineFiles", "Metric",
    "Options", "Output", "Request", "Results", "Row", "Runtime", "Scores", "Signature", "WholetextError",
    "WholetextWarning", "__version__", "compare", "evaluate", "list_metrics", "mean_stats", "open_run", "read", "score",
    "score_texts", "write_run",
]  # fmt: skip


def test_functions_are_not_replaced_by_modules_of_the_same_name() -> None:
    for _ in range(2):
        assert wt.score_texts(["a b c"], refs=["a b c"], metric="chrf").score == 100.0
        importlib.import_module("wholetext.metrics.surface")
        assert not isinstance(wt.evaluate, ModuleType) and "chrf" in wt.list_metrics()
    for module in pkgutil.iter_modules(wt.__path__):
        if module.name not in ("backends", "reporting", "training", "__main__"):
            importlib.import_module(f"wholetext.{module.name}")
    for name in wt.__all__:
        assert not isinstance(getattr(wt, name), ModuleType), name


def test_every_public_name_is_listed() -> None:
    assert dir(wt) == sorted(wt.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"__version__", "FloatArray"}))
def test_every_public_name_is_the_object_of_that_name(name: str) -> None:
    """Names are loaded from a table of modules: an entry that is wrong or missing would show only when it is used."""
    found = getattr(wt, name)
    assert found.__name__ == name and found.__doc__
    assert found.__module__.startswith("wholetext.")


def test_editors_see_the_names_that_are_loaded() -> None:
    """Type checkers and editors read the imports under TYPE_CHECKING; at run time the table of modules is used."""
    tree = ast.parse(Path(wt.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: line.module for line in block.body if isinstance(line, ast.ImportFrom) for alias in line.names}
    assert sorted([*seen, "__version__"]) == sorted(PUBLIC)
    for name, module in seen.items():
        assert getattr(importlib.import_module(str(module)), name) is getattr(wt, name), name


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = wt.scores


def test_modules_of_metrics_can_be_imported_by_name() -> None:
    import wholetext.metrics.surface as surface

    assert surface.Bleu is wt.list_metrics()["bleu"]


@pytest.mark.parametrize(("old", "new"), [("Run", "Runtime"), ("View", "Excerpt")])
def test_names_of_the_first_interface_still_work_and_warn(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"wholetext.{old} is now wholetext.{new}"):
        assert getattr(wt, old) is getattr(wt, new)
