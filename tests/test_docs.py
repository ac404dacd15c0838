"""The documentation holds: links lead somewhere, blocks can be read, generated pages are fresh."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.doc_blocks import ALL, LANGUAGES, PAGES as BLOCK_PAGES, blocks
from tools import make_docs, metric_pages
from tools.build_site import faults
from wholetext.files.parsing import read_toml
from wholetext.registry import BUILTIN

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "studies").glob("*.md"))]  # fmt: skip
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NOT_RUN = 17  # blocks that say why they are not run: may fall, not grow


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    for target in LINK.findall(text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target.split("#")[0]).exists(), f"{page.name} links {target}"


def test_every_block_names_its_language_and_what_is_not_run_does_not_grow() -> None:
    for page in BLOCK_PAGES:
        fences = re.findall(r"^ *```", page.read_text("utf-8"), re.M)
        assert len(fences) == 2 * len(blocks(page)), f"{page.name}: a block without an end"
    unnamed = {(block.page.name, block.language) for block in ALL if block.language not in LANGUAGES}
    assert not unnamed, f"{unnamed}: write ```sh, ```python or ```text; <!-- not run: WHY --> before what cannot run"
    marked = [block for block in ALL if block.why is not None]
    assert all(block.language in ("sh", "python") and len(block.why or "") > 10 for block in marked)
    assert len(marked) <= NOT_RUN, f"{len(marked)} blocks are not run"


def test_blocks_of_data_can_be_read() -> None:
    for block in ALL:
        if block.language == "toml":
            assert read_toml(block.text.encode()), block.page.name
        elif block.language == "json" and "…" not in block.text:
            one = block.text.startswith("{\n")
            assert all(json.loads(part) for part in ([block.text] if one else block.text.splitlines())), block.page.name


def test_every_page_is_in_the_contents_of_the_site() -> None:
    docs = ROOT / "docs"
    listed = re.findall(r"^([\w/-]+)$", (docs / "index.md").read_text("utf-8"), re.M)
    made = {"index", "notebook", "contributing", "changelog"}  # the last three are made when the site is built
    pages = {str(page.relative_to(docs).with_suffix("")) for page in docs.rglob("*.md")}
    assert len(listed) == len({*listed}) and pages | made == {*listed, "index"}, "list it in docs/index.md"


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long) if name == "recipes.md" else name for name in make_docs.PAGES
])  # fmt: skip
def test_generated_pages_are_fresh(name: str) -> None:
    assert (ROOT / "docs" / name).read_text("utf-8") == make_docs.PAGES[name](), "run `make docs`"


def test_facts_of_metrics_are_complete() -> None:
    facts = read_toml(metric_pages.FACTS.read_bytes())
    assert set(facts) == set(BUILTIN), "every metric has formula, paper, cost and use in tools/metric_facts.toml"
    assert all(set(one) == {"formula", "paper", "cost", "when"} for one in facts.values())


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed)
    from tools import build_site

    monkeypatch.setattr(build_site, "OUT", tmp_path)
    assert build_site.main() == 0
    assert (tmp_path / "html" / "metrics.html").is_file() and (tmp_path / "html" / "notebook.html").is_file()


def test_broken_links_and_remote_files_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">b</a><a href="#x">x</a><a href="c.html">c</a></p>')
    (tmp_path / "b.html").write_text('<script src="https://example.org/a.js"></script><a href="https://example.org">e</a>')
    (tmp_path / "s.css").write_text("@import url(https://example.org/font.css);")
    assert faults(tmp_path) == [
        "a.html links b.html#y: no such place", "a.html links c.html: no such file",
        "b.html loads https://example.org/a.js", "s.css loads from another host",
    ]  # fmt: skip
