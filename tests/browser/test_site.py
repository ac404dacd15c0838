"""The documentation site: everyone can read it, on a phone too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import violations

pytestmark = pytest.mark.browser
PAGES = ("index", "tutorial", "align", "metrics", "cli", "papers", "meta")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed)
    from tools import build_site

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_site, "OUT", tmp_path_factory.mktemp("site"))
        assert build_site.main() == 0
        return build_site.OUT / "html"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_the_site_fit_and_can_be_read(
    site: Path, chromium: Any, axe: str, scheme: str, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    for name in PAGES:
        page = context.new_page()
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert violations(page, axe, scheme) == [], name
        page.close()
    context.close()


def test_every_page_leads_to_every_section(site: Path, chromium: Any) -> None:
    page = chromium.new_page()
    page.goto((site / "studies" / "stress.html").as_uri())
    captions = page.locator(".sidebar-tree .caption").all_inner_texts()
    assert [caption.casefold() for caption in captions] == [
        "first hour", "recipes", "reference", "explanation", "research", "developers"]  # fmt: skip
    page.locator(".sidebar-tree a", has_text="Significance").first.click()
    assert page.locator("h1").first.inner_text().startswith("Significance")
    page.close()
