"""docs/papers.md is generated, and has every item of the five papers."""

from __future__ import annotations

import tomllib

from tools import papers_page
from wholetext.reproduce import papers


def test_the_page_is_fresh() -> None:
    assert papers_page.PAGE.read_text("utf-8") == papers_page.page(), "run python tools/papers_page.py"


def test_every_item_has_a_status() -> None:
    items = tomllib.loads((papers_page.FOLDER / "items.toml").read_text("utf-8"))
    assert sum(map(len, items.values())) == 157 and list(items) == list(papers())
    statuses = {status.partition(":")[0] for table in items.values() for status in table.values()}
    assert statuses == {"here", "needs a GPU", "differs", "cannot be had"}
