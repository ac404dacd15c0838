"""docs/design.md says what is true: its rooms exist, its path of a call names functions that are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
SOURCE = ROOT / "src" / "wholetext"
LARGEST = 14  # modules in one folder


def section(title: str) -> str:
    return DESIGN.split(f"### {title}")[1].split("\n#")[0]


def test_the_path_of_score_names_functions_that_are_there() -> None:
    steps = re.findall(r"^[0-9]+\. (.+)", section("The path of `wholetext score`"), re.M)
    assert 10 < len(steps) <= 25
    for step in steps:
        for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", step.split(": ")[0]):
            module, _, attribute = name.rpartition(".")
            if attribute[0].islower() and module.rpartition(".")[2][0].isupper():  # a method
                module, _, owner = module.rpartition(".")
                found = getattr(importlib.import_module(f"wholetext.{module}"), owner)
            else:
                found = importlib.import_module(f"wholetext.{module}")
            assert callable(getattr(found, attribute)), name


def test_the_glossary_is_short() -> None:
    assert len(re.findall(r"^\| (?!word|---)", section("Glossary"), re.M)) <= 25


def test_every_room_is_in_the_tree() -> None:
    tree = DESIGN.split("## 5. Package tree")[1].split("```")[1]
    rooms = [path.parent.name for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    missing = [room for room in rooms if f"{room}/" not in tree]
    assert not missing


def test_no_room_is_crowded() -> None:
    crowded = {str(folder.relative_to(SOURCE)): count for folder in {path.parent for path in SOURCE.rglob("*.py")}
               if (count := len(list(folder.glob("*.py")))) > LARGEST}  # fmt: skip
    assert not crowded


def test_heavy_libraries_are_imported_in_their_rooms_only() -> None:
    rooms = ("backends", "taggers", "training")
    imported = re.compile(r"^\s*(?:import|from) (?:torch|transformers|spacy)\b", re.M)
    outside = [str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")
               if path.relative_to(SOURCE).parts[0] not in rooms and imported.search(path.read_text("utf-8"))]
    assert not outside
