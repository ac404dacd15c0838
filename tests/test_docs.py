"""The documentation holds: links lead somewhere, public names are the ones that are written down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import wholetext

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    for target in LINK.findall(text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target.split("#")[0]).exists(), f"{page.name} links {target}"


def test_every_public_name_is_there() -> None:
    assert sorted(wholetext.__all__) == list(wholetext.__all__), "kept in order"
    for name in wholetext.__all__:
        assert getattr(wholetext, name) is not None


def test_the_readme_names_its_two_commands_first() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert text.index("make demo") < text.index("make test") < text.index("wholetext score")
