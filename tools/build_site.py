"""Builds the documentation site from docs/ into build/site/html: ``make docs``. Nothing is fetched.

Warnings are errors. Then the pages themselves are read: every link within the site leads to a page and a place that
exist, and no page asks another host for a script, a style or a font.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "site"
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}  # of the repository → of the site
NOTEBOOK = {"tutorial.ipynb": "notebook.md"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
TO_FILES = re.compile(r"\[([^\]]+)\]\((?:\.\./)+((?:examples|tests|tools|benchmarks|recipes|src)/[^)\s]*)\)")


def source(folder: Path) -> None:
    """All pages in one folder: those of docs/, those beside it, and the notebook as a page."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, page in BESIDE.items():
        (folder / page).write_text(LINK.sub(_within, (ROOT / name).read_text("utf-8")), "utf-8")
    for path in folder.rglob("*.md"):
        text = path.read_text("utf-8")
        path.write_text(TO_FILES.sub(_named, LINK.sub(_beside, text)), "utf-8")
    (folder / "notebook.md").write_text(notebook_page(folder), "utf-8")


def _within(link: re.Match[str]) -> str:
    """A link of a page at the root, as it is written in docs/."""
    return link[1] + link[2].removeprefix("docs/") + link[3]


def _beside(link: re.Match[str]) -> str:
    """Links to pages that stand beside docs/ in the repository, and in it on the site."""
    name = link[2].removeprefix("../").partition("#")[0]
    target = link[2].replace(f"../{name}", BESIDE[name]) if name in BESIDE else NOTEBOOK.get(name, link[2])
    return link[1] + target + link[3]


def _named(link: re.Match[str]) -> str:
    """Files of the repository are not on the site: named instead of linked."""
    shown = link[1].strip("`")
    return f"`{link[2]}`" if shown in link[2] else f"{link[1]} (`{link[2]}` of the repository)"


def notebook_page(folder: Path) -> str:
    """The tutorial notebook with what its cells show, as a page."""
    parts = []
    for number, cell in enumerate(json.loads((ROOT / "docs" / "tutorial.ipynb").read_text("utf-8"))["cells"]):
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for place, output in enumerate(cell.get("outputs", [])):
            parts.append(_shown(output, folder, f"cell{number}-{place}.svg"))
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any], folder: Path, picture: str) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/svg+xml" in data:
        (folder / "_static" / picture).write_text("".join(data["image/svg+xml"]), "utf-8")
        return f"![Chart](_static/{picture})"
    if "text/html" in data:
        return "```{raw} html\n" + "".join(data["text/html"]) + "\n```"
    return "```text\n" + "".join(data["text/plain"]) + "\n```"


class Page(HTMLParser):
    """Places and links of a page, and what it loads from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.remote: list[str] = re.findall(r"@import[^;]*https?:[^;]*|url\(\s*['\"]?https?:[^)]*\)", text)
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        loaded = given.get("src", "") or (given.get("href", "") if tag == "link" else "")
        if re.match(r"(https?:)?//", loaded) and given.get("rel") not in ("canonical", "license"):
            self.remote.append(loaded)


def faults(folder: Path) -> list[str]:
    """Links within the site that lead nowhere; what pages would load from other hosts."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        found += [f"{name} loads {what}" for what in page.remote]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            there = next((one for at, one in pages.items() if at.resolve() == target), None)
            if there is None and not target.is_file():
                found.append(f"{name} links {link}: no such file")
            elif there is not None and parts.fragment and unquote(parts.fragment) not in there.places:
                found.append(f"{name} links {link}: no such place")
    far = re.compile(r"@import[^;]*https?:|url\(['\"]?https?:")
    styles = [path for path in sorted(folder.rglob("*.css")) if far.search(path.read_text("utf-8"))]
    return found + [f"{path.name} loads from another host" for path in styles]


# What scrolls can be reached by keyboard, and the captions of the navigation say their level.
READABLE = {"<pre>": '<pre tabindex="0">', '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
            '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">'}  # fmt: skip


def make_readable(folder: Path) -> None:
    """Complete what the theme leaves out for people who do not use a mouse or a screen."""
    for path in folder.rglob("*.html"):
        text = path.read_text("utf-8")
        for before, after in READABLE.items():
            text = text.replace(before, after)
        path.write_text(text, "utf-8")


def main() -> int:
    source(OUT / "source")
    shutil.rmtree(OUT / "html", ignore_errors=True)
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
                           "-d", OUT / "doctrees", OUT / "source", OUT / "html"], check=False)  # fmt: skip
    make_readable(OUT / "html")
    wrong = faults(OUT / "html")
    for one in wrong:
        print(one, file=sys.stderr)
    pages = len(list((OUT / "html").rglob("*.html")))
    print(f"{pages} pages in {OUT / 'html'}")
    return int(bool(done.returncode or wrong))


if __name__ == "__main__":
    sys.exit(main())
