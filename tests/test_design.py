"""docs/design.md says what is true: its rooms exist, its path of a call names functions that are there."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
SOURCE = ROOT / "src" / "wholetext"
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# called by no name in src: by libraries that look for them, by users and their tests
CALLED_FROM_OUTSIDE = {
    "_repr_html_": "IPython", "to_pandas": "users", "to_polars": "users", "check_metric": "tests of plug-ins",
    "check_backend": "tests of plug-ins", "write_scores": "users (docs/formats.md)",
    "forward": "torch.nn.Module", "on_end": "Starlette",
    "connection_made": "uvicorn", "on_headers_finished": "uvicorn", "on_response_complete": "uvicorn",
    "send_400_response": "uvicorn", "wholetext_scorer": "users of inspect_ai",
    "Wholetext": "users of evaluate", "_compute": "evaluate", "_info": "evaluate", "add_batch": "evaluate",
    "compute_metrics": "users of transformers", "compute_score": "eole, verl", "Reward": "users (docs/serve.md)",
}  # fmt: skip


def test_the_path_of_score_names_functions_that_are_there() -> None:
    path = DESIGN.split("### The path of `wholetext score`")[1].split("\n#")[0]
    steps = re.findall(r"^[0-9]+\. (.+)", path, re.M)
    assert 10 < len(steps) <= 15
    for step in steps:
        for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", step.split(": ")[0]):
            module, _, attribute = name.rpartition(".")
            if attribute[0].islower() and module.rpartition(".")[2][0].isupper():  # a method
                module, _, owner = module.rpartition(".")
                found = getattr(importlib.import_module(f"wholetext.{module}"), owner)
            else:
                found = importlib.import_module(f"wholetext.{module}")
            assert callable(getattr(found, attribute)), name


def test_every_room_is_in_the_tree() -> None:
    tree = DESIGN.split("## Core and slices")[1].split("```")[1]
    rooms = [path.parent.name for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    missing = [room for room in rooms if f"{room}/" not in tree]
    assert not missing


def test_the_layers_are_those_that_are_checked() -> None:
    contract = (ROOT / "pyproject.toml").read_text("utf-8").split('containers = ["wholetext"]')[1].split("]\n")[1]
    layers = re.findall(r'^  "(.+)",$', contract, re.M)
    said = DESIGN.split("May import, top to bottom only")[1].split(":\n", 1)[1].split(".\n")[0]
    assert " ".join(said.split()).split(" → ") == layers


def test_the_contract_on_heavy_libraries_covers_every_other_part() -> None:
    contract = (ROOT / "pyproject.toml").read_text("utf-8").split("torch, transformers and spaCy are imported by")[1]
    listed = re.findall(r'"wholetext\.(\w+)"', contract.split("forbidden_modules")[0])
    parts = {path.stem for path in SOURCE.glob("[a-z]*") if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {*listed} == parts - {"models", "metrics", "text", "training", "version", "executor"}


def mentioned(tree: ast.AST) -> Iterator[str]:
    """Names that code uses: variables, attributes, imports, arguments, and those in strings like ``module:Class``."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr
        elif isinstance(one, ast.alias):
            yield one.name
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and " " not in one.value:
            yield from re.findall(r"\w+", one.value)


def test_every_function_and_class_is_used() -> None:
    """What nothing in src mentions outside its own definition is dead, or promised to somebody outside."""
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")]
    used = Counter(name for tree in trees for name in mentioned(tree))
    for tree in trees:
        for one in ast.walk(tree):
            if isinstance(one, Definition):
                used[one.name] -= sum(name == one.name for name in mentioned(one))  # it calls itself
    defined = {one.name for tree in trees for one in ast.walk(tree) if isinstance(one, Definition)}
    unused = {name for name in defined if used[name] < 1 and not name.startswith("__")}
    assert unused == {*CALLED_FROM_OUTSIDE}
