"""CONTRIBUTING.md is executed: its recipes are followed word for word in a copy of the project.

Code blocks name a file after the language: `python PATH` is a new file, `diff PATH` adds the lines with `+` after the
line before them, `sh` is run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^( *)```(\w+)(?: (\S+))?\n(.*?)^\1```$", re.M | re.S)
COPIED = ("src", "docs", "tools", "studies", "examples", "benchmarks", "recipes", "pyproject.toml", "README.md",
          "CHANGELOG.md", "CONTRIBUTING.md", "Makefile")


def recipes() -> dict[str, list[tuple[str, str, str]]]:
    """Heading → its blocks: (language, path, text)."""
    found = {}
    for section in (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n## Add a ")[1:]:
        title, _, body = section.partition("\n")
        blocks = BLOCK.findall(body.split("\n## ")[0])
        found[title] = [(kind, path, re.sub(f"^{indent}", "", text, flags=re.M)) for indent, kind, path, text in blocks]
    return found


def insert(file: Path, diff: str) -> None:
    """Add the lines marked + after the unmarked line before them, which must be in the file once."""
    text = file.read_text("utf-8")
    before, *added = diff.splitlines()
    assert text.count(before[1:] + "\n") == 1, f"{file.name}: {before[1:]!r}"
    assert all(line.startswith("+") for line in added)
    new = "".join(f"{line[1:]}\n" for line in added)
    file.write_text(text.replace(before[1:] + "\n", before[1:] + "\n" + new), "utf-8")


def run(copy: Path, command: str) -> str:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PATH": f"{programs}:{os.environ['PATH']}"}
    if command.startswith("make "):  # with the environment of this test run
        command = f"{command} VENV={programs.parent} -o {programs.parent}/test.ready"
    done = subprocess.run(command, shell=True, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all recipes were followed."""
    copy = tmp_path_factory.mktemp("project")
    hidden = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=hidden)
        elif source.exists():
            shutil.copy2(source, copy / name)
    if (ROOT / ".mypy_cache").is_dir():  # else mypy takes half a minute
        shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    for blocks in recipes().values():
        for kind, path, text in blocks:
            if kind == "diff":
                insert(copy / path, text)
            elif kind == "python":
                assert not (copy / path).exists(), path
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                (copy / path).write_text(text, "utf-8")
    return copy


def test_every_recipe_is_there_and_a_metric_is_short() -> None:
    found = recipes()
    assert set(found) == {"metric", "format", "view", "verb", "panel", "change"}
    written = [(kind, text) for kind, path, text in found["metric"] if path.startswith("src")]
    lines = [line for kind, text in written for line in text.splitlines() if kind == "python" or line.startswith("+")]
    assert len(written) <= 2 and len(lines) <= 30


SLOW = pytest.mark.slow  # `make docs` scores the demo corpus, for the table of the README


@pytest.mark.long
@pytest.mark.parametrize("recipe", ["metric", pytest.param("format", marks=SLOW), "view",
                                    pytest.param("verb", marks=SLOW), "panel", "change"])
def test_what_a_recipe_promises_is_seen(copy: Path, recipe: str) -> None:
    commands = [line for kind, _, text in recipes()[recipe] if kind == "sh" for line in text.splitlines()]
    assert commands
    for line in commands:
        command, _, promised = line.partition("# → ")
        assert promised in run(copy, command.strip()), line


@pytest.mark.slow
def test_the_project_is_clean_after_all_recipes(copy: Path) -> None:
    run(copy, "make lint")
    run(copy, "make docs")
