"""Typical mistakes are answered with what is wrong, where, and the next step; docs/troubleshooting.md says how."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.mistake_cases import MISTAKES, Mistake, answer, parts, workplace


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with workplace() as made:
        yield made


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.what)
def test_a_mistake_is_answered(mistake: Mistake, folder: Path) -> None:
    code, said = answer(mistake)
    what, step = parts(said)
    assert code == 2 and what and step, said
    assert "Traceback" not in said and "unexpectedly" not in said and str(folder) not in said
    names = re.findall(r"[\w./-]+", mistake.command)
    shown = re.sub(r"\W+", " ", said).casefold()
    assert any(re.sub(r"\W+", " ", name).casefold().strip() in shown for name in names)  # it names what was typed


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 40 and len({one.what for one in MISTAKES}) == len(MISTAKES)
