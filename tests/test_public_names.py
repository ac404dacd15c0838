"""The package's names stay what they are promised to be, whichever modules were imported before."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import wholetext as wt
from wholetext import errors
from wholetext.cli.main import VERBS

ROOT = Path(__file__).resolve().parent.parent

# what is promised: adding a name is a decision, taking one away breaks programs
PUBLIC = [
    "Backend", "Comparison", "Corpus", "Document", "EvalSet", "Excerpt", "Fit", "FloatArray", "Judgments", "LineFiles",
    "Loaded", "Metric", "Note", "Options", "Output", "Request", "Results", "Row", "Runtime", "Scores", "Signature",
    "Significance", "WholetextError", "WholetextWarning", "__version__", "compare", "default_metrics", "explain",
    "from_texts", "gate", "list_metrics", "mean_stats", "open_run", "plan", "plot", "read", "report", "score",
    "sweep", "write",
]  # fmt: skip
ERRORS = [name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)]
PACKAGES = [wt.alignment, wt.annotation, wt.integrations, wt.judges, wt.meta, wt.models, wt.pick, wt.ranking,
            wt.reproduce,
            wt.scoring,
            wt.serving, wt.stress, wt.terms, wt.training]  # fmt: skip


def test_the_promised_names() -> None:
    assert dir(wt) == wt.__all__ == PUBLIC and len(PUBLIC) <= 40


@pytest.mark.parametrize("package", [wt, *PACKAGES], ids=lambda package: package.__name__)
def test_names_are_the_objects_of_that_name_and_editors_see_them(package: ModuleType) -> None:
    """Each name is in the table used at run time and in the imports that type checkers read."""
    for _ in range(2):  # a module of the same name, imported on the way, does not replace it
        for name in set(package.__all__) - {"__version__", "FloatArray"}:
            loaded = getattr(package, name)
            assert loaded.__name__ == name and loaded.__doc__ and not isinstance(loaded, ModuleType)
    stub = Path(f"{package.__file__}i")
    tree = ast.parse((stub if stub.exists() else stub.with_suffix(".py")).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "wholetext"]
    seen = {str(alias.asname): str(node.module) for node in imports for alias in node.names if alias.asname}
    assert sorted(seen) == package.__all__
    for name, module in seen.items():
        assert getattr(importlib.import_module(module), name) is getattr(package, name), name


@pytest.mark.slow
def test_a_strict_type_checker_sees_every_name(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    names = [f"wt.{name}" for name in PUBLIC]
    names += [f"wt.{package.__name__.partition('.')[2]}.{name}" for package in PACKAGES for name in package.__all__]
    program.write_text("import wholetext as wt\n" + "".join(f"{name}\n" for name in names))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_page_of_python_lists_every_name() -> None:
    listed = re.findall(r"^- `(\w+)", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    names = {*PUBLIC, *(name for package in PACKAGES for name in package.__all__)} - {"__version__", "FloatArray"}
    assert sorted(listed) == sorted({*names, *ERRORS})


def test_every_verb_has_a_public_function() -> None:
    """The table of the page names a function for every verb, and every function of the table is public."""
    rows = re.findall(r"^\| ?(`.+?`) ?\| ?(.+?) ?\|$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    verbs = {verb for row, _ in rows for verb in re.findall("`([a-z ]+?)(?: --[a-z]+)?`", row)}
    functions = {name for _, row in rows for name in re.findall("`(?:[a-z]+\\.)?([A-Za-z_]+)`", row)}
    assert verbs | {"demo", "help"} == {*VERBS}
    assert functions <= {*PUBLIC, *(name for package in PACKAGES for name in package.__all__)}


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = wt.scores
