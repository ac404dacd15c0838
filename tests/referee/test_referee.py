"""The referee: scores, signatures, commands and run folders are what they were when they were frozen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import api, commands, inputs, measures, runs
from .freeze import EXPECTED, expected
from .judge import judge
from .mask import differences, masked_signature


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all inputs and the runs that several commands read."""
    folder = tmp_path_factory.mktemp("referee") / "place"
    folder.mkdir()
    inputs.make(folder)
    commands.prepare(folder)
    return folder


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with judge() as address:
        yield address


def check(before: Any, now: Any, tolerance: float) -> None:
    faults = list(differences(before, now, tolerance))
    assert not faults, "\n".join([f"{len(faults)} differences", *faults[:20]])


def skip_without(packages: list[str]) -> None:
    if packages:
        pytest.skip(f"{', '.join(packages)} not installed")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long if name == "minilm" else ()) for name in measures.GROUPS
])  # fmt: skip
def test_scores_and_signatures(name: str, place: Path) -> None:
    group, before = measures.GROUPS[name], expected(f"scores/{name}")
    skip_without(group.missing)
    now = measures.measure(group, place)
    check(before["corpus"], now["corpus"], group.tolerance)
    check(before["docs"], now["docs"], group.tolerance)
    assert list(before["signatures"]) == list(now["signatures"])
    for spec, signature in before["signatures"].items():
        current = now["signatures"][spec]
        assert masked_signature(current["signature"]) == masked_signature(signature["signature"])
        if current["signature"] == signature["signature"]:  # with the same versions of packages
            assert current["hash"] == signature["hash"]


@pytest.mark.parametrize("name", commands.CASES)
def test_commands(name: str, place: Path, endpoint: str) -> None:
    case = commands.CASES[name]
    skip_without(case.missing)
    check(expected(f"commands/{name}"), commands.outcome(case, place, endpoint), case.tolerance)


@pytest.mark.parametrize("name", runs.FOLDERS)
def test_run_folders_of_earlier_versions(name: str, place: Path) -> None:
    check(expected(f"runs/{name}"), runs.opened(runs.FOLDERS[name], place), measures.EXACT)


def test_specs_that_are_refused(place: Path) -> None:
    with api.working_in(place):
        assert {spec: api.refusal(spec) for spec in measures.REFUSED} == expected("refused")


def test_expectations_belong_to_cases_and_are_small() -> None:
    """No leftovers of renamed cases."""
    names = {"scores": measures.GROUPS, "commands": commands.CASES, "runs": runs.FOLDERS}
    for folder, known in names.items():
        assert {path.name.removesuffix(".json") for path in (EXPECTED / folder).iterdir()} == set(known)
    assert sum(path.stat().st_size for path in EXPECTED.rglob("*.json")) < 400_000
